import { describe, expect, it } from 'vitest';
import type { Amount, Bps, Lamports } from '../../src/core/amount.ts';
import { GannetError } from '../../src/core/errors.ts';
import type { Clock } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import type { JournalledIntent, ExecutorPorts, Progress, SignatureStatus } from '../../src/execution/ports.ts';
import { landAttempt } from '../../src/execution/landing.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { Attempt, BalanceMove, ProofProgress, UnreadableTransaction } from '../../src/trading/attempt.ts';
import type { Intent } from '../../src/trading/intent.ts';

// A node of its own make: what a lying or lagging one says cannot be had from the sandbox.

const INTENT: Intent = {
  id: 'diver-1', strategy: 'diver', createdAt: 0, purpose: 'entry', inputMint: USDC_MINT, outputMint: SOL_MINT,
  amountIn: 1_000_000n as Amount,
  maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps, route: 'build', reason: 'a test',
};
const ATTEMPT: Attempt = {
  intentId: 'diver-1', number: 1, route: 'build', router: 'build', quotedOut: 5_000_000n as Amount,
  threshold: 4_900_000n as Amount, signature: 'ours', transactionId: 'ours', messageHash: '00', blockhash: 'hash',
  lastValidBlockHeight: 1_150n, feePayer: 'us',
  inputBalance: 7_000_000n as Amount, inputSlots: { from: 400n, to: 402n }, signedTransaction: new Uint8Array(1),
};
const EIGHT_HOURS = 28_800_000;

/** What the node says; each is given the time that really passed. */
interface Node {
  readonly height?: (at: number) => bigint;
  readonly valid?: (at: number) => boolean;
  readonly status?: (signature: string, at: number) => Awaited<ReturnType<ExecutorPorts['chain']['signatureStatus']>>;
  readonly findBySigner?: ExecutorPorts['chain']['findBySigner'];
  readonly signaturesOf?: ExecutorPorts['chain']['signaturesOf'];
  readonly landed?: UnreadableTransaction;
  readonly balance?: (at: number) => bigint;
  readonly slot?: (at: number) => bigint;
  readonly send?: (at: number) => void;
  readonly landedError?: string;
  readonly node?: string;
}

interface Told { readonly at: number; readonly progress: Progress }

function never(): never {
  throw new Error('not asked for here');
}

/** Follows an attempt for a span of virtual time; `wall` is what the clock shows at each. */
async function follow(node: Node, options: {
  readonly attempt?: Attempt; readonly spanMs: number; readonly wall?: (at: number) => number;
  readonly moves?: readonly BalanceMove[]; readonly others?: readonly JournalledIntent[];
  readonly proofs?: ProofProgress[];
}) {
  const { attempt = ATTEMPT, spanMs, wall = (at: number) => at } = options;
  const time = new VirtualClock(0);
  const clock: Clock = { now: () => wall(time.now()), schedule: time.schedule.bind(time) };
  const sent: number[] = [];
  const landedError = node.landedError === undefined ? undefined : { code: node.landedError, message: 'it failed' };
  const fixture: ExecutorPorts = {
    clock,
    service: { order: never, build: never, execute: never },
    journal: {
      intentApproved: never, attemptSigned: never, transition: never, openIntents: () => options.others ?? [],
      isSigned: never, proofOf: () => options.proofs?.at(-1),
      keepProof: (_attempt, progress) => { options.proofs?.push(progress); }, movesSince: () => options.moves ?? [],
    },
    signer: { address: 'us', sign: never },
    chain: {
      node: node.node,
      compose: never,
      readTransaction: never,
      signaturesOf: node.signaturesOf ?? (async () => undefined),
      send: async () => {
        sent.push(time.now());
        node.send?.(time.now());
        return { kind: 'accepted' };
      },
      finalizedBlockHeight: async () => node.height?.(time.now()) ?? 1_000n,
      isBlockhashValid: async () => node.valid?.(time.now()) ?? true,
      signatureStatus: async (signature) => {
        const status = node.status?.(signature, time.now());
        return status && { ...status, error: landedError };
      },
      balanceHistory: async () => ({ native: { lamports: 0n, slot: 600n }, steps: [], unreadable: [] }),
      findBySigner: node.findBySigner ?? (async () => undefined),
      tokenBalance: async () => ({
        amount: (node.balance?.(time.now()) ?? 7_000_000n) as Amount, slot: node.slot?.(time.now()) ?? 600n,
        lastSlot: 602n,
      }),
      landedSwap: async ({ signature }) => node.landed ?? ({
        signature, slot: 1n, feeLamports: 5_000n as Lamports, rentLamports: 0n as Lamports, amountIn: INTENT.amountIn,
        amountOut: 5_000_000n as Amount,
        error: landedError,
      }),
    },
  };
  const told: Told[] = [];
  const tell = (progress: Progress): void => { told.push({ at: time.now(), progress }); };
  const end = { over: false };
  const done = landAttempt(fixture, INTENT, attempt, { report: tell, signal: new AbortController().signal })
    .then((progress) => { if (progress !== undefined) tell(progress); })
    .finally(() => { end.over = true; });
  while (!end.over && time.now() < spanMs) {
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => { setImmediate(resolve); });
    if (!end.over && time.nextAt() !== Infinity) time.advanceTo(time.nextAt());
  }
  if (end.over) await done;
  return {
    told, sent, states: told.map(({ progress }) => progress.state), codes: told.map(({ progress }) => progress.code),
  };
}

