import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Amount, Bps } from '../../src/core/amount.ts';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import { GannetError } from '../../src/core/errors.ts';
import type { ExecutorPorts } from '../../src/execution/ports.ts';
import { openJournal } from '../../src/store/journal.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import { isTerminal } from '../../src/trading/intent.ts';
import type { ExecutionFixture } from './execution-fixture.ts';
import { EXECUTE_TIMEOUT_MS, executionFixtures, outcomesOf } from './execution-fixture.ts';
import { bookedWallet } from './ledger.ts';

const startExecutionFixture = executionFixtures();

const EXECUTE = '/swap/v2/execute';
/** So much that the embedded maker's firm price wins, whose fee another account pays. */
const MAKERS_SIZE = 900_000_000n as Amount;
/** More blocks than any transaction lives, and those by which "finalized" lags. */
const A_LIFE_AND_MORE = 260;

let fixture: ExecutionFixture;
let wallet: Map<Mint, Amount>;

beforeEach(async () => {
  fixture = await startExecutionFixture({ late: 4 });
  wallet = await fixture.wallet();
});
afterEach(() => fixture.close());

/**
 * Carries out one intent and checks what must hold whatever happened: the ledger is the chain, and nothing is done
 * twice.
 */
async function carryOut(intent: Intent, options: {
  readonly parts?: Partial<ExecutorPorts>; readonly onOutcome?: (outcome: Outcome) => void;
} = {}): Promise<Outcome[]> {
  const before = await fixture.wallet();
  const landedBefore = fixture.landed.length;
  const outcomes = await outcomesOf(createLiveExecutor({ ...fixture, ...options.parts }), intent, options.onOutcome);
  const landed = fixture.landed.slice(landedBefore);
  const last = outcomes.at(-1)!;
  expect(outcomes.filter(({ state }) => isTerminal(state))).toStrictEqual([last]);
  expect(landed.filter(({ succeeded }) => succeeded)).toHaveLength(last.state === 'confirmed' ? 1 : 0);
  expect(landed).toHaveLength(last.state === 'confirmed' || last.state === 'failed' ? 1 : 0);
  expect(await fixture.wallet()).toStrictEqual(bookedWallet(before, [intent], outcomes));
  expect(fixture.journal.showIntent(intent.id)!.transitions.map(({ state }) => state).filter((state) =>
    state !== 'approved'))
    .toStrictEqual(outcomes.map(({ state }) => state));
  expect(fixture.journal.openIntents()).toStrictEqual([]);
  return outcomes;
}

/** A signer that counts: whatever happens, an intent gets one signature. */
function countingSigner(): ExecutorPorts['signer'] & { readonly count: () => number } {
  let count = 0;
  return {
    address: fixture.signer.address,
    sign: (transaction, terms) => {
      count += 1;
      return fixture.signer.sign(transaction, terms);
    },
    count: () => count,
  };
}

const states = (outcomes: readonly Outcome[]): string[] => outcomes.map(({ state }) => state);

