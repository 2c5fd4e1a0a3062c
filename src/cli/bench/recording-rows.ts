import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Amount } from '../../core/amount.ts';
import { systemClock } from '../../daemon/system-clock.ts';
import type { Quote } from '../../market/quote.ts';
import { SOL_MINT, USDC_MINT } from '../../market/token.ts';
import { openRecording } from '../../recording/reader.ts';
import { syntheticQuotes } from '../../recording/synthetic.ts';
import { createRecordingWriter } from '../../recording/writer.ts';
import type { BenchRow } from './measurement.ts';
import { measured, stopwatch } from './measurement.ts';

const QUOTES = 500_000;
const RUNS = 5;

/** What one write of a recording, and one reading of it, came to. */
interface Passage {
  readonly appendRate: number;
  readonly readRate: number;
  readonly closedReadRate: number;
  readonly bytesPerQuote: number;
}

/** Append and read of an open (uncompressed) recording of one market's quotes, read and size of the same one closed. */
export const RECORDING_ROWS: readonly BenchRow[] = [
  { name: 'recording-append', measure: async () => measured('recording-append', 'events/s', (await passages()).map(({ appendRate }) => appendRate)) },
  { name: 'recording-read', measure: async () => measured('recording-read', 'events/s', (await passages()).map(({ readRate }) => readRate)) },
  { name: 'recording-read-closed', measure: async () => measured('recording-read-closed', 'events/s', (await passages()).map(({ closedReadRate }) => closedReadRate)) },
  { name: 'recording-bytes-per-quote', measure: async () => measured('recording-bytes-per-quote', 'bytes', (await passages()).map(({ bytesPerQuote }) => bytesPerQuote)) },
];

let known: Promise<Passage[]> | undefined;

function passages(): Promise<Passage[]> {
  known ??= measurePassages();
  return known;
}

async function measurePassages(): Promise<Passage[]> {
  const quotes = plainQuotes();
  const results: Passage[] = [];
  for (let run = 0; run < RUNS; run++) results.push(await onePassage(quotes));
  return results;
}

/** Plain objects, as feeds emit them: making them is not what is measured. */
function plainQuotes(): Quote[] {
  const instruments = [{ inputMint: USDC_MINT, outputMint: SOL_MINT, amount: 25_000_000n as Amount, startRate: 6.6 }];
  const cursor = syntheticQuotes({ count: QUOTES, instruments, seed: 7, stepMs: 1 }).cursor();
  const quotes: Quote[] = [];
  while (cursor.next()) quotes.push(JSON_QUOTE(cursor.input as unknown as { toJSON(): Quote }));
  return quotes;
}

const JSON_QUOTE = (quote: { toJSON(): Quote }): Quote => quote.toJSON();

async function onePassage(quotes: readonly Quote[]): Promise<Passage> {
  const dir = mkdtempSync(join(tmpdir(), 'gannet-bench-'));
  try {
    const writer = createRecordingWriter({ dir, name: 'bench', clock: systemClock, tokens: [], onError: (error) => { throw error; } });
    const startedAt = stopwatch();
    let seq = 0;
    for (const quote of quotes) writer.append(++seq, quote.receivedAt, quote);
    writer.flush();
    const appendedAt = stopwatch();
    const readRate = readingRate(writer.directory);
    const manifest = await writer.close();
    const bytes = manifest.files.reduce((sum, { file }) => sum + statSync(join(writer.directory, file)).size, 0);
    const closedReadRate = readingRate(writer.directory);
    return { appendRate: quotes.length / ((appendedAt - startedAt) / 1_000), readRate, closedReadRate, bytesPerQuote: bytes / quotes.length };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Checking every byte is part of reading. */
function readingRate(directory: string): number {
  const startedAt = stopwatch();
  const cursor = openRecording(directory).cursor();
  let events = 0;
  let sum = 0;
  while (cursor.next()) {
    events += 1;
    if (cursor.input.kind === 'quote') sum += cursor.input.rate;
  }
  if (!(sum > 0)) throw new Error('a benchmark that reads nothing measures nothing');
  return events / ((stopwatch() - startedAt) / 1_000);
}