/** A chain of a block every 400 ms whose finalized height is `at` when time begins. */
const blocksFrom = (at: bigint) => (time: number): bigint => at + BigInt(Math.floor(time / 400));
/** A transaction that is processed, but not before 50.5 s. */
const processedLate = (_signature: string, at: number): SignatureStatus | undefined =>
  (at >= 50_500 ? { slot: 600n, confirmation: 'processed', error: undefined } : undefined);
/** A wallet that lacks just what would have been swapped. */
const swapped = (): bigint => 6_000_000n;
const silent = (): never => { throw new GannetError('CHAIN_UNREACHABLE', 'no connection to the node'); };
const UNREADABLE: UnreadableTransaction =
  { kind: 'unreadable', signature: 'unread', reason: 'the node does not give its version', mayBeOwn: true };
const DEAD: Node = { height: blocksFrom(1_151n), valid: () => false };

describe('following an attempt', () => {
  it('does not accept an early expiry from a node that returns slots as heights', async () => {
    expect((await follow({ height: blocksFrom(9_999n), valid: () => false }, { spanMs: 40_000 })).states)
      .toEqual(['submitted']);
  });

  it('issue 13.34: accepts no expiry by height and blockhash before enough slots have passed', async () => {
    const { told } = await follow({ ...DEAD, slot: blocksFrom(402n) }, { spanMs: 120_000 });
    expect(told.map(({ progress }) => progress.state)).toEqual(['submitted', 'expired']);
    expect(told[1]!.at).toBeGreaterThanOrEqual(66_000);
  });

  it('issue 13.35: is followed over several processes, each of which continues the proof', async () => {
    const proofs: ProofProgress[] = [];
    const ends: string[][] = [];
    // Each process lives for half a minute; the chain goes on meanwhile.
    for (let process = 0; process < 3; process++) {
      const height = (at: number): bigint => blocksFrom(1_151n + BigInt(process * 75))(at);
      ends.push((await follow({ ...DEAD, height }, { spanMs: 30_000, proofs })).states);
    }
    expect(ends).toEqual([['submitted'], ['submitted', 'expired'], ['submitted', 'expired']]);
    expect(proofs.findLast(({ first }) => first !== undefined))
      .toMatchObject({ first: { height: expect.any(BigInt), watchedMs: expect.any(Number) } });
    expect(proofs.map(({ watchedMs }) => watchedMs))
      .toEqual(proofs.map(({ watchedMs }) => watchedMs).toSorted((a, b) => a - b));
  });

  it('issue 13.34: does not continue a proof that was discarded just before a kill', async () => {
    const proofs: ProofProgress[] = [];
    // The proof is complete for the first time at 45 s and refuted at 50.5 s; the kill comes at 51 s.
    await follow({ ...DEAD, status: processedLate }, { spanMs: 51_200, proofs });
    expect(proofs.some(({ first }) => first !== undefined)).toBe(true);
    expect(proofs.at(-1)?.first).toBeUndefined();
    const { told } = await follow({ ...DEAD, height: blocksFrom(1_351n) }, { spanMs: 30_000, proofs });
    expect(told.find(({ progress }) => progress.state === 'expired')?.at).toBeGreaterThanOrEqual(6_000);
  });

  it('issue 13.34: restarts the proof in a process that uses another node', async () => {
    const proofs: ProofProgress[] = [];
    await follow({ ...DEAD, node: 'one' }, { spanMs: 51_000, proofs });
    const ends: (number | undefined)[] = [];
    for (const node of ['one', 'other']) {
      const next = { ...DEAD, node, height: blocksFrom(1_351n) };
      const { told } = await follow(next, { spanMs: 30_000, proofs: [...proofs] });
      ends.push(told.find(({ progress }) => progress.state === 'expired')?.at);
    }
    expect(ends[0]).toBeLessThan(6_000);
    expect(ends[1]).toBeGreaterThanOrEqual(6_000);
  });

  it('accepts the expiry when height, blockhash, history and balance agree twice', async () => {
    const { told } = await follow(DEAD, { spanMs: 120_000 });
    expect(told.map(({ progress }) => progress.state)).toEqual(['submitted', 'expired']);
    expect(told[1]!.at).toBeGreaterThanOrEqual(51_000);
    expect(told[1]!.at).toBeLessThan(60_000);
  });

  it('accepts the expiry although one earlier height was far too high', async () => {
    const honest = blocksFrom(1_151n);
    const { told } = await follow(
      { height: (at) => (at > 46_000 && at < 47_000 ? 400_000_000n : honest(at)), valid: () => false },
      { spanMs: 300_000 },
    );
    expect(told.map(({ progress }) => progress.state)).toEqual(['submitted', 'expired']);
    expect(told[1]!.at).toBeLessThan(70_000);
  });

  it.each([
    ['the height is the last valid one', { height: () => 1_150n, valid: () => false }],
    ['the blockhash is still valid', { height: blocksFrom(1_151n), valid: () => true }],
    [
      'the chain stands still just past its last valid block',
      { height: () => 1_151n, valid: () => false },
    ],
  ])('waits on where %s', async (_why, node) => {
    expect((await follow(node, { spanMs: 120_000 })).states).toEqual(['submitted']);
  });

  it('accepts the expiry one block after the last valid one, and not before', async () => {
    const reached = 60_000;
    const { told } = await follow(
      { height: (at) => 1_150n + BigInt(Math.max(0, Math.floor((at - reached) / 400))), valid: () => false },
      { spanMs: 120_000 },
    );
    expect(told.at(-1)!.progress.state).toBe('expired');
    // One block to pass, and twelve between the two proofs.
    expect(told.at(-1)!.at - reached).toBeGreaterThanOrEqual(13 * 400);
  });

  it.each([
    4_000, 5_000,
  ])('finds what landed in the last valid block and came to light %i ms after its life was over', async (lateMs) => {
    const over = 50_000;
    const { told } = await follow({
      height: blocksFrom(1_151n - BigInt(over / 400)), valid: (at) => at < over,
      status: (_id, at) => (at < over + lateMs ? undefined : { slot: 1n, confirmation: 'finalized' }),
    }, { spanMs: 120_000 });
    expect(told.map(({ progress }) => progress.state)).toEqual(['submitted', 'confirmed']);
  });

  it('finds a swap with another fee payer by the wallet’s signature', async () => {
    const { transactionId: _ours, ...foreign } = { ...ATTEMPT, feePayer: 'maker' };
    const { states } = await follow({
      findBySigner: async ({ owner }) => (owner === 'us' ? 'the true id' : undefined),
      status: (signature) => (signature === 'the true id' ? { slot: 1n, confirmation: 'confirmed' } : undefined),
    }, { attempt: foreign, spanMs: 10_000 });
    expect(states).toEqual(['submitted', 'confirmed']);
  });

  it('waits for a node that gives a transaction that has landed, and says what is missing', async () => {
    const { told } = await follow({
      status: () => ({ slot: 1n, confirmation: 'finalized' }), landed: { ...UNREADABLE, signature: 'ours' },
    }, { spanMs: 15_000 });
    expect(told.map(({ progress }) => progress.state)).toEqual(['submitted', 'unknown']);
    expect(told[1]!.progress.reason)
      .toMatch(/ours has landed and cannot be read: .* add one as chain.further_rpc_urls/);
  });

  it('follows the wallet’s signature where the payer’s changes after a dropped block', async () => {
    const { transactionId: _ours, ...foreign } = { ...ATTEMPT, feePayer: 'maker' };
    let asked = 0;
    const { told } = await follow({
      findBySigner: async () => (asked++ < 5 ? 'first id' : 'second id'),
      status: (signature) => (signature === 'second id' ? { slot: 2n, confirmation: 'confirmed' } : undefined),
    }, { attempt: foreign, spanMs: 10_000 });
    expect(told.at(-1)!.progress).toMatchObject({ state: 'confirmed', signature: 'second id' });
  });

  it.each([
    '6001', '1',
  ])('waits for a failure (%s) to be finalized, and sends nothing meanwhile', async (landedError) => {
    const node: Node = {
      status: (_id, at) => (at < 800 ? undefined : { slot: 1n, confirmation: at < 13_000 ? 'confirmed' : 'finalized' }),
      landedError,
    };
    const followed = await follow(node, { spanMs: 60_000 });
    expect(followed.told.at(-1))
      .toMatchObject({ progress: { state: 'failed', code: landedError, feeLamports: 5_000n } });
    expect(followed.told.at(-1)!.at).toBeGreaterThanOrEqual(13_000);
    expect(followed.sent.every((at) => at < 1_000)).toBe(true);
  });

  it('continues where a confirmed failure is dropped with its block: the same bytes may still land', async () => {
    const { states, sent } = await follow({
      status: (_id, at) => (at < 1_000 || (at > 4_000 && at < 9_000) ? undefined
        : { slot: 1n, confirmation: at < 9_000 ? 'confirmed' : 'finalized' }),
      landedError: '6001',
    }, { spanMs: 60_000 });
    expect(states).toEqual(['submitted', 'failed']);
    expect(sent.some((at) => at > 4_000)).toBe(true);
  });
});

