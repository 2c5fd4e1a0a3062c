import { valueAxis } from './axis.ts';
import type { Markup } from './markup.ts';
import { markup } from './markup.ts';
import { acrossPlot, downPlot, emptyFigure, PLOT_HEIGHT, plotFigure, scaleNote } from './plot.ts';
import { readoutValues } from './readout.ts';
import type { ValueKind } from './value-text.ts';
import { valueText } from './value-text.ts';

/** A point with what it stands for. */
export interface ScatterPoint {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  /** It is drawn as a ring around the others. */
  readonly isMarked?: boolean | undefined;
}

/** One side of a scatter chart. */
export interface ScatterSide {
  readonly label: string;
  readonly kind: ValueKind;
  /** Values that the axis holds at any rate, such as 0. */
  readonly include?: readonly number[] | undefined;
}

const MANY_POINTS = 200;
const MOST_NARROW = 4;

/** Returns points by two numbers each. `marked` says what the ringed points are. */
export function scatterChart({ title, points, across, up, marked, empty = 'Nothing to draw.' }: {
  readonly title: string;
  readonly points: readonly ScatterPoint[];
  readonly across: ScatterSide;
  readonly up: ScatterSide;
  readonly marked?: string | undefined;
  readonly empty?: string | undefined;
}): Markup {
  const sorted = points.toSorted((a, b) => a.x - b.x || a.y - b.y);
  const bare = valueAxis(sorted.map(({ x }) => x), across);
  const y = valueAxis(sorted.map((point) => point.y), up);
  if (bare === undefined || y === undefined) return emptyFigure(title, empty);
  const x = { ...bare, ticks: bare.ticks.map((tick, i) => ({ ...tick, isMinor: bare.ticks.length > MOST_NARROW && i % 2 !== 0 })) };
  const spots = (isMarked: boolean): string => sorted.filter((point) => (point.isMarked === true) === isMarked).map((point) => `M${acrossPlot(x, point.x)} ${downPlot(y, point.y)}h0`).join('');
  const size = sorted.length > MANY_POINTS ? ' many' : '';
  const highest = sorted.reduce((best, point) => (point.y > best.y ? point : best));
  return plotFigure({
    title, x, y, at: highest.name,
    key: [{ label: up.label, style: 'main', value: valueText(highest.y, up.kind) }, ...(marked === undefined ? [] : [{ label: marked, style: 'exit' } as const])],
    drawing: markup`${x.low < 0 && x.high > 0 && markup`<path class="zero" d="M${acrossPlot(x, 0)} 0V${PLOT_HEIGHT}"/>`}<path class="spot main${size}" d="${spots(false)}"/><path class="spot exit" d="${spots(true)}"/><path class="spot hole" d="${spots(true)}"/>`,
    summary: `${sorted.length} points, ${across.label} across, ${up.label} up; highest ${highest.name} with ${valueText(highest.y, up.kind)}`,
    notes: [`Across: ${across.label}. ${scaleNote(x)} Up: ${up.label}. ${scaleNote(y)}`],
    readout: {
      x: [x.low, x.high], y: [y.low, y.high], kind: up.kind, isScattered: true,
      names: sorted.map((point) => `${point.name}, ${across.label} ${valueText(point.x, across.kind)}`),
      steps: sorted.map((point, i) => (i === 0 ? point.x : point.x - sorted[i - 1]!.x)),
      lines: [{ label: up.label, values: readoutValues(sorted.map((point) => point.y), up.kind) }],
    },
  });
}
