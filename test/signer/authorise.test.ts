import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Authoriser, SigningRequestTerms } from '../../src/signer/authorise.ts';
import { createAuthoriser } from '../../src/signer/authorise.ts';
import { USUAL_ALLOWANCES } from '../../src/signer/allowances.ts';
import { openSpendingCaps } from '../../src/signer/counters/caps.ts';
import { COUNTERS_FILE } from '../../src/signer/counters/spend-counters.ts';
import { CONSTANT_PRODUCT_PROGRAM, swapPrograms } from '../../src/signer/policy/swap-programs.ts';
import type { CapSetting } from '../../src/signer/settings.ts';
import { createPolicy } from '../../src/signer/policy/policy.ts';
import { warmUpPolicy } from '../../src/signer/warm-up.ts';
import { SOL, startTestSandbox, USDC, type TestSandbox, type TestWallet } from '../sandbox/service/sandbox-client.ts';
import { listen } from '../service/loopback.ts';
import { decompile, recompile } from './policy/decompile.ts';
import { asV1 } from './policy/v1-goldens.ts';
import { guardedBy } from './quote-server.ts';
import { system, u64 } from './policy/raw-instructions.ts';
import { COUNTERS_KEY } from './session.ts';

const MINTER = 'SysvarC1ock11111111111111111111111111111111';

let sandbox: TestSandbox;
let taker: TestWallet;
let friend: TestWallet;
let referrer: TestWallet;
let stateDir: string;
beforeAll(async () => {
  sandbox = await startTestSandbox({ speed: 0 });
  [taker, friend, referrer] = await Promise.all([
    sandbox.newWallet({ [SOL]: '9000000000000', [USDC]: '50000000000' }), sandbox.newWallet(),
    sandbox.newWallet({ [SOL]: '9000000000', [USDC]: '1' }),
  ]);
});
afterAll(() => sandbox.close());
beforeEach(() => { stateDir = mkdtempSync(join(tmpdir(), 'authorise-')); });
afterEach(() => { rmSync(stateDir, { recursive: true }); });

const PRICE_GUARD = 'no swap for more than 150 bps less than a quote of its own, at most 5s old';
const CAP: CapSetting = { mint: USDC, name: 'USDC', perTrade: '25', perHour: '40', perDay: '100' };

type AuthoriserOptions = Parameters<typeof createAuthoriser>[0];

async function open({ settings = {}, ...options }: {
  settings?: Partial<AuthoriserOptions['settings']>;
} & Partial<Omit<AuthoriserOptions, 'settings'>> = {}): Promise<Authoriser> {
  const authoriser = await createAuthoriser({
    wallet: taker.address, countersKey: COUNTERS_KEY, clock: { now: () => 1_700_000_000_000 }, ...options,
    settings: {
      keyFrom: undefined, embedded: false, rpcUrl: sandbox.addresses.rpc_url, countersDir: stateDir,
      acceptNewCounters: true, programs: swapPrograms(),
      destinations: [], caps: [CAP], tokens: new Map([['USDC', USDC]]),
      priceGuard: guardedBy(sandbox.addresses.base_url), ...settings,
    },
  });
  onTestFinished(() => authoriser.close());
  return authoriser;
}

interface Request {
  readonly bytes: Uint8Array;
  readonly terms: SigningRequestTerms;
}

let intents = 0;

/** An order of the embedded service, with the terms that the daemon asks with. */
async function order(
  query: Record<string, string | number> = {}, changes: Partial<SigningRequestTerms> = {},
): Promise<Request> {
  const asked =
    { inputMint: USDC, outputMint: SOL, amount: '20000000', taker: taker.address, excludeRouters: 'rfqz', ...query };
  const { body } = await sandbox.order(asked);
  const payer = body.signatureFeePayer as string;
  return {
    bytes: Buffer.from(body.transaction, 'base64'),
    terms: {
      intentId: `intent ${intents++}`, attempt: 1, route: 'order', inputMint: asked.inputMint,
      outputMint: asked.outputMint,
      amountIn: BigInt(asked.amount), minimumOut: BigInt(body.otherAmountThreshold), maker: body.maker ?? undefined,
      feePayer: payer === taker.address ? undefined : payer, maxFeeBps: 30, ...changes,
    },
  };
}

