import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { GannetError } from '../../src/core/errors.ts';
import type { Clock, Millis } from '../../src/core/time.ts';
import type { ExecutorPorts, Signer } from '../../src/execution/ports.ts';
import { prepareAttempt } from '../../src/execution/prepare.ts';
import { USDC_MINT } from '../../src/market/token.ts';
import { createChainReader } from '../../src/signer/chain/chain-reader.ts';
import { createJsonRpc } from '../../src/signer/chain/json-rpc.ts';
import { judgeWithChain } from '../../src/signer/policy-check.ts';
import { USUAL_MAX_FEE_LAMPORTS } from '../../src/signer/policy/expectation.ts';
import { createPolicy } from '../../src/signer/policy/policy.ts';
import type { Intent } from '../../src/trading/intent.ts';
import type { SwapOrder } from '../../src/trading/swap-terms.ts';
import type { ExecutionFixture } from './execution-fixture.ts';
import { executionFixtures } from './execution-fixture.ts';

type SigningTerms = Parameters<Signer['sign']>[1];

const startExecutionFixture = executionFixtures();

const MAKERS_SIZE = 900_000_000n as Amount;
const EIGHT_HOURS = 28_800_000;

let fixture: ExecutionFixture;
beforeAll(async () => { fixture = await startExecutionFixture(); });
afterAll(() => fixture.close());

/** The fixture's clock, set forward or back by what `by` holds. */
function shifted(by: { ms: Millis }): Clock {
  return { now: () => fixture.clock.now() + by.ms, schedule: fixture.clock.schedule.bind(fixture.clock) };
}

interface Prepared {
  readonly result: Awaited<ReturnType<typeof prepareAttempt>>;
  readonly terms: readonly SigningTerms[];
  readonly asked: readonly Parameters<ExecutorPorts['service']['order']>[0][];
}

/** Prepares an attempt; `order` may change what the service answers, `sign` what the signer does. */
async function prepare(options: {
  readonly intent?: Intent; readonly parts?: Partial<ExecutorPorts>;
  readonly order?: (order: SwapOrder) => SwapOrder | Promise<SwapOrder>; readonly sign?: (terms: SigningTerms) => void;
} = {}): Promise<Prepared> {
  const terms: SigningTerms[] = [];
  const asked: Parameters<ExecutorPorts['service']['order']>[0][] = [];
  const result = await prepareAttempt({
    ...fixture,
    service: {
      ...fixture.service,
      order: async (request, call) => {
        asked.push(request);
        const order = await fixture.service.order(request, call);
        return options.order === undefined ? order : options.order(order);
      },
    },
    signer: {
      address: fixture.signer.address,
      sign: (transaction, given) => {
        terms.push(given);
        options.sign?.(given);
        return fixture.signer.sign(transaction, given);
      },
    },
    ...options.parts,
  }, options.intent ?? fixture.intent(), 1);
  return { result, terms, asked };
}

describe('an attempt', () => {
  it.each(
    ['order', 'build'] as const,
  )('keeps what the wallet had of the input, asked for while the quote was on its way (%s)', async (route) => {
    const order: string[] = [];
    let slot = 0n;
    const chain: ExecutorPorts['chain'] = {
      ...fixture.chain,
      tokenBalance: async (owner, mint) => {
        order.push('balance');
        const balance = await fixture.chain.tokenBalance(owner, mint);
        ({ slot } = balance);
        return { ...balance, lastSlot: slot + 1n };
      },
    };
    const { result } = await prepare({
      intent: fixture.intent({ route }), parts: { chain }, order: (answer) => { order.push('quote'); return answer; },
    });
    expect(result).toMatchObject({
      kind: 'signed',
      attempt: { inputBalance: (await fixture.wallet()).get(USDC_MINT), inputSlots: { from: slot, to: slot + 1n } },
    });
    expect(order.slice(0, 2)).toStrictEqual(['balance', 'quote']);
  });

  it('gives the signer the terms of the bytes: the quote’s output, and at least the intent’s minimum', async () => {
    const plain = await prepare();
    const { result, terms: [terms] } = plain;
    if (result.kind !== 'signed') throw new Error(result.reason);
    expect(terms).toMatchObject({
      amountIn: 20_000_000n, minimumOut: result.attempt.threshold, maker: undefined, feePayer: undefined, attempt: 1,
    });
    const minimumOut = (result.attempt.quotedOut * 999n) / 1_000n as Amount;
    const floored = await prepare({ intent: fixture.intent({ minimumOut }) });
    expect(floored.terms[0]!.minimumOut).toBeGreaterThanOrEqual(minimumOut);
    const firm = await prepare({ intent: fixture.intent({ amountIn: MAKERS_SIZE }) });
    expect(firm.terms[0]!.maker).toBeTypeOf('string');
    expect(firm.terms[0]!.feePayer).toBe(firm.terms[0]!.maker);
  });
});

