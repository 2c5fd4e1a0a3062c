import { copyFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Journal } from '../../src/execution/ports.ts';
import type { IntentState, Outcome } from '../../src/trading/intent.ts';
import { OPEN_STATES, TERMINAL_STATES } from '../../src/trading/intent.ts';
import type { JournalStore } from '../../src/store/journal.ts';
import { openJournal } from '../../src/store/journal.ts';
import { temporaryFolder, temporaryJournal } from './fixtures.ts';
import { attemptOf, FILL, intentOf, outcomeOf, SNAPSHOT, wallClock } from './sample-intents.ts';

const assertion = expect.objectContaining({ name: 'AssertionError' });

describe('the journal', () => {
  it('is what execution asks for', () => {
    expectTypeOf<JournalStore>().toExtend<Journal>();
  });

  it('knows open intents with their attempts after it was closed and opened, to the last unit', () => {
    const path = join(temporaryFolder(), 'state', 'journal.sqlite');
    const journal = temporaryJournal(path);
    const plain = intentOf(1);
    const full = intentOf(2, {
      minimumOut: 9n as never, key: 'slot-2', route: 'build', inputMint: plain.outputMint, outputMint: plain.inputMint,
    });
    const attempt = attemptOf('dca-2', {
      requestId: 'request', transactionId: 'theirs', route: 'build', inputBalance: 9n as never,
      inputSlots: { from: 18_446_744_073_709_551_613n, to: 18_446_744_073_709_551_614n },
    });
    const second = attemptOf('dca-2', { number: 2 });
    journal.intentApproved(plain);
    journal.intentApproved(full);
    journal.transition(outcomeOf('dca-2', 'building'));
    journal.attemptSigned(attempt);
    journal.transition(outcomeOf('dca-2', 'signed'));
    journal.transition(outcomeOf('dca-2', 'unknown'));
    journal.transition(outcomeOf('dca-2', 'building', { attempt: 2, ended: 'failed', feeLamports: 5_000n as never }));
    journal.attemptSigned(second);
    journal.transition(outcomeOf('dca-2', 'signed', { attempt: 2 }));
    journal.transition(outcomeOf('dca-2', 'submitted', { attempt: 2 }));
    expect(temporaryJournal(path).openIntents()).toStrictEqual([
      { intent: plain, state: 'approved', attempts: [], attempt: 1, spentLamports: 0n },
      { intent: full, state: 'submitted', attempts: [attempt, second], attempt: 2, spentLamports: 5_000n },
    ]);
  });

  it('forgets nothing but has nothing open once an intent is terminal', () => {
    const journal = temporaryJournal();
    journal.intentApproved(intentOf(1));
    journal.transition(outcomeOf('dca-1', 'abandoned', { code: 'SIGN_REFUSED', reason: 'no' }));
    expect(journal.openIntents()).toStrictEqual([]);
    expect(journal.showIntent('dca-1')).toMatchObject({
      state: 'abandoned', transitions: [{ attempt: 1, state: 'abandoned', code: 'SIGN_REFUSED', reason: 'no' }],
    });
  });

  it('refuses what only a bug can bring, and keeps what it had', () => {
    const journal = temporaryJournal();
    journal.intentApproved(intentOf(1));
    expect(() => { journal.intentApproved(intentOf(1)); }).toThrow(assertion);
    expect(() => { journal.transition(outcomeOf('dca-1', 'confirmed')); }).toThrow(assertion);
    expect(() => { journal.transition(outcomeOf('dca-9', 'building')); }).toThrow(assertion);
    expect(() => { journal.attemptSigned(attemptOf('dca-9')); }).toThrow(assertion);
    journal.transition(outcomeOf('dca-1', 'building'));
    journal.attemptSigned(attemptOf('dca-1'));
    expect(() => { journal.attemptSigned(attemptOf('dca-1')); }).toThrow(assertion);
    expect(journal.openIntents()).toMatchObject([{ state: 'building', attempts: [{ number: 1 }] }]);
    journal.transition(outcomeOf('dca-1', 'abandoned'));
    expect(() => { journal.attemptSigned(attemptOf('dca-1', { number: 2 })); }).toThrow(assertion);
  });

  it('lists intents as scripts read them, newest first, by state', () => {
    const journal = temporaryJournal();
    for (const number of [1, 2, 3]) journal.intentApproved(intentOf(number));
    journal.transition(outcomeOf('dca-1', 'building'));
    journal.attemptSigned(attemptOf('dca-1'));
    for (const state of ['signed', 'submitted'] as const) journal.transition(outcomeOf('dca-1', state));
    journal.transition(outcomeOf('dca-1', 'building', { attempt: 2, ended: 'failed' }));
    journal.attemptSigned(attemptOf('dca-1', { number: 2, signature: 'again' }));
    journal.transition(outcomeOf('dca-1', 'signed', { attempt: 2 }));
    journal.transition(outcomeOf('dca-1', 'confirmed', { attempt: 2, fill: FILL }));
    const { inputMint, outputMint } = FILL;
    const attempt = { message_hash: 'ab'.repeat(32), last_valid_block_height: '9007199254740993', fee_payer: 'payer' };
    expect(journal.listIntents({ state: 'confirmed', limit: 10 })).toStrictEqual([{
      intent_id: 'dca-1', strategy: 'dca', state: 'confirmed', route: 'order', input_mint: inputMint,
      output_mint: outputMint,
      amount_in: '18446744073709551615', amount_out: '18446744073709551613', created_at: 1_790_000_000_001,
      attempts: [
        { number: 1, state: 'failed', signature: 'ourSignature', ...attempt },
        { number: 2, state: 'confirmed', signature: 'again', ...attempt },
      ],
    }]);
    expect(journal.listIntents({ limit: 2 }).map(({ intent_id, amount_out }) => [intent_id, amount_out]))
      .toStrictEqual([['dca-3', null], ['dca-2', null]]);
    expect(journal.showIntent('dca-7')).toBeUndefined();
  });

  it('takes every transition the state machine allows and no other', () => {
    const paths: Partial<Record<IntentState, readonly IntentState[]>> = {
      approved: [], building: ['building'], signed: ['building', 'signed'],
      submitted: ['building', 'signed', 'submitted'], unknown: ['building', 'signed', 'unknown'],
      confirmed: ['building', 'signed', 'confirmed'], abandoned: ['abandoned'],
    };
    const journal = temporaryJournal();
    let number = 0;
    const allowed: Record<string, string[]> = {};
    for (const [from, path] of Object.entries(paths)) {
      allowed[from] = [...OPEN_STATES.slice(1), ...TERMINAL_STATES].filter((to) => {
        number += 1;
        journal.intentApproved(intentOf(number));
        for (const state of path) journal.transition(outcomeOf(`dca-${number}`, state as 'building'));
        try {
          journal.transition(outcomeOf(`dca-${number}`, to as 'building'));
          return true;
        } catch {
          return false;
        }
      });
    }
    expect(allowed).toStrictEqual({
      approved: ['building', 'abandoned'], building: ['building', 'signed', 'abandoned'],
      signed: ['submitted', 'unknown', 'confirmed', 'failed', 'expired'],
      submitted: ['building', 'submitted', 'unknown', 'confirmed', 'failed', 'expired'],
      unknown: ['building', 'submitted', 'unknown', 'confirmed', 'failed', 'expired'],
      confirmed: [], abandoned: [],
    });
  });

  it('remembers runs, also those that never ended', () => {
    const journal = temporaryJournal();
    journal.runStarted('first');
    journal.runStarted('second');
    journal.runEnded('first');
    expect(journal.listRuns({ limit: 5 }))
      .toMatchObject([{ runId: 'second' }, { runId: 'first', endedAt: expect.any(Number) }]);
    expect(journal.listRuns({ limit: 5 })[0]).not.toHaveProperty('endedAt');
    expect(() => { journal.runEnded('third'); }).toThrow(assertion);
    expect(() => { journal.runStarted('first'); }).toThrow(assertion);
  });

  it('is readable by its owner alone', () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    temporaryJournal(path).intentApproved(intentOf(1));
    for (const file of [path, `${path}-wal`]) expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});

describe('the saved state', () => {
  it('is nothing before it is saved and then what was saved', () => {
    const journal = temporaryJournal();
    expect(journal.loadSnapshot()).toBeUndefined();
    journal.saveSnapshot(SNAPSHOT);
    expect(journal.loadSnapshot()).toStrictEqual(SNAPSHOT);
  });

  it('knows the keys, numbers and approvals of intents that were approved after it was taken', () => {
    const journal = temporaryJournal();
    journal.intentApproved(intentOf(1, { key: 'slot-1' }));
    journal.saveSnapshot(SNAPSHOT);
    journal.intentApproved(intentOf(2, { key: 'slot-2' }));
    journal.intentApproved(intentOf(3));
    journal.intentApproved(intentOf(4, { id: 'sol-dip-4', strategy: 'sol-dip', createdAt: intentOf(3).createdAt }));
    expect(journal.loadSnapshot()).toStrictEqual({
      ...SNAPSHOT,
      keys: ['dca:slot-1', 'dca:slot-2'],
      intentCounts: { 'dca': 3, 'sol-dip': 4 },
      approvals: [1_790_000_000_001, 1_790_000_000_002, 1_790_000_000_003, 1_790_000_000_003],
    });
  });

  it('forgets approvals older than a day', () => {
    const journal = temporaryJournal();
    journal.saveSnapshot(SNAPSHOT);
    journal.intentApproved(intentOf(2, { createdAt: 1_790_000_000_001 + 86_400_000 }));
    expect(journal.loadSnapshot()?.approvals).toStrictEqual([1_790_086_400_001]);
  });

  it('is saved with the names of the outcomes it holds; outcomes it does not hold are told apart', () => {
    const journal = temporaryJournal();
    for (const number of [1, 2, 3, 4]) journal.intentApproved(intentOf(number));
    journal.transition(outcomeOf('dca-1', 'abandoned'));
    journal.saveSnapshot(SNAPSHOT, ['dca-1']);
    journal.transition(outcomeOf('dca-3', 'abandoned', { reason: 'second' }));
    journal.transition(outcomeOf('dca-2', 'abandoned', { reason: 'third' }));
    expect(journal.loadSnapshot()).toMatchObject({ wallet: SNAPSHOT.wallet, trading: 'reduce-only' });
    const at = expect.any(Number) as number;
    expect(journal.unsettledOutcomes()).toStrictEqual([
      { intent: intentOf(3), outcome: outcomeOf('dca-3', 'abandoned', { reason: 'second' }), at },
      { intent: intentOf(2), outcome: outcomeOf('dca-2', 'abandoned', { reason: 'third' }), at },
    ]);
    journal.saveSnapshot({ ...SNAPSHOT, trading: 'halted' }, ['dca-3']);
    expect(journal.unsettledOutcomes().map(({ intent }) => intent.id)).toStrictEqual(['dca-2']);
    expect(() => { journal.saveSnapshot(SNAPSHOT, ['dca-4']); }).toThrow(assertion);
    expect(journal.loadSnapshot()?.trading).toBe('halted');
  });

  it('gives back the amounts of an outcome it does not hold', () => {
    const journal = temporaryJournal();
    const confirmed = outcomeOf('dca-1', 'confirmed', {
      fill: FILL, quotedOut: 2n as never, lastValidBlockHeight: 3n, feeLamports: 4n as never,
      slot: 18_446_744_073_709_551_612n,
    });
    journal.intentApproved(intentOf(1));
    journal.transition(outcomeOf('dca-1', 'building'));
    journal.transition(outcomeOf('dca-1', 'signed'));
    journal.transition(confirmed);
    expect(journal.unsettledOutcomes())
      .toStrictEqual([{ intent: intentOf(1), outcome: confirmed, at: expect.any(Number) as number }]);
  });
});

/** Brings an intent to its first signature. */
function begin(journal: ReturnType<typeof temporaryJournal>, number: number): void {
  journal.intentApproved(intentOf(number));
  journal.transition(outcomeOf(`dca-${number}`, 'building'));
  journal.attemptSigned(attemptOf(`dca-${number}`));
  journal.transition(outcomeOf(`dca-${number}`, 'signed'));
}

describe('what other swaps moved since an attempt was begun', () => {
  const { inputMint, outputMint } = FILL;

  it('is their inputs and outputs, and of SOL their fees and deposits; not its own, nor what ended before', () => {
    const journal = temporaryJournal();
    begin(journal, 1);
    journal.transition(outcomeOf('dca-1', 'confirmed', { fill: FILL }));
    begin(journal, 2);
    begin(journal, 3);
    begin(journal, 4);
    expect(journal.movesSince(attemptOf('dca-2'), inputMint)).toEqual([]);
    journal.transition(outcomeOf('dca-3', 'confirmed', { fill: FILL, slot: 18_446_744_073_709_551_615n }));
    journal.transition(outcomeOf('dca-4', 'failed', { feeLamports: 700n as never }));
    const third = { spent: 5n, received: 0n, slot: 18_446_744_073_709_551_615n };
    expect(journal.movesSince(attemptOf('dca-2'), inputMint)).toEqual([third]);
    expect(journal.movesSince(attemptOf('dca-2'), outputMint)).toEqual([
      { spent: 5_000n + 2_039_280n, received: FILL.amountOut, slot: third.slot }, { spent: 700n, received: 0n },
    ]);
    journal.transition(outcomeOf('dca-2', 'confirmed', { fill: FILL }));
    expect(journal.movesSince(attemptOf('dca-2'), inputMint)).toEqual([third]);
    expect(journal.movesSince(attemptOf('dca-4'), inputMint)).toEqual([third, { spent: 5n, received: 0n }]);
  });

  it('has deposits that came back among what was received', () => {
    const journal = temporaryJournal();
    begin(journal, 1);
    begin(journal, 2);
    journal.transition(outcomeOf(
      'dca-2', 'confirmed', { slot: 7n, fill: { ...FILL, amountOut: 1n as never, rentLamports: -2_039_280n as never } },
    ));
    expect(journal.movesSince(attemptOf('dca-1'), outputMint))
      .toEqual([{ spent: 5_000n, received: 2_039_281n, slot: 7n }]);
  });

  it('issue 13.34: is the fee of each attempt, in the slot in which it was paid', () => {
    const journal = temporaryJournal();
    begin(journal, 1);
    begin(journal, 2);
    const again = (attempt: number, ended: Partial<Outcome>): void => {
      journal.transition(outcomeOf('dca-2', 'unknown', { attempt: attempt - 1 }));
      journal.transition(outcomeOf('dca-2', 'building', { attempt, ...ended }));
      journal.transition(outcomeOf('dca-2', 'signed', { attempt }));
    };
    again(2, { ended: 'failed', feeLamports: 600n as never, slot: 6n });
    // Of an open intent too, and not what was written down before an attempt was begun.
    const first = { spent: 600n, received: 0n, slot: 6n };
    expect(journal.movesSince(attemptOf('dca-1'), outputMint)).toEqual([first]);
    begin(journal, 3);
    again(3, { ended: 'expired' });
    // As an older Gannet wrote it down: without the place where the fee was paid.
    again(4, { ended: 'failed', feeLamports: 70n as never });
    journal.transition(outcomeOf('dca-2', 'confirmed', {
      attempt: 4, slot: 9n, fill: { ...FILL, feeLamports: 675n as never, rentLamports: 0n as never },
    }));
    const since = [{ spent: 70n, received: 0n, slot: undefined }, { spent: 5n, received: FILL.amountOut, slot: 9n }];
    expect(journal.movesSince(attemptOf('dca-1'), outputMint)).toEqual([first, ...since]);
    expect(journal.movesSince(attemptOf('dca-3'), outputMint)).toEqual(since);
    expect(journal.movesSince(attemptOf('dca-1'), inputMint))
      .toEqual([{ spent: FILL.amountIn, received: 0n, slot: 9n }]);
  });
});

describe('issue 13.35: how far the proof of an attempt has come', () => {
  it('is what was kept last, in the next process too', () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const journal = temporaryJournal(path);
    journal.intentApproved(intentOf(1));
    journal.attemptSigned(attemptOf('dca-1'));
    expect(journal.proofOf(attemptOf('dca-1'))).toBeUndefined();
    journal.keepProof(attemptOf('dca-1'), { watchedMs: 5_000.5 });
    expect(journal.proofOf(attemptOf('dca-1'))).toEqual({ watchedMs: 5_000 });
    const first = { height: 9_007_199_254_740_993n, watchedMs: 51_000 };
    journal.keepProof(attemptOf('dca-1'), { watchedMs: 55_000, first });
    expect(temporaryJournal(path).proofOf(attemptOf('dca-1'))).toEqual({ watchedMs: 55_000, first });
    const further = { watchedMs: 60_000, first: { ...first, node: 'a1' } };
    journal.keepProof(attemptOf('dca-1'), further);
    expect(temporaryJournal(path).proofOf(attemptOf('dca-1'))).toEqual(further);
  });
});

