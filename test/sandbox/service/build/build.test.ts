import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { associatedTokenAddress, TOKEN_PROGRAM } from '../../../../src/sandbox/chain/addresses.ts';
import { createTokenAccount, toWire } from '../../../../src/sandbox/service/build/instructions.ts';
import { composeBuild } from '../build-client.ts';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox, type TestWallet } from '../sandbox-client.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const plain = { inputMint: USDC, outputMint: SOL, amount: '25000000' };

function build(query: Record<string, string | number>): Promise<Answer> {
  return sandbox.get('/swap/v2/build', { taker: sandbox.wallet.address, ...query });
}

function labels(answer: Answer): string[] {
  return answer.body.routePlan.map((entry: { swapInfo: { label: string } }) => entry.swapInfo.label);
}

/** Sends over JSON-RPC and returns the status once the next slot confirms it. */
async function land(body: Answer['body'], wallet: TestWallet): Promise<{ signature: string; err: unknown }> {
  const sent = await sandbox.rpc(
    'sendTransaction', [wallet.sign(composeBuild(body, wallet.address)), { encoding: 'base64', skipPreflight: true }],
  );
  expect(sent.error).toBeUndefined();
  await sandbox.passSlots(1);
  const status = await sandbox.rpc('getSignatureStatuses', [[sent.result]]);
  return { signature: sent.result, err: status.result.value[0].err };
}

describe('GET /swap/v2/build refuses with 400 and an error', () => {
  const address = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
  const cases: [string, Record<string, string | number>, RegExp][] = [
    ['no inputMint', { inputMint: '' }, /inputMint/],
    ['no amount', { amount: '' }, /amount/],
    ['an empty taker', { taker: '' }, /taker/],
    ['a taker that is no address', { taker: 'me' }, /taker: expected a base58 address/],
    ['twice the same mint', { outputMint: USDC }, /outputMint/],
    ['an amount of zero', { amount: 0 }, /amount/],
    ['a slippage beyond 10000', { slippageBps: 10_001 }, /slippageBps/],
    ['another mode', { mode: 'slow' }, /mode: expected one of fast/],
    ['dexes with excludeDexes', { dexes: 'Lagoon', excludeDexes: 'Tidepool' }, /dexes and excludeDexes/],
    ['an unknown dex', { dexes: 'lagoon' }, /No routes found/],
    ['a fee beyond 10000', { platformFeeBps: 10_001, feeAccount: address }, /platformFeeBps/],
    ['a positive fee without feeAccount', { platformFeeBps: 1 }, /feeAccount: missing/],
    [
      'a feeAccount that is no token account', { platformFeeBps: 1, feeAccount: address },
      /feeAccount: expected an initialised token account/,
    ],
    ['maxAccounts of zero', { maxAccounts: 0 }, /maxAccounts: expected an integer of 1 to 64/],
    ['maxAccounts beyond 64', { maxAccounts: 65 }, /maxAccounts/],
    ['maxAccounts that no route keeps', { maxAccounts: 5 }, /No routes found/],
    ['a payer that is no address', { payer: '-' }, /payer/],
    ['wrapAndUnwrapSol that is no boolean', { wrapAndUnwrapSol: 'maybe' }, /wrapAndUnwrapSol: expected true or false/],
    [
      'both destinations', { destinationTokenAccount: address, nativeDestinationAccount: address },
      /destinationTokenAccount and nativeDestinationAccount/,
    ],
    [
      'a destination that is no token account', { destinationTokenAccount: address },
      /destinationTokenAccount: expected an initialised token account/,
    ],
    [
      'a native destination for a token', { inputMint: SOL, outputMint: USDC, nativeDestinationAccount: address },
      /nativeDestinationAccount: expected SOL/,
    ],
    [
      'a native destination that a token program owns', { nativeDestinationAccount: address },
      /nativeDestinationAccount: expected an account that no token program owns/,
    ],
    ['a native destination of almost nothing', {
      amount: '100000', nativeDestinationAccount: 'Bearzg3WVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij',
    }, /nativeDestinationAccount: expected an output of at least 2039280 lamports/],
    [
      'blockhashSlotsToExpiry of zero', { blockhashSlotsToExpiry: 0 },
      /blockhashSlotsToExpiry: expected an integer of 1 to 300/,
    ],
    ['blockhashSlotsToExpiry beyond 300', { blockhashSlotsToExpiry: 301 }, /blockhashSlotsToExpiry/],
    ['a mint without a pool', { outputMint: address.replace('Pear', 'Bear') }, /No routes found/],
  ];

  it.each(cases)('%s', async (_name, query, error) => {
    const answer = await build({ ...plain, ...query });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ error: expect.stringMatching(error) });
  });

  it('no taker', async () => {
    const answer = await sandbox.get('/swap/v2/build', plain);
    expect([answer.status, answer.body]).toEqual([400, { error: expect.stringMatching(/taker: missing/) }]);
  });
});

