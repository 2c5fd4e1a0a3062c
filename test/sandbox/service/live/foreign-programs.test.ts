import { VersionedTransaction } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SWAP_PROGRAM_ID } from '../../../../src/sandbox/chain/pools.ts';
import { foreignPrograms } from '../../../../src/sandbox/service/build/foreign-programs.ts';
import { dialectNames } from '../../../../src/service/wire/dialect.ts';
import { landBuild, simulateBuild } from '../build-client.ts';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox } from '../sandbox-client.ts';

const ONLY = {
  iris: 'rfqz,routerA,routerB', routerA: 'iris,rfqz,routerB', routerB: 'iris,rfqz,routerA',
} as const;
const NEUTRAL = foreignPrograms('neutral');

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await startTestSandbox({ profile: 'live', speed: 0 });
});
afterAll(() => sandbox.close());

async function order(router: keyof typeof ONLY, query: Record<string, string | number> = {}): Promise<Answer['body']> {
  const { status, text, body } = await sandbox.order({
    inputMint: USDC, outputMint: SOL, amount: '20000000', taker: sandbox.wallet.address, excludeRouters: ONLY[router],
    ...query,
  });
  expect(status, text).toBe(200);
  return body;
}

async function build(query: Record<string, string | number> = {}): Promise<Answer['body']> {
  const { status, text, body } = await sandbox.get('/swap/v2/build', {
    inputMint: USDC, outputMint: SOL, amount: '20000000', taker: sandbox.wallet.address, ...query,
  });
  expect(status, text).toBe(200);
  return body;
}

/** Returns the programs and the data of an order's instructions. */
function instructionsOf(transaction: string): { program: string; data: Buffer }[] {
  const { message } = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
  return message.compiledInstructions.map(({ programIdIndex, data }) =>
    ({ program: message.staticAccountKeys[programIdIndex]!.toBase58(), data: Buffer.from(data) }));
}

/** The data of the public layout. */
function routeOf(data: Buffer): { amountIn: bigint; quotedOut: bigint; slippageBps: number; feeBps: number } {
  return {
    amountIn: data.readBigUInt64LE(8), quotedOut: data.readBigUInt64LE(16), slippageBps: data.readUInt16LE(24),
    feeBps: data.readUInt16LE(26),
  };
}

/** Returns a build whose swap was given another quote. */
function withQuote(answer: Answer['body'], quotedOut: bigint): Answer['body'] {
  const data = Buffer.from(answer.swapInstruction.data, 'base64');
  data.writeBigUInt64LE(quotedOut, 16);
  return { ...answer, swapInstruction: { ...answer.swapInstruction, data: data.toString('base64') } };
}