async function word(authoriser: Authoriser, { bytes, terms }: Request): Promise<string> {
  const answer = await authoriser.authorise(bytes, terms);
  if (answer.allowed) return 'allowed';
  expect(answer.findings.length).toBeGreaterThan(0);
  expect(answer.findings[0]).toMatchObject({ code: answer.code, message: answer.message });
  return answer.code;
}

function counted(): { rows: number; amounts: number } {
  const database = new DatabaseSync(join(stateDir, COUNTERS_FILE));
  try {
    return database.prepare(
      `SELECT count(*) AS rows, sum(amount_low) AS amounts FROM spends WHERE kind = 'input'`,
    ).get() as { rows: number; amounts: number };
  } finally {
    database.close();
  }
}

function costsCounted(): number {
  const database = new DatabaseSync(join(stateDir, COUNTERS_FILE));
  try {
    return Number(database.prepare(
      `SELECT coalesce(sum(amount_low), 0) AS costs FROM spends WHERE kind = 'cost'`,
    ).get()!['costs']);
  } finally {
    database.close();
  }
}

describe('the signer', () => {
  test('allows an order of any router within its terms, and counts it first', async () => {
    const authoriser =
      await open({ settings: { caps: [{ ...CAP, perTrade: '1000', perHour: '1015', perDay: '2000' }] } });
    const [plain, made] = [
      await order({ amount: '15000000' }),
      await order({ amount: '1000000000', excludeRouters: 'iris,routerA,routerB' }),
    ];
    expect([await word(authoriser, plain), await word(authoriser, made)]).toEqual(['allowed', 'allowed']);
    expect(counted()).toEqual({ rows: 2, amounts: 1_015_000_000 });
    // Once more the same bytes, and then another swap.
    expect([await word(authoriser, plain), await word(authoriser, await order({ amount: '1000000' }))])
      .toEqual(['allowed', 'CAP_EXCEEDED_HOUR']);
    expect(counted().rows).toBe(2);
  });

  test('compares the bytes with the terms, and counts no refused request', async () => {
    const authoriser = await open();
    const fine = await order();
    const { body } = await sandbox.get('/swap/v2/build', {
      inputMint: SOL, outputMint: USDC, amount: '1000000', taker: taker.address,
    });
    const parts =
      decompile(fine.bytes, new Map(Object.entries(body.addressesByLookupTableAddress as Record<string, string[]>)));
    const theft = (lamports: bigint): Uint8Array => recompile({
      ...parts,
      instructions: [...parts.instructions, system(2, [u64(lamports)], [[taker.address, 'sw'], [friend.address, 'w']])],
    }, 'legacy').bytes;
    const refusals = await Promise.all([
      word(authoriser, { ...fine, terms: { ...fine.terms, amountIn: 19_999_999n } }),
      word(authoriser, { ...fine, terms: { ...fine.terms, minimumOut: fine.terms.minimumOut * 2n } }),
      word(authoriser, { ...fine, terms: { ...fine.terms, feePayer: friend.address } }),
      word(authoriser, { ...fine, bytes: theft(5_000_001n) }), word(authoriser, { ...fine, bytes: theft(100_001n) }),
      word(authoriser, { ...fine, bytes: Buffer.alloc(0) }),
      word(authoriser, { ...fine, bytes: Buffer.alloc(5_000) }),
    ]);
    expect(refusals).toEqual([
      'SWAP_AMOUNT_EXCEEDS', 'SWAP_MINIMUM_BELOW', 'FEE_PAYER_FOREIGN', 'TRANSFER_DESTINATION', 'TIP_EXCEEDS',
      'BYTES_NOT_CANONICAL', 'SIZE_EXCEEDED',
    ]);
    expect(counted().rows).toBe(0);
    // What the usual allowance lets out to a stranger is counted with the fees.
    const before = costsCounted();
    expect(await word(authoriser, { ...fine, bytes: theft(100_000n) })).toBe('allowed');
    expect(costsCounted() - before).toBeGreaterThanOrEqual(105_000);
  });

  test('allows the same order in version 1, and counts its cost alike', async () => {
    const authoriser = await open();
    const plain = await order();
    const { body } = await sandbox.get('/swap/v2/build', {
      inputMint: SOL, outputMint: USDC, amount: '1000000', taker: taker.address,
    });
    const tables = new Map(Object.entries(body.addressesByLookupTableAddress as Record<string, string[]>));
    const [{ bytes }] = asV1({ kind: 'order', bytes: plain.bytes, tables, expectation: undefined as never })!;
    expect(await word(authoriser, { ...plain, bytes })).toBe('allowed');
    const ofV1 = costsCounted();
    expect(await word(authoriser, plain)).toBe('allowed');
    expect([counted().rows, costsCounted()]).toEqual([2, 2 * ofV1]);
    expect(ofV1).toBeGreaterThanOrEqual(5_000);
  });

  test('compiles its policy in advance by swaps of versions 0 and 1 that it would sign', () => {
    expect(warmUpPolicy(createPolicy(), taker.address).map(({ verdict, summary }) => [verdict, summary!.version]))
      .toEqual([['allow', 0], ['allow', 1]]);
  });

  test('refuses terms that no swap can have', async () => {
    const authoriser = await open();
    const fine = await order();
    for (const change of [
      { amountIn: 0n }, { minimumOut: 0n }, { minimumOut: -1n }, { outputMint: USDC }, { inputMint: 'USDC' },
      { maker: taker.address }, { maker: '' }, { feePayer: '../x' }, { maxFeeBps: -1 }, { maxFeeBps: NaN },
    ]) expect(
      await word(authoriser, { ...fine, terms: { ...fine.terms, ...change } }), JSON.stringify(Object.keys(change)),
    ).toBe('TERMS_INVALID');
  });

  test('limits the fees of a request to its own maximum', async () => {
    // The fee is no part of the signer's own quote.
    const authoriser =
      await open({ settings: { priceGuard: guardedBy(sandbox.addresses.base_url, { maxDeviationBps: 400 }) } });
    const referred = await order({ referralAccount: referrer.address, referralFee: 255 }, { maxFeeBps: 10 });
    expect(await word(authoriser, referred)).toBe('PLATFORM_FEE_EXCEEDS');
    expect(await word(authoriser, { ...referred, terms: { ...referred.terms, maxFeeBps: 10_000 } })).toBe('allowed');
    // A build has a fee only where Gannet adds one.
    expect(await word(authoriser, { ...referred, terms: { ...referred.terms, maxFeeBps: 10_000, route: 'build' } }))
      .toBe('TRANSFER_DESTINATION');
  });

  test('limits the fees of others to its own reading, and an own account to its share', async () => {
    const priceGuard = guardedBy(sandbox.addresses.base_url, { maxDeviationBps: 400 });
    const referred = await order({ referralAccount: referrer.address, referralFee: 60 }, { maxFeeBps: 10_000 });
    const wordOf = async (allowances: Partial<typeof USUAL_ALLOWANCES>): Promise<string> => word(
      await open({ settings: { priceGuard, allowances: { ...USUAL_ALLOWANCES, ...allowances } } }), referred,
    );
    expect(await wordOf({ maxFeeBps: 30 })).toBe('PLATFORM_FEE_EXCEEDS');
    for (const [account, share] of [[friend.address, 60], [referrer.address, 59]] as const) {
      expect(await wordOf({ maxFeeBps: 30, feeAccounts: new Map([[account, share]]) })).toBe('PLATFORM_FEE_EXCEEDS');
    }
    expect(await wordOf({ maxFeeBps: 30, feeAccounts: new Map([[referrer.address, 60]]) })).toBe('allowed');
  });

  test('allows the output for configured destinations only', async () => {
    const away = await order({ receiver: friend.address, outputMint: sandbox.mint('PEARL') });
    expect(await word(await open(), away)).toBe('ATA_OWNER');
    expect(await word(await open({ settings: { destinations: [MINTER] } }), away)).toBe('ATA_OWNER');
    const listed = await open({ settings: { destinations: [MINTER, friend.address] } });
    expect([await word(listed, away), await word(listed, await order())]).toEqual(['allowed', 'allowed']);
  });

  test('spends no token without a cap on a real service, and any on the embedded one', async () => {
    const sell = await order({ inputMint: SOL, outputMint: USDC, amount: '1000000000' });
    expect(await word(await open(), sell)).toBe('CAP_MISSING');
    const embedded = await open({
      settings: { embedded: true, rpcUrl: undefined, caps: [] }, embeddedRpcUrl: sandbox.addresses.rpc_url,
      embeddedServiceUrl: sandbox.addresses.base_url,
    });
    expect(await word(embedded, sell)).toBe('allowed');
    expect(counted().rows).toBe(0);
  });

  test('sells what has no name into a token with a cap, where it may be bought, and nothing else', async () => {
    const sell = await order({ inputMint: SOL, outputMint: USDC, amount: '1000000000' });
    const allowing = { sellsUnnamed: true };
    expect(await word(await open({ settings: allowing }), sell)).toBe('allowed');
    const named = new Map([['USDC', USDC], ['SOL', SOL]]);
    expect(await word(await open({ settings: { ...allowing, tokens: named } }), sell)).toBe('CAP_MISSING');
    expect(await word(await open({ settings: { ...allowing, caps: [] } }), sell)).toBe('CAP_MISSING');
    expect(await word(await open({ settings: { sellsUnnamed: false } }), sell)).toBe('CAP_MISSING');
  });

  test('limits the costs of swaps, by the cap of SOL or without one', async () => {
    const dear = await open({ settings: { caps: [CAP, { mint: SOL, name: 'SOL', perDay: '0.000001' }] } });
    expect(await word(dear, await order())).toBe('CAP_EXCEEDED_DAY');
    expect(counted().rows).toBe(0);
    const usual = await open();
    await word(usual, await order());
    const clock = { now: () => 1_700_000_000_000 };
    const caps = openSpendingCaps({ folder: stateDir, wallet: taker.address, key: COUNTERS_KEY, clock });
    expect(caps.count(
      { messageHash: 'dear', mint: SOL, amount: 0n, costLamports: 97_000_000n },
      { input: undefined, solPerDay: undefined, costPerDay: 100_000_000n },
    )).toEqual({ ok: true });
    caps.close();
    expect(await word(usual, await order())).toBe('CAP_EXCEEDED_DAY');
  });

  test('never grants the room for one request to two at once', async () => {
    const authoriser = await open();
    const requests = await Promise.all(Array.from({ length: 8 }, () => order({ amount: '15000000' })));
    const words = await Promise.all(requests.map((request) => word(authoriser, request)));
    expect(words.filter((said) => said === 'allowed')).toHaveLength(2);
    expect(words.filter((said) => said === 'CAP_EXCEEDED_HOUR')).toHaveLength(6);
  });

  test('copies the bytes, so that later changes have no effect', async () => {
    const authoriser = await open();
    const { bytes, terms } = await order();
    const answer = authoriser.authorise(bytes, terms);
    bytes.fill(0);
    expect(await answer).toMatchObject({ allowed: true });
  });

  test('describes its rules', async () => {
    expect((await open({ settings: { destinations: [MINTER] } })).description).toEqual({
      programs: 1, caps: ['USDC: 25 a swap, 40 an hour, 100 a day'], destinations: [MINTER], rpc: true,
      priceGuard: PRICE_GUARD, signed: { inDay: 0, inMonth: 0 }, countersDir: stateDir, capsFullUntil: undefined,
      countersAccepted: true,
    });
    expect((await open({ settings: { embedded: true, caps: [], rpcUrl: undefined } })).description)
      .toEqual({
        programs: 1, caps: [], destinations: [], rpc: false, priceGuard: PRICE_GUARD, signed: undefined,
      });
  });
});

