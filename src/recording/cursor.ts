import type { Millis } from '../core/time.ts';
import type { Input } from '../trading/step.ts';
import type { Block } from './columns/block.ts';

/** The blocks of one kind in the order in which they were written. */
export type BlockSource = Iterable<Block>;

const NOTHING_YET: Input = { kind: 'command', name: 'set-trading-state', state: 'active', reason: 'the cursor has not moved yet' };

/** A kind's place in the merge. */
class Lane {
  readonly #blocks: Iterator<Block>;
  block: Block | undefined;
  index = 0;
  seq = 0;

  constructor(source: BlockSource) {
    this.#blocks = source[Symbol.iterator]();
    this.nextBlock();
  }

  /** Turns to the next block that holds anything; without one `seq` is infinite. */
  nextBlock(): void {
    do {
      const { done, value } = this.#blocks.next();
      this.block = done === true ? undefined : value;
    } while (this.block !== undefined && this.block.length === 0);
    this.index = 0;
    this.seq = this.block === undefined ? Infinity : this.block.seqAt(0);
  }
}

/**
 * A place in a recording; starts before the first input. `next` moves on in the order of the numbers over all kinds.
 * While one kind runs, only its own next number is looked at: the others' least is known.
 */
export class RecordingCursor {
  seq = 0;
  at: Millis = 0;
  input: Input = NOTHING_YET;
  readonly #lanes: Lane[];
  #lane: Lane;
  /** The current lane may go on up to here. */
  #limit: number;

  constructor(sources: readonly BlockSource[]) {
    this.#lanes = sources.map((source) => new Lane(source));
    this.#lane = new Lane([]);
    this.#limit = -Infinity;
  }

  /** Moves to the next input; returns false after the last one. */
  next(): boolean {
    let lane = this.#lane;
    if (lane.seq >= this.#limit) {
      if (!this.#changeLane()) return false;
      lane = this.#lane;
    }
    const block = lane.block!;
    const { index } = lane;
    this.seq = lane.seq;
    this.at = block.timeAt(index);
    this.input = block.inputAt(index);
    const following = index + 1;
    if (following < block.length) {
      lane.index = following;
      lane.seq = block.seqAt(following);
    } else {
      lane.nextBlock();
    }
    return true;
  }

  /** Takes the lane with the least number, up to the least number of the others. */
  #changeLane(): boolean {
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
    if (least === undefined || least.seq === Infinity) return false;
    this.#lane = least;
    this.#limit = second;
    return true;
  }
}
