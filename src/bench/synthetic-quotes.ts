import type { Amount } from '../core/amount.ts';
import { normal, seededRandom } from '../core/random.ts';
import type { Millis } from '../core/time.ts';
import { feedKey } from '../market/feed.ts';
import type { Mint } from '../market/token.ts';
import type { WideValues } from '../recording/columns/batch-columns.ts';
import type { Block } from '../recording/columns/block.ts';
import { QuoteBlock } from '../recording/columns/quote-block.ts';
import { RecordingCursor } from '../recording/cursor.ts';
import type { InputSource } from '../recording/reader.ts';

/** A market of a synthetic recording: quotes of one amount whose rate walks at random. */
export interface SyntheticInstrument {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amount: Amount;
  /** Output per input at the start, in smallest units. */
  readonly startRate: number;
}

interface SyntheticQuotesOptions {
  /** Quotes in all; the instruments take turns. */
  readonly count: number;
  readonly instruments: readonly SyntheticInstrument[];
  readonly seed: number | string;
  /** Milliseconds between two quotes. */
  readonly stepMs: Millis;
  readonly startAt?: Millis | undefined;
  /** Standard deviation of one step of an instrument's log rate. */
  readonly volatility?: number | undefined;
}

const BLOCK_ROWS = 65_536;
const TWO_POW_32 = 4_294_967_296;

/**
 * Returns quotes in memory, in the shape of a recording: a geometric random walk for each instrument, the same for the
 * same seed. Nothing is known of price impact and slot; the threshold equals the output.
 */
export function syntheticQuotes(options: SyntheticQuotesOptions): InputSource {
  const { count, instruments, stepMs, startAt = 1_750_000_000_000 } = options;
  const feeds = instruments.map(({ inputMint, outputMint, amount }) =>
    feedKey({ kind: 'quote', inputMint, outputMint, amount, everyMs: stepMs }));
  const blocks = makeBlocks(options, feeds, startAt);
  return {
    feeds,
    kinds: ['quote'],
    events: count,
    firstAt: count === 0 ? undefined : startAt,
    lastAt: count === 0 ? undefined : startAt + (count - 1) * stepMs,
    cursor: ({ kinds } = {}) => new RecordingCursor(kinds === undefined || kinds.includes('quote') ? [blocks] : []),
    *read({ kinds } = {}) {
      if (kinds === undefined || kinds.includes('quote')) yield* blocks;
    },
  };
}

function makeBlocks(options: SyntheticQuotesOptions, feeds: readonly string[], startAt: Millis): Block[] {
  const { count, instruments, seed, stepMs, volatility = 2e-4 } = options;
  const random = seededRandom(seed);
  const logRates = instruments.map(({ startRate }) => Math.log(startRate));
  const texts = {
    feeds, inputs: instruments.map(({ inputMint }) => inputMint),
    outputs: instruments.map(({ outputMint }) => outputMint), routers: ['iris'],
  };
  const blocks: Block[] = [];
  for (let first = 0; first < count; first += BLOCK_ROWS) {
    const rows = Math.min(BLOCK_ROWS, count - first);
    const instrumentCodes = new Int32Array(rows);
    const columns = { seq: wide(rows), receivedAt: wide(rows), inAmount: wide(rows), outAmount: wide(rows) };
    for (let row = 0; row < rows; row++) {
      const code = (first + row) % instruments.length;
      logRates[code]! += volatility * normal(random);
      const { amount } = instruments[code]!;
      instrumentCodes[row] = code;
      setWide(columns.seq, row, first + row + 1);
      setWide(columns.receivedAt, row, startAt + (first + row) * stepMs);
      columns.inAmount.values[row] = amount;
      setWide(columns.outAmount, row, Math.round(Number(amount) * Math.exp(logRates[code]!)));
    }
    blocks.push(new QuoteBlock({
      ...columns,
      eventAt: { ...wide(rows), valid: noneValid(rows) },
      feed: { codes: instrumentCodes, texts: texts.feeds, valid: undefined },
      stampLagMs: new Int32Array(rows),
      inputMint: { codes: instrumentCodes, texts: texts.inputs, valid: undefined },
      outputMint: { codes: instrumentCodes, texts: texts.outputs, valid: undefined },
      threshold: columns.outAmount,
      priceImpact: { values: new Float64Array(rows), valid: noneValid(rows) },
      contextSlot: { ...wide(rows), valid: noneValid(rows) },
      router: { codes: new Int32Array(rows), texts: texts.routers, valid: undefined },
      feeBps: new Uint16Array(rows),
    }));
  }
  return blocks;
}

function wide(rows: number): WideValues {
  const values = new BigUint64Array(rows);
  return { values, halves: new Uint32Array(values.buffer), valid: undefined };
}

function setWide({ halves }: WideValues, row: number, value: number): void {
  halves[2 * row] = value;
  halves[2 * row + 1] = Math.floor(value / TWO_POW_32);
}

function noneValid(rows: number): Uint8Array {
  return new Uint8Array(Math.ceil(rows / 8));
}
