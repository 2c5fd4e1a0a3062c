import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import type { GannetError } from '../../src/core/errors.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import { USDC_MINT } from '../../src/market/token.ts';
import { openJournal } from '../../src/store/journal.ts';
import type { WriteBehindJournal } from '../../src/store/write-behind-journal.ts';
import { createWriteBehindJournal } from '../../src/store/write-behind-journal.ts';
import type { StateSnapshot } from '../../src/trading/engine-state.ts';
import { attemptOf, FILL, intentOf, outcomeOf, SNAPSHOT } from './sample-intents.ts';
import type { SmallDisk } from './small-disk.ts';
import { NO_SMALL_DISK, smallDisk } from './small-disk.ts';
import { temporaryFolder } from './fixtures.ts';

interface Bench {
  readonly disk: SmallDisk;
  readonly journal: WriteBehindJournal;
  readonly clock: VirtualClock;
  readonly faults: GannetError[];
  readonly told: string[];
  /** Gives its room up at the next fault. */
  readonly ballast: { there: boolean };
  /** Fills the disk so that no row fits any more. */
  fill(): void;
}

function bench({ withBallast = false } = {}): Bench {
  const disk = smallDisk();
  const clock = new VirtualClock(1_790_000_000_000);
  const faults: GannetError[] = [];
  const told: string[] = [];
  const ballast = { there: withBallast };
  const ballastFile = join(disk.dir, 'ballast');
  if (withBallast) writeFileSync(ballastFile, Buffer.alloc(1_048_576, 3));
  const journal = createWriteBehindJournal(openJournal({ path: join(disk.dir, 'journal.sqlite'), clock }), {
    clock,
    onFault: (error) => {
      faults.push(error);
      if (!ballast.there) return false;
      ballast.there = false;
      rmSync(ballastFile);
      return true;
    },
    onWritten: () => { told.push('written'); },
  });
  onTestFinished(() => {
    disk.clear();
    journal.close();
  });
  return { disk, journal, clock, faults, told, ballast, fill: () => { disk.fill(); } };
}

/** Reads the file itself, as the next process would. */
function statesIn({ disk }: Bench): unknown[] {
  const database = new DatabaseSync(join(disk.dir, 'journal.sqlite'), { readOnly: true });
  try {
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    return database.prepare('SELECT intent_id, state FROM intents ORDER BY number').all()
      .map((row) => `${String(row['intent_id'])} ${String(row['state'])}`);
  } finally {
    database.close();
  }
}

const withUsdc = (amount: string): StateSnapshot => ({ ...SNAPSHOT, wallet: { [USDC_MINT]: amount } });
const failed = expect.objectContaining({ code: 'JOURNAL_FAILED' });

