import { VersionedTransaction } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../../../src/core/random.ts';
import { associatedTokenAddress, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../../src/sandbox/chain/addresses.ts';
import { SOL, startTestSandbox, USDC, type TestSandbox, type TestWallet } from '../sandbox-client.ts';
import { v1Of, type Body, type V1 } from './v1-client.ts';

let sandbox: TestSandbox;
let v1: V1;
beforeAll(async () => {
  sandbox = await startTestSandbox({ speed: 0 });
  v1 = v1Of(sandbox);
});
afterAll(() => sandbox.close());

const buy = { inputMint: USDC, outputMint: SOL, amount: '25000000' };
const sell = { inputMint: SOL, outputMint: USDC, amount: '100000000' };
const wealthy = (): Promise<TestWallet> => sandbox.newWallet({ [SOL]: '5000000000', [USDC]: '500000000' });

function read({ swapTransaction }: Body): VersionedTransaction {
  return VersionedTransaction.deserialize(Buffer.from(swapTransaction, 'base64'));
}

function unitLimit(body: Body): number {
  const data = read(body).message.compiledInstructions.map((instruction) => Buffer.from(instruction.data)).find((bytes) => bytes.length === 5 && bytes[0] === 2)!;
  return data.readUInt32LE(1);
}

/** How many accounts a transaction makes sure of. */
function accountsMade(body: Body): number {
  const { message } = read(body);
  return message.compiledInstructions.filter(({ programIdIndex }) => message.staticAccountKeys[programIdIndex]!.toBase58().startsWith('ATokenGP')).length;
}

/** Moves the price of SOL; returns the way back. */
async function movePrice(factor: number): Promise<() => Promise<unknown>> {
  const { usd } = (await sandbox.get('/sandbox/state')).body.prices[0];
  await sandbox.post('/sandbox/price', { mint: SOL, usd: usd * factor });
  return () => sandbox.post('/sandbox/price', { mint: SOL, usd });
}

describe('POST /swap/v1/swap', () => {
  it('makes a transaction of a quote, which lands and pays to the unit', async () => {
    const wallet = await wealthy();
    const quote = await v1.quoted(buy);
    const body = await v1.swapped(quote, wallet);
    expect(body).toEqual({
      swapTransaction: expect.stringMatching(/^[A-Za-z0-9+/=]+$/), lastValidBlockHeight: expect.any(Number),
      prioritizationFeeLamports: expect.any(Number), simulationError: null,
    });
    const before = { sol: v1.held(wallet.address, SOL), usdc: v1.held(wallet.address, USDC) };
    const { signature, err } = await v1.land(body.swapTransaction, wallet);
    expect(err).toBeNull();
    const { feeLamports } = sandbox.chain.transaction(signature)!;
    expect(feeLamports).toBe(5_000n + BigInt(body.prioritizationFeeLamports));
    expect(v1.held(wallet.address, SOL) - before.sol + feeLamports).toBe(BigInt(quote.outAmount));
    expect(before.usdc - v1.held(wallet.address, USDC)).toBe(25_000_000n);
  });

  it('delivers with ExactOut at least what was asked for, for at most the threshold, whatever the pair', async () => {
    const random = seededRandom('exact out');
    const { tokens } = sandbox.addresses;
    const wallet = await sandbox.newWallet({ [SOL]: '100000000000000' });
    for (const { mint, decimals } of tokens) {
      if (mint !== SOL) sandbox.chain.fundToken({ owner: wallet.address, mint, amount: 10n ** BigInt(decimals + 6) });
    }
    const { body: state } = await sandbox.get('/sandbox/state');
    let landed = 0;
    for (let i = 0; i < 80; i++) {
      const [input, output] = [tokens[Math.floor(random() * tokens.length)]!, tokens[Math.floor(random() * tokens.length)]!];
      if (input === output) continue;
      const { usd } = state.prices.find((price: Body) => price.mint === output.mint);
      const amount = Math.max(1, Math.floor(((1 + random() * 80) / usd) * 10 ** output.decimals)).toString();
      const answer = await v1.quote({ inputMint: input.mint, outputMint: output.mint, amount, swapMode: 'ExactOut' });
      if (answer.status === 400) continue;
      const quote = answer.body;
      const body = await v1.swapped(quote, wallet);
      expect(body.simulationError).toBeNull();
      const before = { input: v1.held(wallet.address, input.mint), output: v1.held(wallet.address, output.mint) };
      const { signature, err } = await v1.land(body.swapTransaction, wallet);
      expect(err).toBeNull();
      const fee = (mint: string): bigint => (mint === SOL ? sandbox.chain.transaction(signature)!.feeLamports : 0n);
      const received = v1.held(wallet.address, output.mint) - before.output + fee(output.mint);
      const spent = before.input - v1.held(wallet.address, input.mint) - fee(input.mint);
      expect(spent).toBe(BigInt(quote.inAmount));
      expect(received).toBe(BigInt(quote.routePlan.at(-1).swapInfo.outAmount));
      expect(received).toBeGreaterThanOrEqual(BigInt(amount));
      landed += 1;
    }
    expect(landed).toBeGreaterThan(30);
  });

  it('takes with ExactOut what the price of now asks for, as long as the threshold allows', async () => {
    const wallet = await wealthy();
    const wanted = { ...buy, amount: '137000000', swapMode: 'ExactOut', slippageBps: 100 };
    const quote = await v1.quoted(wanted);
    const back = await movePrice(1.004);
    const body = await v1.swapped(quote, wallet);
    expect(body.simulationError).toBeNull();
    const before = v1.held(wallet.address, USDC);
    expect((await v1.land(body.swapTransaction, wallet)).err).toBeNull();
    const spent = before - v1.held(wallet.address, USDC);
    expect(spent).toBeGreaterThan(BigInt(quote.inAmount));
    expect(spent).toBeLessThanOrEqual(BigInt(quote.otherAmountThreshold));
    await movePrice(1.02);
    const doomed = await v1.swapped(quote, wallet);
    expect(doomed.simulationError).toEqual({ errorCode: 'TRANSACTION_ERROR', error: expect.stringMatching(/0x1771/) });
    expect((await v1.land(doomed.swapTransaction, wallet)).err).toMatchObject({ InstructionError: [expect.any(Number), { Custom: 6_001 }] });
    await back();
  });

  it('says beforehand what would fail, and why', async () => {
    const poor = await sandbox.newWallet({ [SOL]: '100000000' });
    const { simulationError } = await v1.swapped(await v1.quoted(buy), poor);
    expect(simulationError).toMatchObject({ errorCode: 'TRANSACTION_ERROR', error: expect.any(String) });
    const wallet = await wealthy();
    const quote = await v1.quoted({ ...buy, slippageBps: 10 });
    const back = await movePrice(1.02);
    const body = await v1.swapped(quote, wallet);
    expect(body.simulationError.error).toMatch(/custom program error: 0x1771/);
    await back();
  });

  it('makes a legacy transaction of a legacy quote, and of no other', async () => {
    const wallet = await wealthy();
    const long = { inputMint: sandbox.mint('KELP'), outputMint: sandbox.mint('BUOY'), amount: '5000000000', asLegacyTransaction: 'true' };
    await sandbox.post('/sandbox/fund', { owner: wallet.address, mint: sandbox.mint('KELP'), amount: '5000000000' });
    const quote = await v1.quoted(long);
    expect(quote.routePlan).toHaveLength(3);
    const body = await v1.swapped(quote, wallet, { asLegacyTransaction: true });
    expect(read(body).version).toBe('legacy');
    expect((await v1.land(body.swapTransaction, wallet)).err).toBeNull();
    expect(sandbox.chain.tokenBalance({ owner: wallet.address, mint: sandbox.mint('BUOY') })).toBe(BigInt(quote.outAmount));
    expect((await v1.swap(quote, wallet)).body.error).toMatch(/asLegacyTransaction: expected true/);
    expect((await v1.swap(await v1.quoted(buy), wallet, { asLegacyTransaction: true })).body.error).toMatch(/asLegacyTransaction: expected false/);
  });

  it('pays a platform\'s fee on the side its account is for', async () => {
    const collector = await sandbox.newWallet({ [USDC]: '1' });
    const accounts = {
      [USDC]: associatedTokenAddress(collector.address, USDC, TOKEN_PROGRAM), [SOL]: sandbox.chain.fundToken({ owner: collector.address, mint: SOL, amount: 1n }),
    };
    for (const [feeMint, feeAccount] of Object.entries(accounts)) {
      for (const swapMode of ['ExactIn', 'ExactOut']) {
        const wallet = await wealthy();
        const quote = await v1.quoted({ ...sell, amount: swapMode === 'ExactIn' ? sell.amount : '20000000', swapMode, platformFeeBps: 100 });
        const body = await v1.swapped(quote, wallet, { feeAccount });
        const before = { fee: sandbox.chain.tokenBalance({ owner: collector.address, mint: feeMint }), sol: v1.held(wallet.address, SOL), usdc: v1.held(wallet.address, USDC) };
        const { signature, err } = await v1.land(body.swapTransaction, wallet);
        expect(err).toBeNull();
        const fee = sandbox.chain.tokenBalance({ owner: collector.address, mint: feeMint }) - before.fee;
        const received = v1.held(wallet.address, USDC) - before.usdc;
        const spent = before.sol - v1.held(wallet.address, SOL) - sandbox.chain.transaction(signature)!.feeLamports;
        expect(spent).toBeLessThanOrEqual(BigInt(swapMode === 'ExactIn' ? sell.amount : quote.otherAmountThreshold));
        expect(received).toBeGreaterThanOrEqual(BigInt(swapMode === 'ExactIn' ? quote.otherAmountThreshold : quote.outAmount));
        expect(Number(fee) / Number(feeMint === SOL ? spent : received)).toBeCloseTo(0.01, 3);
      }
    }
  });

  it('lets another pay fees and rent', async () => {
    const wallet = await sandbox.newWallet({ [USDC]: '50000000' });
    const payer = await sandbox.newWallet({ [SOL]: '1000000000' });
    const body = await v1.swapped(await v1.quoted({ ...buy, outputMint: sandbox.mint('PEARL') }), wallet, { payer: payer.address });
    expect((await v1.land(body.swapTransaction, wallet, payer)).err).toBeNull();
    expect(v1.held(wallet.address, SOL)).toBe(0n);
    expect(v1.held(payer.address, SOL)).toBeLessThan(1_000_000_000n - 2_039_280n);
  });

  it('leaves wrapped SOL alone when told so, and needs an account of it then', async () => {
    const wallet = await wealthy();
    for (const query of [buy, sell]) {
      const quote = await v1.quoted(query);
      expect((await v1.swap(quote, wallet, { wrapAndUnwrapSol: false })).body.error).toMatch(/wrapAndUnwrapSol: expected true, or an initialised wrapped-SOL account/);
      const blind = await v1.swapped(quote, wallet, { wrapAndUnwrapSol: false, skipUserAccountsRpcCalls: true });
      expect(blind.simulationError === null).toBe(query === buy);
    }
    sandbox.chain.fundToken({ owner: wallet.address, mint: SOL, amount: 300_000_000n });
    const quote = await v1.quoted(sell);
    const body = await v1.swapped(quote, wallet, { wrapAndUnwrapSol: false });
    expect((await v1.land(body.swapTransaction, wallet)).err).toBeNull();
    expect(sandbox.chain.tokenBalance({ owner: wallet.address, mint: SOL })).toBe(200_000_000n);
  });

  it('makes no account that is there, unless it must not look', async () => {
    const wallet = await wealthy();
    const quote = await v1.quoted(sell);
    expect(accountsMade(await v1.swapped(quote, wallet))).toBe(1);
    expect(accountsMade(await v1.swapped(quote, wallet, { skipUserAccountsRpcCalls: true }))).toBe(2);
  });

  it('sends the output to a token account, or SOL to any account as lamports', async () => {
    const [wallet, friend] = [await wealthy(), await sandbox.newWallet({ [USDC]: '1' })];
    const destinationTokenAccount = associatedTokenAddress(friend.address, USDC, TOKEN_PROGRAM);
    const sale = await v1.quoted(sell);
    expect((await v1.land((await v1.swapped(sale, wallet, { destinationTokenAccount })).swapTransaction, wallet)).err).toBeNull();
    expect(v1.held(friend.address, USDC)).toBe(BigInt(sale.outAmount) + 1n);
    const purchase = await v1.quoted({ ...buy, instructionVersion: 'V2' });
    const body = await v1.swapped(purchase, wallet, { nativeDestinationAccount: friend.address });
    expect((await v1.land(body.swapTransaction, wallet)).err).toBeNull();
    expect(v1.held(friend.address, SOL)).toBe(BigInt(purchase.outAmount));
    // Nobody looks whether the account is there; the rehearsal tells.
    expect((await v1.swapped(sale, wallet, { destinationTokenAccount: friend.address })).simulationError).not.toBeNull();
  });

  it('makes and closes accounts for the tokens between where shared ones are not wanted, and knows markets that want none', async () => {
    const kelp = { inputMint: sandbox.mint('KELP'), outputMint: sandbox.mint('TIDE'), amount: '5000000000' };
    const wallet = await sandbox.newWallet({ [SOL]: '100000000', [kelp.inputMint]: '5000000000' });
    const quote = await v1.quoted(kelp);
    const [shared, own] = [await v1.swapped(quote, wallet, { useSharedAccounts: true }), await v1.swapped(quote, wallet, { useSharedAccounts: false })];
    expect(read(own).message.compiledInstructions.length).toBe(read(shared).message.compiledInstructions.length + 2 * (quote.routePlan.length - 1));
    const before = v1.held(wallet.address, SOL);
    const { signature, err } = await v1.land(own.swapTransaction, wallet);
    expect(err).toBeNull();
    expect(before - v1.held(wallet.address, SOL)).toBe(sandbox.chain.transaction(signature)!.feeLamports + 2_039_280n);
    const estuary = await v1.quoted({ inputMint: sandbox.mint('CONCH'), outputMint: USDC, amount: '5000000' });
    expect((await v1.swap(estuary, wallet, { useSharedAccounts: true })).body).toEqual({ error: expect.stringMatching(/Estuary/), errorCode: 'NOT_SUPPORTED' });
  });

  it('bids what it is told', async () => {
    const wallet = await wealthy();
    const quote = await v1.quoted(buy);
    const paid = async (fields: Record<string, unknown>): Promise<number> => (await v1.swapped(quote, wallet, fields)).prioritizationFeeLamports;
    const fee = (prioritizationFeeLamports: unknown): Promise<number> => paid({ prioritizationFeeLamports });
    const level = (priorityLevel: string, maxLamports: number): Promise<number> => fee({ priorityLevelWithMaxLamports: { priorityLevel, maxLamports, global: true } });
    expect(await fee(54_321)).toBe(54_321);
    expect(await fee(0)).toBe(0);
    expect(await paid({ computeUnitPriceMicroLamports: 1_000 })).toBe(1_400);
    const automatic = await fee('auto');
    expect(await fee(null)).toBeCloseTo(automatic, -2);
    const [medium, high, veryHigh] = [await level('medium', 10 ** 9), await level('high', 10 ** 9), await level('veryHigh', 10 ** 9)];
    expect(medium).toBeLessThan(high);
    expect(high).toBeLessThan(veryHigh);
    expect(await level('veryHigh', 777)).toBeLessThanOrEqual(777);
    expect(await fee({ bundleTipLamports: 66_000 })).toBe(66_000);
  });

  it('pays a tip to a builder instead of a fee to the chain, by whomever it is told', async () => {
    const [wallet, tipper] = [await wealthy(), await sandbox.newWallet({ [SOL]: '10000000' })];
    const quote = await v1.quoted(sell);
    const body = await v1.swapped(quote, wallet, { prioritizationFeeLamports: { bundleTipLamportsWithPayer: { lamports: 66_000, payer: tipper.address } } });
    const { signature, err } = await v1.land(body.swapTransaction, wallet, tipper);
    expect(err).toBeNull();
    expect(v1.held(tipper.address, SOL)).toBe(9_934_000n);
    expect(sandbox.chain.transaction(signature)!.feeLamports).toBe(10_000n);
  });

  it('limits compute units by a rehearsal when told so', async () => {
    const wallet = await wealthy();
    const quote = await v1.quoted(buy);
    expect(unitLimit(await v1.swapped(quote, wallet))).toBe(1_400_000);
    const dynamic = await v1.swapped(quote, wallet, { dynamicComputeUnitLimit: true });
    expect(unitLimit(dynamic)).toBeLessThan(300_000);
    expect((await v1.land(dynamic.swapTransaction, wallet)).err).toBeNull();
    const doomed = await v1.swapped(quote, await sandbox.newWallet({ [SOL]: '100000000' }), { dynamicComputeUnitLimit: true });
    expect([unitLimit(doomed), doomed.simulationError === null]).toEqual([1_400_000, false]);
  });

  it('estimates the slippage when told so', async () => {
    const wallet = await wealthy();
    const quote = await v1.quoted({ ...buy, slippageBps: 1 });
    const still = (await v1.swapped(quote, wallet, { dynamicSlippage: true })).dynamicSlippageReport;
    expect(still).toEqual({ slippageBps: 60, otherAmount: Math.ceil(Number(quote.outAmount) * 0.994), simulatedIncurredSlippageBps: 0, amplificationRatio: '1.5' });
    const back = await movePrice(1.01);
    const moved = await v1.swapped(quote, wallet, { dynamicSlippage: true });
    expect(moved.dynamicSlippageReport.simulatedIncurredSlippageBps).toBeGreaterThan(80);
    expect(moved.dynamicSlippageReport.slippageBps).toBeGreaterThan(120);
    expect((await v1.land(moved.swapTransaction, wallet)).err).toBeNull();
    expect((await v1.swapped(quote, wallet)).simulationError).not.toBeNull();
    await back();
  });

  it('is found by the account it is tracked with', async () => {
    const [wallet, tracker] = [await wealthy(), await sandbox.newWallet()];
    const body = await v1.swapped(await v1.quoted(buy), wallet, { trackingAccount: tracker.address });
    const { signature } = await v1.land(body.swapTransaction, wallet);
    const { result } = await sandbox.rpc('getSignaturesForAddress', [tracker.address, { commitment: 'confirmed' }]);
    expect(result.map((entry: Body) => entry.signature)).toEqual([signature]);
  });

  it('lives as long as it is told', async () => {
    const wallet = await wealthy();
    const quote = await v1.quoted(buy);
    for (const [slots, atLeast] of [[20, 15], [150, 145], [255, 145], [0, 0]] as const) {
      const left = (await v1.swapped(quote, wallet, { blockhashSlotsToExpiry: slots })).lastValidBlockHeight - sandbox.chain.blockHeight;
      expect(left).toBeGreaterThan(atLeast);
      expect(left).toBeLessThanOrEqual(Math.max(slots, 1));
    }
  });

  it('swaps tokens of the extended program', async () => {
    const wallet = await wealthy();
    const quote = await v1.quoted({ ...buy, outputMint: sandbox.mint('BUOY') });
    expect((await v1.land((await v1.swapped(quote, wallet)).swapTransaction, wallet)).err).toBeNull();
    expect(sandbox.chain.account(associatedTokenAddress(wallet.address, sandbox.mint('BUOY'), TOKEN_2022_PROGRAM))).toBeDefined();
    expect(v1.held(wallet.address, sandbox.mint('BUOY'))).toBe(BigInt(quote.outAmount));
  });
});

describe('POST /swap/v1/swap takes back what it quoted, and nothing else', () => {
  it('in any order of members, with a threshold of one\'s own and members that it does not know', async () => {
    const wallet = await wealthy();
    const quote = await v1.quoted(buy);
    const reversed = Object.fromEntries(Object.entries(quote).reverse());
    expect((await v1.swap(reversed, wallet)).status).toBe(200);
    expect((await v1.swap({ ...quote, otherAmountThreshold: '1', mine: { more: [1] } }, wallet)).status).toBe(200);
  });

  it.each([
    ['another output', (quote: Body) => ({ ...quote, outAmount: (BigInt(quote.outAmount) + 1n).toString() })],
    ['more slippage', (quote: Body) => ({ ...quote, slippageBps: 5_000 })],
    ['a number for a text', (quote: Body) => ({ ...quote, inAmount: Number(quote.inAmount) })],
    ['another market', (quote: Body) => ({ ...quote, routePlan: [{ ...quote.routePlan[0], swapInfo: { ...quote.routePlan[0].swapInfo, label: 'Tidepool' } }] })],
    ['a member less', ({ contextSlot: _contextSlot, ...quote }: Body) => quote],
    ['one of its own making', () => ({})],
  ])('but not with %s', async (_name, change) => {
    const answer = await v1.swap(change(await v1.quoted(buy)), await wealthy());
    expect([answer.status, answer.body]).toEqual([400, { error: expect.stringMatching(/quoteResponse: expected a quote as GET \/swap\/v1\/quote gave it/) }]);
  });

  it('however old it is, and never what another quoted', async () => {
    const [wallet, quote] = [await wealthy(), await v1.quoted(buy)];
    const another = await startTestSandbox({ speed: 0, seed: 8 });
    try {
      expect((await v1Of(another).swap(quote, wallet)).status).toBe(400);
      await sandbox.passSlots(200);
      expect((await v1.swapped(quote, wallet)).simulationError).toBeNull();
    } finally {
      await another.close();
    }
  });
});

describe('POST /swap/v1/swap refuses', () => {
  const address = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
  const level = { priorityLevelWithMaxLamports: { priorityLevel: 'high', maxLamports: 5 } };
  const cases: [string, number, Record<string, unknown>, RegExp][] = [
    ['no user', 422, { userPublicKey: undefined }, /userPublicKey: missing/],
    ['a user that is no address', 422, { userPublicKey: 'me' }, /userPublicKey: expected a base58 address, got "me"/],
    ['no quote', 422, { quoteResponse: null }, /quoteResponse: missing/],
    ['a quote that is none', 422, { quoteResponse: 'best' }, /quoteResponse: expected an object/],
    ['a list for a quote', 422, { quoteResponse: [] }, /quoteResponse: expected an object/],
    ['a payer that is no address', 422, { payer: 5 }, /payer/],
    ['a text for a boolean', 422, { wrapAndUnwrapSol: 'true' }, /wrapAndUnwrapSol: expected true or false/],
    ['a fraction for a fee', 422, { prioritizationFeeLamports: 1.5 }, /prioritizationFeeLamports/],
    ['a negative fee', 422, { prioritizationFeeLamports: -1 }, /prioritizationFeeLamports/],
    ['a fee in words', 422, { prioritizationFeeLamports: 'lots' }, /prioritizationFeeLamports: expected whole lamports, "auto"/],
    ['a fee in no known form', 400, { prioritizationFeeLamports: { some: 1 } }, /prioritizationFeeLamports/],
    ['an unknown level', 422, { prioritizationFeeLamports: { priorityLevelWithMaxLamports: { priorityLevel: 'utmost', maxLamports: 5 } } }, /priorityLevel: expected one of medium, high, veryHigh/],
    ['a level without a limit', 422, { prioritizationFeeLamports: { priorityLevelWithMaxLamports: { priorityLevel: 'high' } } }, /maxLamports/],
    ['a fee and a tip', 400, { prioritizationFeeLamports: { ...level, bundleTipLamports: 5 } }, /prioritizationFeeLamports/],
    ['a price and a fee', 400, { prioritizationFeeLamports: 5, computeUnitPriceMicroLamports: 5 }, /expected one of them, got both/],
    ['a lifetime beyond 8 bits', 422, { blockhashSlotsToExpiry: 256 }, /blockhashSlotsToExpiry: expected a whole number of 0 to 255/],
    ['both destinations', 400, { destinationTokenAccount: address, nativeDestinationAccount: address }, /destinationTokenAccount and nativeDestinationAccount/],
    ['a native destination with V1 instructions', 400, { nativeDestinationAccount: address }, /instructionVersion V2/],
  ];
  it.each(cases)('%s: %i', async (_name, status, fields, error) => {
    const answer = await v1.swap(await v1.quoted(buy), await wealthy(), fields);
    expect([answer.status, answer.body.error], answer.text).toEqual([status, expect.stringMatching(error)]);
  });

  it('a price beside a fee with a code', async () => {
    const answer = await v1.swap(await v1.quoted(buy), await wealthy(), { prioritizationFeeLamports: level, computeUnitPriceMicroLamports: 5 });
    expect(answer.body.errorCode).toBe('INVALID_COMPUTE_UNIT_PRICE_AND_PRIORITIZATION_FEE');
  });

  it('a native destination of another output, of a token program, or of too little', async () => {
    const wallet = await wealthy();
    const refused = async (query: Record<string, string>, nativeDestinationAccount: string): Promise<string> => {
      const answer = await v1.swap(await v1.quoted({ ...query, instructionVersion: 'V2' }), wallet, { nativeDestinationAccount });
      expect(answer.status).toBe(400);
      return answer.body.error;
    };
    expect(await refused(sell, wallet.address)).toMatch(/nativeDestinationAccount: expected a quote whose output is SOL/);
    expect(await refused(buy, associatedTokenAddress(wallet.address, USDC, TOKEN_PROGRAM))).toMatch(/no token program owns/);
    expect(await refused({ ...buy, amount: '100000' }, (await sandbox.newWallet()).address)).toMatch(/at least 2039280 lamports/);
  });

  it('a fee without its account, and an account of a third mint', async () => {
    const wallet = await wealthy();
    const quote = await v1.quoted({ ...buy, platformFeeBps: 20 });
    expect((await v1.swap(quote, wallet)).body.error).toMatch(/feeAccount: missing/);
    const feeAccount = sandbox.chain.fundToken({ owner: wallet.address, mint: sandbox.mint('KELP'), amount: 1n });
    expect((await v1.swap(quote, wallet, { feeAccount })).body.error).toMatch(/feeAccount: expected an initialised token account of/);
  });

  it('a body that is JSON and no object: 422', async () => {
    for (const body of [[], 5, null, 'x']) {
      const answer = await sandbox.post('/swap/v1/swap', body);
      expect([answer.status, answer.body]).toEqual([422, { error: 'the body: expected an object' }]);
    }
  });
});

describe('POST /swap/v1/swap-instructions', () => {
  it('gives the same swap in pieces', async () => {
    const wallet = await wealthy();
    const quoteResponse = await v1.quoted(buy);
    const { status, body } = await sandbox.post('/swap/v1/swap-instructions', { userPublicKey: wallet.address, quoteResponse, prioritizationFeeLamports: { bundleTipLamports: 5_000 } });
    const wire = { programId: expect.any(String), accounts: expect.any(Array), data: expect.stringMatching(/^[A-Za-z0-9+/=]+$/) };
    expect(status).toBe(200);
    expect(body).toEqual({
      tokenLedgerInstruction: null, computeBudgetInstructions: [wire, wire], setupInstructions: [wire], swapInstruction: wire, cleanupInstruction: wire,
      otherInstructions: [wire], addressLookupTableAddresses: [expect.any(String)],
    });
    expect(body.swapInstruction.accounts[0]).toEqual({ pubkey: wallet.address, isSigner: true, isWritable: false });
  });

  it('says more on the live service', async () => {
    const live = await startTestSandbox({ speed: 0, profile: 'live' });
    try {
      const theirs = v1Of(live);
      const wallet = await live.newWallet({ [SOL]: '1000000000', [USDC]: '100000000' });
      const quote = await theirs.quoted(buy);
      const fields = { userPublicKey: wallet.address, quoteResponse: quote };
      const { body } = await live.post('/swap/v1/swap-instructions', fields);
      expect(body).toMatchObject({
        prioritizationFeeLamports: expect.any(Number), computeUnitLimit: 1_400_000, prioritizationType: { computeBudget: { microLamports: expect.any(Number) } },
        simulationSlot: live.chain.slot, simulationError: null, dynamicSlippageReport: null, blockhashWithMetadata: { lastValidBlockHeight: expect.any(Number) },
      });
      expect(Object.keys(body.addressesByLookupTableAddress)).toEqual(body.addressLookupTableAddresses);
      const swapped = await theirs.swapped(quote, wallet);
      expect((await theirs.land(swapped.swapTransaction, wallet)).err).toBeNull();
      // What the live service alone says of a quote must come back, too.
      const { updateContextSlot: _updateContextSlot, ...without } = quote;
      expect((await theirs.swap(without, wallet)).status).toBe(400);
    } finally {
      await live.close();
    }
  });
});
