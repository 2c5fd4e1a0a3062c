import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ExecutorPorts } from '../../src/execution/ports.ts';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import { collect } from '../execution/execution-fixture.ts';
import type { Play, Trap } from './trap.ts';
import { bytesPosted, newTrader } from './trader.ts';
import { PAST_EXPIRY_BLOCKS, EXECUTE, ORDER, SOL, USDC } from './trap-fixture.ts';

/** How long these clients wait for /execute: the sandbox may take longer. */
const EXECUTE_MS = 250;

/** What can happen to an answer of /execute, and whether the swap had landed by then. */
const LOSSES = [
  ['is dropped after the swap has landed', { kind: 'drop_after' }],
  ['never comes, as the request was dropped', { kind: 'drop_before' }],
  ['is a 500 with a signature, and the swap has landed', { kind: 'unknown', landed: true }],
  ['is a 500 with a signature, and nothing was sent', { kind: 'unknown', landed: false }],
  ['comes when the client has given up', { kind: 'delay', ms: 2 * EXECUTE_MS }],
  ['is a gateway’s 504', { kind: 'status', status: 504, body: 'upstream timed out', content_type: 'text/plain' }],
] as const;

const lost = ([says, fault]: (typeof LOSSES)[number]): Play => ({
  says: `an answer that ${says}: the same bytes are posted again, without a new quote or signature, and one swap lands`,
  profiles: says.startsWith('is a 500') ? ['reference', 'live'] : ['reference'],
  async play(fixture) {
    const trader = await newTrader(fixture);
    await fixture.fault({ path: EXECUTE, fault, times: 1 });
    const hasty = fixture.connect({ timeouts: { executeMs: EXECUTE_MS }, dispatcher: fixture.wire.dispatcher });
    const service = fault.kind === 'delay' ? hasty.swap : trader.parts.service;
    const trace = await trader.carryOut(trader.intent(), { parts: { service } });
    // A service that is silent for long is not waited for: the chain has the same bytes before the outcome counts as
    // unknown.
    expect(trace.states).toEqual(expect.arrayContaining(fault.kind === 'delay' ? ['signed', 'confirmed']
      : ['signed', 'unknown', 'confirmed']));
    expect(trace.states).not.toContain('failed');
    expect([trace.requoted, trace.signatures]).toEqual([0, 1]);
    expect(bytesPosted(trace)).toHaveLength(1);
    expect(new Set(trace.executes.map(({ body }) => (JSON.parse(body!) as { requestId: string }).requestId)).size)
      .toBe(1);
    // The request that was given up is still held back; it is not to meet the faults of the next play.
    if (fault.kind === 'delay') await sleep(fault.ms);
  },
});

export const lostAnswer: Trap = {
  number: 2,
  title: 'the answer of /execute is lost, or is a 500: the swap may have landed',
  plays: [
    ...LOSSES.map(lost),
    {
      says: 'without an answer the outcome stays unknown; a second quote needs proof that the first expired',
      async play(fixture) {
        const trader = await newTrader(fixture);
        const before = fixture.held(trader.address, USDC);
        await fixture.fault({ path: EXECUTE, fault: { kind: 'drop_before' } });
        const trace = await trader.carryOut(trader.intent(), {
          onOutcome: ({ state }) => {
            if (state === 'unknown') void fixture.passSlots(PAST_EXPIRY_BLOCKS);
          },
        });
        expect(trace.last).toMatchObject({ state: 'expired' });
        expect(trace.executes.length).toBeGreaterThan(2);
        expect(bytesPosted(trace)).toHaveLength(1);
        expect([trace.requoted, trace.signatures]).toEqual([0, 1]);
        expect(fixture.held(trader.address, USDC)).toBe(before);
      },
    },
    {
      says: 'after a crash before the answer, the next process posts the bytes of the journal, and nothing else',
      async play(fixture) {
        const trader = await newTrader(fixture);
        const { journal } = trader.parts;
        const gone = new Error('the process is gone');
        const dying: ExecutorPorts['journal'] = {
          intentApproved: (intent) => { journal.intentApproved(intent); },
          attemptSigned: (attempt) => { journal.attemptSigned(attempt); },
          openIntents: () => journal.openIntents(),
          isSigned: (signature) => journal.isSigned(signature),
          movesSince: (attempt, mint) => journal.movesSince(attempt, mint),
          proofOf: (attempt) => journal.proofOf(attempt),
          keepProof: (attempt, progress) => { journal.keepProof(attempt, progress); },
          transition(outcome) {
            if (outcome.state === 'submitted') throw gone;
            journal.transition(outcome);
          },
        };
        await expect(collect(createLiveExecutor({ ...trader.parts, journal: dying }).execute(trader.intent())))
          .rejects.toBe(gone);
        expect(fixture.held(trader.address, USDC)).toBe(1_980_000_000n);
        const [open] = journal.openIntents();
        const from = fixture.wire.sent.length;
        const outcomes = await collect(createLiveExecutor({
          ...trader.parts,
          signer: { address: trader.address, sign: () => { throw new Error('a recovery signs nothing'); } },
        }).reconcile([{ intent: open!.intent, state: open!.state }]));
        expect(outcomes.at(-1)).toMatchObject({ state: 'confirmed' });
        expect(fixture.wire.to(ORDER, from)).toHaveLength(0);
        for (const { body } of fixture.wire.to(EXECUTE, from)) {
          expect(JSON.parse(body!)).toMatchObject({
            signedTransaction: Buffer.from(open!.attempts[0]!.signedTransaction).toString('base64'),
            requestId: open!.attempts[0]!.requestId,
          });
        }
        expect(fixture.held(trader.address, USDC)).toBe(1_980_000_000n);
        expect(fixture.held(trader.address, SOL)).toBeGreaterThan(1_000_000_000n);
      },
    },
  ],
};
