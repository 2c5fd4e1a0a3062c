import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GENESIS_TOKENS } from '../../../../src/sandbox/genesis.ts';
import { platformFeeBps } from '../../../../src/sandbox/service/routing/platform-fee.ts';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox } from '../sandbox-client.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ speed: 0 });
});
afterAll(() => sandbox.close());

interface Pair { input: string; output: string; amount: string }

function order({ input, output, amount }: Pair, extra: Record<string, string | number> = {}): Promise<Answer> {
  return sandbox.order({ inputMint: sandbox.mint(input), outputMint: sandbox.mint(output), amount, ...extra });
}

function labels({ body }: Answer): string[] {
  return body.routePlan.map((entry: { swapInfo: { label: string } }) => entry.swapInfo.label);
}

const ONLY: Readonly<Record<string, string>> = {
  iris: 'rfqz,routerA,routerB', rfqz: 'iris,routerA,routerB', routerA: 'iris,rfqz,routerB',
  routerB: 'iris,rfqz,routerA',
};

/** Who is best at what; each router's own strength. */
const WINS: [string, Pair][] = [
  ['iris', { input: 'USDC', output: 'SOL', amount: '25000000' }],
  ['iris', { input: 'USDC', output: 'ANCHR', amount: '900000000' }],
  ['iris', { input: 'KELP', output: 'BUOY', amount: '5000000000' }],
  ['rfqz', { input: 'USDC', output: 'SOL', amount: '900000000' }],
  ['routerA', { input: 'USDC', output: 'PEARL', amount: '20000000' }],
  ['routerA', { input: 'SOL', output: 'KRILL', amount: '100000000' }],
  ['routerB', { input: 'SOL', output: 'KELP', amount: '1000000000' }],
  ['routerB', { input: 'BUOY', output: 'USDC', amount: '50000000' }],
];

describe('the routers compete for an order', () => {
  it.each(WINS)('%s wins %o, because no other pays as much', async (winner, pair) => {
    const best = await order(pair);
    expect(best.body.router).toBe(winner);
    expect(best.body.swapType).toBe({ iris: 'aggregator', rfqz: 'rfq' }[winner] ?? winner);
    for (const [name, excludeRouters] of Object.entries(ONLY)) {
      const alone = await order(pair, { excludeRouters });
      if (alone.status === 400) expect(alone.body.error).toBe('Failed to get quotes');
      else expect(alone.body.router).toBe(name);
      if (alone.status === 200) expect(BigInt(alone.body.outAmount)).toBeLessThanOrEqual(BigInt(best.body.outAmount));
    }
  });

  it('a larger swap of the same pair goes to another', async () => {
    const small = await order({ input: 'USDC', output: 'PEARL', amount: '20000000' }, { excludeRouters: 'rfqz' });
    const large = await order({ input: 'USDC', output: 'PEARL', amount: '60000000000' }, { excludeRouters: 'rfqz' });
    expect([small.body.router, large.body.router]).toEqual(['routerA', 'routerB']);
    expect(labels(small)).toEqual(['Sound']);
  });

  it.each(WINS)('%s is out of %o when excluded', async (winner, pair) => {
    const { status, body } = await order(pair, { excludeRouters: winner });
    if (status === 200) expect(body.router).not.toBe(winner);
    else expect(body.error).toBe('Failed to get quotes');
  });

  it('excluded dexes are none of the business of any but iris', async () => {
    const everything = 'Lagoon,Tidepool,Estuary,Sound';
    expect(
      (await order({ input: 'USDC', output: 'SOL', amount: '25000000' }, { excludeDexes: everything })).body.router,
    ).toBe('routerA');
    for (const [winner, pair] of WINS) {
      if (winner === 'iris') continue;
      const answer = await order(pair, { excludeDexes: everything });
      expect(answer.body.router).toBe(winner);
    }
    const alone = await order({ input: 'SOL', output: 'KELP', amount: '1000000000' }, {
      excludeDexes: 'Tidepool', excludeRouters: ONLY['iris']!,
    });
    expect(alone.status).toBe(400);
  });

  it.each(WINS)('%s delivers %o to the unit', async (winner, pair) => {
    const wallet = await sandbox.newWallet({ [SOL]: '30000000000' });
    if (pair.input !== 'SOL') await sandbox.post('/sandbox/fund', {
      owner: wallet.address, mint: sandbox.mint(pair.input), amount: pair.amount,
    });
    const output = sandbox.mint(pair.output);
    const held = (): bigint => (output === SOL ? sandbox.chain.balance(wallet.address)
      : sandbox.chain.tokenBalance({ owner: wallet.address, mint: output }));
    const answer = await order(pair, { taker: wallet.address });
    expect(answer.body.router).toBe(winner);
    const before = held();
    const { body } = await sandbox.execute(answer, wallet);
    expect(body)
      .toMatchObject({ status: 'Success', totalInputAmount: pair.amount, totalOutputAmount: answer.body.outAmount });
    const fees = output === SOL && winner !== 'rfqz' ? sandbox.chain.transaction(body.signature)!.feeLamports : 0n;
    expect(held() - before + fees).toBe(BigInt(answer.body.outAmount));
  });
});

