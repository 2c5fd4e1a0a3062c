import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../../../src/core/random.ts';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox, type TestWallet } from '../sandbox-client.ts';

const PLAIN = { inputMint: USDC, outputMint: SOL, amount: '25000000' };
const LARGE = { inputMint: USDC, outputMint: SOL, amount: '900000000' };
const SIGNATURE_BYTES = 64;

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

function held(wallet: TestWallet, mint: string): bigint {
  return mint === SOL ? sandbox.chain.balance(wallet.address)
    : sandbox.chain.tokenBalance({ owner: wallet.address, mint });
}

async function ordered(query: Record<string, string | number>, wallet = sandbox.wallet): Promise<Answer> {
  const answer = await sandbox.order({ ...query, taker: wallet.address });
  expect(answer.body.transaction, answer.text).toMatch(/^[A-Za-z0-9+/=]+$/);
  return answer;
}

async function refused(body: unknown): Promise<Answer['body']> {
  const count = sandbox.chain.transactionCount;
  const answer = await sandbox.post('/swap/v2/execute', body);
  expect(answer.status).toBe(400);
  expect(Object.keys(answer.body).sort()).toEqual(['code', 'error']);
  expect(sandbox.chain.transactionCount).toBe(count);
  return answer.body;
}

/** Signs, then changes bytes. */
function altered(transaction: string, change: (raw: Buffer) => void): string {
  const raw = Buffer.from(sandbox.wallet.sign(transaction), 'base64');
  change(raw);
  return raw.toString('base64');
}

describe('order, sign, execute', () => {
  it('lands an AMM swap and answers with its amounts as strings', async () => {
    const order = await ordered(PLAIN);
    const before = { sol: held(sandbox.wallet, SOL), usdc: held(sandbox.wallet, USDC), slot: sandbox.chain.slot };
    const { status, body } = await sandbox.execute(order);
    expect(status).toBe(200);
    const routeOut = order.body.routePlan[0].swapInfo.outAmount;
    expect(body).toEqual({
      status: 'Success', signature: expect.any(String), slot: before.slot.toString(), code: 0,
      totalInputAmount: '25000000', totalOutputAmount: order.body.outAmount,
      inputAmountResult: '25000000', outputAmountResult: routeOut,
      swapEvents: [{ inputMint: USDC, inputAmount: '25000000', outputMint: SOL, outputAmount: routeOut }],
    });
    expect(before.usdc - held(sandbox.wallet, USDC)).toBe(25_000_000n);
    const fees = BigInt(order.body.signatureFeeLamports + order.body.prioritizationFeeLamports);
    expect(held(sandbox.wallet, SOL) - before.sol).toBe(BigInt(order.body.outAmount) - fees);
  });

  it('answers only when the swap is confirmed', async () => {
    const { body } = await sandbox.execute(await ordered({ ...PLAIN, amount: '25000001' }));
    const status = await sandbox.rpc('getSignatureStatuses', [[body.signature]]);
    expect(status.result.value[0])
      .toMatchObject({ confirmationStatus: 'confirmed', err: null, slot: Number(body.slot) });
  });

  it('lands a maker\'s swap: the maker pays and signs first, the taker second', async () => {
    const wallet = await sandbox.newWallet({ [USDC]: '2000000000' });
    const order = await ordered(LARGE, wallet);
    expect(order.body.router).toBe('rfqz');
    const { status, body } = await sandbox.execute(order, wallet);
    expect([status, body.status, body.code]).toEqual([200, 'Success', 0]);
    expect(body).toMatchObject({
      totalInputAmount: '900000000', totalOutputAmount: order.body.outAmount, inputAmountResult: '900000000',
      outputAmountResult: order.body.outAmount,
      swapEvents: [{ inputMint: USDC, inputAmount: '900000000', outputMint: SOL, outputAmount: order.body.outAmount }],
    });
    // A wallet without any SOL has just bought some: the maker paid for all.
    expect(held(wallet, SOL)).toBe(BigInt(order.body.outAmount));
    expect(sandbox.chain.transaction(body.signature)!.accountKeys.slice(0, 2))
      .toEqual([order.body.maker, wallet.address]);
  });

  it('lands a maker\'s swap out of SOL into a token the taker never held', async () => {
    const wallet = await sandbox.newWallet({ [SOL]: '9000000000' });
    const order = await ordered({ inputMint: SOL, outputMint: USDC, amount: '8000000000' }, wallet);
    expect(order.body).toMatchObject({ router: 'rfqz', rentFeeLamports: 2_039_280, rentFeePayer: order.body.maker });
    const { body } = await sandbox.execute(order, wallet);
    expect(body.status).toBe('Success');
    expect(held(wallet, SOL)).toBe(1_000_000_000n);
    expect(held(wallet, USDC)).toBe(BigInt(order.body.outAmount));
  });

  it('pays to the unit what was quoted, whatever the pair and the size', async () => {
    const random = seededRandom('random swaps');
    const { tokens } = sandbox.addresses;
    const wallet = await sandbox.newWallet({ [SOL]: '100000000000000' });
    for (const { mint, decimals } of tokens) {
      await sandbox.post('/sandbox/fund', {
        owner: wallet.address, mint, amount: (10n ** BigInt(decimals + 5)).toString(),
      });
    }
    const routers = new Map<string, number>();
    for (let i = 0; i < 250; i++) {
      if (i % 25 === 0) await sandbox.passSlots(1);
      // Every tenth swap is of a pair and a size that the maker likes.
      const forMaker = i % 10 === 0;
      const choice = forMaker ? tokens.slice(0, 2) : tokens;
      const [input, output] =
        [choice[Math.floor(random() * choice.length)]!, choice[Math.floor(random() * choice.length)]!];
      if (input.mint === output.mint) continue;
      const amount =
        Math.floor(10 ** (input.decimals + (forMaker ? 2.2 : -2) + random() * (forMaker ? 0.5 : 5))).toString();
      const answer =
        await sandbox.order({ inputMint: input.mint, outputMint: output.mint, amount, taker: wallet.address });
      if (answer.status === 400) continue;
      const before = held(wallet, output.mint);
      const { body } = await sandbox.execute(answer, wallet);
      expect(body.status, JSON.stringify({ order: answer.body, body })).toBe('Success');
      const ownFees = answer.body.router !== 'rfqz' ? sandbox.chain.transaction(body.signature)!.feeLamports : 0n;
      const received = held(wallet, output.mint) - before + (output.mint === SOL ? ownFees : 0n);
      expect(received.toString()).toBe(answer.body.outAmount);
      expect(body.totalOutputAmount).toBe(answer.body.outAmount);
      routers.set(answer.body.router, (routers.get(answer.body.router) ?? 0) + 1);
    }
    expect(routers.get('iris')).toBeGreaterThan(75);
    for (const router of ['rfqz', 'routerA', 'routerB']) expect(routers.get(router), router).toBeGreaterThan(5);
  });

  it('fails with 6001, HTTP 200, when the price has left the tolerance, and moves nothing but the fee', async () => {
    const wallet = await sandbox.newWallet({ [SOL]: '1000000000', [USDC]: '100000000' });
    const order = await ordered({ ...PLAIN, slippageBps: 10 }, wallet);
    const usd = (await sandbox.get('/sandbox/state')).body.prices[0].usd;
    await sandbox.post('/sandbox/price', { mint: SOL, usd: usd * 1.02 });
    const { status, body } = await sandbox.execute(order, wallet);
    expect([status, body]).toEqual([200, {
      status: 'Failed', signature: expect.any(String), slot: expect.stringMatching(/^[1-9]\d+$/), code: 6_001,
      error: 'Slippage tolerance exceeded',
    }]);
    expect(held(wallet, USDC)).toBe(100_000_000n);
    expect(held(wallet, SOL)).toBe(1_000_000_000n - sandbox.chain.transaction(body.signature)!.feeLamports);
  });

  it('reports a program\'s own code when the tokens are gone at execution', async () => {
    const wallet = await sandbox.newWallet({ [SOL]: '1000000000', [USDC]: '30000000' });
    const first = await ordered(PLAIN, wallet);
    const second = await ordered(PLAIN, wallet);
    expect((await sandbox.execute(first, wallet)).body.status).toBe('Success');
    const { status, body } = await sandbox.execute(second, wallet);
    expect([status, body.status]).toEqual([200, 'Failed']);
    expect(body.code).toBeGreaterThan(0);
  });
});

