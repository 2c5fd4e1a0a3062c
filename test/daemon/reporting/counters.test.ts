import { describe, expect, it } from 'vitest';
import type { Amount, Lamports } from '../../../src/core/amount.ts';
import { Counters } from '../../../src/daemon/reporting/counters.ts';
import { FILL, intentOf, outcomeOf } from '../../store/sample-journey.ts';

describe('the tally', () => {
  it('keeps what is known of an intent from one transition to the next', () => {
    const tally = new Counters();
    const intent = intentOf(1);
    tally.opened(intent);
    tally.outcome(outcomeOf(intent.id, 'signed', { router: 'iris', quotedOut: 9n as Amount, signature: 'sent' }));
    const record = tally.outcome(outcomeOf(intent.id, 'unknown', { code: 'SERVICE_TIMEOUT', reason: 'no answer' }));
    expect(record)
      .toMatchObject({ state: 'unknown', router: 'iris', quotedOut: 9n, signature: 'sent', code: 'SERVICE_TIMEOUT' });
    expect(tally.open).toStrictEqual([record]);
    // What was the matter then is not the matter any more.
    expect(tally.outcome(outcomeOf(intent.id, 'submitted'))!.code).toBeUndefined();
  });

  it('adds up what swaps cost, failed ones included, and counts how each ended', () => {
    const tally = new Counters();
    for (const number of [1, 2, 3]) tally.opened(intentOf(number));
    tally.outcome(outcomeOf('dca-1', 'confirmed', { fill: FILL }));
    tally.outcome(outcomeOf('dca-2', 'failed', { feeLamports: 7_000n as Lamports }));
    tally.outcome(outcomeOf('dca-3', 'abandoned'));
    expect(tally.byState).toStrictEqual({ confirmed: 1, failed: 1, abandoned: 1 });
    expect(tally.feesLamports).toBe(FILL.feeLamports + 7_000n);
    expect(tally.rentLamports).toBe(FILL.rentLamports);
    expect(tally.open).toStrictEqual([]);
    expect(tally.recent.map(({ intent }) => intent.id)).toStrictEqual(['dca-3', 'dca-2', 'dca-1']);
  });

  it('does not count twice what ended, nor what it never knew', () => {
    const tally = new Counters();
    tally.opened(intentOf(1));
    tally.outcome(outcomeOf('dca-1', 'confirmed', { fill: FILL }));
    expect(tally.outcome(outcomeOf('dca-1', 'confirmed', { fill: FILL }))).toBeUndefined();
    expect(tally.outcome(outcomeOf('dca-9', 'failed', { feeLamports: 1n as Lamports }))).toBeUndefined();
    expect(tally.byState).toStrictEqual({ confirmed: 1 });
    expect(tally.feesLamports).toBe(FILL.feeLamports);
  });

  it('remembers the newest few hundred, not all', () => {
    const tally = new Counters();
    for (let number = 1; number <= 1_000; number++) {
      tally.opened(intentOf(number));
      tally.outcome(outcomeOf(`dca-${number}`, 'expired'));
    }
    expect(tally.recent.length).toBeLessThanOrEqual(300);
    expect(tally.recent[0]!.intent.id).toBe('dca-1000');
    expect(tally.byState).toStrictEqual({ expired: 1_000 });
  });
});