/** What the signer's policy makes of the terms that are given to it, where the service says so much more or less. */
async function judged(
  route: 'order' | 'build', by: bigint, intent: Partial<Intent> = {},
): Promise<{ readonly result: Prepared['result']; readonly findings: readonly string[] }> {
  const chain = createChainReader(createJsonRpc(fixture.sandbox.addresses.rpc_url));
  const policy = createPolicy();
  const findings: string[] = [];
  const moved = <T extends { readonly threshold: Amount }>(terms: T): T =>
    ({ ...terms, threshold: terms.threshold + by as Amount });
  try {
    const { result } = await prepare({
      intent: fixture.intent({ route, ...intent }), order: moved, parts: {
        ...(route === 'order' ? {} : { service: {
          ...fixture.service, build: async (request, call) => moved(await fixture.service.build(request, call)),
        } }),
        signer: {
          address: fixture.signer.address,
          sign: async (transaction, terms) => {
            const verdict = await judgeWithChain(transaction, {
              ...terms, wallet: fixture.signer.address, maxFeeLamports: USUAL_MAX_FEE_LAMPORTS,
            }, { policy, chain });
            findings.push(...verdict.findings.map(({ code }) => code));
            return fixture.signer.sign(transaction, terms);
          },
        },
      },
    });
    return { result, findings };
  } finally {
    chain.close();
  }
}

describe('a threshold that the host rounds otherwise than the program', () => {
  it.each(['order', 'build'] as const)('is signed by the bytes where it is one unit above them (%s)', async (route) => {
    const { result, findings } = await judged(route, 1n);
    expect([result.kind, findings]).toEqual(['signed', []]);
  });

  it.each(['order', 'build'] as const)('is no reason to sign less than was promised by two (%s)', async (route) => {
    expect((await judged(route, 2n)).findings).toEqual(['SWAP_MINIMUM_BELOW']);
  });

  it.each(['order', 'build'] as const)('is refused below the agreed minimum, however little (%s)', async (route) => {
    const { result, findings } = await judged(route, -1n);
    expect(result).toMatchObject({ kind: 'refused', code: 'SLIPPAGE_EXCEEDS_MAX' });
    expect(findings).toEqual([]);
  });

  it('leaves the promise of a maker, who takes no slippage, as it is', async () => {
    const terms: SigningTerms[] = [];
    const { result } = await prepare({
      intent: fixture.intent({ amountIn: MAKERS_SIZE }), sign: (given) => { terms.push(given); },
    });
    expect(result.kind === 'signed' && terms[0]!.minimumOut === result.attempt.quotedOut).toBe(true);
  });
});

it.each(['order', 'build'] as const)('a swap is announced to the signer with its request (%s)', async (route) => {
  const steps: string[] = [];
  const intent = fixture.intent({ route, purpose: 'exit' });
  await prepare({
    intent, parts: { signer: {
      ...fixture.signer,
      expectSwap: (swap, priority) => { steps.push(JSON.stringify([swap.amountIn === intent.amountIn, priority])); },
      sign: (transaction, terms) => {
        steps.push(`sign ${terms.amountIn}`);
        return fixture.signer.sign(transaction, terms);
      },
    } },
  });
  expect(steps).toStrictEqual(['[true,"exit"]', `sign ${intent.amountIn}`]);
});

