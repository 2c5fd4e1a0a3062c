import { statSync } from 'node:fs';
import { GannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import { counted, grouped } from '../../core/counted.ts';
import { shortDuration } from '../../core/time.ts';
import { describeFeedKey } from '../../market/market-text.ts';
import { mint, tokenTable } from '../../market/token.ts';
import { bytesText, shortened } from '../output/figures.ts';
import type { Millis } from '../../core/time.ts';
import type { RecordingKind } from '../../recording/format.ts';
import type { RecordingSource } from '../../recording/source.ts';
import { MARKET_KINDS } from '../../recording/window.ts';
import type { Recording } from '../../recording/reader.ts';
import type { Steps } from '../../core/steps.ts';
import { STEP_EVENTS } from '../../core/steps.ts';
import { uncompressedSegments } from '../../recording/compression/uncompressed.ts';
import { listSegments } from '../../recording/check/verify.ts';
import { table } from '../output/table.ts';
import type { Silence, SilenceWatch } from '../../recording/silence.ts';
import { watchSilence } from '../../recording/silence.ts';
import { withKnown } from './tokens.ts';

const MOST_GAPS = 1_000;
/** Other feeds are of nobody here, and stand as they are. */
const SPOKEN = /^(?:quote:[^:]+:[^:]+:\d+|token-stats:[^:]+|order-book:.+)$/;

interface Gap extends Silence {
  readonly feed: string;
}

/** What a recording holds, in the words of `--json`. */
export interface RecordingInfo {
  readonly recording: string;
  readonly format_version: number;
  readonly closed: boolean;
  readonly source: RecordingSource;
  readonly created_at: string;
  readonly ended_at: string | null;
  readonly node: string;
  readonly arch: string;
  readonly events: number;
  readonly bytes: number;
  readonly first_at: string | null;
  readonly last_at: string | null;
  readonly span_ms: number | null;
  readonly truncated_at: number | null;
  readonly kinds: readonly {
    readonly kind: RecordingKind; readonly events: number; readonly rows: number; readonly segments: number;
    readonly compressed: number; readonly bytes: number;
  }[];
  readonly feeds: readonly {
    readonly feed: string; readonly events: number; readonly first_at: string; readonly last_at: string;
    readonly usual_ms: number | null;
  }[];
  readonly tokens: readonly { readonly mint: string; readonly symbol: string; readonly decimals: number }[];
  readonly gaps: readonly {
    readonly feed: string; readonly from: string; readonly until: string; readonly ms: number;
  }[];
  readonly gaps_left_out: number;
  /** Rows that a crash took. */
  readonly lost: readonly {
    readonly file: string; readonly rows: number; readonly from: string; readonly until: string;
  }[];
  /** Segments of hours that are over, or of a writer that is dead, which are not compressed. */
  readonly uncompressed: readonly string[];
}

/** Works out what an opened recording holds. */
export function* infoOf(recording: Recording): Steps<RecordingInfo> {
  const { directory, manifest, firstAt, lastAt } = recording;
  const listed = listSegments(directory);
  const { segments } = listed;
  const { feeds, gaps } = yield* feedsOf(recording);
  const sizes = new Map(segments.map(({ file }) => [file, sizeOf(`${directory}/${file}`)]));
  return {
    recording: directory,
    format_version: manifest.formatVersion,
    closed: manifest.closed,
    source: manifest.source,
    created_at: iso(manifest.createdAt),
    ended_at: manifest.endedAt === undefined ? null : iso(manifest.endedAt),
    node: manifest.node,
    arch: manifest.arch,
    events: recording.events,
    bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0),
    first_at: firstAt === undefined ? null : iso(firstAt),
    last_at: lastAt === undefined ? null : iso(lastAt),
    span_ms: firstAt === undefined || lastAt === undefined ? null : lastAt - firstAt,
    truncated_at: recording.truncatedAt ?? null,
    kinds: recording.kinds.map((kind) => {
      const own = segments.filter(({ file }) => file.startsWith(`${kind}/`));
      const sum = (of: (digest: (typeof own)[number]) => number): number =>
        own.reduce((total, digest) => total + of(digest), 0);
      return {
        kind, events: sum(({ events }) => events), rows: sum(({ rows }) => rows), segments: own.length,
        compressed: own.filter(({ compressed }) => compressed !== undefined).length,
        bytes: sum(({ file }) => sizes.get(file)!),
      };
    }),
    feeds,
    tokens: recording.tokens.all.map(({ mint, symbol, decimals }) => ({ mint, symbol, decimals })),
    gaps: gaps.slice(0, MOST_GAPS)
      .map(({ feed, from, until }) => ({ feed, from: iso(from), until: iso(until), ms: until - from })),
    gaps_left_out: Math.max(0, gaps.length - MOST_GAPS),
    lost: recording.lost.map(({ file, rows, from, until }) => ({ file, rows, from: iso(from), until: iso(until) })),
    uncompressed: uncompressedSegments(directory, listed).map(({ file }) => file),
  };
}

