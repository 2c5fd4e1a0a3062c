import type { ErrorCode } from '../../../src/core/errors.ts';
import { GannetError } from '../../../src/core/errors.ts';
import type { Random } from '../../../src/core/random.ts';
import type { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { wait } from '../../../src/execution/monotonic-time.ts';
import type { Life } from './life.ts';

/** How the environment behaves for a while; shares are of calls. */
export interface Weather {
  readonly forMs: number;
  /** Of calls that come to nothing, and of those whose effect came about but whose answer is lost. */
  readonly faults: number;
  readonly lost: number;
  readonly slow: number;
  readonly slowMs: number;
  /** Of answers of the service to signed bytes that are not true. */
  readonly lies: number;
  /** By how many slots each of the nodes behind the one address is behind. */
  readonly lags: readonly number[];
  /** Of heights that are slots. */
  readonly wrongHeights: number;
  /** Of finalized slots that are far in the future, with their heights. */
  readonly leaps: number;
  /** Whether the nodes were restarted from a snapshot: their history has holes. */
  readonly holes: boolean;
}

export const CALM: Weather = {
  forMs: Infinity, faults: 0, lost: 0, slow: 0, slowMs: 0, lies: 0, lags: [0], wrongHeights: 0, leaps: 0, holes: false,
};

/** The way of every call of a process to the outside and back. */
export class Wire {
  readonly #clock: VirtualClock;
  readonly #weathers: readonly Weather[];
  readonly random: Random;
  calls = 0;

  constructor(
    options: { readonly clock: VirtualClock; readonly weathers: readonly Weather[]; readonly random: Random },
  ) {
    this.#clock = options.clock;
    this.#weathers = options.weathers;
    this.random = options.random;
  }

  get weather(): Weather {
    let until = 0;
    for (const weather of this.#weathers) {
      until += weather.forMs;
      if (this.#clock.now() < until) return weather;
    }
    return CALM;
  }

  chance(share: number): boolean {
    return share > 0 && this.random() < share;
  }

  /** Asks for something on behalf of a process; one that is gone gets no answer. */
  async ask<T>(life: Life, codes: readonly ErrorCode[], work: () => T): Promise<T> {
    if (life.passes()) return life.never();
    this.calls += 1;
    const { slow, slowMs, faults, lost } = this.weather;
    if (this.chance(slow)) await wait(this.#clock, Math.ceil(this.random() * slowMs));
    if (life.isDead) return life.never();
    if (this.chance(faults)) throw this.#fault(codes);
    const answer = work();
    if (this.chance(lost)) throw this.#fault(codes);
    return life.passes() ? life.never() : answer;
  }

  #fault(codes: readonly ErrorCode[]): GannetError {
    return new GannetError(codes[Math.floor(this.random() * codes.length)]!, 'the weather is bad');
  }
}