/** A signer's policy that refuses everything. */
const refuses = (code: string) => (): never => {
  throw new GannetError(
    'SIGN_REFUSED', `nothing was signed: ${code}: instruction 3 pays a stranger`, { details: { code } },
  );
};

describe('a refusal of the signer’s policy', () => {
  it('abandons the attempt with the policy’s code and findings, after one request', async () => {
    const { result, asked } = await prepare({ sign: refuses('TRANSFER_DESTINATION') });
    expect(result).toMatchObject({
      kind: 'refused', code: 'TRANSFER_DESTINATION',
      reason: expect.stringContaining('instruction 3 pays a stranger') as string, router: 'iris',
    });
    expect(asked).toHaveLength(1);
  });

  it('issue 13.14: reports the room in a cap that refused', async () => {
    const details = { code: 'CAP_EXCEEDED_HOUR', cap_span: 'hour', cap_left: '12', cap_free_at: 7 };
    const { result } =
      await prepare({ sign: () => { throw new GannetError('SIGN_REFUSED', 'nothing was signed', { details }); } });
    expect(result)
      .toMatchObject({ kind: 'refused', code: 'CAP_EXCEEDED_HOUR', capRoom: { span: 'hour', left: 12n, freeAt: 7 } });
  });

  it('is tried again where the signer got no price of its own, and keeps the router', async () => {
    let refusals = 2;
    const { result, asked } = await prepare({
      intent: fixture.intent({ amountIn: MAKERS_SIZE }),
      sign: () => { if (refusals-- > 0) refuses('PRICE_GUARD_UNAVAILABLE')(); },
    });
    expect(asked.map(({ excludeRouters }) => excludeRouters)).toStrictEqual([undefined, undefined, undefined]);
    expect(result).toMatchObject({ kind: 'signed' });
    const never = await prepare({ sign: refuses('PRICE_GUARD_UNAVAILABLE') });
    expect(never.result).toMatchObject({ kind: 'refused', code: 'PRICE_GUARD_UNAVAILABLE' });
    expect(never.asked).toHaveLength(3);
  });

  it('is followed by one quote without the router where others co-sign', async () => {
    const { result, asked, terms } = await prepare({
      intent: fixture.intent({ amountIn: MAKERS_SIZE }),
      sign: ({ maker }) => { if (maker !== undefined) refuses('SIGNER_UNKNOWN')(); },
    });
    expect(asked.map(({ excludeRouters }) => excludeRouters)).toStrictEqual([undefined, ['rfqz']]);
    expect(terms.map(({ maker }) => maker === undefined)).toStrictEqual([false, true]);
    expect(result).toMatchObject({ kind: 'signed', attempt: { feePayer: fixture.signer.address, router: 'iris' } });
    const always =
      await prepare({ intent: fixture.intent({ amountIn: MAKERS_SIZE }), sign: refuses('SIGNER_UNKNOWN') });
    expect(always.result).toMatchObject({ kind: 'refused', code: 'SIGNER_UNKNOWN' });
    expect(always.asked).toHaveLength(2);
  });
});

/** An order priced so many slots ago. */
const behind = (slots: bigint) => async (order: SwapOrder): Promise<SwapOrder> => ({
  ...order, contextSlot: (await fixture.chain.tokenBalance(fixture.signer.address, USDC_MINT)).slot - slots,
});