describe('the profile live calls foreign programs', () => {
  test.each([
    ['iris', NEUTRAL.routeV2], ['routerA', NEUTRAL.undocumented], ['routerB', SWAP_PROGRAM_ID],
  ] as const)('an order of %s calls %s, lands and pays what was quoted', async (router, program) => {
    const answer = await order(router);
    const swap = instructionsOf(answer.transaction).find((each) => each.program === program)!;
    expect(swap, 'the program').toBeDefined();
    const before = sandbox.chain.tokenBalance({ owner: sandbox.wallet.address, mint: USDC });
    const { body } = await sandbox.execute({ body: answer } as Answer);
    expect(body).toMatchObject({
      status: 'Success', totalOutputAmount: answer.outAmount, totalInputAmount: answer.inAmount,
    });
    expect(before - sandbox.chain.tokenBalance({ owner: sandbox.wallet.address, mint: USDC })).toBe(20_000_000n);
  });

  test('the data of a build is the public layout: quote and slippage, no minimum', async () => {
    const answer = await build({ slippageBps: 51 });
    expect(answer.swapInstruction.programId).toBe(NEUTRAL.routeV2);
    expect(routeOf(Buffer.from(answer.swapInstruction.data, 'base64'))).toEqual({
      amountIn: 20_000_000n, quotedOut: BigInt(answer.outAmount), slippageBps: 51, feeBps: 0,
    });
  });

  test.each([
    ['one hop', { inputMint: USDC, outputMint: SOL, amount: '20000000' }],
    ['three hops', {
      inputMint: 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij', outputMint: 'BARNA', amount: '3000000',
    }],
    ['a fee on the output', { inputMint: SOL, outputMint: USDC, amount: '100000000', platformFeeBps: 80 }],
    ['the whole output as the least', { inputMint: SOL, outputMint: USDC, amount: '100000000', slippageBps: 0 }],
    ['any output', { inputMint: SOL, outputMint: USDC, amount: '100000000', slippageBps: 10_000 }],
  ])('a build of %s lands and pays what was quoted', async (_, query) => {
    const outputMint = query.outputMint.length > 10 ? query.outputMint : sandbox.mint(query.outputMint);
    const friend = await sandbox.newWallet({ [USDC]: '1' });
    const funded = await sandbox.post('/sandbox/fund', { owner: friend.address, mint: USDC, amount: '1' });
    const feeAccount = 'platformFeeBps' in query ? { feeAccount: funded.body.account } : {};
    const owner = sandbox.wallet.address;
    const held = (): bigint =>
      (outputMint === SOL ? sandbox.chain.balance(owner) : sandbox.chain.tokenBalance({ owner, mint: outputMint }));
    const answer = await build({ ...query, outputMint, ...feeAccount });
    const before = held();
    const landed = landBuild(sandbox, answer);
    expect(landed.error).toBeNull();
    const fee = outputMint === SOL ? landed.feeLamports : 0n;
    expect(held() - before + fee).toBe(BigInt(answer.outAmount));
    if ('platformFeeBps' in query)
      expect(sandbox.chain.tokenBalance({ owner: friend.address, mint: USDC })).toBeGreaterThan(2n);
  });

  test('another receiver of the output stands behind the user’s own account', async () => {
    const friend = await sandbox.newWallet();
    const { body: { account } } =
      await sandbox.post('/sandbox/fund', { owner: friend.address, mint: USDC, amount: '1' });
    const answer = await build({
      inputMint: SOL, outputMint: USDC, amount: '100000000', destinationTokenAccount: account,
    });
    expect(answer.swapInstruction.accounts[7].pubkey).toBe(account);
    expect(landBuild(sandbox, answer).error).toBeNull();
    expect(sandbox.chain.tokenBalance({ owner: friend.address, mint: USDC })).toBe(1n + BigInt(answer.outAmount));
  });

  test.each(dialectNames())('the dialect "%s" has addresses for both programs', (dialect) => {
    const { routeV2, undocumented } = foreignPrograms(dialect);
    expect(new Set([routeV2, undocumented, SWAP_PROGRAM_ID]).size).toBe(3);
  });
});

describe('the least output in the profile live', () => {
  test.each([1, 10, 50, 51, 9_999])('of a build is rounded up at %i bps, and the program keeps to it', async (bps) => {
    const answer = await build({ slippageBps: bps, amount: '20000003' });
    const out = BigInt(answer.outAmount);
    expect(BigInt(answer.otherAmountThreshold)).toBe(out - (out * BigInt(bps)) / 10_000n);
    // The program makes the same of the quote: it is the highest quote whose least output is still paid.
    const leastOf = (quoted: bigint): bigint => quoted - (quoted * BigInt(bps)) / 10_000n;
    let highest = (out * 10_000n) / (10_000n - BigInt(bps));
    while (leastOf(highest) > out) highest -= 1n;
    while (leastOf(highest + 1n) <= out) highest += 1n;
    expect(simulateBuild(sandbox, withQuote(answer, highest)).error).toBeNull();
    expect(simulateBuild(sandbox, withQuote(answer, highest + 1n)).error)
      .toEqual({ InstructionError: [expect.any(Number), { Custom: 6_001 }] });
  });

  test('of an order is rounded down, and its program demands at most one unit more', async () => {
    const answer = await order('iris', { slippageBps: 51, amount: '20000001' });
    const out = BigInt(answer.outAmount);
    expect(BigInt(answer.otherAmountThreshold)).toBe((out * 9_949n) / 10_000n);
    const { data } = instructionsOf(answer.transaction).find(({ program }) => program === NEUTRAL.routeV2)!;
    expect(routeOf(data)).toMatchObject({ quotedOut: out, slippageBps: 51 });
  });
});