describe('without a node of its own the signer', () => {
  test('signs nothing with a lookup table, and nothing with unknown decimals', async () => {
    const authoriser = await open({
      settings: { rpcUrl: undefined, caps: [CAP, { mint: sandbox.mint('PEARL'), name: 'PEARL', perDay: '5' }] },
    });
    const PEARL = sandbox.mint('PEARL');
    sandbox.chain.fundToken({ owner: taker.address, mint: PEARL, amount: 10n ** 9n });
    const { bytes, terms } = await order({ inputMint: PEARL, amount: '1000000' });
    expect(await word(authoriser, { bytes, terms })).toBe('TABLE_UNREAD');
    const { body } = await sandbox.get('/swap/v2/build', {
      inputMint: SOL, outputMint: USDC, amount: '1000000', taker: taker.address,
    });
    const parts =
      decompile(bytes, new Map(Object.entries(body.addressesByLookupTableAddress as Record<string, string[]>)));
    const written = recompile(parts, 'legacy').bytes;
    expect(await word(authoriser, { bytes: written, terms })).toBe('CAP_DECIMALS_UNREAD');
  });

  test('accepts the parent’s node on the embedded chain alone, and of this machine alone', async () => {
    const request = await order();
    const there = sandbox.addresses.rpc_url;
    expect(await word(await open({ settings: { rpcUrl: undefined }, embeddedRpcUrl: there }), request))
      .toBe('TABLE_UNREAD');
    for (const elsewhere of ['http://node.example/', 'https://127.0.0.1/', 'nonsense', '']) {
      expect(
        (await open({ settings: { embedded: true, rpcUrl: undefined }, embeddedRpcUrl: elsewhere })).description.rpc,
      ).toBe(false);
    }
    const embedded = await open({
      settings: { embedded: true, rpcUrl: undefined }, embeddedRpcUrl: there,
      embeddedServiceUrl: sandbox.addresses.base_url,
    });
    expect(await word(embedded, request)).toBe('allowed');
  });

  test('refuses without a crash where the node answers wrongly, late or never', async () => {
    const request = await order();
    for (const respond of [
      (response: { end(text: string): void }) => { response.end('{"result": 1}'); },
      (response: { destroy(): void }) => { response.destroy(); },
      (response: { end(text: string): void }) => { response.end('x'.repeat(100_000)); },
    ]) {
      const node = await listen((_request, response) => { respond(response); });
      expect(await word(await open({ settings: { rpcUrl: node.baseUrl } }), request)).toBe('CHAIN_UNREAD');
    }
    expect(await word(await open({ settings: { rpcUrl: 'http://127.0.0.1:1' } }), request)).toBe('CHAIN_UNREAD');
  });

  test('is not opened where its counters cannot be', async () => {
    writeFileSync(join(stateDir, COUNTERS_FILE), 'no database'.repeat(100));
    await expect(open()).rejects.toMatchObject({ code: 'JOURNAL_FAILED' });
  });
});

