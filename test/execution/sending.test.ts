import { describe, expect, it } from 'vitest';
import type { Amount, Bps, Lamports } from '../../src/core/amount.ts';
import { GannetError } from '../../src/core/errors.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import type { ExecutorPorts, Progress } from '../../src/execution/ports.ts';
import { landAttempt } from '../../src/execution/landing.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { Attempt } from '../../src/trading/attempt.ts';
import type { Intent } from '../../src/trading/intent.ts';
import { advance, after } from '../service/virtual-time.ts';

const INTENT: Intent = {
  id: 'diver-1', strategy: 'diver', createdAt: 0, purpose: 'exit', inputMint: USDC_MINT, outputMint: SOL_MINT,
  amountIn: 1_000_000n as Amount,
  maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps, route: 'order', reason: 'a test',
};
const ATTEMPT: Attempt = {
  intentId: 'diver-1', number: 1, route: 'order', router: 'iris', quotedOut: 5_000_000n as Amount,
  threshold: 4_900_000n as Amount, requestId: 'request-1', signature: 'ours', transactionId: 'ours', messageHash: '00',
  blockhash: 'hash', lastValidBlockHeight: 1_000n, feePayer: 'us',
  inputBalance: 7_000_000n as Amount, inputSlots: { from: 1n, to: 1n }, signedTransaction: new Uint8Array(1),
};
const TIMEOUT_MS = 30_000;

type Execute = ExecutorPorts['service']['execute'];

const never = (): never => { throw new Error('not asked for here'); };

/** Follows an attempt whose bytes a service takes as it likes; the node is well, and has it landed from a moment on. */
function followed(
  serve: (clock: VirtualClock) => Execute, { landsAt = Infinity, lies = false, attempt = ATTEMPT } = {},
) {
  const clock = new VirtualClock(0);
  const flights = { now: 0, most: 0, sent: 0, signals: [] as (AbortSignal | undefined)[] };
  const direct: { readonly at: number; readonly bytes: Uint8Array }[] = [];
  const execute = serve(clock);
  const ports: ExecutorPorts = {
    clock,
    service: {
      order: never, build: never,
      execute: async (request, call) => {
        flights.sent += 1;
        flights.signals.push(call?.signal);
        flights.most = Math.max(flights.most, ++flights.now);
        try {
          return await execute(request, call);
        } finally {
          flights.now -= 1;
        }
      },
    },
    journal: {
      intentApproved: never, attemptSigned: never, transition: never, openIntents: () => [], isSigned: never,
      proofOf: () => undefined, keepProof: () => undefined, movesSince: () => [],
    },
    signer: { address: 'us', sign: never },
    chain: {
      compose: never, signaturesOf: async () => undefined, findBySigner: async () => undefined,
      balanceHistory: async () => ({ native: { lamports: 0n, slot: 600n }, steps: [], unreadable: [] }),
      readTransaction: (bytes) => ({
        blockhash: 'hash', feePayer: 'us', signers: ['us'], durableNonce: false,
        isWhole: bytes.every((byte) => byte !== 0),
      }),
      send: async (bytes) => {
        direct.push({ at: clock.now(), bytes });
        return { kind: 'accepted' };
      },
      finalizedBlockHeight: async () => 1_001n + BigInt(Math.floor(clock.now() / 400)),
      isBlockhashValid: async () => false,
      signatureStatus: async () => (clock.now() < landsAt ? undefined : { slot: 1n, confirmation: 'finalized' }),
      tokenBalance: async () => ({ amount: 7_000_000n as Amount, slot: 600n, lastSlot: 602n }),
      landedSwap: async ({ signature }) => ({
        signature, slot: 1n, feeLamports: 5_000n as Lamports, rentLamports: 0n as Lamports,
        amountIn: (lies ? 0n : 1_000_000n) as Amount, amountOut: (lies ? 0n : 5_000_000n) as Amount,
      }),
    },
  };
  const told: { readonly at: number; readonly progress: Progress }[] = [];
  const tell = (progress: Progress): void => { told.push({ at: clock.now(), progress }); };
  const over = new AbortController();
  const end = landAttempt(ports, INTENT, attempt, { report: tell, signal: over.signal }).then((progress) => {
    if (progress !== undefined) tell(progress);
    return progress;
  });
  return { clock, flights, direct, told, over, end, states: () => told.map(({ progress }) => progress.state) };
}

/** Answers nothing until it gives up. */
const timesOut = (clock: VirtualClock): Execute => async () => {
  await after(clock, TIMEOUT_MS);
  throw new GannetError('SERVICE_TIMEOUT', 'no answer in time');
};
const hangs = (): Execute => () => new Promise(() => undefined);