describe('shares of a route in the profile live', () => {
  test('are fractions with exact basis points, and their amounts add up', async () => {
    const { routePlan, inAmount } = await build({ amount: '20000000' });
    expect(routePlan.map(({ percent, bps }: { percent: number; bps: number }) => [percent, bps]))
      .toEqual([[66.67, 6_667], [33.33, 3_333]]);
    const sum =
      routePlan.reduce((total: bigint, { swapInfo }: Answer['body']) => total + BigInt(swapInfo.inAmount), 0n);
    expect(sum).toBe(BigInt(inAmount));
  });
});

describe('tips of the service’s own', () => {
  test('stand in some orders, count as prioritisation, and are paid as told', async () => {
    const tips: bigint[] = [];
    for (let each = 0; each < 24; each++) {
      const answer = await order('iris', { amount: 20_000_000 + each });
      const { message } = VersionedTransaction.deserialize(Buffer.from(answer.transaction, 'base64'));
      const transfers = instructionsOf(answer.transaction)
        .filter(({ program, data }) => program === '11111111111111111111111111111111' && data.readUInt32LE(0) === 2)
        .map(({ data }) => data.readBigUInt64LE(4));
      const limit = instructionsOf(answer.transaction).find(({ data }) => data[0] === 2 && data.length === 5)!;
      const price = instructionsOf(answer.transaction).find(({ data }) => data[0] === 3 && data.length === 9)!;
      const priority =
        (price.data.readBigUInt64LE(1) * BigInt(limit.data.readUInt32LE(1)) + 999_999n) / 1_000_000n;
      const tip = transfers.reduce((sum, lamports) => sum + lamports, 0n);
      expect(BigInt(answer.prioritizationFeeLamports)).toBe(priority + tip);
      expect(message.header.numRequiredSignatures).toBe(1);
      tips.push(tip);
    }
    const paid = tips.filter((tip) => tip > 0n);
    expect(paid.length).toBeGreaterThan(1);
    expect(paid.length).toBeLessThan(16);
    for (const tip of paid) expect(tip >= 1_000n && tip <= 1_000_000n, `${tip}`).toBe(true);
  });

  test('are left out where the request has a bid of its own', async () => {
    for (let each = 0; each < 12; each++) {
      const { transaction } = await order('iris', { priorityFeeLamports: 70_000, amount: 21_000_000 + each });
      expect(instructionsOf(transaction).filter(({ program }) => program === '11111111111111111111111111111111'))
        .toEqual([]);
    }
  });
});

describe('a token whose mint withholds part of transfers', () => {
  test.each([
    ['bought', 'USDC', 'FERRY', '5000000'], ['sold', 'FERRY', 'USDC', '9000000'],
    ['sold through a second pool', 'FERRY', 'SOL', '9000000'], ['bought with SOL', 'SOL', 'FERRY', '50000000'],
  ])('when it is %s the quote says what arrives', async (_, from, to, amount) => {
    const [inputMint, outputMint] = [sandbox.mint(from), sandbox.mint(to)];
    const owner = (await sandbox.newWallet({ [SOL]: '1000000000', [inputMint]: amount }));
    const held = (mint: string): bigint => (mint === SOL ? sandbox.chain.balance(owner.address)
      : sandbox.chain.tokenBalance({ owner: owner.address, mint }));
    for (const router of ['iris', 'routerB'] as const) {
      if (router === 'routerB' && to === 'SOL') continue;
      if (router === 'routerB' && from === 'SOL') continue;
      const half = (BigInt(amount) / 2n).toString();
      const answer = await order(router, { inputMint, outputMint, amount: half, taker: owner.address });
      const before = held(outputMint);
      const lamports = held(SOL);
      const { body, text } = await sandbox.execute({ body: answer } as Answer, owner);
      expect(body.status, text).toBe('Success');
      expect(body.totalOutputAmount).toBe(answer.outAmount);
      if (outputMint !== SOL) expect(held(outputMint) - before).toBe(BigInt(answer.outAmount));
      else expect(held(SOL) - lamports).toBe(BigInt(answer.outAmount)
        - BigInt(answer.signatureFeeLamports + answer.prioritizationFeeLamports));
      if (outputMint !== SOL && inputMint !== SOL) expect(lamports - held(SOL)).toBe(
        BigInt(answer.signatureFeeLamports + answer.prioritizationFeeLamports + answer.rentFeeLamports),
      );
    }
  });
});