describe('a swap through the service with a faulty answer to /execute', () => {
  it.each([
    ['is lost after the swap was executed', { kind: 'drop_after' }],
    ['never comes because the request was lost', { kind: 'drop_before' }],
    ['is an internal error', { kind: 'status', status: 500 }],
    ['is a gateway’s refusal', { kind: 'status', status: 429 }],
    ['is cut off in the middle', { kind: 'malformed' }],
    ['is no JSON', { kind: 'malformed', body: '<html>bad gateway</html>' }],
    ['says that nothing is known, though it landed', { kind: 'unknown', landed: true }],
    ['says that nothing is known, and it did not land', { kind: 'unknown', landed: false }],
  ] as const)('swaps exactly once when it %s', async (_case, fault) => {
    await fixture.fault({ path: EXECUTE, fault, times: 1 });
    const signer = countingSigner();
    const outcomes = await carryOut(fixture.intent(), { parts: { signer } });
    expect(states(outcomes)).toEqual(expect.arrayContaining(['building', 'signed', 'unknown', 'confirmed']));
    const unknown = outcomes.find(({ state }) => state === 'unknown')!;
    expect(unknown.code).toMatch(/^SERVICE_/);
    expect(unknown.reason).toContain(EXECUTE);
    expect(signer.count()).toBe(1);
  });

  it('swaps exactly once when the answer comes after the client’s timeout', async () => {
    await fixture.fault({ path: EXECUTE, fault: { kind: 'delay', ms: EXECUTE_TIMEOUT_MS * 2 }, times: 1 });
    const signer = countingSigner();
    // Without the chain's own way, which is tried while the service is silent.
    const chain: ExecutorPorts['chain'] =
      { ...fixture.chain, send: async () => ({ kind: 'rejected', code: 'BUSY', message: 'not now' }) };
    const outcomes = await carryOut(fixture.intent(), { parts: { signer, chain } });
    expect(states(outcomes)).toEqual(expect.arrayContaining(['building', 'signed', 'unknown', 'confirmed']));
    // The clock of this fixture runs far ahead of the client's timeout, so either of the two may be what is told first.
    expect(outcomes.find(({ state }) => state === 'unknown')!.code).toMatch(/^(SERVICE_|OUTCOME_UNPROVEN$)/);
    expect(signer.count()).toBe(1);
  });

  it('issue 13.38: swaps exactly once through the chain itself where no answer comes at all', async () => {
    await fixture.fault({ path: EXECUTE, fault: { kind: 'drop_before' } });
    const signer = countingSigner();
    const outcomes = await carryOut(fixture.intent(), { parts: { signer } });
    expect(states(outcomes).at(-1)).toBe('confirmed');
    expect([signer.count(), fixture.landed.length]).toEqual([1, 1]);
  });

  it('follows the chain when the service reports a landed swap as failed', async () => {
    const lying: ExecutorPorts['service'] = {
      ...fixture.service,
      execute: async (request) => {
        await fixture.service.execute(request);
        return { status: 'failed', code: -1_000, error: 'Failed to land' };
      },
    };
    const outcomes = await carryOut(fixture.intent(), { parts: { service: lying } });
    expect(outcomes.at(-1)!.state).toBe('confirmed');
    expect(outcomes.find(({ state }) => state === 'submitted'))
      .toMatchObject({ code: '-1000', reason: 'Failed to land' });
  });

  it('follows the chain when the service reports an unsent swap as landed', async () => {
    const lying: ExecutorPorts['service'] =
      { ...fixture.service, execute: async () => ({ status: 'success', signature: '1'.repeat(88) }) };
    const outcomes = await carryOut(fixture.intent(), {
      parts: { service: lying },
      onOutcome: ({ state }) => { if (state === 'submitted') void fixture.passSlots(A_LIFE_AND_MORE); },
    });
    expect(outcomes.at(-1)!.state).toBe('expired');
  });

  it('is unknown as long as there is no answer, and lands with the first one', async () => {
    await fixture.fault({ path: EXECUTE, fault: { kind: 'status', status: 503 } });
    let unknowns = 0;
    const outcomes = await carryOut(fixture.intent(), {
      onOutcome: ({ state }) => {
        if (state === 'unknown') unknowns += 1;
        if (unknowns === 1) void fixture.clearFaults();
      },
    });
    expect(unknowns).toBeGreaterThanOrEqual(1);
    expect(outcomes.at(-1)!.state).toBe('confirmed');
  });
});

/** An order whose height is said to be lower than it is. */
async function shortLived(
  request: Parameters<ExecutorPorts['service']['order']>[0], byBlocks: bigint,
): ReturnType<ExecutorPorts['service']['order']> {
  const order = await fixture.service.order(request);
  // Old enough that its blockhash is known at finalized; one that is not is refused.
  await fixture.passSlots(40);
  return { ...order, lastValidBlockHeight: order.lastValidBlockHeight === undefined ? undefined
    : order.lastValidBlockHeight - byBlocks };
}