describe('an expiry proof that the wallet’s balance contradicts', () => {
  it('does not count: the outcome stays unknown, with the amounts and at growing intervals', async () => {
    const { told, codes } = await follow({ ...DEAD, balance: swapped }, { spanMs: 3_600_000 });
    expect(codes.slice(1, -1).every((code) => code === 'PROOF_DISAGREES')).toBe(true);
    expect(told.at(1)!.progress).toMatchObject({ state: 'unknown', code: 'PROOF_DISAGREES' });
    expect(told.at(1)!.progress.reason).toContain('6000000');
    expect(told.at(1)!.progress.reason).toContain('7000000');
    expect(told.length).toBeGreaterThan(3);
    expect(told.length).toBeLessThan(15);
  });

  it('yields to a later answer of the history', async () => {
    const { states } = await follow({
      ...DEAD, balance: swapped,
      status: (_id, at) => (at < 90_000 ? undefined : { slot: 1n, confirmation: 'finalized' }),
    }, { spanMs: 200_000 });
    expect(states).toEqual(['submitted', 'unknown', 'unknown', 'unknown', 'confirmed']);
  });

  it.each([
    ['less than half is missing of what would have been swapped', { balance: () => 6_500_001n }, []],
    ['another swap of ours took a part of it', { balance: swapped }, [{ spent: 500_001n, received: 0n, slot: 403n }]],
    [
      'another swap of ours took a part of it just now', { balance: swapped },
      [{ spent: 500_001n, received: 0n, slot: 600n }],
    ],
    [
      'another swap of ours brought something before it was signed', { balance: () => 6_500_001n },
      [{ spent: 0n, received: 1n, slot: 400n }],
    ],
    [
      'another swap of ours brought something that the balance is too old to have', { balance: () => 6_500_001n },
      [{ spent: 0n, received: 1n, slot: 603n }],
    ],
  ])('agrees where %s', async (_why, node, moves) => {
    expect((await follow({ ...DEAD, ...node }, { spanMs: 120_000, moves })).states).toEqual(['submitted', 'expired']);
  });

  it.each([
    [
      'another swap brought as much as is there again', { balance: () => 7_000_000n },
      [{ spent: 0n, received: 1_000_000n, slot: 500n }],
    ],
    [
      'another swap brought one unit, which hides one that is missing', { balance: () => 6_000_001n },
      [{ spent: 0n, received: 1n, slot: 403n }],
    ],
    [
      'the balance of its signing lacked already what another swap took', { balance: swapped },
      [{ spent: 1n, received: 0n, slot: 400n }],
    ],
    [
      'that balance may lack the input of another swap', { balance: swapped },
      [{ spent: 1n, received: 0n, slot: 401n }],
    ],
    [
      'that balance may lack the output of another swap', { balance: () => 6_000_001n },
      [{ spent: 0n, received: 1n, slot: 402n }],
    ],
    [
      'the present balance may lack the input of another swap', { balance: swapped },
      [{ spent: 1n, received: 0n, slot: 601n }],
    ],
    [
      'the present one is too old to lack what another swap took', { balance: swapped },
      [{ spent: 1n, received: 0n, slot: 603n }],
    ],
    ['the slot of another swap is unknown', { balance: swapped }, [{ spent: 1n, received: 0n }]],
    [
      'the slot of a swap with an output is unknown', { balance: () => 6_000_001n },
      [{ spent: 0n, received: 1n }],
    ],
  ])('disagrees where %s', async (_why, node, moves) => {
    const { states, codes } = await follow({ ...DEAD, ...node }, { spanMs: 120_000, moves });
    expect(states).not.toContain('expired');
    expect(codes.at(-1)).toBe('PROOF_DISAGREES');
  });

  it.each([
    ['the slot of its balance was not written down', 'inputSlots', 'PROOF_DISAGREES'],
    ['its balance was not written down', 'inputBalance', 'PROOF_DISAGREES'],
  ] as const)('is none for an attempt that an older version signed, where %s', async (_what, member, code) => {
    const attempt = { ...ATTEMPT, [member]: undefined };
    const { states, codes } = await follow({ ...DEAD, balance: swapped }, {
      attempt, spanMs: 120_000, moves: [{ spent: 1n, received: 0n, slot: 500n }],
    });
    expect(states).not.toContain('expired');
    expect(codes.at(-1)).toBe(code);
  });

  it('is possible for an older version’s attempt where nothing else has moved', async () => {
    expect((await follow(DEAD, { attempt: { ...ATTEMPT, inputSlots: undefined }, spanMs: 120_000 })).states)
      .toEqual(['submitted', 'expired']);
  });

  it('does not count while the node’s balance is older than that of the signing', async () => {
    expect(
      (await follow(DEAD, { attempt: { ...ATTEMPT, inputSlots: { from: 1n, to: 601n } }, spanMs: 120_000 })).states,
    ).toEqual(['submitted']);
  });

  const bringing = (state: 'building' | 'submitted', inFlight: number): JournalledIntent => ({
    intent: { ...INTENT, id: 'diver-2', inputMint: SOL_MINT, outputMint: USDC_MINT }, state, attempt: 2,
    attempts: [{ ...ATTEMPT, intentId: 'diver-2', number: inFlight }], spentLamports: 0n as Lamports,
  });

  it.each(
    ['building', 'submitted'] as const,
  )('waits for a swap under way (%s) that may have brought what is there', async (state) => {
    expect(
      (await follow({ ...DEAD, balance: () => 6_500_001n }, { spanMs: 120_000, others: [bringing(state, 2)] })).states,
    ).toEqual(['submitted']);
  });

  it.each([
    ['nothing has moved at all', 7_000_000n, [bringing('submitted', 2)]],
    ['nothing is signed of it', 6_500_001n, [bringing('building', 1)]],
    ['it brings something else', 6_500_001n, [{ ...bringing('submitted', 2), intent: { ...INTENT, id: 'diver-2' } }]],
    [
      'it is the swap itself', 6_500_001n,
      [{ ...bringing('submitted', 2), intent: { ...INTENT, outputMint: USDC_MINT } }],
    ],
  ])('does not wait for another swap where %s', async (_why, balance, others) => {
    expect((await follow({ ...DEAD, balance: () => balance }, { spanMs: 120_000, others })).states)
      .toEqual(['submitted', 'expired']);
  });
});

