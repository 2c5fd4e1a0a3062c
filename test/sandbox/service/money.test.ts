import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { associatedTokenAddress } from '../../../src/sandbox/chain/addresses.ts';
import { PROFILES, type Profile } from '../../../src/sandbox/service/context.ts';
import { holdings, imbalance, Ledger, totals, WRAPPED } from './ledger.ts';
import { ROUTERS, step, SYMBOLS, UNITS_PER_USD, type Step } from './money-steps.ts';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox, type TestWallet } from './sandbox-client.ts';

interface Placed {
  readonly answer: Answer;
  readonly taker: TestWallet;
  readonly beneficiary: string;
  readonly referrer: string | undefined;
  readonly tipLamports: number;
  executed: Answer | undefined;
  /** What moved when it was sent around the service, and whether that opened the account of the output. */
  sent: { readonly change: Record<string, string>; readonly opens: boolean } | undefined;
}

/** Everybody of one story, and what has been asked so far. */
interface Story {
  readonly traders: readonly TestWallet[];
  readonly payer: TestWallet;
  readonly receiver: TestWallet;
  readonly referrer: TestWallet;
  readonly owners: readonly string[];
  readonly names: ReadonlyMap<string, string>;
  readonly orders: Placed[];
  readonly quotes: { readonly quote: Answer['body']; readonly trader: TestWallet }[];
}

/** Returns an order's transaction with the signatures of everybody but the service. */
function signed(story: Story, { answer: { body }, taker }: Placed): string {
  const own = taker.sign(body.transaction);
  return body.signatureFeePayer === story.payer.address ? story.payer.sign(own) : own;
}

/** Tokens lie in accounts; SOL too, where a fee or a maker takes it wrapped. */
function wrapped(mint: string): string {
  return mint === SOL ? WRAPPED : mint;
}