describe('a swap that never lands', () => {
  it('has expired only after the chain proves it, and is never signed again', async () => {
    await fixture.fault({ path: EXECUTE, fault: { kind: 'expire' } });
    const signer = countingSigner();
    let heightSeen = 0n;
    const watching: ExecutorPorts['chain'] = {
      ...fixture.chain,
      finalizedBlockHeight: async () => {
        heightSeen = await fixture.chain.finalizedBlockHeight();
        return heightSeen;
      },
    };
    const outcomes = await carryOut(fixture.intent(), {
      parts: { signer, chain: watching },
      onOutcome: ({ state }) => { if (state === 'submitted') void fixture.passSlots(A_LIFE_AND_MORE); },
    });
    expect(states(outcomes)).toStrictEqual(['building', 'signed', 'submitted', 'expired']);
    expect(outcomes.find(({ state }) => state === 'submitted'))
      .toMatchObject({ code: '-1005', reason: 'Transaction expired' });
    expect(heightSeen).toBeGreaterThan(outcomes.find(({ state }) => state === 'signed')!.lastValidBlockHeight!);
    expect(outcomes.at(-1)!.feeLamports).toBeUndefined();
    expect(signer.count()).toBe(1);
    expect(await fixture.wallet()).toStrictEqual(wallet);
  });

  it('is not expired while its blockhash is valid, however high the chain is', async () => {
    // The height is only what the service said; what counts is also the blockhash in the bytes.
    const lost: ExecutorPorts['service'] = {
      ...fixture.service,
      order: (request) => shortLived(request, 115n),
      execute: async () => ({ status: 'failed', code: -1_000, error: 'Failed to land' }),
    };
    const told: string[] = [];
    const executor = createLiveExecutor({ ...fixture, service: lost });
    const outcomes = outcomesOf(executor, fixture.intent(), ({ state }) => { told.push(state); });
    await expect.poll(() => told).toContain('submitted');
    await fixture.passSlots(80);
    const { blockhash, lastValidBlockHeight } = fixture.journal.openIntents()[0]!.attempts[0]!;
    expect(await fixture.chain.finalizedBlockHeight()).toBeGreaterThan(lastValidBlockHeight);
    expect(await fixture.chain.isBlockhashValid(blockhash)).toBe(true);
    const asked = fixture.sandbox.chain.slot;
    await expect.poll(() => fixture.sandbox.chain.slot).toBeGreaterThan(asked + 5);
    expect(told).not.toContain('expired');
    await fixture.passSlots(A_LIFE_AND_MORE);
    expect((await outcomes).at(-1)!.state).toBe('expired');
  });

  it('is proven by a chain that was unreachable for a while', async () => {
    await fixture.fault({ path: EXECUTE, fault: { kind: 'expire' } });
    let silent = true;
    const chain: ExecutorPorts['chain'] = {
      ...fixture.chain,
      finalizedBlockHeight: async () => {
        if (silent && fixture.journal.openIntents()[0]?.attempts.length === 1)
          throw new GannetError('CHAIN_UNREACHABLE', 'the node is away');
        return fixture.chain.finalizedBlockHeight();
      },
    };
    const outcomes = await carryOut(fixture.intent(), {
      parts: { chain },
      onOutcome: ({ state }) => {
        if (state !== 'unknown') return;
        silent = false;
        void fixture.passSlots(A_LIFE_AND_MORE);
      },
    });
    expect(outcomes.find(({ state }) => state === 'unknown')).toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    expect(outcomes.at(-1)!.state).toBe('expired');
  });
});

describe('a swap with a price change between quote and block', () => {
  it('fails with 6001 and its fee, without a swap', async () => {
    const service: ExecutorPorts['service'] = {
      ...fixture.service,
      execute: async (request) => {
        await fixture.scalePrice(SOL_MINT, 1.1);
        return fixture.service.execute(request);
      },
    };
    const outcomes = await carryOut(fixture.intent(), { parts: { service } });
    const last = outcomes.at(-1)!;
    expect(last).toMatchObject({ state: 'failed', code: '6001' });
    expect(last.feeLamports).toBeGreaterThanOrEqual(5_000n);
    const after = await fixture.wallet();
    expect(after.get(USDC_MINT)).toBe(wallet.get(USDC_MINT));
    expect(after.get(SOL_MINT)).toBe(wallet.get(SOL_MINT)! - last.feeLamports!);
  });

  it('fails the same way when it is composed here and sent through the RPC', async () => {
    const chain: ExecutorPorts['chain'] = {
      ...fixture.chain,
      send: async (transaction) => {
        await fixture.scalePrice(SOL_MINT, 1.1);
        return fixture.chain.send(transaction);
      },
    };
    const outcomes = await carryOut(fixture.intent({ route: 'build' }), { parts: { chain } });
    expect(outcomes.at(-1)).toMatchObject({ state: 'failed', code: '6001' });
    expect(outcomes.at(-1)!.feeLamports).toBeGreaterThanOrEqual(5_000n);
  });
});

/** An intent that the maker's firm price wins. */
const firm = (): Intent => fixture.intent({ amountIn: MAKERS_SIZE });