interface Killed { readonly path: string; readonly copy: string }

/** A journal of which a copy was made after the first intent, and that was killed after the second. */
function killed(): Killed {
  const path = join(temporaryFolder(), 'journal.sqlite');
  const copy = `${path}.copy`;
  const journal = openJournal({ path, clock: wallClock });
  journal.intentApproved(intentOf(1));
  journal.checkpoint();
  copyFileSync(path, copy);
  journal.intentApproved(intentOf(2));
  // As a kill leaves it: closing would bring the WAL into the main file.
  const left = temporaryFolder();
  for (const end of ['', '-wal', '.head']) copyFileSync(`${path}${end}`, join(left, `journal.sqlite${end}`));
  journal.close();
  return { path: join(left, 'journal.sqlite'), copy };
}

describe('issue 13.33: a journal that lost what was written into it', () => {
  it('is whole with its WAL, after every start', () => {
    const { path } = killed();
    for (const start of ['first', 'second']) expect([start, openAndClose(path)])
      .toMatchObject([start, { isNew: false, writtenTo: undefined, position: { rows: 2 } }]);
  });

  it.each<[string, (files: Killed) => void, number]>([
    ['its WAL', ({ path }) => { rmSync(`${path}-wal`); }, 1],
    ['its main file', ({ path }) => { rmSync(path); rmSync(`${path}-wal`); }, 0],
    ['its content', ({ path }) => { truncateSync(path); rmSync(`${path}-wal`); }, 0],
    ['what came after an older copy', ({ path, copy }) => { rmSync(`${path}-wal`); copyFileSync(copy, path); }, 1],
  ])('says so without %s, as long as no operator takes it as it is', (_what, lose, rows) => {
    const files = killed();
    lose(files);
    const { path } = files;
    expect(openAndClose(path)).toMatchObject({ writtenTo: { rows: 2 }, position: { rows } });
    // What is written meanwhile, such as an operator's word on a swap, hides nothing.
    const journal = openJournal({ path, clock: wallClock });
    journal.runStarted('run');
    journal.close();
    const again = openJournal({ path, clock: wallClock });
    expect(again.standing().writtenTo).toMatchObject({ rows: 2 });
    again.acceptAsIs();
    again.close();
    expect(openAndClose(path)).toMatchObject({ writtenTo: undefined, acceptedAt: expect.any(Number) });
  });

  it('knows a state that was saved later than the file has it', () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const early = openJournal({ path, clock: clockAt(1_000) });
    early.saveSnapshot(SNAPSHOT);
    early.close();
    copyFileSync(path, `${path}.copy`);
    const late = openJournal({ path, clock: clockAt(2_000) });
    late.saveSnapshot(SNAPSHOT);
    late.close();
    copyFileSync(`${path}.copy`, path);
    expect(openAndClose(path).writtenTo).toEqual({ rows: 0, savedAt: 2_000 });
  });

  it('says nothing of a file without a head, or with one that a power failure spoilt', () => {
    const { path } = killed();
    writeFileSync(`${path}.head`, Buffer.alloc(128));
    expect(openAndClose(path).writtenTo).toBeUndefined();
    rmSync(`${path}.head`);
    expect(openAndClose(path).writtenTo).toBeUndefined();
  });
});

function clockAt(at: number): typeof wallClock {
  return { now: () => at, schedule: () => { throw new Error('a journal has no timers'); } };
}

function openAndClose(path: string): ReturnType<JournalStore['standing']> {
  const journal = openJournal({ path, clock: wallClock });
  const standing = journal.standing();
  journal.close();
  return standing;
}
