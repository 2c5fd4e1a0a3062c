import type { Millis } from '../../core/time.ts';
import { drawnPoints } from './downsample.ts';
import type { Markup } from './markup.ts';
import { markup } from './markup.ts';

const WIDTH = 1_000;
const HEIGHT = 300;
const MOST_MARKS = 1_500;
const DAY_MS = 86_400_000;

/** A line of a chart. Colours are those of the style sheet. */
export interface ChartLine {
  readonly label: string;
  readonly style: 'main' | 'second' | 'third' | 'loss';
  readonly values: readonly number[];
  readonly isFilled?: boolean | undefined;
}

/** Something that happened at a time and a height. */
export interface ChartMark {
  readonly at: Millis;
  readonly value: number;
  readonly kind: 'entry' | 'exit';
}

/**
 * Returns a chart of values over time. The drawing stretches to whatever width there is, with lines of one strength; all
 * text is beside it, so that it keeps its size on a phone.
 */
export function lineChart({ title, times, lines, marks = [], show, atLeast }: {
  readonly title: string;
  readonly times: readonly Millis[];
  readonly lines: readonly ChartLine[];
  readonly marks?: readonly ChartMark[];
  readonly show: (value: number) => string;
  /** Values that are in it at any rate. */
  readonly atLeast?: readonly number[];
}): Markup {
  const range = rangeOf([...lines.map(({ values }) => values), marks.map(({ value }) => value), atLeast ?? []]);
  if (times.length < 2 || range === undefined) return markup`<figure class="chart"><figcaption>${title}</figcaption><p class="none">Nothing to draw.</p></figure>`;
  const [from, to] = [times[0]!, times.at(-1)!];
  const x = (at: Millis): number => ((at - from) / (to - from)) * WIDTH;
  const y = (value: number): number => HEIGHT - ((value - range.low) / (range.high - range.low)) * HEIGHT;
  const lineOf = ({ values, style, isFilled }: ChartLine): Markup => {
    const path = pathOf(drawnPoints(values).map((i) => [x(times[i]!), y(values[i]!)]));
    const base = tenth(y(Math.min(Math.max(0, range.low), range.high)));
    return markup`${isFilled === true && markup`<path class="fill ${style}" d="${path}V${base}H0Z"/>`}<path class="line ${style}" d="${path}"/>`;
  };
  const drawn = everyFew(marks);
  const spots = (kind: ChartMark['kind']): string => drawn.filter((mark) => mark.kind === kind).map(({ at, value }) => `M${tenth(x(at))} ${tenth(y(value))}h0`).join('');
  return markup`<figure class="chart"><figcaption>${title}</figcaption>
<div class="legend">${lines.length > 1 && lines.map(({ label, style }) => markup`<span class="${style}">${label}</span>`)}${marks.length > 0 && markup`<span class="entry">entry</span><span class="exit">exit (ring)</span>`}</div>
<div class="plot"><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}">${[1, 2, 3].map((part) => markup`<path class="grid" d="M0 ${(HEIGHT * part) / 4}H${WIDTH}"/>`)}${range.low < 0 && range.high > 0 && markup`<path class="axis" d="M0 ${tenth(y(0))}H${WIDTH}"/>`}${lines.map(lineOf)}<path class="spot exit" d="${spots('exit')}"/><path class="spot hole" d="${spots('exit')}"/><path class="spot entry" d="${spots('entry')}"/></svg>
${[0, 1, 2, 3, 4].map((part) => markup`<span class="tick" style="top:${part * 25}%">${show(range.high - ((range.high - range.low) * part) / 4)}</span>`)}</div>
<div class="times"><span>${instantText(from, to - from)}</span><span>${instantText((from + to) / 2, to - from)}</span><span>${instantText(to, to - from)}</span></div>${drawn.length < marks.length && markup`<p class="note">${drawn.length} of ${marks.length} swaps are drawn.</p>`}</figure>`;
}

/** Returns an instant by UTC as finely as a span needs. */
export function instantText(at: Millis, spanMs: Millis): string {
  const text = new Date(at).toISOString();
  if (spanMs > 3 * DAY_MS) return text.slice(0, 10);
  return spanMs > 600_000 ? text.slice(5, 16).replace('T', ' ') : text.slice(11, 19);
}

function pathOf(points: readonly (readonly number[])[]): string {
  return points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${tenth(x!)} ${tenth(y!)}`).join('');
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}

function everyFew(marks: readonly ChartMark[]): readonly ChartMark[] {
  const step = Math.ceil(marks.length / MOST_MARKS);
  return step <= 1 ? marks : marks.filter((_, i) => i % step === 0);
}

function rangeOf(columns: readonly (readonly number[])[]): { readonly low: number; readonly high: number } | undefined {
  let [low, high] = [Infinity, -Infinity];
  for (const column of columns) {
    for (const value of column) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (!(low <= high)) return undefined;
  const room = high === low ? Math.abs(high) * 0.01 || 1 : 0;
  return { low: low - room, high: high + room };
}
