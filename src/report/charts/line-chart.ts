import type { Millis } from '../../core/time.ts';
import type { Axis } from './axis.ts';
import { instantText, timeAxis, valueAxis } from './axis.ts';
import type { Markup } from '../../web/markup.ts';
import { markup } from '../../web/markup.ts';
import type { PlotStyle } from './plot.ts';
import { PLOT_HEIGHT, acrossPlot, downPlot, emptyFigure, plotFigure, scaleNote } from './plot.ts';
import { readoutValues } from '../readout.ts';
import type { ValueKind } from '../../research/metrics/value-text.ts';
import { valueText } from '../../research/metrics/value-text.ts';
import { drawnPoints } from './downsample.ts';

/** A span of time. */
export interface Span {
  readonly from: Millis;
  readonly until: Millis;
}

/** Values over time, one for each of the chart's times; null interrupts the line. */
export interface ChartLine {
  readonly label: string;
  readonly style: PlotStyle;
  readonly values: readonly (number | null)[];
  /** A line by default; steps where each value holds until the next; an area down to 0; spots for single points. */
  readonly form?: 'line' | 'steps' | 'area' | 'spots' | undefined;
}

const MOST_SPOTS = 200;
const MANY_SPOTS = 100;
const DEFAULT_PARTS = 300;
/** The fewest ticks on the vertical axis: fewer would leave much of a drawing empty. */
const STEPS = 5;

/** Returns a chart of values over time in UTC. Values within a gap are not drawn, since nothing was recorded there. */
export function lineChart({
  title, times, lines, kind, include, gaps = [], notes = [], parts = DEFAULT_PARTS, empty = 'Nothing to draw.',
}: {
  readonly title: string;
  /** They rise strictly. */
  readonly times: readonly Millis[];
  readonly lines: readonly ChartLine[];
  readonly kind: ValueKind;
  /** Values that the axis always contains. */
  readonly include?: readonly number[] | undefined;
  readonly gaps?: readonly Span[] | undefined;
  readonly notes?: readonly string[] | undefined;
  /** A long line is drawn by four points of each of this many parts. */
  readonly parts?: number | undefined;
  /** The text of a chart without values. */
  readonly empty?: string | undefined;
}): Markup {
  const [from, until] = [times[0], times.at(-1)];
  const seen = lines.map((line) =>
    (line.form === 'spots' ? line : { ...line, values: outsideGaps(times, line.values, gaps) }));
  const y = valueAxis(seen.flatMap(({ values }) => values), { kind, include, steps: STEPS });
  const hasNoSpan = from === undefined || until === undefined || from === until;
  if (hasNoSpan) return emptyFigure(title, 'The run has no duration.');
  if (y === undefined) return emptyFigure(title, empty);
  const x = timeAxis(from, until);
  const { lines: thinned, notes: leftOut } = thinnedSpots(seen);
  const places = placesOf(thinned, { times, parts });
  const at = places.map((place) => times[place]!);
  const drawn = thinned.map((line) => ({ ...line, values: places.map((place) => line.values[place]!) }));
  const shown = gaps.map((gap) => ({ from: Math.max(gap.from, from), until: Math.min(gap.until, until) }))
    .filter((gap) => gap.from < gap.until);
  const ranges = seen.filter(({ form }) => form !== 'spots')
    .map(({ label, values }) => `${label} ${rangeText(values, kind)}`);
  return plotFigure({
    title, x, y, at: 'last',
    key: [
      ...seen.map(({ label, style, form, values }) =>
        ({ label, style, value: form === 'spots' ? countText(values) : lastText(values, kind) })),
      ...(shown.length === 0 ? [] : [{ label: 'nothing recorded', style: 'gap' } as const]),
    ],
    drawing: markup`${shown.map((gap) => gapOf(gap, x))}${drawn.map((line) => formOf(line, { at, x, y }))}`,
    summary: `${instantText(from)} to ${instantText(until)} UTC. ${ranges.join('; ')}`,
    notes: [
      `${instantText(from, until - from)} to ${instantText(until, until - from)} UTC. ${scaleNote(y)}`, ...leftOut,
      ...notes,
    ],
    readout: {
      x: [from, until], y: [y.low, y.high], kind,
      steps: at.map((time, i) => (i === 0 ? time : time - at[i - 1]!)),
      lines: drawn.map(({ label, values }) => ({ label, values: readoutValues(values, kind) })),
    },
  });
}