describe.skipIf(
  NO_SMALL_DISK !== undefined,
)(`a journal on a full disk${NO_SMALL_DISK === undefined ? '' : ` (left out: ${NO_SMALL_DISK})`}`, () => {
  it('refuses an entry, and does not know it afterwards', () => {
    const at = bench();
    at.journal.saveSnapshot(SNAPSHOT);
    at.fill();
    expect(() => { at.journal.intentApproved(intentOf(1)); }).toThrow(failed);
    at.journal.transition(outcomeOf('dca-1', 'abandoned', { code: 'JOURNAL_FAILED' }));
    at.journal.saveSnapshot(
      { ...SNAPSHOT, trading: 'halted' }, ['dca-1'], [{ strategy: 'dca', text: '{}', seen: ['dca-1'] }],
    );
    expect(at.journal.isBehind()).toBe(true);
    at.disk.clear();
    at.clock.advanceTo(at.clock.now() + 2_000);
    expect(at.journal.isBehind()).toBe(false);
    expect(at.told).toEqual(['written']);
    expect(at.journal.loadSnapshot()).toMatchObject({ trading: 'halted' });
    expect(at.journal.loadStrategyStates()).toMatchObject({ states: { dca: '{}' } });
    expect(statesIn(at)).toEqual([]);
  });

  it('refuses an entry even when room could be made, and then takes an exit', () => {
    const at = bench({ withBallast: true });
    at.fill();
    expect(() => { at.journal.intentApproved(intentOf(1)); }).toThrow(failed);
    expect(at.ballast.there).toBe(false);
    at.journal.intentApproved(intentOf(2, { purpose: 'exit' }));
    expect(statesIn(at)).toEqual(['dca-2 approved']);
    const later = bench({ withBallast: true });
    later.fill();
    later.journal.intentApproved(intentOf(1, { purpose: 'exit' }));
    expect(later.faults).toHaveLength(1);
  });

  it('never releases signed bytes without their row', () => {
    const at = bench();
    at.journal.intentApproved(intentOf(1));
    at.fill();
    at.journal.transition(outcomeOf('dca-1', 'building'));
    expect(() => { at.journal.attemptSigned(attemptOf('dca-1')); }).toThrow(failed);
    at.journal.transition(outcomeOf('dca-1', 'abandoned', { code: 'JOURNAL_FAILED' }));
    at.disk.clear();
    at.clock.advanceTo(at.clock.now() + 2_000);
    expect(at.journal.showIntent('dca-1')).toMatchObject({
      state: 'abandoned', attempts: [], transitions: [{ state: 'building' }, { state: 'abandoned' }],
    });
  });

  it('queues outcomes and writes them in order, before anything new', () => {
    const at = bench();
    at.journal.intentApproved(intentOf(1));
    at.journal.transition(outcomeOf('dca-1', 'building'));
    at.journal.attemptSigned(attemptOf('dca-1'));
    at.fill();
    at.journal.transition(outcomeOf('dca-1', 'signed'));
    at.journal.transition(outcomeOf('dca-1', 'submitted'));
    at.journal.transition(outcomeOf('dca-1', 'confirmed', { fill: FILL }));
    at.journal.saveSnapshot(
      { ...SNAPSHOT, trading: 'active' }, ['dca-1'], [{ strategy: 'dca', text: '1', seen: ['dca-1'] }],
    );
    at.journal.saveSnapshot({ ...SNAPSHOT, trading: 'active' }, [], [{ strategy: 'dca', text: '2', seen: [] }]);
    expect(() => { at.journal.intentApproved(intentOf(2)); }).toThrow(failed);
    expect(statesIn(at)).toEqual(['dca-1 building']);
    at.disk.clear();
    at.journal.intentApproved(intentOf(3));
    expect(statesIn(at)).toEqual(['dca-1 confirmed', 'dca-3 approved']);
    expect(at.journal.unsettledOutcomes()).toEqual([]);
    expect(at.journal.loadSnapshot()).toMatchObject({ trading: 'active' });
    expect(at.journal.loadStrategyStates()).toEqual({ states: { dca: '2' }, unseen: [] });
  });

  it('does not overwrite a newer state with an older one that waited', () => {
    const at = bench();
    at.fill();
    at.journal.saveSnapshot(withUsdc('1'));
    at.journal.walletAdjusted({ mint: USDC_MINT, change: '1', cause: 'deposit', reason: 'paid in' }, withUsdc('2'));
    at.journal.saveSnapshot(withUsdc('2'), [], [{ strategy: 'dca', text: '{}', seen: [] }]);
    at.disk.clear();
    expect(at.journal.loadSnapshot()?.wallet).toEqual({ [USDC_MINT]: '2' });
    expect(at.journal.listAdjustments({ limit: 9 }))
      .toEqual([{ at: 1_790_000_000_000, mint: USDC_MINT, change: '1', cause: 'deposit', reason: 'paid in' }]);
  });

  it('has every acted-on row after the process died with rows that waited', () => {
    const at = bench();
    at.journal.intentApproved(intentOf(1, { purpose: 'exit', amountIn: 5n as Amount }));
    at.journal.transition(outcomeOf('dca-1', 'building'));
    at.journal.attemptSigned(attemptOf('dca-1'));
    at.fill();
    at.journal.transition(outcomeOf('dca-1', 'signed'));
    at.disk.clear();
    const next = openJournal({ path: join(at.disk.dir, 'journal.sqlite'), clock: at.clock });
    onTestFinished(() => { next.close(); });
    expect(next.openIntents()).toMatchObject([{ state: 'building', attempts: [{ signature: 'ourSignature' }] }]);
  });
});

describe('the own transactions in a journal', () => {
  it('are told from those of others, whatever their fee payer, with the last that landed', () => {
    const clock = new VirtualClock(1_790_000_000_000);
    const journal = openJournal({ path: join(temporaryFolder(), 'journal.sqlite'), clock });
    onTestFinished(() => { journal.close(); });
    expect(journal.lastLanded()).toBeUndefined();
    journal.intentApproved(intentOf(1));
    journal.transition(outcomeOf('dca-1', 'building'));
    journal.attemptSigned(attemptOf('dca-1', { signature: 'ours', transactionId: undefined }));
    journal.transition(outcomeOf('dca-1', 'signed'));
    journal.transition(outcomeOf('dca-1', 'confirmed', { fill: FILL, signature: 'paid by another' }));
    expect(['ours', 'paid by another', 'a stranger'].map((signature) => journal.isOwnTransaction(signature)))
      .toEqual([true, true, false]);
    expect(journal.lastLanded()).toBe('paid by another');
  });
});