describe('two equal orders of one slot', () => {
  it('are two swaps, by either router', async () => {
    for (const query of [{ ...PLAIN, amount: '4000000' }, LARGE]) {
      const orders = await Promise.all([ordered(query), ordered(query)]);
      const usdc = held(sandbox.wallet, USDC);
      const answers = [await sandbox.execute(orders[0]), await sandbox.execute(orders[1])];
      expect(answers.map(({ body }) => body.status)).toEqual(['Success', 'Success']);
      expect(answers[0]!.body.signature).not.toBe(answers[1]!.body.signature);
      expect(usdc - held(sandbox.wallet, USDC)).toBe(2n * BigInt(query.amount));
    }
  });
});

describe('posting again', () => {
  it('answers the same result for the same bytes, and swaps once', async () => {
    const order = await ordered({ ...PLAIN, amount: '3000000' });
    const signedTransaction = sandbox.wallet.sign(order.body.transaction);
    const first = await sandbox.post('/swap/v2/execute', { signedTransaction, requestId: order.body.requestId });
    const usdc = held(sandbox.wallet, USDC);
    const again = await sandbox.post('/swap/v2/execute', { signedTransaction, requestId: order.body.requestId });
    expect(again.body).toEqual(first.body);
    expect(again.body.status).toBe('Success');
    expect(held(sandbox.wallet, USDC)).toBe(usdc);
  });

  it('swaps once when the posts come at the same time', async () => {
    const order = await ordered({ ...PLAIN, amount: '3000001' });
    const usdc = held(sandbox.wallet, USDC);
    const answers = await Promise.all(Array.from({ length: 6 }, () => sandbox.execute(order)));
    for (const { body } of answers) expect(body).toEqual(answers[0]!.body);
    expect(usdc - held(sandbox.wallet, USDC)).toBe(3_000_001n);
  });
});