function outsideGaps(
  times: readonly Millis[], values: readonly (number | null)[], gaps: readonly Span[],
): readonly (number | null)[] {
  if (gaps.length === 0) return values;
  // The last value before a gap may still hold at its very end.
  const within = (at: Millis): boolean => gaps.some(({ from, until }) => at > from && at <= until);
  return values.map((value, i) => (within(times[i]!) ? null : value));
}

/** Thins each line of spots by itself: where lines alternate, every n-th spot of all could belong to one line only. */
function thinnedSpots(
  lines: readonly ChartLine[],
): { readonly lines: readonly ChartLine[]; readonly notes: readonly string[] } {
  const step = Math.max(1, ...lines.map(({ form, values }) =>
    (form === 'spots' ? Math.ceil(spotCount(values) / MOST_SPOTS) : 1)));
  if (step === 1) return { lines, notes: [] };
  const thinned = (values: ChartLine['values']): ChartLine['values'] => {
    let place = 0;
    return values.map((value) => (value === null || place++ % step !== 0 ? null : value));
  };
  return {
    lines: lines.map((line) => (line.form === 'spots' ? { ...line, values: thinned(line.values) } : line)),
    notes: [`One in ${step} of the marks is drawn: more would overlap.`],
  };
}

function placesOf(
  lines: readonly ChartLine[], options: { readonly times: readonly Millis[]; readonly parts: number },
): readonly number[] {
  const places = lines.flatMap(({ form, values }) =>
    (form === 'spots' ? values.flatMap((value, i) => (value === null ? [] : [i])) : drawnPoints(values, options)));
  return [...new Set(places)].toSorted((a, b) => a - b);
}

function formOf({ style, values, form = 'line' }: ChartLine, { at, x, y }: {
  readonly at: readonly Millis[]; readonly x: Axis; readonly y: Axis;
}): Markup {
  if (form === 'spots') {
    const spots = values.flatMap((value, i) =>
      (value === null ? [] : [`M${acrossPlot(x, at[i]!)} ${downPlot(y, value)}h0`]));
    const size = spots.length > MANY_SPOTS ? ' many' : '';
    const path = spots.join('');
    const hole = style === 'exit' && markup`<path class="spot hole${size}" d="${path}"/>`;
    return markup`<path class="spot ${style}${size}" d="${path}"/>${hole}`;
  }
  const isStepped = form !== 'line';
  const base = Math.max(0, Math.min(PLOT_HEIGHT, downPlot(y, 0)));
  let [line, area] = ['', ''];
  let before: { readonly across: number; readonly down: number } | undefined;
  for (const [i, value] of values.entries()) {
    if (value === null) {
      if (before !== undefined) area += `V${base}Z`;
      before = undefined;
      continue;
    }
    const [across, down] = [acrossPlot(x, at[i]!), downPlot(y, value)];
    // A single point is drawn too, as a line without length.
    const piece = before === undefined ? `M${across} ${down}h0` : isStepped
      ? `h${across - before.across}v${down - before.down}` : `l${across - before.across} ${down - before.down}`;
    line += piece;
    area += before === undefined ? `M${across} ${base}V${down}` : piece;
    before = { across, down };
  }
  if (before !== undefined) area += `V${base}Z`;
  const fill = form === 'area' && markup`<path class="fill ${style}" d="${area}"/>`;
  return markup`${fill}<path class="line ${style}" d="${line}"/>`;
}

function gapOf({ from, until }: Span, x: Axis): Markup {
  const left = acrossPlot(x, from);
  const width = Math.max(1, acrossPlot(x, until) - left);
  return markup`<rect class="gap" x="${left}" y="0" width="${width}" height="${PLOT_HEIGHT}"/>`;
}

function spotCount(values: readonly (number | null)[]): number {
  return values.reduce<number>((count, value) => (value === null ? count : count + 1), 0);
}

function countText(values: readonly (number | null)[]): string {
  return `${valueText(spotCount(values), 'count')} ×`;
}

function lastText(values: readonly (number | null)[], kind: ValueKind): string {
  const last = values.findLast((value) => value !== null);
  return last === undefined || last === null ? '–' : valueText(last, kind);
}

function rangeText(values: readonly (number | null)[], kind: ValueKind): string {
  let [low, high, first, last]: (number | undefined)[] = [];
  for (const value of values) {
    if (value === null) continue;
    first ??= value;
    last = value;
    low = Math.min(low ?? value, value);
    high = Math.max(high ?? value, value);
  }
  if (first === undefined) return 'is not known';
  const text = (value: number | undefined): string => valueText(value!, kind);
  return `from ${text(first)} to ${text(last)}, lowest ${text(low)}, highest ${text(high)}`;
}
