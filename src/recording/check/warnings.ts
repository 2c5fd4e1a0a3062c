import type { ChunkedWork } from '../../core/chunked-work.ts';
import { GannetError } from '../../core/errors.ts';
import { pluralize } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration, shortDuration } from '../../core/time.ts';
import type { FeedKey } from '../../market/event-base.ts';
import type { FeedSpec } from '../../market/feed.ts';
import { feedKey, isPolled, sharedFeeds } from '../../market/feed.ts';
import type { Block } from '../columns/block.ts';
import { QuoteBlock } from '../columns/quote-block.ts';
import type { RecordingKind } from '../format.ts';
import type { Recording } from '../reader.ts';
import { inspectRows, lostIssue } from './inspect.ts';
import type { Silence, SilenceWatch } from './silence.ts';
import { isSilence, watchSilence } from './silence.ts';

/** The most warnings of a kind that are listed; the others are counted. */
const MOST_NAMED = 3;
/** Allows for the time that a poll takes. */
const SELDOM_FACTOR = 1.5;

/** What a user of a recording must know: its warnings, and the interval of each feed. */
interface RecordingReview {
  readonly warnings: readonly string[];
  /** The usual distance between two records of a feed, milliseconds. */
  readonly intervals: ReadonlyMap<FeedKey, Millis>;
}

/**
 * Returns the warnings for a user of a recording, each with file, row and time: lost rows, silent feeds, feeds recorded
 * at longer intervals than live, leaping prices. Throws RECORDING_CORRUPT for rows out of order and for prices that no
 * feed gives, because results from them would mean nothing.
 */
export function* recordingWarnings(recording: Recording, { kinds, feeds, describe }: {
  readonly kinds: readonly RecordingKind[];
  /** The feeds in use, with their live intervals. */
  readonly feeds: readonly FeedSpec[];
  /** Returns a readable name of a feed. */
  readonly describe: (feed: FeedKey) => string;
}): ChunkedWork<RecordingReview> {
  const everyMs = new Map(sharedFeeds(feeds).filter(isPolled)
    .map((spec) => [feedKey(spec), spec.everyMs]));
  const watches = new Map<FeedKey, SilenceWatch>();
  const { issues, noPrices, leaps } = yield* inspectRows(recording, kinds, (block) => { hearBlock(watches, block); });
  const [worst, ...others] = [...issues, ...noPrices];
  if (worst !== undefined) {
    const more = others.length === 0 ? '' : `, and ${others.length} more of the kind`;
    throw new GannetError('RECORDING_CORRUPT',
      `${worst.message}${more}: "gannet recording verify" names all; restore the recording from a copy, or take `
        + 'another one',
      {
        details: { file: worst.file, row: worst.row, at: worst.at },
      });
  }
  const watched = [...watches].filter(([feed]) => everyMs.has(feed));
  const silences = watched.flatMap(([feed, watch]) =>
    silencesOf(watch, recording).map(({ from, until }) => ({ feed, from, until })))
    .sort((a, b) => a.from - b.from);
  const warnings = [
    ...named(recording.lost.filter(({ isHole }) => isHole).map((lost) => lostIssue(lost).message), 'rows are lost'),
    ...named(
      silences.map(({ feed, from, until }) => `nothing was recorded of ${describe(feed)} from `
        + `${new Date(from).toISOString()} to ${new Date(until).toISOString()}, for ${shortDuration(until - from)}`),
      'feeds were silent',
    ),
    ...watched.flatMap(([feed, watch]) => seldom(watch.usualMs() ?? 0, everyMs.get(feed)!, describe(feed))),
    ...named(leaps.map(({ message }) => `${message}; it is taken as it stands`), 'prices leap'),
  ];
  const intervals = [...watches].flatMap(([feed, watch]) => {
    const usualMs = watch.usualMs();
    return usualMs === null ? [] : [[feed, usualMs] as const];
  });
  return { warnings, intervals: new Map(intervals) };
}

/** A strategy that counts prices sees fewer of them in the same time. */
function seldom(usualMs: Millis, everyMs: Millis, feed: string): string[] {
  if (usualMs < SELDOM_FACTOR * everyMs) return [];
  return [`${feed} was recorded every ${shortDuration(usualMs)}, and is polled every ${formatDuration(everyMs)} `
    + 'live: decisions here see fewer prices'];
}

/** A feed that starts late or ends early is silent too. */
function silencesOf(watch: SilenceWatch, { firstAt, lastAt }: Recording): readonly Silence[] {
  const ends =
    [{ from: firstAt ?? watch.first, until: watch.first }, { from: watch.last, until: lastAt ?? watch.last }];
  return [...watch.silences(), ...ends.filter((silence) => isSilence(silence, watch.usualMs()))];
}

function named(messages: readonly string[], what: string): string[] {
  const left = messages.length - MOST_NAMED;
  return [...messages.slice(0, MOST_NAMED), ...(left > 0
    ? [`${what} ${pluralize(left, 'time')} more: "gannet recording verify" and "info" name them`] : [])];
}

/** Reads the columns of quotes: there are millions of them. */
function hearBlock(watches: Map<FeedKey, SilenceWatch>, block: Block): void {
  if (block instanceof QuoteBlock) {
    const { codes, texts } = block.columns.feed;
    const own = texts.map((feed) => watches.get(feed));
    for (let index = 0; index < block.length; index++) {
      const code = codes[index]!;
      const watch = own[code];
      if (watch === undefined) own[code] = begin(watches, texts[code]!, block.timeAt(index));
      else watch.hear(block.timeAt(index));
    }
    return;
  }
  for (let index = 0; index < block.length; index++) {
    const input = block.inputAt(index);
    if (!('feed' in input) || input.kind === 'feed-health') continue;
    const watch = watches.get(input.feed);
    if (watch === undefined) begin(watches, input.feed, block.timeAt(index));
    else watch.hear(block.timeAt(index));
  }
}

function begin(watches: Map<FeedKey, SilenceWatch>, feed: FeedKey, at: Millis): SilenceWatch {
  const watch = watchSilence(at);
  watches.set(feed, watch);
  return watch;
}
