import { fileURLToPath } from 'node:url';
import { BASE_MODEL } from '../../../src/trading/simulation-model.ts';
import { PROJECT_DIR } from '../../../src/core/code-files.ts';
import type { ThreadSetup, ThreadStrategy } from '../../../src/research/trials/thread-setup.ts';
import type { MarketEvent } from '../../../src/market/event.ts';
import { createRecordingWriter } from '../../../src/recording/writer.ts';
import { bothSides } from '../../backtest/measured.ts';
import { SOL, USDC } from '../../market/tokens.ts';
import { stillClock } from '../../recording/temporary.ts';
import { BUDGET, WALLET, WIDE } from '../../trading/states.ts';

/** The strategy beside this file, as a configuration names it. */
export const UNRULY = fileURLToPath(new URL('./unruly-strategy.ts', import.meta.url));

/** Both directions of a price that swings around 150 dollars, each five seconds. */
export const SWINGS: readonly MarketEvent[] = bothSides(Array.from({ length: 1_500 }, (_, n) => {
  const price = 150 + 4 * Math.sin(n / 9) + 2 * Math.sin(n / 41) + Math.sin(n * n);
  return [price + 0.05, price - 0.05] as const;
}));

/** Writes a recording of SWINGS into a folder and returns its own. */
export async function writeSwings(dir: string, name = 'swings'): Promise<string> {
  const writer = createRecordingWriter({
    dir, clock: stillClock(), tokens: [SOL, USDC], name, onError: (error) => { throw error; },
  });
  SWINGS.forEach((event, i) => { writer.append(i + 1, event.receivedAt, event); });
  await writer.close();
  return writer.directory;
}

/** Returns a strategy of a setup. */
export function threadStrategy(
  use: string, rawParams: Readonly<Record<string, unknown>> = {}, bounds: Partial<ThreadStrategy> = {},
): ThreadStrategy {
  return {
    name: 'own', use, rawParams: { pair: 'SOL/USDC', size: '25 USDC', ...rawParams }, budget: BUDGET, limits: {},
    warmupMs: undefined, ...bounds,
  };
}

/** Returns a setup over a recording of SWINGS. */
export function trialSetup(recordingDir: string, strategies: readonly ThreadStrategy[]): ThreadSetup {
  return {
    tokens: [SOL, USDC], limits: WIDE, balances: WALLET, model: BASE_MODEL, seed: 7, currency: USDC,
    firstAt: SWINGS[0]!.receivedAt, lastAt: SWINGS.at(-1)!.receivedAt,
    recordingDir, strategies, places: { strategiesDir: `${PROJECT_DIR}strategies`, baseDir: PROJECT_DIR },
  };
}