describe.each(PROFILES)('money, in the profile %s', (profile: Profile) => {
  let sandbox: TestSandbox;
  let mints: readonly string[];
  let service: { readonly maker: string; readonly gas: string };
  let landed: string[] = [];
  beforeAll(async () => {
    sandbox = await startTestSandbox({ profile, speed: 0 });
    mints = SYMBOLS.map((symbol) => sandbox.mint(symbol));
    const poor = await sandbox.newWallet({ [USDC]: '50000000' });
    const { body } = await sandbox.order({ inputMint: USDC, outputMint: SOL, amount: '25000000', taker: poor.address });
    service = { gas: body.signatureFeePayer, maker: (await sandbox.get('/sandbox/state')).body.maker };
    sandbox.chain.onLanded(({ signature }) => landed.push(signature));
  });
  afterAll(() => sandbox.close());

  async function opened(): Promise<Story> {
    const fund = (usd: number, lamports: string): Record<string, string> =>
      ({
        [SOL]: lamports, ...Object.fromEntries(UNITS_PER_USD.map((units, i) => [mints[i + 1]!, String(usd * units)])),
      });
    const traders = [
      await sandbox.newWallet(fund(4_000, '30000000000')), await sandbox.newWallet(fund(400, '8000000')),
      await sandbox.newWallet(fund(60, '900000')),
    ];
    const [payer, receiver] = [await sandbox.newWallet({ [SOL]: '5000000000' }), await sandbox.newWallet()];
    const referrer = await sandbox.newWallet({ [USDC]: '1', [mints[2]!]: '1' });
    sandbox.chain.fundToken({ owner: referrer.address, mint: SOL, amount: 1n });
    const cast = { rich: traders[0]!, low: traders[1]!, poor: traders[2]!, payer, receiver, referrer };
    const names = new Map([...Object.entries(cast).map(([name, { address }]) => [address, name] as const),
      [service.maker, 'maker'], [service.gas, 'gas'],
        ...SYMBOLS.map((symbol, i) => [mints[i]!, symbol] as const)]);
    return { traders, payer, receiver, referrer, owners: [
      ...Object.values(cast).map(({ address }) => address), service.maker, service.gas,
    ], names, orders: [], quotes: [] };
  }

  const amountOf = (owner: string, mint: string, share: number): bigint => {
    const held = mint === SOL ? sandbox.chain.balance(owner) : sandbox.chain.tokenBalance({ owner, mint });
    return (held * BigInt(share)) / 100n || 1n;
  };

  async function order(
    story: Story, { trader, pair: [from, to], share, extras: asked }: Extract<Step, { kind: 'order' }>,
  ): Promise<void> {
    const taker = story.traders[trader]!;
    const [inputMint, outputMint] = [mints[from]!, mints[to]!];
    const { slippageBps, payer, receiver, referralFee, priorityFeeLamports, bundleTipLamports, only } = asked;
    const optional = {
      slippageBps, referralFee, priorityFeeLamports, bundleTipLamports,
      payer: payer && story.payer.address,
      receiver: receiver && story.receiver.address,
      referralAccount: referralFee === undefined ? undefined : story.referrer.address,
      excludeRouters: only === undefined ? undefined : ROUTERS.filter((name) => name !== only).join(','),
    };
    const answer = await sandbox.order({
      inputMint, outputMint, amount: amountOf(taker.address, inputMint, share).toString(), taker: taker.address,
      ...Object.fromEntries(
        Object.entries(optional).filter(([, value]) => value !== undefined),
      ) as Record<string, string | number>,
    });
    expect([200, 400], answer.text).toContain(answer.status);
    if (answer.status !== 200 || answer.body.transaction === '') return;
    const beneficiary = optional.receiver ?? taker.address;
    // A referrer without an account for either token collects nothing: the platform does.
    const referrer = optional.referralAccount !== undefined
      && [inputMint, outputMint].some((mint) => hasAccount(optional.referralAccount!, mint))
      ? optional.referralAccount : undefined;
    story.orders.push({
      answer, taker, beneficiary, referrer, tipLamports: bundleTipLamports ?? 0, executed: undefined, sent: undefined,
    });
  }

  function opensAccount({ answer: { body }, beneficiary }: Placed): boolean {
    return !hasAccount(beneficiary, body.outputMint);
  }

  function hasAccount(owner: string, mint: string): boolean {
    const { token_program: tokenProgram } = sandbox.addresses.tokens.find((token) => token.mint === mint)!;
    return sandbox.chain.accountExists(associatedTokenAddress(owner, mint, tokenProgram));
  }

  /** What an answer says that came to whom. */
  function told(placed: Placed, executed: Answer['body'], opens: boolean): Ledger {
    const { body } = placed.answer;
    const {
      inputMint, outputMint, signatureFeePayer, signatureFeeLamports, prioritizationFeeLamports, rentFeeLamports,
      feeMint, router,
    } = body;
    const change = new Ledger();
    if (executed.status === 'Failed') {
      return executed.slot === '0' ? change : change.add(
        signatureFeePayer, SOL, -BigInt(signatureFeeLamports + prioritizationFeeLamports - placed.tipLamports),
      );
    }
    const [paid, received, routeIn, routeOut] = [
      executed.totalInputAmount, executed.totalOutputAmount, executed.inputAmountResult, executed.outputAmountResult,
    ].map(BigInt) as [bigint, bigint, bigint, bigint];
    expect(received).toBeGreaterThanOrEqual(BigInt(body.otherAmountThreshold));
    expect(paid).toBe(BigInt(body.inAmount));
    change.add(placed.taker.address, inputMint, -paid).add(placed.beneficiary, outputMint, received);
    // The rent is an estimate: an order in between may have opened the account.
    change.add(
      signatureFeePayer, SOL, -BigInt(signatureFeeLamports + prioritizationFeeLamports + (opens ? rentFeeLamports : 0)),
    );
    if (placed.referrer !== undefined)
      change.add(placed.referrer, wrapped(feeMint), feeMint === inputMint ? paid - routeIn : routeOut - received);
    if (router === 'rfqz')
      change.add(service.maker, wrapped(inputMint), paid).add(service.maker, outputMint, -routeOut);
    return change;
  }

  async function execute(story: Story, placed: Placed, signs: 'all' | 'none' | 'another'): Promise<void> {
    const { requestId, transaction } = placed.answer.body;
    const whole = signed(story, placed);
    const foreign = story.orders.find((other) => other !== placed && other.taker === placed.taker);
    const signedTransaction = signs === 'all' ? whole : signs === 'none' || foreign === undefined ? transaction
      : signed(story, foreign);
    const before = holdings(sandbox, story.owners, mints);
    const opens = opensAccount(placed);
    const answer = await sandbox.post('/swap/v2/execute', { requestId, signedTransaction });
    const change = holdings(sandbox, story.owners, mints).since(before).entries(story.names);
    if (signs !== 'all') {
      expect([answer.status, change]).toEqual([400, {}]);
    } else if (placed.executed !== undefined) {
      // Told again until it is forgotten, and nothing moves.
      expect(change).toEqual({});
      expect(answer.body.code === -1 ? placed.executed.body : answer.body).toEqual(placed.executed.body);
    } else if (answer.status !== 200) {
      expect([answer.status, answer.body.code, change]).toEqual([400, -1, {}]);
    } else {
      if (placed.sent !== undefined) expect(change).toEqual({});
      const moved = placed.sent ?? { change, opens };
      expect(moved.change, `${placed.answer.text} ${answer.text}`)
        .toEqual(told(placed, answer.body, moved.opens).entries(story.names));
      placed.executed = answer;
    }
  }

  /** Around the service: the chain takes it once, from any sender, if no other signature is missing. */
  function send(story: Story, placed: Placed): void {
    const before = holdings(sandbox, story.owners, mints);
    const opens = opensAccount(placed);
    const result = sandbox.chain.land(Buffer.from(signed(story, placed), 'base64'));
    const { gasless, signatureFeePayer } = placed.answer.body;
    if (gasless && signatureFeePayer !== story.payer.address) expect(result).toMatchObject({ kind: 'rejected' });
    const change = holdings(sandbox, story.owners, mints).since(before).entries(story.names);
    if (placed.sent !== undefined || result.kind === 'rejected') expect(change).toEqual({});
    else placed.sent = { change, opens };
  }

  async function quote(
    story: Story, { trader, pair: [from, to], share, swapMode }: Extract<Step, { kind: 'quote' }>,
  ): Promise<void> {
    const wallet = story.traders[trader]!;
    const fixed = amountOf(wallet.address, mints[from]!, share);
    const answer = await sandbox.get('/swap/v1/quote', {
      inputMint: mints[from]!, outputMint: mints[to]!, amount: fixed.toString(), swapMode, slippageBps: 100,
    });
    expect([200, 400], answer.text).toContain(answer.status);
    if (answer.status === 200) story.quotes.push({ quote: answer.body, trader: wallet });
  }

  async function swap(
    story: Story, { quote: quoteResponse, trader }: Story['quotes'][number], dynamicSlippage: boolean,
  ): Promise<void> {
    const answer =
      await sandbox.post('/swap/v1/swap', { userPublicKey: trader.address, quoteResponse, dynamicSlippage });
    expect([200, 400], answer.text).toContain(answer.status);
    if (answer.status !== 200) return;
    const { inputMint, outputMint, inAmount, outAmount, otherAmountThreshold, swapMode } = quoteResponse;
    const before = holdings(sandbox, story.owners, mints);
    const result = sandbox.chain.land(Buffer.from(trader.sign(answer.body.swapTransaction), 'base64'));
    expect(result.kind === 'landed' && result.error === null).toBe(answer.body.simulationError === null);
    if (result.kind === 'rejected') return;
    const { preTokenBalances, postTokenBalances } = sandbox.chain.transaction(result.signature)!;
    const change = holdings(sandbox, story.owners, mints).since(before).entries(story.names);
    const moved = (mint: string): bigint =>
      BigInt(change[`${story.names.get(trader.address)!} ${story.names.get(mint)!}`] ?? '0');
    const opened = postTokenBalances.some(({ owner, mint }) => owner === trader.address && mint === outputMint)
      && !preTokenBalances.some(({ owner, mint }) => owner === trader.address && mint === outputMint);
    const rent = opened ? sandbox.chain.rentExemption(outputMint === sandbox.mint('BUOY') ? 170 : 165) : 0n;
    const costs = result.feeLamports + rent;
    const [paid, received] =
      [-moved(inputMint) - (inputMint === SOL ? costs : 0n), moved(outputMint) + (outputMint === SOL ? costs : 0n)];
    if (result.error !== null) expect([paid, received]).toEqual([0n, 0n]);
    else if (swapMode === 'ExactIn') {
      expect(paid).toBe(BigInt(inAmount));
      expect(received)
        .toBeGreaterThanOrEqual(BigInt(answer.body.dynamicSlippageReport?.otherAmount ?? otherAmountThreshold));
    } else {
      expect(received).toBeGreaterThanOrEqual(BigInt(outAmount));
      expect(paid).toBeLessThanOrEqual(BigInt(answer.body.dynamicSlippageReport?.otherAmount ?? otherAmountThreshold));
    }
  }

  async function play(story: Story, next: Step): Promise<void> {
    switch (next.kind) {
      case 'order':
        return await order(story, next);
      case 'quote':
        return await quote(story, next);
      case 'execute': {
        const placed = story.orders.at(-1 - next.age);
        return placed === undefined ? undefined : await execute(story, placed, next.signs);
      }
      case 'send': {
        const placed = story.orders.at(-1 - next.age);
        return placed === undefined || placed.executed !== undefined ? undefined : send(story, placed);
      }
      case 'swap': {
        const known = story.quotes.at(-1 - next.age);
        return known === undefined ? undefined : await swap(story, known, next.dynamicSlippage);
      }
      case 'price': {
        const { prices } = (await sandbox.get('/sandbox/state')).body;
        const { mint, usd } = prices.find((price: { mint: string }) => price.mint === mints[next.symbol]);
        await sandbox.post('/sandbox/price', { mint, usd: usd * next.factor });
        return undefined;
      }
      case 'time':
        return await sandbox.passSlots(next.slots);
    }
  }

  it('moves exactly as the answers say in any order of requests; none is created or lost', async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async (steps) => {
      const story = await opened();
      let before = totals(sandbox);
      for (const next of steps) {
        landed = [];
        // The market writes reserves, and fills vaults that trades have emptied.
        const isMarket = next.kind === 'price' || next.kind === 'time';
        if (isMarket) expect(totals(sandbox)).toEqual(before);
        await play(story, next);
        if (isMarket) before = totals(sandbox);
        for (const signature of landed) expect(imbalance(sandbox.chain.transaction(signature)!)).toEqual({});
      }
      expect(totals(sandbox)).toEqual(before);
    }), { numRuns: 6, endOnFailure: true });
  });
});