describe('a clock that jumps eight hours in the middle', () => {
  const jumpAt = 10_000;
  const jumps = [['forward', EIGHT_HOURS], ['back', -EIGHT_HOURS]] as const;

  it.each(jumps)('%s neither hastens nor prevents the expiry proof', async (_way, by) => {
    const { told } = await follow(DEAD, { spanMs: 120_000, wall: (at) => (at < jumpAt ? at : at + by) });
    expect(told.map(({ progress }) => progress.state)).toEqual(['submitted', 'expired']);
    // Of a jump at most five seconds count.
    expect(told[1]!.at).toBeGreaterThanOrEqual(45_000);
    expect(told[1]!.at).toBeLessThan(70_000);
  });

  it.each(jumps)('%s keeps the interval of the sending', async (_way, by) => {
    const { sent } = await follow({}, { spanMs: 60_000, wall: (at) => (at < jumpAt ? at : at + by) });
    const gaps = sent.slice(1).map((at, index) => at - sent[index]!);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(2_400);
    expect(sent.length).toBeGreaterThan(20);
    expect(sent.length).toBeLessThan(35);
  });

  it('back and forth repeatedly proves nothing early', async () => {
    const { told } =
      await follow(DEAD, { spanMs: 44_000, wall: (at) => at + (Math.floor(at / 2_000) % 2) * EIGHT_HOURS });
    // Every jump counts as five seconds at most: twenty-odd seconds hold five of them.
    expect(told.filter(({ progress }) => progress.state === 'expired').every(({ at }) => at > 18_000)).toBe(true);
  });
});

