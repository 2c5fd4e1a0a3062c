import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchRow } from './measurement.ts';
import { measured, percentile } from './measurement.ts';
import { systemClock } from '../daemon/watch/system-clock.ts';
import type { Quote } from '../market/quote.ts';
import { openRecording } from '../recording/reader.ts';
import { createRecordingWriter } from '../recording/writer.ts';
import { stopwatch } from '../research/stopwatch.ts';

const QUOTES = 500_000;
/**
 * Quotes are generated in small groups: an event is recorded while it is in the processor's cache, and reading a clock
 * for each would be measured too.
 */
const GROUP_SIZE = 64;
const RUNS = 5;
/** Readings of one recording; the first is slower than in a recording of a month, which the others show. */
const READS = 3;

/** The figures of writing and reading one recording. */
interface Passage {
  readonly appendRate: number;
  readonly readRate: number;
  readonly closedReadRate: number;
  readonly bytesPerQuote: number;
}

/**
 * Append and read rates of an open (uncompressed) recording of the synthetic market's quotes, and read rate and size of
 * the closed one. Appending is everything that a run waits for: columns, Arrow, SHA-256, the write, a digest per batch.
 * Reading is opening, which checks every byte against its hash, and a cursor over all quotes.
 */
export const RECORDING_ROWS: readonly BenchRow[] = [
  { name: 'recording-append', measure: async () =>
    measured('recording-append', 'events/s', (await passages()).map(({ appendRate }) => appendRate)) },
  { name: 'recording-read', measure: async () =>
    measured('recording-read', 'events/s', (await passages()).map(({ readRate }) => readRate)) },
  { name: 'recording-read-closed', measure: async () =>
    measured('recording-read-closed', 'events/s', (await passages()).map(({ closedReadRate }) => closedReadRate)) },
  { name: 'recording-bytes-per-quote', measure: async () =>
    measured('recording-bytes-per-quote', 'bytes', (await passages()).map(({ bytesPerQuote }) => bytesPerQuote)) },
];

let known: Promise<Passage[]> | undefined;

function passages(): Promise<Passage[]> {
  known ??= measurePassages();
  return known;
}

async function measurePassages(): Promise<Passage[]> {
  const results: Passage[] = [];
  for (let run = 0; run < RUNS; run++) results.push(await onePassage());
  return results;
}

async function onePassage(): Promise<Passage> {
  const dir = mkdtempSync(join(tmpdir(), 'gannet-bench-'));
  try {
    const writer = createRecordingWriter({
      dir, name: 'bench', clock: systemClock, tokens: [], onError: (error) => { throw error; },
    });
    let seq = 0;
    let appendMs = 0;
    for await (const quotes of marketQuotes()) {
      const startedAt = stopwatch();
      for (const quote of quotes) writer.append(++seq, quote.receivedAt, quote);
      if (seq === QUOTES) writer.flush();
      appendMs += stopwatch() - startedAt;
    }
    const readRate = medianRate(writer.directory);
    const manifest = await writer.close();
    const bytes = manifest.files.reduce((sum, { file }) => sum + statSync(join(writer.directory, file)).size, 0);
    const closedReadRate = medianRate(writer.directory);
    return { appendRate: QUOTES / (appendMs / 1_000), readRate, closedReadRate, bytesPerQuote: bytes / QUOTES };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Yields plain quotes as feeds emit them, a ladder in both directions per slot. Generating them is not measured. */
async function* marketQuotes(): AsyncGenerator<readonly Quote[]> {
  const { sandboxToken, syntheticMarket } = await import('../sandbox/synthetic-market.ts');
  const pairs = [{ base: sandboxToken('SOL'), quote: sandboxToken('USDC') }];
  let quotes: Quote[] = [];
  let left = QUOTES;
  for (const event of syntheticMarket({
    seed: 7, pairs, startAt: Date.UTC(2026, 0, 1), days: 1, everyMs: 400, slowEveryMs: 86_400_000, motion: 'swings',
  })) {
    if (event.kind !== 'quote') continue;
    quotes.push(event);
    left -= 1;
    if (quotes.length < GROUP_SIZE && left > 0) continue;
    yield quotes;
    if (left === 0) return;
    quotes = [];
  }
}

function medianRate(directory: string): number {
  return percentile(Array.from({ length: READS }, () => readingRate(directory)).toSorted((a, b) => a - b), 0.5);
}

function readingRate(directory: string): number {
  const startedAt = stopwatch();
  const cursor = openRecording(directory).cursor();
  let events = 0;
  let sum = 0;
  while (cursor.next()) {
    events += 1;
    const { input } = cursor;
    if (input.kind === 'quote') sum += input.rate;
  }
  if (events !== QUOTES || !(sum > 0)) throw new Error('a benchmark that reads nothing measures nothing');
  return events / ((stopwatch() - startedAt) / 1_000);
}
