import { join } from 'node:path';
import type { BenchRow } from './measurement.ts';
import { measured, percentile } from './measurement.ts';
import { PROJECT_DIR } from '../core/code-files.ts';
import type { Amount, Bps } from '../core/amount.ts';
import { openHosts } from '../daemon/hosts/strategy-hosts.ts';
import { systemClock } from '../daemon/watch/system-clock.ts';
import type { Quote } from '../market/quote.ts';
import { SOL_MINT, USDC_MINT } from '../market/token.ts';
import { stopwatch } from '../research/stopwatch.ts';

const RUNS = 5;
const EVENTS = 4_000;
const WARM_UP_EVENTS = 4_000;
const SPENT = 10_000_000n;

/** The time from an event to the proposal of a strategy in a process of its own: the median, and p99. */
export const HOST_ROWS: readonly BenchRow[] = [
  { name: 'host-proposal', measure: async () => measured('host-proposal', 'ms', await shares(0.5)) },
  { name: 'host-proposal-p99', measure: async () => measured('host-proposal-p99', 'ms', await shares(0.99)) },
];

let known: Promise<number[][]> | undefined;

async function shares(share: number): Promise<number[]> {
  known ??= measureHost();
  return (await known).map((times) => percentile(times, share));
}

/** Returns the times of each run, sorted. The price alternates, so that the means cross at every event. */
async function measureHost(): Promise<number[][]> {
  const hosts = openHosts({ clock: systemClock });
  try {
    const use = 'sma-crossover';
    const reading = await hosts.load({
      use, file: join(PROJECT_DIR, 'strategies', `${use}.ts`), origin: 'project',
      isolation: { kind: 'shared', callMs: 1_000, memoryMb: 160 },
    }).read({
      params: { pair: 'SOL/USDC', size: '10 USDC', every: '1s', fast: 1, slow: 2 }, name: use, seed: 1,
      tokens: [{ mint: SOL_MINT, symbol: 'SOL', decimals: 9 }, { mint: USDC_MINT, symbol: 'USDC', decimals: 6 }],
    });
    if ('ended' in reading || reading.apart === undefined) throw new Error('the strategy could not be loaded');
    const { apart } = reading;
    const portfolio = {
      available: () => SPENT as Amount, openIntents: () => 0, equity: () => SPENT as Amount, budget: () => undefined,
      holding: () => ({ amount: SPENT as Amount, available: SPENT as Amount, cost: undefined, value: undefined }),
    };
    apart.call({ kind: 'start', at: 0, warming: false, kept: undefined }, portfolio);
    let at = 0;
    const timed = (): number | undefined => {
      at += 1_000;
      const event = quoteAt(at);
      const startedAt = stopwatch();
      const result = apart.call({ kind: 'event', at, input: 0, event }, portfolio);
      const tookMs = stopwatch() - startedAt;
      if ('ending' in result) throw new Error(result.ending.reason);
      return result.effects.some(({ kind }) => kind === 'propose') ? tookMs : undefined;
    };
    for (let count = 0; count < WARM_UP_EVENTS; count++) timed();
    return Array.from({ length: RUNS }, () =>
      Array.from({ length: EVENTS }, timed).filter((time) => time !== undefined).sort((a, b) => a - b));
  } finally {
    await hosts.close();
  }
}

function quoteAt(at: number): Quote {
  const outAmount = at % 2_000 === 0 ? 66_000_000n : 67_000_000n;
  return {
    kind: 'quote', feed: `quote:${USDC_MINT}:${SOL_MINT}:${SPENT}`, receivedAt: at, inputMint: USDC_MINT,
    outputMint: SOL_MINT, inAmount: SPENT as Amount, outAmount: outAmount as Amount, threshold: outAmount as Amount,
    priceImpact: 0, router: 'iris', feeBps: 0 as Bps, rate: Number(outAmount) / Number(SPENT),
  };
}
