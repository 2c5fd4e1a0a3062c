import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getAssociatedTokenAddressSync } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { swapSchema } from '../../../src/config/strategies/swap-options.ts';
import type { Mint } from '../../../src/market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import type { Intent } from '../../../src/trading/intent.ts';
import type { Amount } from '../../../src/core/amount.ts';
import { startOptionsFixture, type OptionsFixture, type OptionsRun, type Sections } from './swap-options-fixture.ts';

const FRIEND = Keypair.generate().publicKey.toBase58();
const REFERRER = Keypair.generate().publicKey.toBase58();
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij' as Mint;
const KRILL = 'Kri115g4Ah2EG3VLTBjP2uyPhMDJA3GFoJnVru9isNy' as Mint;
const BASE_FEE = 5_000n;

function accountOf(owner: string, mint: string): string {
  return getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(owner)).toBase58();
}

let fixture: OptionsFixture;
beforeAll(async () => {
  fixture = await startOptionsFixture();
  for (const owner of [FRIEND, REFERRER]) {
    await fixture.sandbox.post('/sandbox/fund', { owner, mint: SOL_MINT, amount: '1000000000' });
    for (const mint of [PEARL, USDC_MINT]) await fixture.sandbox.post('/sandbox/fund', { owner, mint, amount: '1' });
  }
});
afterAll(() => fixture.close());

function held(owner: string, mint: string): bigint {
  return fixture.sandbox.chain.tokenBalance({ owner, mint });
}

/** One option, from the text of a configuration to the block. */
interface OptionRow {
  /** The key, with its route where both know it. */
  readonly option: string;
  readonly swap: string;
  readonly risk?: string;
  /** What the signer must allow for it; without it, `refused` is its code. */
  readonly signer?: string;
  readonly refused?: string;
  /** What the signer's own section says where it refuses; by default nothing. */
  readonly own?: string;
  readonly intent?: Partial<Intent>;
  /** Reads the chain before the swap, for `seen`. */
  readonly before?: () => bigint;
  /** Checks on the chain that the option counted. */
  readonly seen: (run: OptionsRun, before: bigint) => void;
}

/** Left out, small tips are allowed. */
const NO_TIPS = '  max_tip: "0 SOL"';
const TO_SOL = { outputMint: SOL_MINT } as const;
const TO_KRILL = { outputMint: KRILL } as const;