describe('an attempt whose outcome cannot be proven', () => {
  it('is unknown after ten seconds of silence, and an alert after three minutes, at growing intervals', async () => {
    const { told, codes } = await follow({ height: silent, status: silent }, { spanMs: 86_400_000 });
    expect(told[1]).toMatchObject({ progress: { state: 'unknown', code: 'CHAIN_UNREACHABLE' } });
    expect(told[1]!.at).toBeGreaterThan(10_000);
    expect(told[1]!.at).toBeLessThan(12_000);
    const operators = told.filter(({ progress }) => progress.code === 'OUTCOME_UNPROVEN');
    expect(operators[0]!.at).toBeGreaterThanOrEqual(180_000);
    expect(operators[0]!.at).toBeLessThan(190_000);
    expect(operators[0]!.progress.reason).toContain('no connection to the node');
    expect(codes.length).toBeLessThan(100);
  });

  it('is checked and sent less often after its last valid block', async () => {
    const { sent } = await follow({}, { spanMs: 3_600_000 });
    const late = sent.filter((at) => at > 600_000);
    expect(late.length).toBeGreaterThan(50);
    expect(late.length).toBeLessThan(110);
  });
});

describe('issue 31: the expiry of a swap whose id is known', () => {
  it('is not proven where the node has something under this id that cannot be read', async () => {
    const { told } = await follow({ ...DEAD, signaturesOf: async () => UNREADABLE }, { spanMs: 185_000 });
    expect(told.map(({ progress }) => progress.state)).toEqual(['submitted', 'unknown']);
    expect(told[1]!.progress.reason).toMatch(/has no status of ours, but gives no readable one/);
  });
});
