import { withKnown } from '../input/token-flags.ts';
import { bytesText, shortened } from './figures.ts';
import { table } from './table.ts';
import { groupThousands, pluralize, printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { shortDuration } from '../../core/time.ts';
import { describeFeedKey, isFeedKey } from '../../market/market-text.ts';
import { mint, tokenTable } from '../../market/token.ts';
import type { RecordingInfo } from '../../recording/check/info.ts';
import type { RecordingSource } from '../../recording/format.ts';

/** Returns the information about a recording as text. */
export function infoText(info: RecordingInfo): string {
  const nameOf = feedNames(info.tokens);
  const shown = info.gaps.slice(0, 10);
  const more = info.gaps.length - shown.length + info.gaps_left_out;
  return [
    ...info.lost.map(({ file, rows, from, until }) =>
      `  ! ${file}: ${pluralize(rows, 'row')} of ${from} to ${until} were written and are lost\n`),
    ...(info.uncompressed.length === 0 ? []
      : [`  ! ${pluralize(info.uncompressed.length, 'segment is', 'segments are')} not compressed, and no process `
        + `writes to ${info.uncompressed.length === 1 ? 'it' : 'them'}`
        + `${info.closed ? '' : ': "gannet recording compact" compresses them'}\n`]),
    `  recording  ${info.recording}\n`,
    `  source     ${sourceText(info.source)}\n`,
    `  format     ${info.format_version}, written by Node ${info.node} on `
      + `${info.arch}, ${info.closed ? 'closed' : 'not closed'}`
      + `${info.truncated_at === null ? '' : `: cut off after input number ${info.truncated_at}`}\n`,
    `  period     ${info.first_at === null ? 'no events'
      : `${momentText(info.first_at)} to ${momentText(info.last_at!)} UTC (${spanText(info.span_ms!)})`}\n`,
    `  events     ${groupThousands(String(info.events))} in ${bytesText(info.bytes)}\n`,
    ...info.tokens.map(({ symbol, mint, decimals }, i) =>
      `  ${(i === 0 ? 'tokens' : '').padEnd(9)}  ${symbol} ${shortened(mint)}, ${pluralize(decimals, 'decimal')}\n`),
    '\n',
    table([
      ['kind', 'events', 'rows', 'segments', 'compressed', 'size'],
      ...info.kinds.map(({ kind, events, rows, segments, compressed, bytes }) =>
        [
          kind, ...[events, rows, segments, compressed].map((count) => groupThousands(String(count))), bytesText(bytes),
        ]),
    ], { right: [1, 2, 3, 4, 5] }),
    '\n',
    table([['feed', 'events', 'usually every', 'first, UTC', 'last, UTC', 'gaps'],
      ...info.feeds.map(({ feed, events, usual_ms: usual, first_at: first, last_at: last }) => [
        nameOf(feed), groupThousands(String(events)), usual === null ? '-' : spanText(usual), momentText(first),
        momentText(last),
        info.gaps_left_out > 0 ? '-' : groupThousands(String(info.gaps.filter((gap) => gap.feed === feed).length)),
      ])], { right: [1, 2, 5] }),
    ...(info.gaps.length === 0
      ? ['\n  no gaps: no feed was silent for more than a minute and five times as long as usual\n'] : ['\n  gaps\n']),
    ...shown.map(({ feed, from, ms }) => `    ${momentText(from)}  ${spanText(ms).padStart(6)}  ${nameOf(feed)}\n`),
    ...(more > 0 ? [`    and ${groupThousands(String(more))} more: --json has `
      + `${info.gaps_left_out > 0 ? `${groupThousands(String(info.gaps.length))} of them` : 'them all'}\n`] : []),
  ].join('');
}

/** Returns the source of a recording as text. */
function sourceText(source: RecordingSource): string {
  switch (source.kind) {
    case 'watched': return 'watched as it happened';
    case 'synthetic': return `synthetic: the market "${printable(source.market)}", seed ${source.seed}`;
    case 'imported': return `${source.form} imported from ${printable(source.file)}`;
  }
}

function spanText(ms: Millis): string {
  return ms <= 0 ? '0ms' : shortDuration(ms);
}

/** To the second, of an instant in ISO 8601. */
function momentText(iso8601: string): string {
  return iso8601.slice(0, 19).replace('T', ' ');
}

/** Returns the name of a feed. A token without a name is shown by the ends of its mint. */
function feedNames(tokens: RecordingInfo['tokens']): (feed: string) => string {
  const known = tokenTable(withKnown(tokens.map(({ mint: address, symbol, decimals }) =>
    ({ mint: mint(address), symbol, decimals }))));
  return (feed) => printable(isFeedKey(feed) ? describeFeedKey(known, feed) : feed, Infinity)
    .replace(/[1-9A-HJ-NP-Za-km-z]{32,44}/g, shortened);
}