describe('a swap with a maker who pays the fee', () => {
  it('lands under a signature that was unknown before, and costs no fee', async () => {
    const outcomes = await carryOut(firm());
    const signed = outcomes.find(({ state }) => state === 'signed')!;
    expect(signed).toMatchObject({ router: 'rfqz' });
    expect(signed.signature).toBeUndefined();
    expect(signed.feePayer).not.toBe(fixture.signer.address);
    expect(outcomes.at(-1)).toMatchObject({
      state: 'confirmed', signature: fixture.landed.at(-1)!.signature,
      fill: { feeLamports: 0n, amountOut: signed.quotedOut },
    });
  });

  it.each([
    ['to a maker', { kind: 'drop_after' }],
    ['to a maker, who says nothing is known', { kind: 'unknown', landed: true }],
    ['and gets lost', { kind: 'drop_before' }],
  ] as const)('is found by our own signature where the answer was lost %s', async (_case, fault) => {
    await fixture.fault({ path: EXECUTE, fault, times: 1 });
    const outcomes = await carryOut(firm());
    expect(states(outcomes)).toContain('unknown');
    expect(outcomes.at(-1)).toMatchObject({ state: 'confirmed', signature: fixture.landed.at(-1)!.signature });
  });

  it('is found through the chain alone where the service never answers again', async () => {
    const service: ExecutorPorts['service'] = {
      ...fixture.service,
      execute: async (request) => {
        await fixture.service.execute(request);
        throw new GannetError('SERVICE_UNREACHABLE', 'the connection ended before an answer');
      },
    };
    expect((await carryOut(firm(), { parts: { service } })).at(-1)!.state).toBe('confirmed');
  });

  it('expires by proof of the wallet’s history where the maker refuses to sign', async () => {
    await fixture.fault({ path: EXECUTE, fault: { kind: 'reject' } });
    const signer = countingSigner();
    const outcomes = await carryOut(firm(), {
      parts: { signer },
      onOutcome: ({ state }) => { if (state === 'submitted') void fixture.passSlots(A_LIFE_AND_MORE); },
    });
    expect(outcomes.find(({ state }) => state === 'submitted')).toMatchObject({ code: '-2004' });
    expect(outcomes.at(-1)!.state).toBe('expired');
    expect(signer.count()).toBe(1);
  });

  it('is not signed after the maker’s price has expired', async () => {
    const service: ExecutorPorts['service'] = {
      ...fixture.service,
      order: async (request) => ({ ...await fixture.service.order(request), expireAt: fixture.clock.now() - 1 }),
    };
    const signer = countingSigner();
    const outcomes = await carryOut(firm(), { parts: { service, signer } });
    expect(outcomes.at(-1)).toMatchObject({ state: 'abandoned', code: 'QUOTE_EXPIRED' });
    expect(signer.count()).toBe(0);
  });
});

async function expectRefusal(
  code: RegExp, options: { readonly intent?: Intent; readonly parts?: Partial<ExecutorPorts> },
): Promise<void> {
  const signer = countingSigner();
  const outcomes = await carryOut(options.intent ?? fixture.intent(), { parts: { ...options.parts, signer } });
  expect(states(outcomes)).toStrictEqual(['building', 'abandoned']);
  expect(outcomes.at(-1)!.code).toMatch(code);
  expect(outcomes.at(-1)!.reason).toBeTruthy();
  expect(signer.count()).toBe(0);
  expect(fixture.landed).toStrictEqual([]);
}

