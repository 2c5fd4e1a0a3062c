import type { Millis } from '../core/time.ts';
import { formatDuration } from '../core/time.ts';
import type { StrategyInstance } from '../engine/host.ts';
import type { RecordedRows } from '../engine/warm-up.ts';
import type { FeedKey } from '../market/event.ts';
import { feedKey } from '../market/feed.ts';

/** Polls may come later than wanted; less than this between two is no hole. */
const HOLE_MIN_MS = 30_000;
/** Less of the wanted time than this is told. */
const ENOUGH = 0.9;

/** How much of the wanted time one feed of one strategy was recorded. */
interface Lane {
  readonly from: Millis;
  readonly everyMs: Millis;
  events: number;
  lastAt: Millis;
  /** Time without anything recorded. */
  holesMs: Millis;
}

/** Watches what a warm-up shows, and says what it lacked. */
export class Coverage {
  readonly #strategies: readonly { readonly name: string; readonly warmupMs: Millis; readonly lanes: ReadonlyMap<FeedKey, Lane> }[];
  readonly #lanes = new Map<FeedKey, Lane[]>();
  readonly #until: Millis;

  constructor(strategies: readonly StrategyInstance[], until: Millis) {
    this.#until = until;
    this.#strategies = strategies.map(({ name, strategy, params, warmupMs = 0 }) => {
      const from = until - warmupMs;
      const specs = Object.values(strategy.inputs(params)).map(({ spec }) => spec);
      const lanes = new Map(specs.map((spec): [FeedKey, Lane] => [feedKey(spec), { from, everyMs: spec.everyMs, events: 0, lastAt: from, holesMs: 0 }]));
      for (const [feed, lane] of lanes) this.#lanes.set(feed, [...(this.#lanes.get(feed) ?? []), lane]);
      return { name, warmupMs, lanes };
    });
  }

  /** Returns the same rows, looked at as they go by. */
  watching(rows: RecordedRows): RecordedRows {
    let input: RecordedRows['input'] | undefined;
    return {
      next: () => {
        if (!rows.next()) return false;
        ({ input } = rows);
        if ('feed' in input) this.#saw(input.feed, rows.at);
        return true;
      },
      get at() { return rows.at; },
      get input() { return input!; },
    };
  }

  /** Returns a sentence for each strategy that was shown less than it wants; `faults` are what could not be read. */
  missing(faults: readonly string[], describe: (feed: FeedKey) => string): { readonly strategy: string; readonly message: string }[] {
    return this.#strategies.flatMap(({ name, warmupMs, lanes }) => {
      const found = [...lanes].map(([feed, lane]) => ({ feed, foundMs: this.#foundMs(lane) }));
      const least = Math.min(warmupMs, ...found.map(({ foundMs }) => foundMs));
      if (least >= ENOUGH * warmupMs && faults.length === 0) return [];
      const never = found.filter(({ foundMs }) => foundMs === 0).map(({ feed }) => feed);
      const wanted = `the last ${formatDuration(warmupMs)} before the start`;
      const what = never.length === found.length
        ? `nothing of ${wanted} is recorded`
        : `of ${wanted} ${formatDuration(wholeSeconds(least))} are recorded${never.length === 0 ? '' : `, and nothing of ${never.map(describe).join(', ')}`}`;
      return [{ strategy: name, message: `not warmed up as wanted: ${[what, ...faults].join('; ')}` }];
    });
  }

  /** Returns what was shown, for the log. */
  shown(): string {
    return this.#strategies.map(({ name, lanes }) => {
      const events = [...lanes.values()].reduce((sum, lane) => sum + lane.events, 0);
      return `${name} was warmed up with ${events} recorded events`;
    }).join('; ');
  }

  #saw(feed: FeedKey, at: Millis): void {
    if (at >= this.#until) return;
    for (const lane of this.#lanes.get(feed) ?? []) {
      if (at < lane.from) continue;
      lane.events += 1;
      lane.holesMs += holeMs(lane, at);
      lane.lastAt = at;
    }
  }

  #foundMs(lane: Lane): Millis {
    return lane.events === 0 ? 0 : this.#until - lane.from - lane.holesMs - holeMs(lane, this.#until);
  }
}

function holeMs({ everyMs, lastAt }: Lane, at: Millis): Millis {
  const gapMs = at - lastAt;
  return gapMs > Math.max(HOLE_MIN_MS, 3 * everyMs) ? gapMs : 0;
}

function wholeSeconds(spanMs: Millis): Millis {
  return Math.floor(spanMs / 1_000) * 1_000;
}