const ROWS: readonly OptionRow[] = [
  {
    option: 'mode: automatic', swap: '  route: order\n  mode: automatic', risk: '  max_slippage_bps: 100',
    seen: ({ slippageBps }) => { expect([71, 72]).toContain(slippageBps); },
  },
  {
    option: 'mode: manual', swap: '  route: order\n  mode: manual', risk: '  max_slippage_bps: 100',
    seen: ({ slippageBps, last }) => { expect([last.router === 'rfqz' ? 0 : 99, 100]).toContain(slippageBps); },
  },
  { option: 'route: order', swap: '  route: order', seen: ({ last }) => { expect(last.router).not.toBe('build'); } },
  { option: 'route: build', swap: '  route: build', seen: ({ last }) => { expect(last.router).toBe('build'); } },
  {
    option: 'exclude_routers', swap: '  route: order\n  exclude_routers: [iris, routerA, rfqz]',
    seen: ({ last }) => { expect(last.router).toBe('routerB'); },
  },
  {
    option: 'exclude_exchanges of an order',
    swap: '  route: order\n  exclude_routers: [routerA, routerB, rfqz]\n  exclude_exchanges: [Lagoon]',
    seen: ({ exchanges }) => { expect(exchanges).toEqual(['Tidepool', 'Tidepool']); },
  },
  {
    option: 'exclude_exchanges of a build', swap: '  route: build\n  exclude_exchanges: [Lagoon]',
    seen: ({ exchanges }) => { expect(exchanges).toEqual(['Tidepool', 'Tidepool']); },
  },
  {
    option: 'include_exchanges', swap: '  route: build\n  include_exchanges: [Tidepool]',
    seen: ({ exchanges }) => { expect(exchanges).toEqual(['Tidepool', 'Tidepool']); },
  },
  {
    option: 'priority_fee', swap: '  route: order\n  priority_fee: "0.002 SOL"',
    signer: '  max_priority_fee: "0.002 SOL"', refused: 'FEE_EXCEEDS',
    seen: ({ fill }) => {
      expect(fill!.feeLamports).toBeGreaterThan(BASE_FEE + 1_990_000n);
      expect(fill!.feeLamports).toBeLessThanOrEqual(BASE_FEE + 2_000_000n);
    },
  },
  {
    option: 'tip', swap: '  route: order\n  tip: "0.00004 SOL"',
    signer: '  max_tip: "0.00004 SOL"', refused: 'TRANSFER_DESTINATION', own: NO_TIPS,
    seen: ({ fill }) => {
      expect(fill!.feeLamports).toBeGreaterThan(BASE_FEE + 40_000n);
      expect(fill!.feeLamports).toBeLessThan(BASE_FEE + 50_000n);
    },
  },
  {
    option: 'broadcast_fee: exact_fee',
    swap: '  route: order\n  priority_fee: "0.0001 SOL"\n  tip: "0.00004 SOL"\n  broadcast_fee: exact_fee',
    signer: '  max_tip: "0.0001 SOL"', refused: 'TRANSFER_DESTINATION', own: NO_TIPS,
    seen: ({ fill }) => {
      expect(fill!.feeLamports).toBeGreaterThan(BASE_FEE + 139_000n);
      expect(fill!.feeLamports).toBeLessThanOrEqual(BASE_FEE + 140_000n);
    },
  },
  {
    // The service bids 10,000 lamports of tip and its own price, where they are only limits.
    option: 'broadcast_fee: max_cap',
    swap: '  route: order\n  priority_fee: "0.0001 SOL"\n  tip: "0.00004 SOL"\n  broadcast_fee: max_cap',
    signer: '  max_tip: "0.0001 SOL"', refused: 'TRANSFER_DESTINATION', own: NO_TIPS,
    seen: ({ fill }) => {
      expect(fill!.feeLamports).toBeGreaterThan(BASE_FEE + 10_000n);
      expect(fill!.feeLamports).toBeLessThan(BASE_FEE + 20_000n);
    },
  },
  {
    option: 'receiver', swap: `  route: order\n  receiver: ${FRIEND}`,
    signer: `  destinations: [${FRIEND}]`, refused: 'ATA_OWNER',
    before: () => held(FRIEND, PEARL),
    seen: ({ fill }, before) => {
      expect(fill).toMatchObject({ receiver: FRIEND });
      expect(held(FRIEND, PEARL) - before).toBe(fill!.amountOut);
    },
  },
  {
    option: 'receiver of SOL', swap: `  route: order\n  receiver: ${FRIEND}`,
    signer: `  destinations: [${FRIEND}]`, refused: 'CLOSE_DESTINATION', intent: TO_SOL,
    before: () => fixture.sandbox.chain.balance(FRIEND),
    seen: ({ fill }, before) => {
      expect(fill).toMatchObject({ receiver: FRIEND });
      expect(fixture.sandbox.chain.balance(FRIEND) - before).toBe(fill!.amountOut);
    },
  },
  {
    option: 'referral', swap: `  route: order\n  referral: { account: ${REFERRER}, fee_bps: 60 }`,
    signer: `  fee_accounts: { ${REFERRER}: 60 }`, refused: 'PLATFORM_FEE_EXCEEDS',
    before: () => held(REFERRER, USDC_MINT),
    seen: (_run, before) => { expect(held(REFERRER, USDC_MINT) - before).toBe(120_000n); },
  },
  {
    option: 'fast', swap: '  route: build\n  fast: true', intent: TO_KRILL,
    seen: ({ exchanges }) => { expect(exchanges).toEqual(['Lagoon']); },
  },
  {
    option: 'max_accounts', swap: '  route: build\n  max_accounts: 12', intent: TO_KRILL,
    seen: ({ exchanges }) => { expect(exchanges).toEqual(['Lagoon']); },
  },
  {
    option: 'max_accounts: 64', swap: '  route: build\n  max_accounts: 64', intent: TO_KRILL,
    seen: ({ exchanges }) => { expect(exchanges).toHaveLength(2); },
  },
  {
    option: 'wrap_sol: false, for what is bought', swap: '  route: build\n  wrap_sol: false', intent: TO_SOL,
    before: () => held(fixture.wallet, SOL_MINT),
    seen: ({ fill }, before) => { expect(held(fixture.wallet, SOL_MINT) - before).toBe(fill!.amountOut); },
  },
  {
    option: 'wrap_sol: false, for what is spent', swap: '  route: build\n  wrap_sol: false',
    intent: { inputMint: SOL_MINT, outputMint: USDC_MINT, amountIn: 50_000_000n as Amount },
    before: () => held(fixture.wallet, SOL_MINT),
    seen: (_run, before) => { expect(before - held(fixture.wallet, SOL_MINT)).toBe(50_000_000n); },
  },
  {
    option: 'blockhash_slots', swap: '  route: build\n  blockhash_slots: 60',
    seen: ({ blocksLeft }) => {
      expect(blocksLeft).toBeLessThanOrEqual(60);
      expect(blocksLeft).toBeGreaterThan(40);
    },
  },
  {
    option: 'destination_token_account',
    swap: `  route: build\n  destination_token_account: ${accountOf(FRIEND, PEARL)}`,
    signer: `  destinations: [${accountOf(FRIEND, PEARL)}]`, refused: 'SWAP_DESTINATION',
    before: () => held(FRIEND, PEARL),
    seen: ({ fill }, before) => {
      expect(fill).toMatchObject({ receiver: accountOf(FRIEND, PEARL) });
      expect(held(FRIEND, PEARL) - before).toBe(fill!.amountOut);
    },
  },
  {
    option: 'native_destination_account', swap: `  route: build\n  native_destination_account: ${FRIEND}`,
    signer: `  destinations: [${FRIEND}]`, refused: 'CLOSE_DESTINATION', intent: TO_SOL,
    before: () => fixture.sandbox.chain.balance(FRIEND),
    seen: ({ fill }, before) => {
      expect(fill).toMatchObject({ receiver: FRIEND });
      expect(fixture.sandbox.chain.balance(FRIEND) - before).toBe(fill!.amountOut);
    },
  },
  {
    option: 'platform_fee of the output',
    swap: `  route: build\n  platform_fee: { account: ${accountOf(REFERRER, PEARL)}, fee_bps: 40 }`,
    signer: `  fee_accounts: { ${accountOf(REFERRER, PEARL)}: 40 }`, refused: 'PLATFORM_FEE_EXCEEDS',
    before: () => held(REFERRER, PEARL),
    seen: ({ fill }, before) => {
      const fee = held(REFERRER, PEARL) - before;
      expect(Number(fee) / Number(fill!.amountOut + fee)).toBeCloseTo(0.004, 5);
    },
  },
  {
    option: 'platform_fee of the input',
    swap: `  route: build\n  platform_fee: { account: ${accountOf(REFERRER, USDC_MINT)}, fee_bps: 40 }`,
    signer: `  fee_accounts: { ${accountOf(REFERRER, USDC_MINT)}: 40 }`, refused: 'TRANSFER_DESTINATION',
    before: () => held(REFERRER, USDC_MINT),
    seen: (_run, before) => { expect(held(REFERRER, USDC_MINT) - before).toBe(80_000n); },
  },
];

