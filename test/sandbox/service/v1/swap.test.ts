import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../../../src/core/random.ts';
import { associatedTokenAddress, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../../src/sandbox/chain/addresses.ts';
import { SOL, startTestSandbox, USDC, type TestSandbox } from '../sandbox-client.ts';
import { BUY, SELL, transactionOf, v1Of, type Body, type V1 } from './v1-client.ts';

let sandbox: TestSandbox;
let v1: V1;
beforeAll(async () => {
  sandbox = await startTestSandbox({ speed: 0 });
  v1 = v1Of(sandbox);
});
afterAll(() => sandbox.close());

/** How many accounts a transaction makes sure of. */
function accountsMade(body: Body): number {
  const { message } = transactionOf(body);
  return message.compiledInstructions.filter(({ programIdIndex }) =>
    message.staticAccountKeys[programIdIndex]!.toBase58().startsWith('ATokenGP')).length;
}

/** Moves the price of SOL; returns the way back. */
async function movePrice(factor: number): Promise<() => Promise<unknown>> {
  const { usd } = (await sandbox.get('/sandbox/state')).body.prices[0];
  await sandbox.post('/sandbox/price', { mint: SOL, usd: usd * factor });
  return () => sandbox.post('/sandbox/price', { mint: SOL, usd });
}

describe('POST /swap/v1/swap', () => {
  it('makes a transaction of a quote, which lands and pays to the unit', async () => {
    const wallet = await v1.wealthy();
    const quote = await v1.quoted(BUY);
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
      const [input, output] =
        [tokens[Math.floor(random() * tokens.length)]!, tokens[Math.floor(random() * tokens.length)]!];
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
    const wallet = await v1.wealthy();
    const wanted = { ...BUY, amount: '137000000', swapMode: 'ExactOut', slippageBps: 100 };
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
    expect((await v1.land(doomed.swapTransaction, wallet)).err)
      .toMatchObject({ InstructionError: [expect.any(Number), { Custom: 6_001 }] });
    await back();
  });

  it('says beforehand what would fail, and why', async () => {
    const poor = await sandbox.newWallet({ [SOL]: '100000000' });
    const { simulationError } = await v1.swapped(await v1.quoted(BUY), poor);
    expect(simulationError).toMatchObject({ errorCode: 'TRANSACTION_ERROR', error: expect.any(String) });
    const wallet = await v1.wealthy();
    const quote = await v1.quoted({ ...BUY, slippageBps: 10 });
    const back = await movePrice(1.02);
    const body = await v1.swapped(quote, wallet);
    expect(body.simulationError.error).toMatch(/custom program error: 0x1771/);
    await back();
  });

  it('makes an unversioned transaction of an unversioned quote, and of no other', async () => {
    const wallet = await v1.wealthy();
    const long = {
      inputMint: sandbox.mint('KELP'), outputMint: sandbox.mint('BUOY'), amount: '5000000000',
      asLegacyTransaction: 'true',
    };
    await sandbox.post('/sandbox/fund', { owner: wallet.address, mint: sandbox.mint('KELP'), amount: '5000000000' });
    const quote = await v1.quoted(long);
    expect(quote.routePlan).toHaveLength(3);
    const body = await v1.swapped(quote, wallet, { asLegacyTransaction: true });
    expect(transactionOf(body).version).toBe('legacy');
    expect((await v1.land(body.swapTransaction, wallet)).err).toBeNull();
    expect(sandbox.chain.tokenBalance({ owner: wallet.address, mint: sandbox.mint('BUOY') }))
      .toBe(BigInt(quote.outAmount));
    expect((await v1.swap(quote, wallet)).body.error).toMatch(/asLegacyTransaction: expected true/);
    expect((await v1.swap(await v1.quoted(BUY), wallet, { asLegacyTransaction: true })).body.error)
      .toMatch(/asLegacyTransaction: expected false/);
  });

  it('pays a platform\'s fee on the side its account is for', async () => {
    const collector = await sandbox.newWallet({ [USDC]: '1' });
    const accounts = {
      [USDC]: associatedTokenAddress(collector.address, USDC, TOKEN_PROGRAM),
      [SOL]: sandbox.chain.fundToken({ owner: collector.address, mint: SOL, amount: 1n }),
    };
    for (const [feeMint, feeAccount] of Object.entries(accounts)) {
      for (const swapMode of ['ExactIn', 'ExactOut']) {
        const wallet = await v1.wealthy();
        const quote = await v1.quoted({
          ...SELL, amount: swapMode === 'ExactIn' ? SELL.amount : '20000000', swapMode, platformFeeBps: 100,
        });
        const body = await v1.swapped(quote, wallet, { feeAccount });
        const before = {
          fee: sandbox.chain.tokenBalance({ owner: collector.address, mint: feeMint }),
          sol: v1.held(wallet.address, SOL), usdc: v1.held(wallet.address, USDC),
        };
        const { signature, err } = await v1.land(body.swapTransaction, wallet);
        expect(err).toBeNull();
        const fee = sandbox.chain.tokenBalance({ owner: collector.address, mint: feeMint }) - before.fee;
        const received = v1.held(wallet.address, USDC) - before.usdc;
        const spent = before.sol - v1.held(wallet.address, SOL) - sandbox.chain.transaction(signature)!.feeLamports;
        expect(spent).toBeLessThanOrEqual(BigInt(swapMode === 'ExactIn' ? SELL.amount : quote.otherAmountThreshold));
        expect(received)
          .toBeGreaterThanOrEqual(BigInt(swapMode === 'ExactIn' ? quote.otherAmountThreshold : quote.outAmount));
        expect(Number(fee) / Number(feeMint === SOL ? spent : received)).toBeCloseTo(0.01, 3);
      }
    }
  });

  it('lets another pay fees and rent', async () => {
    const wallet = await sandbox.newWallet({ [USDC]: '50000000' });
    const payer = await sandbox.newWallet({ [SOL]: '1000000000' });
    const body = await v1.swapped(
      await v1.quoted({ ...BUY, outputMint: sandbox.mint('PEARL') }), wallet, { payer: payer.address },
    );
    expect((await v1.land(body.swapTransaction, wallet, payer)).err).toBeNull();
    expect(v1.held(wallet.address, SOL)).toBe(0n);
    expect(v1.held(payer.address, SOL)).toBeLessThan(1_000_000_000n - 2_039_280n);
  });

  it('leaves wrapped SOL alone when told so, and needs an account of it then', async () => {
    const wallet = await v1.wealthy();
    for (const query of [BUY, SELL]) {
      const quote = await v1.quoted(query);
      expect((await v1.swap(quote, wallet, { wrapAndUnwrapSol: false })).body.error)
        .toMatch(/wrapAndUnwrapSol: expected true, or an initialised wrapped-SOL account/);
      const blind = await v1.swapped(quote, wallet, { wrapAndUnwrapSol: false, skipUserAccountsRpcCalls: true });
      expect(blind.simulationError === null).toBe(query === BUY);
    }
    sandbox.chain.fundToken({ owner: wallet.address, mint: SOL, amount: 300_000_000n });
    const quote = await v1.quoted(SELL);
    const body = await v1.swapped(quote, wallet, { wrapAndUnwrapSol: false });
    expect((await v1.land(body.swapTransaction, wallet)).err).toBeNull();
    expect(sandbox.chain.tokenBalance({ owner: wallet.address, mint: SOL })).toBe(200_000_000n);
  });

  it('creates no account that exists, unless it must not check', async () => {
    const wallet = await v1.wealthy();
    const quote = await v1.quoted(SELL);
    expect(accountsMade(await v1.swapped(quote, wallet))).toBe(1);
    expect(accountsMade(await v1.swapped(quote, wallet, { skipUserAccountsRpcCalls: true }))).toBe(2);
  });

  it('sends the output to a token account, or SOL to any account as lamports', async () => {
    const [wallet, friend] = [await v1.wealthy(), await sandbox.newWallet({ [USDC]: '1' })];
    const destinationTokenAccount = associatedTokenAddress(friend.address, USDC, TOKEN_PROGRAM);
    const sale = await v1.quoted(SELL);
    expect((await v1.land((await v1.swapped(sale, wallet, { destinationTokenAccount })).swapTransaction, wallet)).err)
      .toBeNull();
    expect(v1.held(friend.address, USDC)).toBe(BigInt(sale.outAmount) + 1n);
    const purchase = await v1.quoted({ ...BUY, instructionVersion: 'V2' });
    const body = await v1.swapped(purchase, wallet, { nativeDestinationAccount: friend.address });
    expect((await v1.land(body.swapTransaction, wallet)).err).toBeNull();
    expect(v1.held(friend.address, SOL)).toBe(BigInt(purchase.outAmount));
    // No check tells whether the account exists; the simulation does.
    expect((await v1.swapped(sale, wallet, { destinationTokenAccount: friend.address })).simulationError)
      .not.toBeNull();
  });

  it('creates and closes accounts for intermediate tokens without shared accounts', async () => {
    const kelp = { inputMint: sandbox.mint('KELP'), outputMint: sandbox.mint('TIDE'), amount: '5000000000' };
    const wallet = await sandbox.newWallet({ [SOL]: '100000000', [kelp.inputMint]: '5000000000' });
    const quote = await v1.quoted(kelp);
    const [shared, own] = [
      await v1.swapped(quote, wallet, { useSharedAccounts: true }),
      await v1.swapped(quote, wallet, { useSharedAccounts: false }),
    ];
    expect(transactionOf(own).message.compiledInstructions.length)
      .toBe(transactionOf(shared).message.compiledInstructions.length + 2 * (quote.routePlan.length - 1));
    const before = v1.held(wallet.address, SOL);
    const { signature, err } = await v1.land(own.swapTransaction, wallet);
    expect(err).toBeNull();
    expect(before - v1.held(wallet.address, SOL)).toBe(sandbox.chain.transaction(signature)!.feeLamports + 2_039_280n);
    const estuary = await v1.quoted({ inputMint: sandbox.mint('CONCH'), outputMint: USDC, amount: '5000000' });
    expect((await v1.swap(estuary, wallet, { useSharedAccounts: true })).body)
      .toEqual({ error: expect.stringMatching(/Estuary/), errorCode: 'NOT_SUPPORTED' });
  });

  it('estimates the slippage when told so', async () => {
    const wallet = await v1.wealthy();
    const quote = await v1.quoted({ ...BUY, slippageBps: 1 });
    const still = (await v1.swapped(quote, wallet, { dynamicSlippage: true })).dynamicSlippageReport;
    expect(still).toEqual({
      slippageBps: 60, otherAmount: Math.ceil(Number(quote.outAmount) * 0.994), simulatedIncurredSlippageBps: 0,
      amplificationRatio: '1.5',
    });
    const back = await movePrice(1.01);
    const moved = await v1.swapped(quote, wallet, { dynamicSlippage: true });
    expect(moved.dynamicSlippageReport.simulatedIncurredSlippageBps).toBeGreaterThan(80);
    expect(moved.dynamicSlippageReport.slippageBps).toBeGreaterThan(120);
    expect((await v1.land(moved.swapTransaction, wallet)).err).toBeNull();
    expect((await v1.swapped(quote, wallet)).simulationError).not.toBeNull();
    await back();
  });

  it('is found by the account it is tracked with', async () => {
    const [wallet, tracker] = [await v1.wealthy(), await sandbox.newWallet()];
    const body = await v1.swapped(await v1.quoted(BUY), wallet, { trackingAccount: tracker.address });
    const { signature } = await v1.land(body.swapTransaction, wallet);
    const { result } = await sandbox.rpc('getSignaturesForAddress', [tracker.address, { commitment: 'confirmed' }]);
    expect(result.map((entry: Body) => entry.signature)).toEqual([signature]);
  });

  it('lives as long as it is told', async () => {
    const wallet = await v1.wealthy();
    const quote = await v1.quoted(BUY);
    for (const [slots, atLeast] of [[20, 15], [150, 145], [255, 145], [0, 0]] as const) {
      const left = (await v1.swapped(quote, wallet, { blockhashSlotsToExpiry: slots })).lastValidBlockHeight
        - sandbox.chain.blockHeight;
      expect(left).toBeGreaterThan(atLeast);
      expect(left).toBeLessThanOrEqual(Math.max(slots, 1));
    }
  });

  it('swaps tokens of the extended program', async () => {
    const wallet = await v1.wealthy();
    const quote = await v1.quoted({ ...BUY, outputMint: sandbox.mint('BUOY') });
    expect((await v1.land((await v1.swapped(quote, wallet)).swapTransaction, wallet)).err).toBeNull();
    expect(sandbox.chain.account(associatedTokenAddress(wallet.address, sandbox.mint('BUOY'), TOKEN_2022_PROGRAM)))
      .toBeDefined();
    expect(v1.held(wallet.address, sandbox.mint('BUOY'))).toBe(BigInt(quote.outAmount));
  });
});