describe('posting other bytes under the id of an order that was executed', () => {
  it('is refused, and the first answer stands', async () => {
    for (const query of [{ ...PLAIN, amount: '3000002' }, LARGE]) {
      const order = await ordered(query);
      const first = await sandbox.execute(order);
      const place = order.body.router === 'rfqz' ? 1 + SIGNATURE_BYTES : 1;
      const otherSignature = altered(order.body.transaction, (raw) => { raw[place + 3]! ^= 1; });
      const otherMessage = altered(order.body.transaction, (raw) => { raw[raw.length - 20]! ^= 1; });
      expect(await refused({ signedTransaction: otherSignature, requestId: order.body.requestId }))
        .toMatchObject({ code: -2 });
      expect(await refused({ signedTransaction: otherMessage, requestId: order.body.requestId }))
        .toMatchObject({ code: -3 });
      const again = await sandbox.execute(order);
      expect([first.body.status, again.body]).toEqual(['Success', first.body]);
    }
  });
});

describe('POST /swap/v2/execute refuses with 400, an error and a code, and sends nothing', () => {
  it('-1: an unknown request id, without a status', async () => {
    const { body } = await ordered(PLAIN);
    expect(await refused({ signedTransaction: sandbox.wallet.sign(body.transaction), requestId: 'unknown' }))
      .toEqual({ code: -1, error: 'Order not found, it might have expired' });
  });

  it('-2: a signature that does not fit', async () => {
    const { body } = await ordered(PLAIN);
    const signedTransaction = altered(body.transaction, (raw) => { raw[20]! ^= 1; });
    expect(await refused({ signedTransaction, requestId: body.requestId })).toMatchObject({ code: -2 });
    // The order itself is not spoilt by that.
    expect((await sandbox.post(
      '/swap/v2/execute', { signedTransaction: sandbox.wallet.sign(body.transaction), requestId: body.requestId },
    )).body.status)
      .toBe('Success');
  });

  it('-2: a taker\'s bad signature on a maker\'s order', async () => {
    const { body } = await ordered(LARGE);
    const signedTransaction = altered(body.transaction, (raw) => { raw[1 + SIGNATURE_BYTES + 5]! ^= 1; });
    expect(await refused({ signedTransaction, requestId: body.requestId })).toMatchObject({ code: -2 });
  });

  it('-3: a changed message', async () => {
    const { body } = await ordered(PLAIN);
    const signedTransaction = altered(body.transaction, (raw) => { raw[raw.length - 20]! ^= 1; });
    expect(await refused({ signedTransaction, requestId: body.requestId })).toMatchObject({ code: -3 });
  });

  it('-3: the transaction of another order', async () => {
    const [one, other] = [await ordered(PLAIN), await ordered({ ...PLAIN, amount: '26000000' })];
    expect(
      await refused({ signedTransaction: sandbox.wallet.sign(one.body.transaction), requestId: other.body.requestId }),
    ).toMatchObject({ code: -3 });
  });

  it('-4 and -5: missing fields', async () => {
    const { body } = await ordered(PLAIN);
    expect(await refused({ signedTransaction: body.transaction })).toMatchObject({ code: -4 });
    expect(await refused({ requestId: body.requestId })).toMatchObject({ code: -5 });
    expect(await refused({})).toMatchObject({ code: -4 });
    expect(await refused([])).toMatchObject({ code: -4 });
    expect(await refused({ signedTransaction: 5, requestId: body.requestId })).toMatchObject({ code: -5 });
  });

  it('-1002: bytes that are no transaction', async () => {
    const { body } = await ordered(PLAIN);
    for (const signedTransaction of [
      'AAAA', 'not base64!', 'A'.repeat(3_000), Buffer.alloc(1_300).toString('base64'),
    ]) {
      expect(await refused({ signedTransaction, requestId: body.requestId })).toMatchObject({ code: -1_002 });
    }
  });

  it('-2002: bytes that are no transaction, for a maker', async () => {
    const { body } = await ordered(LARGE);
    expect(await refused({ signedTransaction: 'AAAA', requestId: body.requestId })).toMatchObject({ code: -2_002 });
  });

  it('-1003: a transaction without the signature', async () => {
    for (const query of [PLAIN, LARGE]) {
      const { body } = await ordered(query);
      expect(await refused({ signedTransaction: body.transaction, requestId: body.requestId }))
        .toMatchObject({ code: -1_003 });
    }
  });

  it('-1004: another block height than the order\'s', async () => {
    const { body } = await ordered(PLAIN);
    const signedTransaction = sandbox.wallet.sign(body.transaction);
    for (const lastValidBlockHeight of ['1', 'soon', 12, Number(body.lastValidBlockHeight)]) {
      expect(await refused({ signedTransaction, requestId: body.requestId, lastValidBlockHeight }))
        .toMatchObject({ code: -1_004 });
    }
    const right = await sandbox.post('/swap/v2/execute', {
      signedTransaction, requestId: body.requestId, lastValidBlockHeight: body.lastValidBlockHeight,
    });
    expect(right.body.status).toBe('Success');
  });
});
