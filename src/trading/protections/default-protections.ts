import type { Lamports } from '../../core/amount.ts';
import type { Protection } from '../protection.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * What protects where the configuration says nothing: nets for what no strategy means to do. Pauses, profit targets,
 * absolute losses and a dead man's switch are matters of taste or of money, and so of the configuration.
 */
export const DEFAULT_PROTECTIONS: readonly Protection[] = [
  {
    trigger: { kind: 'max-drawdown', limitPct: 25 }, scope: 'strategy', action: 'reduce-only',
    release: { kind: 'operator' },
  },
  {
    trigger: { kind: 'max-drawdown', limitPct: 20 }, scope: 'global', action: 'reduce-only',
    release: { kind: 'operator' },
  },
  {
    trigger: { kind: 'loss-streak', losses: 20, withinMs: DAY }, scope: 'strategy', action: 'deny',
    release: { kind: 'elapsed', afterMs: HOUR },
  },
  {
    trigger: { kind: 'fee-budget', limitLamports: 250_000_000n as Lamports }, scope: 'global', action: 'reduce-only',
    release: { kind: 'next-day' },
  },
  {
    trigger: { kind: 'stale-feed', afterMs: 2 * HOUR }, scope: 'strategy', action: 'deny', release: { kind: 'cleared' },
  },
  {
    trigger: { kind: 'blind-execution', unknowns: 3 }, scope: 'global', action: 'reduce-only',
    release: { kind: 'cleared' },
  },
  {
    trigger: { kind: 'unresolved-intent', afterMs: 10 * MINUTE }, scope: 'strategy', action: 'deny',
    release: { kind: 'cleared' },
  },
  {
    trigger: { kind: 'error-rate', failures: 20, withinMs: 10 * MINUTE }, scope: 'strategy', action: 'deny',
    release: { kind: 'elapsed', afterMs: 10 * MINUTE },
  },
  {
    trigger: { kind: 'reconciliation-mismatch' }, scope: 'global', action: 'reduce-only', release: { kind: 'operator' },
  },
];
