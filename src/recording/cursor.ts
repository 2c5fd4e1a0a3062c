import type { Millis } from '../core/time.ts';
import type { QuoteRun } from '../market/quote.ts';
import type { Input } from '../trading/step.ts';
import type { Block } from './columns/block.ts';
import { QuoteBlock } from './columns/quote-block.ts';

/** The blocks of one kind in the order in which they were written. */
export type BlockSource = Iterable<Block>;

const NOTHING_YET: Input =
  { kind: 'command', name: 'set-trading-state', state: 'active', reason: 'the cursor has not moved yet' };

/** The position of one kind in the merge. */
class Lane {
  readonly #blocks: Iterator<Block>;
  block: Block | undefined;
  /** The next row and its number; without one `seq` is infinite. */
  index = 0;
  seq = 0;

  constructor(source: BlockSource) {
    this.#blocks = source[Symbol.iterator]();
    this.#nextBlock();
  }

  /** Moves to a row of the block, or to the next block. */
  goTo(index: number): void {
    if (index < this.block!.length) {
      this.index = index;
      this.seq = this.block!.seqAt(index);
    } else {
      this.#nextBlock();
    }
  }

  /** Moves to the first row whose number is not below another. */
  skipBefore(seq: number): void {
    while (this.block !== undefined && this.seq < seq) {
      let index = this.index;
      while (index < this.block.length && this.block.seqAt(index) < seq) index += 1;
      this.goTo(index);
    }
  }

  /** Returns the row before which all numbers of the block are below a number of another kind. */
  rowsBefore(seq: number): number {
    const { length } = this.block!;
    if (seq === Infinity) return length;
    let end = this.index + 1;
    while (end < length && this.block!.seqAt(end) < seq) end += 1;
    return end;
  }

  /** Moves to the next block with rows. */
  #nextBlock(): void {
    do {
      const { done, value } = this.#blocks.next();
      this.block = done === true ? undefined : value;
    } while (this.block !== undefined && this.block.length === 0);
    this.index = 0;
    this.seq = this.block === undefined ? Infinity : this.block.seqAt(0);
  }
}

/**
 * A position in a recording, which starts before the first input. `next` moves in the order of the numbers over all
 * kinds. `input` is created at each call, so read it once.
 */
export class RecordingCursor {
  readonly #lanes: Lane[];
  #lane: Lane | undefined;
  #block: Block | undefined;
  #index = 0;
  /** The quotes of the block; undefined where it is of another kind. */
  #quotes: Omit<QuoteRun, 'end' | 'from'> & { from: number; end: number } | undefined;
  /** Up to this row the block comes before the rows of other kinds. */
  #end = 0;

  /** Inputs with a number below `firstSeq` are left out. */
  constructor(sources: readonly BlockSource[], firstSeq = 0) {
    this.#lanes = sources.map((source) => new Lane(source));
    for (const lane of this.#lanes) lane.skipBefore(firstSeq);
  }

  get seq(): number {
    return this.#block === undefined ? 0 : this.#block.seqAt(this.#index);
  }

  get at(): Millis {
    return this.#block === undefined ? 0 : this.#block.timeAt(this.#index);
  }

  get input(): Input {
    return this.#block === undefined ? NOTHING_YET : this.#block.inputAt(this.#index);
  }

  /**
   * Returns at most `most` quotes from the present one on, all before inputs of other kinds; undefined where the
   * present input is none. The next call returns the same object.
   */
  quotes(most: number): QuoteRun | undefined {
    const run = this.#quotes;
    if (run === undefined) return undefined;
    run.from = this.#index;
    run.end = Math.min(this.#end, this.#index + most);
    return run;
  }

  /** Moves on within the quotes that `quotes` returned. */
  skip(rows: number): void {
    this.#index += rows;
  }

  /** Moves to the next input; returns false after the last one. */
  next(): boolean {
    const following = this.#index + 1;
    if (following >= this.#end) return this.#nextRun();
    this.#index = following;
    return true;
  }

  /** Selects the kind with the least number, up to the least number of the others. */
  #nextRun(): boolean {
    this.#lane?.goTo(this.#end);
    this.#lane = undefined;
    let least: Lane | undefined;
    let second = Infinity;
    for (const lane of this.#lanes) {
      if (least === undefined || lane.seq < least.seq) {
        second = Math.min(second, least?.seq ?? Infinity);
        least = lane;
      } else {
        second = Math.min(second, lane.seq);
      }
    }
    if (least?.block === undefined) return false;
    this.#lane = least;
    if (this.#block !== least.block) this.#open(least.block);
    this.#index = least.index;
    this.#end = least.rowsBefore(second);
    return true;
  }

  #open(block: Block): void {
    this.#block = block;
    this.#quotes = block instanceof QuoteBlock
      ? { rows: block, from: 0, end: 0, since: -Infinity, until: Infinity } : undefined;
  }
}