describe('a service that accepts bytes and does not answer', () => {
  it('delays no expiry proof, and gets one call at a time', async () => {
    const { clock, flights, told, states } = followed(timesOut);
    await advance(clock, 75_000);
    expect(states().at(-1)).toBe('expired');
    expect(told.at(-1)!.at).toBeLessThan(60_000);
    expect(flights).toMatchObject({ most: 1, sent: 2 });
  });

  it('does not hide the landing; its later answer is not reported', async () => {
    const { clock, flights, told, states } = followed(timesOut, { landsAt: 3_000 });
    await advance(clock, 40_000);
    expect(states()).toEqual(['submitted', 'confirmed']);
    expect(told.at(-1)!.at).toBeLessThan(4_000);
    expect(flights.sent).toBe(1);
    expect(flights.signals[0]!.aborted).toBe(true);
  });

  it('is not waited for after unsubscribing: no timer stays, and its call is aborted', async () => {
    const { clock, flights, over, end, told } = followed(hangs);
    await advance(clock, 10_000);
    over.abort();
    expect(await end).toBeUndefined();
    expect(clock.nextAt()).toBe(Infinity);
    expect(flights.signals[0]!.aborted).toBe(true);
    expect(told).toEqual([]);
  });
});

describe('issue 13.38: an order without an answer of the service', () => {
  /** One slot for a signature, ours in it, and the message behind it. */
  const WHOLE: Attempt = { ...ATTEMPT, signedTransaction: new Uint8Array(90).fill(1) };

  it('is sent to the chain too after ten seconds, and lands', async () => {
    const { clock, direct, flights, states } = followed(hangs, { attempt: WHOLE, landsAt: 13_000 });
    await advance(clock, 20_000);
    expect(direct.map(({ bytes }) => bytes)).toEqual([WHOLE.signedTransaction, WHOLE.signedTransaction]);
    expect(direct[0]!.at).toBeGreaterThanOrEqual(10_000);
    expect(direct[0]!.at).toBeLessThan(11_000);
    expect(states().at(-1)).toBe('confirmed');
    expect(flights.sent).toBe(1);
  });

  it.each<[string, Attempt, (clock: VirtualClock) => Execute]>([
    ['another account pays', { ...WHOLE, transactionId: undefined, feePayer: 'a maker' }, hangs],
    ['a signature is missing', { ...WHOLE, signedTransaction: new Uint8Array(90).fill(0, 1) }, hangs],
    ['the service has answered', WHOLE, () => async () => ({ status: 'failed', code: -1_000 })],
  ])('is not sent there where %s', async (_why, attempt, serve) => {
    const { clock, direct } = followed(serve, { attempt });
    await advance(clock, 15_000);
    expect(direct).toEqual([]);
  });
});

describe('the sending of an attempt', () => {
  it('reports the id that the host gave to the request, with what it says and with the end', async () => {
    const { clock, told } = followed(
      () => async () => ({ status: 'failed', code: -1_000, gatewayRequestId: 'edge-42' }), { landsAt: 3_000 },
    );
    await advance(clock, 10_000);
    expect(told.map(({ progress: { state, gatewayRequestId } }) => [state, gatewayRequestId]))
      .toEqual([['submitted', 'edge-42'], ['confirmed', 'edge-42']]);
  });

  it('repeats after the call before has ended, at the usual interval', async () => {
    const { clock, flights } = followed((time) => async () => {
      await after(time, 1_000);
      return { status: 'failed', code: -1_000 };
    });
    await advance(clock, 40_000);
    expect(flights.most).toBe(1);
    expect(flights.sent).toBeGreaterThan(12);
  });

  it('fails with a defect that it met', async () => {
    const { clock, end } = followed((time) => async () => {
      await after(time, 1_000);
      throw new TypeError('a bug');
    });
    const ended = expect(end).rejects.toThrow('a bug');
    await advance(clock, 5_000);
    await ended;
  });
});

describe('a node that reports a landing with impossible amounts', () => {
  it('is asked again; the outcome is unknown after ten seconds, and an alert later', async () => {
    const { clock, over, told, states } = followed(hangs, { landsAt: 1_000, lies: true });
    await advance(clock, 200_000);
    over.abort();
    expect(new Set(states())).toEqual(new Set(['unknown']));
    expect(told[0]!.progress).toMatchObject({ code: 'CHAIN_RESPONSE_INVALID' });
    expect(told.find(({ progress }) => progress.code === 'OUTCOME_UNPROVEN')!.at).toBeLessThan(190_000);
  });
});
