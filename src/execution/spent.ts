import type { Lamports } from '../core/amount.ts';
import { isTerminal } from '../trading/intent.ts';
import type { Progress } from './journey.ts';

/** Returns a terminal progress whose fees are those of all attempts; any other as it is. */
export function withSpent(progress: Progress, spentLamports: Lamports): Progress {
  if (spentLamports === 0n || !isTerminal(progress.state)) return progress;
  const { fill, feeLamports = 0n as Lamports } = progress;
  if (fill !== undefined)
    return { ...progress, fill: { ...fill, feeLamports: (fill.feeLamports + spentLamports) as Lamports } };
  return { ...progress, feeLamports: (feeLamports + spentLamports) as Lamports };
}
