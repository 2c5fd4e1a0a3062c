import { describe, expect, it } from 'vitest';
import { DENIALS } from '../../src/trading/limits.ts';
import type { Met } from './risk-interleavings.ts';
import { simulate } from './risk-interleavings.ts';

/** GANNET_RISK_SEQUENCES=1000000 is the long form. */
const SEQUENCES = Number(process.env['GANNET_RISK_SEQUENCES'] ?? 100_000);
const SEQUENCES_PER_SIMULATION = 25;

describe('limits, reservations and protections under any interleaving', () => {
  const met: Met = new Map();

  it(`match a simple model in ${SEQUENCES} sequences`, { timeout: 60_000 + SEQUENCES }, () => {
    for (let seed = 0; seed < SEQUENCES / SEQUENCES_PER_SIMULATION; seed++)
      simulate(seed, SEQUENCES_PER_SIMULATION, met);
  });

  it('covered every case of the laws', () => {
    const meetable = (Object.keys(DENIALS) as (keyof typeof DENIALS)[]).filter((code) =>
      ['size', 'token', 'count', 'money'].includes(DENIALS[code].category) && code !== 'RATE_PER_DAY'
        && code !== 'CAP_USED_UP'
        // The model has configured tokens alone.
        && !code.startsWith('DISCOVERED_'));
    const missing = [
      ...meetable.map((code) => `entry ${code}`),
      ...['COOLDOWN_ACTIVE', 'LOSS_STREAK', 'DRAWDOWN_EXCEEDS_MAX', 'DAILY_LOSS_EXCEEDS_MAX', 'FEE_BUDGET_EXCEEDED',
        'EXECUTION_BLIND', 'INTENT_UNRESOLVED',
          'ERROR_RATE_EXCEEDS_MAX', 'LEDGER_MISMATCH', 'OPERATOR_ABSENT', 'TRADING_HALTED', 'TRADING_REDUCE_ONLY',
          'QUOTE_STALE', 'SERVICE_UNAUTHORIZED', 'approved'].map((code) => `entry ${code}`),
      ...['TRADING_HALTED', 'INTENT_OPEN_FOR_MINT', 'approved'].map((code) => `exit ${code}`),
      ...['allowed', 'DAILY_LOSS_EXCEEDS_MAX'].map((code) => `retry ${code}`),
      'restart',
    ].filter((what) => !met.has(what));
    expect(missing).toEqual([]);
  });
});
