import { describe, expect, it } from 'vitest';
import type { Amount, Lamports } from '../../../src/core/amount.ts';
import { Counters } from '../../../src/daemon/reporting/counters.ts';
import { FILL, intentOf, outcomeOf } from '../../store/sample-intents.ts';

describe('Counters', () => {
  it('keeps the details of an intent across transitions', () => {
    const counters = new Counters();
    const intent = intentOf(1);
    counters.opened(intent);
    counters.outcome(outcomeOf(intent.id, 'signed', { router: 'iris', quotedOut: 9n as Amount, signature: 'sent' }));
    const record = counters.outcome(outcomeOf(intent.id, 'unknown', { code: 'SERVICE_TIMEOUT', reason: 'no answer' }));
    expect(record)
      .toMatchObject({ state: 'unknown', router: 'iris', quotedOut: 9n, signature: 'sent', code: 'SERVICE_TIMEOUT' });
    expect(counters.open).toStrictEqual([record]);
    // What was the matter then is not the matter any more.
    expect(counters.outcome(outcomeOf(intent.id, 'submitted'))!.code).toBeUndefined();
  });

  it('adds up the costs of swaps, failed ones included, and counts their end states', () => {
    const counters = new Counters();
    for (const number of [1, 2, 3]) counters.opened(intentOf(number));
    counters.outcome(outcomeOf('dca-1', 'confirmed', { fill: FILL }));
    counters.outcome(outcomeOf('dca-2', 'failed', { feeLamports: 7_000n as Lamports }));
    counters.outcome(outcomeOf('dca-3', 'abandoned'));
    expect(counters.byState).toStrictEqual({ confirmed: 1, failed: 1, abandoned: 1 });
    expect(counters.feesLamports).toBe(FILL.feeLamports + 7_000n);
    expect(counters.rentLamports).toBe(FILL.rentLamports);
    expect(counters.open).toStrictEqual([]);
    expect(counters.recent.map(({ intent }) => intent.id)).toStrictEqual(['dca-3', 'dca-2', 'dca-1']);
  });

  it('ignores a second end of an intent, and unknown intents', () => {
    const counters = new Counters();
    counters.opened(intentOf(1));
    counters.outcome(outcomeOf('dca-1', 'confirmed', { fill: FILL }));
    expect(counters.outcome(outcomeOf('dca-1', 'confirmed', { fill: FILL }))).toBeUndefined();
    expect(counters.outcome(outcomeOf('dca-9', 'failed', { feeLamports: 1n as Lamports }))).toBeUndefined();
    expect(counters.byState).toStrictEqual({ confirmed: 1 });
    expect(counters.feesLamports).toBe(FILL.feeLamports);
  });

  it('keeps only the newest few hundred finished intents', () => {
    const counters = new Counters();
    for (let number = 1; number <= 1_000; number++) {
      counters.opened(intentOf(number));
      counters.outcome(outcomeOf(`dca-${number}`, 'expired'));
    }
    expect(counters.recent.length).toBeLessThanOrEqual(300);
    expect(counters.recent[0]!.intent.id).toBe('dca-1000');
    expect(counters.byState).toStrictEqual({ expired: 1_000 });
  });
});