describe('a swap without a decoder', () => {
  const blind = { programs: [{ program: CONSTANT_PRODUCT_PROGRAM }] };

  test('is signed after a fitting simulation by the signer itself, in both directions', async () => {
    const authoriser =
      await open({ settings: { ...blind, caps: [CAP, { mint: SOL, name: 'SOL', perTrade: '5', perHour: '5' }] } });
    expect(await word(authoriser, await order())).toBe('allowed');
    expect(await word(authoriser, await order({ inputMint: SOL, outputMint: USDC, amount: '2000000000' })))
      .toBe('allowed');
    expect(await word(authoriser, await order({ outputMint: sandbox.mint('PEARL'), amount: '3000000' })))
      .toBe('allowed');
    expect(counted().rows).toBe(3);
  });

  test('is refused after a simulation that differs, fails or is unavailable', async () => {
    const authoriser = await open({ settings: blind });
    const fine = await order();
    expect(await word(authoriser, { ...fine, terms: { ...fine.terms, minimumOut: fine.terms.minimumOut * 2n } }))
      .toBe('SIMULATION_OUTPUT_BELOW');
    expect(await word(authoriser, { ...fine, terms: { ...fine.terms, amountIn: 19_999_999n } }))
      .toBe('SIMULATION_INPUT_EXCEEDS');
    const broke = await sandbox.newWallet({ [SOL]: '5000000000', [USDC]: '20000000' });
    const late = await order({ taker: broke.address });
    await sandbox.execute(
      await sandbox.order({ inputMint: USDC, outputMint: SOL, amount: '15000000', taker: broke.address }), broke,
    );
    expect(await word(await open({ settings: blind, wallet: broke.address }), {
      ...late, terms: { ...late.terms, feePayer: undefined },
    })).toBe('SIMULATION_FAILED');
    expect(await word(await open({ settings: { ...blind, rpcUrl: undefined } }), fine)).toBe('TABLE_UNREAD');
    expect(counted().rows).toBe(0);
  });
});