/** Returns the same for people. */
export function infoText(info: RecordingInfo): string {
  const nameOf = feedNames(info.tokens);
  const shown = info.gaps.slice(0, 10);
  const more = info.gaps.length - shown.length + info.gaps_left_out;
  return [
    ...info.lost.map(({ file, rows, from, until }) =>
      `  ! ${file}: ${counted(rows, 'row')} of ${from} to ${until} were written and are lost\n`),
    ...(info.uncompressed.length === 0 ? []
      : [`  ! ${counted(info.uncompressed.length, 'segment is', 'segments are')} not compressed and nobody writes `
        + `to ${info.uncompressed.length === 1 ? 'it' : 'them'}`
        + `${info.closed ? '' : ': "gannet recording compact" makes them smaller'}\n`]),
    `  recording  ${info.recording}\n`,
    `  source     ${sourceText(info.source)}\n`,
    `  format     ${info.format_version}, written by Node ${info.node} on `
      + `${info.arch}, ${info.closed ? 'closed' : 'not closed'}`
      + `${info.truncated_at === null ? '' : `: cut off after input number ${info.truncated_at}`}\n`,
    `  period     ${info.first_at === null ? 'nothing was recorded' : `${momentText(info.first_at)} to ${momentText(info.last_at!)} UTC (${spanText(info.span_ms!)})`}\n`,
    `  events     ${grouped(String(info.events))} in ${bytesText(info.bytes)}\n`,
    ...info.tokens.map(({ symbol, mint, decimals }, i) =>
      `  ${(i === 0 ? 'tokens' : '').padEnd(9)}  ${symbol} ${shortened(mint)}, ${counted(decimals, 'decimal')}\n`),
    '\n',
    table([
      ['kind', 'events', 'rows', 'segments', 'compressed', 'size'],
      ...info.kinds.map(({ kind, events, rows, segments, compressed, bytes }) =>
        [kind, ...[events, rows, segments, compressed].map((count) => grouped(String(count))), bytesText(bytes)]),
    ], { right: [1, 2, 3, 4, 5] }),
    '\n',
    table([['feed', 'events', 'usually every', 'first, UTC', 'last, UTC', 'gaps'],
      ...info.feeds.map(({ feed, events, usual_ms: usual, first_at: first, last_at: last }) => [
        nameOf(feed), grouped(String(events)), usual === null ? '-' : spanText(usual), momentText(first),
        momentText(last),
        info.gaps_left_out > 0 ? '-' : grouped(String(info.gaps.filter((gap) => gap.feed === feed).length)),
      ])], { right: [1, 2, 5] }),
    info.gaps.length === 0 ? '\n  no gaps: no feed was silent for more than a minute and five times as long as usual\n'
      : `\n  gaps\n${shown.map(({ feed, from, ms }) => `    ${momentText(from)}  ${spanText(ms).padStart(6)}  ${nameOf(feed)}\n`).join('')}${more > 0 ? `    and ${grouped(String(more))} more: --json has ${info.gaps_left_out > 0 ? `${grouped(String(info.gaps.length))} of them` : 'them all'}\n` : ''}`,
  ].join('');
}

/** Returns where a recording comes from, for people. */
function sourceText(source: RecordingSource): string {
  switch (source.kind) {
    case 'watched': return 'watched as it happened';
    case 'synthetic': return `synthetic: the market "${printable(source.market)}", seed ${source.seed}`;
    case 'imported': return `${source.form} imported from ${printable(source.file)}`;
  }
}

/** One time through all of it: a feed's usual distance is known only at the end. */
function* feedsOf(
  recording: Recording,
): Steps<{ readonly feeds: RecordingInfo['feeds']; readonly gaps: readonly Gap[] }> {
  const watches = new Map<string, SilenceWatch>();
  const cursor = recording.cursor({ kinds: [...MARKET_KINDS, 'feed-health'] });
  for (let events = 1; cursor.next(); events++) {
    if (events % STEP_EVENTS === 0) yield;
    const { input, at } = cursor;
    if (!('feed' in input)) continue;
    const watch = watches.get(input.feed);
    if (watch === undefined) watches.set(input.feed, watchSilence(at));
    else watch.hear(at);
  }
  const gaps = [...watches].flatMap(([feed, watch]) => watch.silences().map((silence): Gap => ({ feed, ...silence })));
  const feeds = [...watches].map(([feed, watch]) =>
    ({ feed, events: watch.count, first_at: iso(watch.first), last_at: iso(watch.last), usual_ms: watch.usualMs() }));
  return { feeds, gaps: gaps.sort((a, b) => a.from - b.from) };
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch (cause) {
    throw new GannetError('RECORDING_CORRUPT', `${path} went away while it was looked at; look again`, { cause });
  }
}

function spanText(ms: Millis): string {
  return ms <= 0 ? '0ms' : shortDuration(ms);
}

/** To the second, of an instant in ISO 8601. */
function momentText(iso8601: string): string {
  return iso8601.slice(0, 19).replace('T', ' ');
}

/** What a feed watches, in words; a token without a name by the ends of its mint. */
function feedNames(tokens: RecordingInfo['tokens']): (feed: string) => string {
  const known = tokenTable(withKnown(tokens.map(({ mint: address, symbol, decimals }) =>
    ({ mint: mint(address), symbol, decimals }))));
  return (feed) => printable(SPOKEN.test(feed) ? describeFeedKey(known, feed) : feed, Infinity)
    .replace(/[1-9A-HJ-NP-Za-km-z]{32,44}/g, shortened);
}

function iso(at: Millis): string {
  return new Date(at).toISOString();
}