describe('every option lands a swap from YAML alone', () => {
  it.each(ROWS)('$option', async ({ swap, signer, risk, intent, before = () => 0n, seen }) => {
    const earlier = before();
    const run = await fixture.swap({ swap, ...given({ signer, risk }) }, intent);
    expect(run.last).toMatchObject({ state: 'confirmed' });
    seen(run, earlier);
  });

  it('and in a strategy’s own entry, in place of those for all', async () => {
    const { last } = await fixture.swap({
      swap: '  route: order\n  exclude_routers: [rfqz]', own: '  route: build\n  max_accounts: 40',
    });
    expect(last).toMatchObject({ state: 'confirmed', router: 'build' });
  });
});

const rowsOf = (option: string): OptionRow[] => ROWS.filter((row) => /^\w+/.exec(row.option)![0] === option);

describe('the table of docs/swaps.md', () => {
  const documented = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'swaps.md'), 'utf8').split('\n')
    .flatMap((line) => {
      const [, option, route, , allowed] = /^\| `(\w+)` \| ?(\w*) \| (.*) \| ([^|]*) \|$/.exec(line) ?? [];
      return option === undefined ? [] : [{ option, route, allowed }];
    });

  it('names each key of the section once, but for the payer, which is always refused', () => {
    expect([...documented.map(({ option }) => option), 'payer'].toSorted())
      .toEqual(Object.keys(swapSchema.shape).toSorted());
  });

  it.each(documented)('$option lands a swap here on each of its routes', ({ option, route }) => {
    const routes = rowsOf(option).map(({ swap }) => /route: (\w+)/.exec(swap)![1]);
    expect(new Set(routes)).toEqual(new Set(route === '' || route === 'both' ? ['order', 'build'] : [route]));
  });

  it.each(documented.filter(({ allowed }) => allowed !== '–'))(
    '$option is refused here by a signer that does not allow it', ({ option }) => {
      expect(rowsOf(option).map(({ refused }) => refused)).not.toContain(undefined);
    });

  it('names no code that a signer does not give here', () => {
    const codes = documented.flatMap(({ allowed }) => allowed!.match(/(?<=`)[A-Z_]+(?=`)/g) ?? []);
    const given = [...ROWS.map(({ refused }) => refused), ...ABOVE.map(([, code]) => code)];
    expect(codes.length).toBeGreaterThan(5);
    expect(given).toEqual(expect.arrayContaining(codes));
  });
});