describe('refused before the signature is', () => {
  it.each(
    [[400, 3], [503, 3], [403, 1], [404, 1], [410, 1]],
  )('an order that the service answers with %i, after as many tries as that can pass by: %i', async (status, tries) => {
    let asked = 0;
    const service: ExecutorPorts['service'] = {
      ...fixture.service,
      order: (request) => {
        asked += 1;
        return fixture.service.order(request);
      },
    };
    await fixture.fault({ path: '/swap/v2/order', fault: { kind: 'status', status } });
    await expectRefusal(status === 403 ? /^SERVICE_FORBIDDEN$/ : /^SERVICE_STATUS$/, { parts: { service } });
    expect(asked).toBe(tries);
  });

  it.each(['order', 'build'] as const)('an amount beyond the wallet’s balance (%s)', async (route) => {
    const intent = fixture.intent({ route, amountIn: 90_000_000_000n as Amount, maxPriceImpactBps: 5_000 as Bps });
    await expectRefusal(route === 'order' ? /^ORDER_(IRIS|RFQZ)_1$/ : /^1$/, { intent });
  });

  it.each([
    ['missing', (): undefined => undefined],
    ['in the past', (height: bigint): bigint => height - 1_000n],
    ['the finalized one itself', (_said: bigint, finalized: bigint): bigint => finalized],
    ['further away than any blockhash lives', (_said: bigint, finalized: bigint): bigint => finalized + 401n],
    ['a slot instead of a height', (height: bigint): bigint => height + 21_000_000n],
    [
      'above the finalized one, but below what a blockhash lives that is younger still',
      (_said: bigint, finalized: bigint): bigint => finalized + 10n,
    ],
  ] as const)('an order whose last valid block height is %s', async (_case, change) => {
    // Held still: the cases are exact to the block, and the chain goes on between the order and its check.
    const finalized = await fixture.chain.finalizedBlockHeight();
    const chain: ExecutorPorts['chain'] = { ...fixture.chain, finalizedBlockHeight: () => Promise.resolve(finalized) };
    const service: ExecutorPorts['service'] = {
      ...fixture.service,
      order: async (request) => {
        const order = await fixture.service.order(request);
        return { ...order, lastValidBlockHeight: change(order.lastValidBlockHeight!, finalized) };
      },
    };
    await expectRefusal(/^(SIGN_REFUSED|ORDER_INCOMPLETE)$/, { parts: { service, chain } });
  });

  it.each([
    ['without a transaction', { transaction: undefined }, /^ORDER_INCOMPLETE$/],
    ['without a request id', { requestId: undefined }, /^ORDER_INCOMPLETE$/],
    ['for another taker', { taker: SOL_MINT }, /^TERMS_MISMATCH$/],
    ['for another amount', { inAmount: 1n as Amount }, /^TERMS_MISMATCH$/],
    ['with a threshold of nothing', { threshold: 0n as Amount }, /^SLIPPAGE_EXCEEDS_MAX$/],
    ['without a word on its price impact', { priceImpact: undefined }, /^IMPACT_UNKNOWN$/],
    ['with a transaction that is none', { transaction: new Uint8Array([1, 2, 3]) }, /^CHAIN_TRANSACTION_INVALID$/],
  ] as const)('an order %s', async (_case, change, code) => {
    const service: ExecutorPorts['service'] =
      { ...fixture.service, order: async (request) => ({ ...await fixture.service.order(request), ...change }) };
    await expectRefusal(code, { parts: { service } });
  });

  it('a transaction that needs a stranger’s signature', async () => {
    const service: ExecutorPorts['service'] = {
      ...fixture.service,
      order: async (request) =>
        ({ ...await fixture.service.order(request), maker: undefined, signatureFeePayer: undefined }),
    };
    await expectRefusal(/^SIGN_REFUSED$/, { intent: fixture.intent({ amountIn: MAKERS_SIZE }), parts: { service } });
  });

  it('a build that pays less than a quote of the same moment', async () => {
    const service: ExecutorPorts['service'] = {
      ...fixture.service,
      build: async (request) => {
        const build = await fixture.service.build(request);
        return {
          ...build, outAmount: build.outAmount * 9n / 10n as Amount, threshold: build.threshold * 9n / 10n as Amount,
        };
      },
    };
    await expectRefusal(/^PRICE_OFF_REFERENCE$/, { intent: fixture.intent({ route: 'build' }), parts: { service } });
  });

  it.each([
    ['the quote', { order: -0.5, build: 0 }],
    ['the build', { order: 0, build: -0.5 }],
  ])('a build of which %s of the same moment says that it loses too much', async (_who, impact) => {
    const service: ExecutorPorts['service'] = {
      ...fixture.service,
      order: async (request) => ({ ...await fixture.service.order(request), priceImpact: impact.order }),
      build: async (request) => ({ ...await fixture.service.build(request), priceImpact: impact.build }),
    };
    await expectRefusal(/^IMPACT_EXCEEDS_MAX$/, { intent: fixture.intent({ route: 'build' }), parts: { service } });
  });

  it('a build whose transaction fails in the simulation', async () => {
    const service: ExecutorPorts['service'] = {
      ...fixture.service,
      build: async (request) => {
        const build = await fixture.service.build(request);
        await fixture.scalePrice(SOL_MINT, 1.2);
        return build;
      },
    };
    await expectRefusal(/^(6001|PRICE_OFF_REFERENCE)$/, {
      intent: fixture.intent({ route: 'build' }), parts: { service },
    });
  });

  it('every swap, with the reason, where the service is unreachable after retries', async () => {
    await fixture.fault({ path: '/swap/v2/order', fault: { kind: 'drop_before' }, times: 2 });
    expect((await carryOut(fixture.intent())).at(-1)!.state).toBe('confirmed');
    await fixture.fault({ path: '/swap/v2/order', fault: { kind: 'drop_before' } });
    const outcomes = await carryOut(fixture.intent());
    expect(outcomes.at(-1)).toMatchObject({ state: 'abandoned', code: 'SERVICE_UNREACHABLE' });
  });

  it('a cut off or absurd answer, at once', async () => {
    for (const fault of [
      { kind: 'malformed' }, { kind: 'malformed', body: '{}' }, { kind: 'malformed', body: 'null' },
    ]) {
      await fixture.fault({ path: '/swap/v2/order', fault, times: 1 });
      await expectRefusal(/^SERVICE_MALFORMED$/, {});
    }
  });
});