describe('GET /swap/v2/build', () => {
  it('answers with every field of the reference', async () => {
    const { status, body } = await build(plain);
    const wire =
      { programId: expect.any(String), accounts: expect.any(Array), data: expect.stringMatching(/^[A-Za-z0-9+/=]+$/) };
    expect(status).toBe(200);
    expect(body).toEqual({
      inputMint: USDC, outputMint: SOL, inAmount: '25000000', outAmount: expect.stringMatching(/^\d+$/),
      otherAmountThreshold: ((BigInt(body.outAmount) * 9_950n) / 10_000n).toString(), swapMode: 'ExactIn',
      slippageBps: 50,
      routePlan: [{
        swapInfo: expect.objectContaining({ inputMint: USDC, outputMint: SOL, outAmount: body.outAmount }),
        percent: 100, bps: 10_000, usdValue: 25,
      }], computeBudgetInstructions: [wire], setupInstructions: [wire], swapInstruction: wire, cleanupInstruction: wire,
      otherInstructions: [],
      addressesByLookupTableAddress: expect.any(Object),
      blockhashWithMetadata: { blockhash: expect.any(Array), lastValidBlockHeight: expect.any(Number) },
      contextSlot: sandbox.chain.slot,
    });
    expect(body.blockhashWithMetadata.blockhash).toHaveLength(32);
    expect(body.blockhashWithMetadata.blockhash.every((byte: unknown) => Number.isInteger(byte))).toBe(true);
    // The unit price alone; the limit is the caller's to find.
    expect(Buffer.from(body.computeBudgetInstructions[0].data, 'base64')[0]).toBe(3);
    for (const addresses of Object.values<string[]>(body.addressesByLookupTableAddress))
      expect(addresses.length).toBeGreaterThan(20);
  });

  it('takes no fee of the service\'s own', async () => {
    const { body } = await build(plain);
    expect(body.outAmount).toBe(body.routePlan.at(-1).swapInfo.outAmount);
  });

  it('lands what a client composes of it, to the unit, over JSON-RPC', async () => {
    const wallet = await sandbox.newWallet({ [SOL]: '3000000000', [USDC]: '100000000' });
    for (const [query, mint] of [
      [plain, SOL],
      [{ inputMint: SOL, outputMint: USDC, amount: '1000000000' }, USDC],
      [{ inputMint: USDC, outputMint: sandbox.mint('BUOY'), amount: '5000000' }, sandbox.mint('BUOY')],
      [{ inputMint: sandbox.mint('BUOY'), outputMint: sandbox.mint('KELP'), amount: '3000000' }, sandbox.mint('KELP')],
    ] as const) {
      const { body } = await build({ ...query, taker: wallet.address });
      const held = (): bigint => (mint === SOL ? sandbox.chain.balance(wallet.address)
        : sandbox.chain.tokenBalance({ owner: wallet.address, mint }));
      const before = held();
      const { signature, err } = await land(body, wallet);
      expect(err).toBeNull();
      const fee = mint === SOL ? sandbox.chain.transaction(signature)!.feeLamports : 0n;
      expect((held() - before + fee).toString()).toBe(body.outAmount);
    }
  });

  it('fails with 6001 on chain once the price has left the tolerance', async () => {
    const { body } = await build({ ...plain, slippageBps: 5 });
    const { usd } = (await sandbox.get('/sandbox/state')).body.prices[0];
    await sandbox.post('/sandbox/price', { mint: SOL, usd: usd * 1.01 });
    const { err } = await land(body, sandbox.wallet);
    expect(err).toMatchObject({ InstructionError: [expect.any(Number), { Custom: 6_001 }] });
  });

  it('pays a platform fee to the fee account out of the output', async () => {
    const collector = await sandbox.newWallet({ [USDC]: '1' });
    const feeAccount = associatedTokenAddress(collector.address, USDC, TOKEN_PROGRAM);
    const { body } =
      await build({ inputMint: SOL, outputMint: USDC, amount: '500000000', platformFeeBps: 120, feeAccount });
    const routeOut = BigInt(body.routePlan[0].swapInfo.outAmount);
    const fee = (routeOut * 120n) / 10_000n;
    expect(body.outAmount).toBe((routeOut - fee).toString());
    expect((await land(body, sandbox.wallet)).err).toBeNull();
    expect(sandbox.chain.tokenBalance({ owner: collector.address, mint: USDC })).toBe(fee + 1n);
    const wrongMint = await build({ ...plain, inputMint: sandbox.mint('PEARL'), platformFeeBps: 120, feeAccount });
    expect([wrongMint.status, wrongMint.body.error]).toEqual([400, expect.stringMatching(/feeAccount/)]);
  });

  it('pays the output into a given token account', async () => {
    const friend = await sandbox.newWallet({ [USDC]: '1' });
    const destinationTokenAccount = associatedTokenAddress(friend.address, USDC, TOKEN_PROGRAM);
    const { body } = await build({ inputMint: SOL, outputMint: USDC, amount: '500000000', destinationTokenAccount });
    expect((await land(body, sandbox.wallet)).err).toBeNull();
    expect(sandbox.chain.tokenBalance({ owner: friend.address, mint: USDC })).toBe(BigInt(body.outAmount) + 1n);
  });

  it('takes a token account that does not exist yet: the caller may create it before the swap', async () => {
    const friend = await sandbox.newWallet();
    const destinationTokenAccount = associatedTokenAddress(friend.address, USDC, TOKEN_PROGRAM);
    const { status, body } =
      await build({ inputMint: SOL, outputMint: USDC, amount: '500000000', destinationTokenAccount });
    expect(status).toBe(200);
    const opening = toWire(createTokenAccount(
      { payer: sandbox.wallet.address, owner: friend.address, mint: USDC, tokenProgram: TOKEN_PROGRAM },
    ));
    expect((await land({ ...body, setupInstructions: [...body.setupInstructions, opening] }, sandbox.wallet)).err)
      .toBeNull();
    expect(sandbox.chain.tokenBalance({ owner: friend.address, mint: USDC })).toBe(BigInt(body.outAmount));
  });

  it('takes the platform fee out of the input where the fee account is for that', async () => {
    const collector = await sandbox.newWallet({ [USDC]: '1' });
    const feeAccount = associatedTokenAddress(collector.address, USDC, TOKEN_PROGRAM);
    const wallet = await sandbox.newWallet({ [SOL]: '1000000000', [USDC]: '25000000' });
    const { body } = await build({ ...plain, platformFeeBps: 120, feeAccount, taker: wallet.address });
    expect(body.routePlan[0].swapInfo.inAmount).toBe('24700000');
    expect([body.inAmount, body.outAmount]).toEqual(['25000000', body.routePlan[0].swapInfo.outAmount]);
    expect((await land(body, wallet)).err).toBeNull();
    expect(sandbox.chain.tokenBalance({ owner: collector.address, mint: USDC })).toBe(300_001n);
    expect(sandbox.chain.tokenBalance({ owner: wallet.address, mint: USDC })).toBe(0n);
  });

  it.each([
    'true', 'false',
  ])('sends SOL to an account as lamports, exactly the output, whether it is new or not (wrapAndUnwrapSol=%s)', async (
    wrapAndUnwrapSol,
  ) => {
    const wallet = await sandbox.newWallet({ [SOL]: '1000000000', [USDC]: '100000000' });
    sandbox.chain.fundToken({ owner: wallet.address, mint: SOL, amount: 7_000_000n });
    for (const destination of [await sandbox.newWallet(), await sandbox.newWallet({ [SOL]: '900000' })]) {
      const before =
        { wallet: sandbox.chain.balance(wallet.address), destination: sandbox.chain.balance(destination.address) };
      const { body } = await build({
        ...plain, nativeDestinationAccount: destination.address, taker: wallet.address, wrapAndUnwrapSol,
      });
      expect(body.otherInstructions).toHaveLength(2);
      const { signature, err } = await land(body, wallet);
      expect(err).toBeNull();
      expect(sandbox.chain.balance(destination.address) - before.destination).toBe(BigInt(body.outAmount));
      expect(before.wallet - sandbox.chain.balance(wallet.address))
        .toBe(sandbox.chain.transaction(signature)!.feeLamports);
      // What the taker had wrapped stays as it was.
      expect(sandbox.chain.tokenBalance({ owner: wallet.address, mint: SOL })).toBe(7_000_000n);
    }
  });

  it('unwraps SOL that the taker had wrapped before, and pays SOL into a given wrapped account', async () => {
    const wallet = await sandbox.newWallet({ [SOL]: '1000000000', [USDC]: '100000000' });
    const wrapped = sandbox.chain.fundToken({ owner: wallet.address, mint: SOL, amount: 7_000_000n });
    const kept = await build({ ...plain, taker: wallet.address, destinationTokenAccount: wrapped });
    expect(kept.body.cleanupInstruction).toBeNull();
    expect((await land(kept.body, wallet)).err).toBeNull();
    expect(sandbox.chain.tokenBalance({ owner: wallet.address, mint: SOL }))
      .toBe(7_000_000n + BigInt(kept.body.outAmount));
    const closed = await build({ ...plain, taker: wallet.address });
    expect((await land(closed.body, wallet)).err).toBeNull();
    expect(sandbox.chain.accountExists(wrapped)).toBe(false);
  });

  it('ignores parameters that it does not know', async () => {
    expect((await build({ ...plain, closeAuthority: 'no address', excludeRouters: 'router9' })).status).toBe(200);
  });

  it('lets another pay the rent', async () => {
    const payer = await sandbox.newWallet({ [SOL]: '1000000000' });
    const { body } = await build({ ...plain, payer: payer.address });
    expect(body.setupInstructions[0].accounts[0]).toEqual({ pubkey: payer.address, isSigner: true, isWritable: true });
  });

  it('leaves wrapped SOL alone when told so', async () => {
    const { body } = await build({ inputMint: SOL, outputMint: USDC, amount: '500000000', wrapAndUnwrapSol: 'false' });
    expect(body.cleanupInstruction).toBeNull();
    expect(body.setupInstructions).toHaveLength(1);
    const wrapped = await sandbox.newWallet({ [SOL]: '2000000000' });
    sandbox.chain.fundToken({ owner: wrapped.address, mint: SOL, amount: 700_000_000n });
    const own = await build({
      inputMint: SOL, outputMint: USDC, amount: '500000000', wrapAndUnwrapSol: 'false', taker: wrapped.address,
    });
    expect((await land(own.body, wrapped)).err).toBeNull();
    expect(sandbox.chain.tokenBalance({ owner: wrapped.address, mint: SOL })).toBe(200_000_000n);
    expect(sandbox.chain.tokenBalance({ owner: wrapped.address, mint: USDC })).toBe(BigInt(own.body.outAmount));
  });

  it('routes through the named dexes only, or around them', async () => {
    expect(labels(await build({ ...plain, dexes: 'Tidepool' }))).toEqual(['Tidepool']);
    expect(labels(await build({ ...plain, excludeDexes: 'Tidepool,Estuary' }))).toEqual(['Lagoon']);
  });

  it('keeps to the accounts it may use', async () => {
    const long = { inputMint: sandbox.mint('KELP'), outputMint: sandbox.mint('BUOY'), amount: '5000000000' };
    expect((await build({ ...long, maxAccounts: 64 })).body.routePlan).toHaveLength(3);
    expect((await build({ ...long, maxAccounts: 17 })).body.error).toBe('No routes found');
    const { body } = await build({ ...plain, maxAccounts: 12 });
    const accounts = new Set(body.swapInstruction.accounts.map((account: { pubkey: string }) => account.pubkey))
      .add(body.swapInstruction.programId);
    expect(accounts.size).toBeLessThanOrEqual(12);
    for (let maxAccounts = 10; maxAccounts <= 30; maxAccounts++) {
      const answer = await build({ ...long, maxAccounts });
      if (answer.status === 200)
        expect(new Set(answer.body.swapInstruction.accounts.map((account: { pubkey: string }) => account.pubkey)).size)
          .toBeLessThan(maxAccounts);
      else expect(answer.body.error).toBe('No routes found');
    }
  });

  it('takes the shortest way when it must be fast', async () => {
    const query = { inputMint: sandbox.mint('PEARL'), outputMint: USDC, amount: '900000000000' };
    const best = await build(query);
    const fast = await build({ ...query, mode: 'fast' });
    expect(fast.body.routePlan).toHaveLength(1);
    expect(BigInt(fast.body.outAmount)).toBeLessThanOrEqual(BigInt(best.body.outAmount));
  });

  it('hands out a blockhash that is void after the slots asked for', async () => {
    // The chain goes on during the requests.
    const lifetime = async (
      blockhashSlotsToExpiry: number,
    ): Promise<{ readonly least: number; readonly most: number }> => {
      const before = sandbox.chain.blockHeight;
      const { lastValidBlockHeight: last } =
        (await build({ ...plain, blockhashSlotsToExpiry })).body.blockhashWithMetadata;
      return { least: last - sandbox.chain.blockHeight, most: last - before };
    };
    const [short, long, tooLong] = [await lifetime(20), await lifetime(150), await lifetime(300)];
    expect([short.least <= 20, short.most > 15, long.most > 145, tooLong.least <= 150])
      .toEqual([true, true, true, true]);
    const { body } = await build({ ...plain, blockhashSlotsToExpiry: 5 });
    await sandbox.passSlots(9);
    const sent = await sandbox.rpc('sendTransaction', [
      sandbox.wallet.sign(composeBuild(body, sandbox.wallet.address)),
      { encoding: 'base64', preflightCommitment: 'processed' },
    ]);
    expect(sent.error).toMatchObject({ code: -32_002, message: expect.stringMatching(/Blockhash not found/) });
  });
});