/** What a signer allows, but not so much of it. */
const ABOVE: readonly (readonly [name: string, code: string, allowed: Sections, rules: Sections])[] = [
  ['a tip above its own cap', 'TIP_EXCEEDS',
    { swap: '  route: order\n  tip: "0.00004 SOL"', signer: '  max_tip: "0.0001 SOL"' },
    { signer: '  max_tip: "0.00003 SOL"' }],
  ['an own fee above the share of its account', 'PLATFORM_FEE_EXCEEDS', {
    swap: `  route: order\n  referral: { account: ${REFERRER}, fee_bps: 60 }`,
    signer: `  fee_accounts: { ${REFERRER}: 60 }`,
  }, { signer: `  fee_accounts: { ${REFERRER}: 55 }` }],
];

describe('the signer’s own configuration', () => {
  it.each(ROWS.filter(({ refused }) => refused !== undefined))(
    'refuses $option where it does not allow it: $refused', async ({ swap, signer, risk, intent, refused, own }) => {
      const { last } = await fixture.swap({ swap, ...given({ signer, risk }) }, intent, given({ signer: own, risk }));
      expect(last).toMatchObject({ state: 'abandoned', code: refused });
    },
  );

  it.each(ABOVE)('refuses %s: %s', async (_name, code, allowed, rules) => {
    const { last } = await fixture.swap(allowed, {}, rules);
    expect(last).toMatchObject({ state: 'abandoned', code });
  });
});

describe('an option that this run does not carry out', () => {
  it('leaves what an exit brings in the wallet, whatever the receiver of entries is', async () => {
    const before = held(fixture.wallet, USDC_MINT);
    const { last, fill } = await fixture.swap(
      { swap: `  route: order\n  receiver: ${FRIEND}`, signer: `  destinations: [${FRIEND}]` },
      { purpose: 'exit', inputMint: PEARL, outputMint: USDC_MINT, amountIn: 5_000_000n as Amount },
    );
    expect(last).toMatchObject({ state: 'confirmed' });
    expect(fill!.receiver).toBeUndefined();
    expect(held(fixture.wallet, USDC_MINT) - before).toBe(fill!.amountOut);
  });

  it('asks for risk.max_slippage_bps where the automatic slippage is wider, so that exits stay possible', async () => {
    const { last, slippageBps } = await fixture.swap({ swap: '  route: order\n  mode: automatic' });
    expect(last).toMatchObject({ state: 'confirmed' });
    expect([49, 50]).toContain(slippageBps);
  });
});

