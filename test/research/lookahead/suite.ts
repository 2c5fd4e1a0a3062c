import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BASE_MODEL } from '../../../src/trading/simulation-model.ts';
import type { ThreadSetup, ThreadStrategy } from '../../../src/research/trials/thread-setup.ts';
import { PROJECT_DIR } from '../../../src/core/code-files.ts';
import type { Amount } from '../../../src/core/amount.ts';
import type { Millis } from '../../../src/core/time.ts';
import type { MarketEvent } from '../../../src/market/event.ts';
import type { Input } from '../../../src/trading/step.ts';
import { createRecordingWriter } from '../../../src/recording/writer.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { book, buyingSol, sellingSol, stats } from '../../market/events.ts';
import { FISH, SOL, TOKENS, USDC } from '../../market/tokens.ts';
import { BUDGET, WALLET, WIDE } from '../../trading/states.ts';

/** Parameters of the strategies beside this file, but for where the recording is. */
export const PARAMS = { pair: 'SOL/USDC', size: '25 USDC', token: 'FISH' } as const;

const HERE = fileURLToPath(new URL('.', import.meta.url));
const START = Date.UTC(2026, 0, 5, 8);
const ROWS = 240;
const STEP_MS = 5_000;
/** A quote is of so long before it is received. */
const LATE_MS = 7_000;

/** A recording on the disk, with what else lies beside it. */
export interface Market {
  readonly directory: string;
  readonly firstAt: Millis;
  readonly lastAt: Millis;
  remove(): void;
}

function priceAt(n: number): number {
  return 125 + 8 * Math.sin(n / 7) + 3 * Math.sin(n / 3) + Math.sin(n * n);
}

/** Further events of a step that begins at a time, from three seconds after it on. */
type MoreEvents = (step: number, at: Millis) => readonly MarketEvent[];

function* rows(more: MoreEvents): Generator<{ readonly at: Millis; readonly input: Input }> {
  for (let n = 0; n < ROWS; n++) {
    // Now and then nothing comes for a while.
    if (n % 60 >= 50 && n % 60 < 54) continue;
    const at = START + n * STEP_MS;
    const price = priceAt(n);
    yield { at, input: { ...buyingSol(Math.round(price * 1_000), at), eventAt: at - LATE_MS } };
    if (n % 2 === 0) yield { at: at + 700, input: sellingSol(Math.round(price * 999), at + 700) };
    if (n % 3 === 0) {
      const yes = Math.round(50 + 30 * Math.sin(n / 11) + (n > ROWS - 30 ? 45 - 30 * Math.sin(n / 11) : 0));
      yield {
        at: at + 1_100, input: book([[yes, 100 + (n * 37) % 90]], [[98 - yes, 100 + (n * 53) % 120]], at + 1_100),
      };
    }
    if (n % 4 === 0) yield { at: at + 2_300, input: stats(FISH, 3 + Math.sin(n / 9), at + 2_300) };
    for (const input of more(n, at + 3_000)) yield { at: input.receivedAt, input };
  }
}

/** Writes the market of this suite, with further events where asked. */
export async function writeMarket(more: MoreEvents = () => []): Promise<Market> {
  const dir = mkdtempSync(join(tmpdir(), 'gannet-lookahead-test-'));
  const writer = createRecordingWriter({
    dir, name: 'recording', clock: new VirtualClock(START), tokens: TOKENS.all, onError: (error) => { throw error; },
  });
  let seq = 0;
  let lastAt = START;
  for (const { at, input } of rows(more)) {
    writer.append(++seq, at, input);
    lastAt = at;
  }
  await writer.close();
  writeFileSync(join(dir, 'export.csv'), Array.from({ length: ROWS }, (_, n) => priceAt(n)).join('\n'));
  return {
    directory: writer.directory, firstAt: START, lastAt,
    remove: () => { rmSync(dir, { recursive: true, force: true }); },
  };
}

/** Returns the strategies of a folder beside this file, by name. */
export function strategiesIn(folder: 'planted' | 'clean' | 'refused', market: Market): ThreadStrategy[] {
  const parts = new Set(['harness.ts', 'cache.ts', 'whisper.ts']);
  return readdirSync(join(HERE, folder)).filter((file) => file.endsWith('.ts') && !parts.has(file)).sort()
    .map((file) => instance(
      file.slice(0, -'.ts'.length), join(HERE, folder, file), { ...PARAMS, dir: market.directory },
    ));
}

/** Returns a strategy with 500 USDC. */
export function instance(name: string, use: string, rawParams: unknown, warmupMs?: Millis): ThreadStrategy {
  return { name, use, rawParams, budget: BUDGET, limits: {}, warmupMs };
}

/** Returns the setup of a check. */
export function prepared(market: Market, strategies: readonly ThreadStrategy[]): ThreadSetup {
  return {
    tokens: TOKENS.all, limits: WIDE, balances: new Map([...WALLET, [SOL.mint, 10_000_000_000n as Amount]]),
    model: BASE_MODEL, seed: 7, currency: USDC,
    firstAt: market.firstAt, lastAt: market.lastAt, recordingDir: market.directory, strategies,
    places: { strategiesDir: join(PROJECT_DIR, 'strategies'), baseDir: HERE },
  };
}