describe('a fee', () => {
  it('takes the fee in SOL, else in a stable token, else in another; from the input where it must', async () => {
    const cases: [Pair, string][] = [
      [{ input: 'USDC', output: 'SOL', amount: '25000000' }, SOL],
      [{ input: 'SOL', output: 'USDC', amount: '100000000' }, SOL],
      [{ input: 'USDC', output: 'PEARL', amount: '25000000' }, USDC],
      [{ input: 'PEARL', output: 'USDC', amount: '25000000' }, USDC],
      [{ input: 'KELP', output: 'BUOY', amount: '5000000000' }, sandbox.mint('BUOY')],
    ];
    for (const [pair, feeMint] of cases) {
      const { body } = await order(pair);
      expect([body.feeMint, body.platformFee.feeMint]).toEqual([feeMint, feeMint]);
    }
  });

  it('of the input is the difference between what was paid and what went into the pools', async () => {
    const wallet = await sandbox.newWallet({ [SOL]: '1000000000', [USDC]: '25000000' });
    const answer = await order({ input: 'USDC', output: 'CONCH', amount: '25000000' }, { taker: wallet.address });
    const fee = (25_000_000n * BigInt(answer.body.feeBps)) / 10_000n;
    expect(fee).toBeGreaterThan(0n);
    expect(answer.body)
      .toMatchObject({ inAmount: '25000000', feeMint: USDC, platformFee: { amount: fee.toString(), feeMint: USDC } });
    expect(answer.body.routePlan[0].swapInfo.inAmount).toBe((25_000_000n - fee).toString());
    expect(answer.body.outAmount).toBe(answer.body.routePlan.at(-1).swapInfo.outAmount);
    const { body } = await sandbox.execute(answer, wallet);
    expect(BigInt(body.totalInputAmount) - BigInt(body.inputAmountResult)).toBe(fee);
    expect(body.totalOutputAmount).toBe(body.outputAmountResult);
    expect(sandbox.chain.tokenBalance({ owner: wallet.address, mint: USDC })).toBe(0n);
  });

  it('is largest for tokens of less than a day', async () => {
    const { body } =
      await order({ input: 'USDC', output: 'CONCH', amount: '25000000' }, { excludeRouters: ONLY['iris']! });
    expect(body.feeBps).toBe(10);
    const [sol, usdc] = [GENESIS_TOKENS[0]!, GENESIS_TOKENS[1]!];
    const born = Date.parse(sol.createdAt);
    expect(platformFeeBps(sol, usdc, born + 86_399_999)).toBe(50);
    expect(platformFeeBps(sol, usdc, born + 86_400_000 * 365)).toBe(2);
  });
});