describe('a swap through the RPC', () => {
  it('is sent again with the same bytes where the node refuses them at first', async () => {
    const sent: string[] = [];
    const chain: ExecutorPorts['chain'] = {
      ...fixture.chain,
      send: async (transaction) => {
        sent.push(Buffer.from(transaction).toString('base64'));
        return sent.length === 1 ? { kind: 'rejected', code: '-32005', message: 'Node is behind by 100 slots' }
          : fixture.chain.send(transaction);
      },
    };
    const signer = countingSigner();
    const outcomes = await carryOut(fixture.intent({ route: 'build' }), { parts: { chain, signer } });
    expect(outcomes.find(({ state }) => state === 'submitted'))
      .toMatchObject({ code: '-32005', reason: 'Node is behind by 100 slots' });
    expect(outcomes.at(-1)!.state).toBe('confirmed');
    expect(sent.length).toBeGreaterThanOrEqual(2);
    expect(new Set(sent).size).toBe(1);
    expect(signer.count()).toBe(1);
  });

  it('has landed where the node accepted it and its answer was lost', async () => {
    let lost = 0;
    const chain: ExecutorPorts['chain'] = {
      ...fixture.chain,
      send: async (transaction) => {
        const answer = await fixture.chain.send(transaction);
        if (lost++ === 0) throw new GannetError('CHAIN_UNREACHABLE', 'the connection ended before an answer');
        return answer;
      },
    };
    const outcomes = await carryOut(fixture.intent({ route: 'build' }), { parts: { chain } });
    expect(states(outcomes)).toContain('unknown');
    expect(outcomes.at(-1)!.state).toBe('confirmed');
  });

  it('has expired where every node refuses it until its last valid block', async () => {
    const chain: ExecutorPorts['chain'] =
      { ...fixture.chain, send: async () => ({ kind: 'rejected', code: '-32002', message: 'Blockhash not found' }) };
    const outcomes = await carryOut(fixture.intent({ route: 'build' }), {
      parts: { chain },
      onOutcome: ({ state }) => { if (state === 'submitted') void fixture.passSlots(A_LIFE_AND_MORE); },
    });
    expect(outcomes.at(-1)!.state).toBe('expired');
    expect(await fixture.wallet()).toStrictEqual(wallet);
  });
});

describe('the journal', () => {
  it.each(['order', 'build'] as const)('has the signed bytes before the first one is sent (%s)', async (route) => {
    const onDisk: { readonly attempt: string | undefined; readonly state: string }[] = [];
    const countSent = (transaction: Uint8Array): void => {
      // Another connection, as a process after a crash would have: only what is committed is there.
      const journal = openJournal({ path: fixture.journalPath, clock: fixture.clock });
      const [open] = journal.openIntents();
      const attempt = open!.attempts[0];
      expect(attempt === undefined ? undefined : Buffer.compare(attempt.signedTransaction, transaction)).toBe(0);
      onDisk.push({ attempt: attempt?.signature, state: open!.state });
      journal.close();
    };
    const parts: Partial<ExecutorPorts> = {
      service: {
        ...fixture.service,
        execute: (request) => { countSent(request.signedTransaction); return fixture.service.execute(request); },
      },
      chain: {
        ...fixture.chain, send: (transaction) => { countSent(transaction); return fixture.chain.send(transaction); },
      },
    };
    const outcomes = await carryOut(fixture.intent({ route }), { parts });
    expect(outcomes.at(-1)!.state).toBe('confirmed');
    expect(onDisk[0]).toStrictEqual({ attempt: outcomes.at(-1)!.signature, state: 'signed' });
  });

  it('has every transition before it is reported', async () => {
    await carryOut(fixture.intent(), {
      onOutcome: ({ intentId, state }) => { expect(fixture.journal.showIntent(intentId)!.state).toBe(state); },
    });
    expect.assertions(13);
  });
});