const REFUSED: readonly (readonly [name: string, sections: Sections, fault: RegExp])[] = [
  ['an option that a build does not know', { swap: '  route: build\n  tip: "0.0001 SOL"' },
    /^\d+:3 swap\.tip: the route "build" does not know it: a build has no tip; remove the key, or .+: order$/m],
  ['an option that an order does not know', { swap: '  route: order\n  max_accounts: 40' },
    /^\d+:3 swap\.max_accounts: the route "order" does not know it: .+ write route: build$/m],
  ['an option of one route without a route', { swap: '  fast: true' },
    /^\d+:3 swap\.fast: only the route "build" knows it: write route: build beside it, or remove the key$/m],
  ['automatic slippage of a build', { swap: '  route: build\n  mode: automatic' },
    /^\d+:9 swap\.mode: a build has no automatic slippage: write mode: manual, or route: order$/m],
  ['an automatic order that is steered', { swap: '  route: order\n  mode: automatic\n  exclude_routers: [rfqz]' },
    /^\d+:3 swap\.exclude_routers: mode: automatic leaves the order to the service.+ write mode: manual$/m],
  ['exchanges both included and excluded',
    { swap: '  route: build\n  include_exchanges: [Lagoon]\n  exclude_exchanges: [Tidepool]' },
    /^\d+:3 swap\.exclude_exchanges: include_exchanges and exclude_exchanges exclude each other: remove one of them$/m],
  ['another payer of fees', { swap: `  route: order\n  payer: ${FRIEND}` },
    /^\d+:3 swap\.payer: another payer of fees would have to sign each swap: .+ remove the key\. .+ by itself$/m],
  ['all routers excluded', { swap: '  route: order\n  exclude_routers: [iris, rfqz, routerA, routerB]' },
    /^\d+:3 swap\.exclude_routers: expected at least one of the routers .+ got all of them$/m],
  ['an unknown router', { swap: '  route: order\n  exclude_routers: [irs]' },
    /^\d+:21 swap\.exclude_routers\[0\]: expected a router out of iris, rfqz, routerA, routerB, got "irs"$/m],
  ['exchanges excluded from a router that is excluded',
    { swap: '  route: order\n  exclude_routers: [iris]\n  exclude_exchanges: [Lagoon]' },
    /^\d+:3 swap\.exclude_exchanges: only the router iris leaves exchanges out.+ remove one of them$/m],
  ['a broadcast fee without a fee', { swap: '  route: order\n  broadcast_fee: max_cap' },
    /^\d+:3 swap\.broadcast_fee: it has no effect without priority_fee or tip.+remove the key$/m],
  ['a tip that the signer does not allow', { swap: '  route: order\n  tip: "0.0001 SOL"', signer: NO_TIPS },
    /^\d+:8 swap\.tip: the signer allows no tip: set signer\.max_tip, or remove the key$/m],
  ['a tip above what the signer allows',
    { swap: '  route: order\n  tip: "0.0002 SOL"', signer: '  max_tip: "0.0001 SOL"' },
    /^\d+:8 swap\.tip: expected at most 0\.0001 SOL, which signer\.max_tip allows, got "0\.0002 SOL"$/m],
  ['a tip above what the signer allows by itself', { swap: '  route: order\n  tip: "0.0002 SOL"' },
    /^\d+:8 swap\.tip: expected at most 0\.0001 SOL, which signer\.max_tip allows, got "0\.0002 SOL"$/m],
  ['a tip in another token', { swap: '  route: order\n  tip: "1 USDC"' },
    /^\d+:8 swap\.tip: expected an amount of SOL such as "0\.0001 SOL", got "1 USDC"$/m],
  ['a receiver that the signer does not pay', { own: `  route: order\n  receiver: ${FRIEND}` },
    /^\d+:17 strategies\[0\]\.swap\.receiver: the signer pays to accounts in signer\.destinations .+remove the key$/m],
  ['two destinations', {
    swap: `  route: build\n  destination_token_account: ${FRIEND}\n  native_destination_account: ${FRIEND}`,
    signer: `  destinations: [${FRIEND}]`,
  }, /^\d+:3 swap\.native_destination_account: .+ exclude each other: remove one of them$/m],
  ['a referral that the signer does not pay',
    { swap: `  route: order\n  referral: { account: ${REFERRER}, fee_bps: 60 }` },
    /^\d+:24 swap\.referral\.account: the signer pays fees to accounts in signer\.fee_accounts .+ with 60 /m],
  ['a fee above the share of its account', {
    swap: `  route: build\n  platform_fee: { account: ${REFERRER}, fee_bps: 60 }`,
    signer: `  fee_accounts: { ${REFERRER}: 50 }`,
  }, /swap\.platform_fee\.fee_bps: signer\.fee_accounts allows this account 50, got 60: raise it there, /m],
  ['a referral fee below the least one', { swap: `  route: order\n  referral: { account: ${REFERRER}, fee_bps: 49 }` },
    /swap\.referral\.fee_bps: expected an integer of 50 to 255, got 49$/m],
  ['more accounts than a transaction can name', { swap: '  route: build\n  max_accounts: 65' },
    /swap\.max_accounts: expected an integer of 1 to 64, got 65$/m],
  ['a blockhash of no length', { swap: '  route: build\n  blockhash_slots: 0' },
    /swap\.blockhash_slots: expected an integer of 1 to 300, got 0$/m],
  ['a tip beyond what can be told from a swap', { signer: '  max_tip: "0.1 SOL"' },
    /signer\.max_tip: expected an amount of SOL of at most "0\.005 SOL", got "0\.1 SOL"$/m],
];

describe('options are refused before a run', () => {
  it.each(REFUSED)('%s', async (_name, sections, fault) => {
    expect((await fixture.faults(sections)).join('\n')).toMatch(fault);
  });
});

function given<T extends object>(members: T): { [K in keyof T]: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as
    { [K in keyof T]: NonNullable<T[K]> };
}
