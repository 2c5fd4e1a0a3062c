import type { HistogramBin } from '../../research/metrics/return-distribution.ts';
import type { Axis } from './axis.ts';
import { roundStep, valueAxis } from './axis.ts';
import type { Markup } from '../../web/markup.ts';
import { markup } from '../../web/markup.ts';
import { acrossPlot, downPlot, emptyFigure, PLOT_HEIGHT, plotFigure } from './plot.ts';
import type { ValueKind } from '../../research/metrics/value-text.ts';
import { valueText } from '../../research/metrics/value-text.ts';

const MOST_TICKS = 8;
const MOST_NARROW = 4;

/** Returns a histogram with losses separate from gains. `counted` is what it counts, such as "round trips". */
export function histogramChart({ title, bins, kind, counted, empty }: {
  readonly title: string;
  readonly bins: readonly HistogramBin[];
  readonly kind: ValueKind;
  readonly counted: string;
  readonly empty: string;
}): Markup {
  const [first, last] = [bins[0], bins.at(-1)];
  const y = valueAxis(bins.map(({ count }) => count), { kind: 'count', include: [0] });
  if (first === undefined || last === undefined || y === undefined) return emptyFigure(title, empty);
  // Where all values are 0 the only bin has no width. It is drawn with one.
  const x: Axis = first.from === last.to
    ? { low: -1, high: 1, ticks: [{ value: 0, text: valueText(0, kind), isMinor: false }] } : binAxis(bins, kind);
  const bars = bins.map(({ from, to, count }) => {
    const [left, right] = from === to ? [acrossPlot(x, -0.1), acrossPlot(x, 0.1)]
      : [acrossPlot(x, from), acrossPlot(x, to)];
    const top = downPlot(y, count);
    const style = to <= 0 && from < 0 ? 'loss' : 'gain';
    const size = markup`width="${right - left}" height="${PLOT_HEIGHT - top}"`;
    return markup`<rect class="bar ${style}" x="${left}" y="${top}" ${size}/>`;
  });
  const middles = bins.map(({ from, to }) => (from + to) / 2);
  const most = bins.reduce((largest, bin) => (bin.count > largest.count ? bin : largest), first);
  return plotFigure({
    title, x, y, at: `most: ${rangeText(most, kind)}`,
    drawing: markup`${bars}${
      x.low < 0 && x.high > 0 && markup`<path class="zero" d="M${acrossPlot(x, 0)} 0V${PLOT_HEIGHT}"/>`}`,
    key: [
      { label: counted, value: valueText(most.count, 'count') }, { label: 'lost', style: 'loss' },
      { label: 'won or even', style: 'gain' },
    ],
    summary: bins.filter(({ count }) => count > 0).map((bin) => `${rangeText(bin, kind)}: ${bin.count}`).join('; '),
    notes: ['Linear scales. Each bar includes its lower end. No bar contains both losses and gains.'],
    readout: {
      x: [x.low, x.high], y: [y.low, y.high], kind: 'count', names: bins.map((bin) => rangeText(bin, kind)),
      steps: middles.map((middle, i) => (i === 0 ? middle : middle - middles[i - 1]!)),
      lines: [{ label: counted, values: bins.map(({ count }) => count) }],
    },
  });
}

function rangeText({ from, to }: HistogramBin, kind: ValueKind): string {
  return from === to ? valueText(from, kind) : `${valueText(from, kind)} to ${valueText(to, kind)}`;
}

/** Returns an axis over the bins with 0 among its ticks. */
function binAxis(bins: readonly HistogramBin[], kind: ValueKind): Axis {
  const [low, high] = [bins[0]!.from, bins.at(-1)!.to];
  const step = Math.max(bins[0]!.to - bins[0]!.from, roundStep((high - low) / MOST_TICKS));
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n++)
    ticks.push({ value: n * step, text: valueText(n * step, kind), isMinor: n % 2 !== 0 });
  return { low, high, ticks: ticks.length <= MOST_NARROW ? ticks.map((tick) => ({ ...tick, isMinor: false })) : ticks };
}