describe('the age of a quote at its signature', () => {
  it.each([
    ['forward', EIGHT_HOURS], ['back', -EIGHT_HOURS],
  ])('is not taken as fresh where the clock jumps %s eight hours meanwhile; another one is', async (_way, ms) => {
    const by = { ms: 0 };
    let jumped = false;
    const { result, asked, terms } = await prepare({
      parts: { clock: shifted(by) },
      order: (order) => {
        if (!jumped) by.ms = ms;
        jumped = true;
        return order;
      },
    });
    expect(result.kind).toBe('signed');
    expect([asked.length, terms.length]).toStrictEqual([2, 1]);
  });

  it('is refused where the clock keeps jumping', async () => {
    const by = { ms: 0 };
    const { result, terms } =
      await prepare({ parts: { clock: shifted(by) }, order: (order) => { by.ms -= EIGHT_HOURS; return order; } });
    expect(result).toMatchObject({ kind: 'refused', code: 'QUOTE_STALE' });
    expect(terms).toStrictEqual([]);
  });

  it('is limited as configured', async () => {
    const by = { ms: 0 };
    const slow = {
      parts: { clock: shifted(by), maxQuoteAgeMs: 500 }, order: (order: SwapOrder) => { by.ms += 800; return order; },
    };
    expect((await prepare(slow)).result).toMatchObject({
      kind: 'refused', code: 'QUOTE_STALE', reason: expect.stringContaining('allowed are 500') as string,
    });
    expect((await prepare({ ...slow, parts: { clock: shifted(by), maxQuoteAgeMs: 1_500 } })).result.kind)
      .toBe('signed');
  });

  it.each(
    ['order', 'build'] as const,
  )('issue 13.16: has no age while its request waits for a turn (%s)', async (route) => {
    const by = { ms: 0 };
    const queued = async <T>(answer: () => Promise<T>): Promise<T> => {
      by.ms += 9_000;
      return answer();
    };
    const service: ExecutorPorts['service'] = {
      ...fixture.service,
      order: (request, call) => queued(() => fixture.service.order(request, call)),
      build: (request, call) => queued(() => fixture.service.build(request, call)),
    };
    const { result } = await prepare({ intent: fixture.intent({ route }), parts: { clock: shifted(by), service } });
    expect(result.kind).toBe('signed');
    // Nine seconds on the way are an age.
    const late: ExecutorPorts['service'] = {
      ...service,
      order: async (request, call) => {
        const answer = await service.order(request, call);
        by.ms += 9_000;
        return answer;
      },
    };
    const { result: stale } = await prepare({ intent: fixture.intent(), parts: { clock: shifted(by), service: late } });
    expect(stale).toMatchObject({ kind: 'refused', code: 'QUOTE_STALE' });
  });

  it('is limited in slots as configured; a quote without a slot is too old', async () => {
    const parts = { maxQuoteAgeSlots: 20 };
    expect((await prepare({ parts, order: behind(5n) })).result.kind).toBe('signed');
    expect((await prepare({ parts, order: behind(40n) })).result)
      .toMatchObject({ kind: 'refused', code: 'QUOTE_STALE' });
    expect((await prepare({ parts, order: (order) => ({ ...order, contextSlot: undefined }) })).result)
      .toMatchObject({ kind: 'refused', code: 'QUOTE_STALE' });
    expect((await prepare({ order: behind(400n) })).result.kind).toBe('signed');
  });

  it.each(
    [[1_999, 'refused'], [60_000, 'signed']] as const,
  )('of a maker must be good for two seconds more: with %i ms it is %s', async (leftMs, kind) => {
    const by = { ms: 0 };
    const { result } = await prepare({
      intent: fixture.intent({ amountIn: MAKERS_SIZE }), parts: { clock: shifted(by) },
      order: (order) => ({ ...order, expireAt: fixture.clock.now() + leftMs }),
    });
    expect(result).toMatchObject(kind === 'signed' ? { kind } : { kind, code: 'QUOTE_EXPIRED' });
  });

  it('of a maker must still be valid at the signature', async () => {
    const by = { ms: 0 };
    const chain: ExecutorPorts['chain'] = {
      ...fixture.chain,
      finalizedBlockHeight: async () => { by.ms += 1_500; return fixture.chain.finalizedBlockHeight(); },
    };
    const { result, terms } = await prepare({
      intent: fixture.intent({ amountIn: MAKERS_SIZE }), parts: { clock: shifted(by), chain },
      order: (order) => ({ ...order, expireAt: fixture.clock.now() + by.ms + 3_000 }),
    });
    expect(result).toMatchObject({ kind: 'refused', code: 'QUOTE_STALE' });
    expect(terms).toStrictEqual([]);
  });
});
