import type { Axis, Tick } from './axis.ts';
import { placeOn } from './axis.ts';
import type { Markup } from '../../web/markup.ts';
import { jsonInPage, markup, note } from '../../web/markup.ts';
import type { Readout } from '../readout.ts';

/** The coordinate range of drawings, independent of their size on the page. Whole numbers are precise enough. */
const PLOT_WIDTH = 10_000;
export const PLOT_HEIGHT = 3_000;

/** The colours of lines, bars and points, by meaning. */
export type PlotStyle = 'main' | 'second' | 'third' | 'gain' | 'loss' | 'entry' | 'exit' | 'gap';

/** The meaning of a colour or shape in a drawing. */
interface KeyItem {
  readonly label: string;
  /** Left out, the item is a number without a shape. */
  readonly style?: PlotStyle | undefined;
  /** The initial value of the read-out; without one the item has no value. */
  readonly value?: string | undefined;
}

/** A drawing between two axes, with its legend and notes. */
interface Plot {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly key: readonly KeyItem[];
  /** The time of the values in the legend, until the reader points at others. */
  readonly at: string;
  /** SVG within PLOT_WIDTH by PLOT_HEIGHT. */
  readonly drawing: Markup;
  /** A description of the drawing for screen readers. */
  readonly summary: string;
  readonly notes: readonly string[];
  readonly readout: Readout;
}

/** Returns the coordinate of a value across or down a drawing. */
export const acrossPlot = (axis: Axis, value: number): number => Math.round(placeOn(axis, value) * PLOT_WIDTH);
export const downPlot = (axis: Axis, value: number): number => Math.round((1 - placeOn(axis, value)) * PLOT_HEIGHT);

/**
 * Returns a drawing with its axes, its legend and its notes. It fills any width with lines of constant strength. All
 * text is outside the drawing and keeps its size on a phone. The script of the page adds the read-out point by point;
 * without a script the legend shows the last values.
 */
export function plotFigure({ title, x, y, key, at, drawing, summary, notes, readout }: Plot): Markup {
  const zero = y.low < 0 && y.high > 0 && markup`<path class="zero" d="M0 ${downPlot(y, 0)}H${PLOT_WIDTH}"/>`;
  const grid = y.ticks.map(({ value }) => `M0 ${downPlot(y, value)}H${PLOT_WIDTH}`).join('')
    + x.ticks.map(({ value }) => `M${acrossPlot(x, value)} 0V${PLOT_HEIGHT}`).join('');
  const last = readout.steps.length - 1;
  return markup`<figure class="chart"><figcaption>${title}</figcaption>
<p class="key"><span class="when">${at}</span>${key.map(keyItem)}</p>
<div class="plot"><div class="y-axis" aria-hidden="true">${
  y.ticks.toReversed().map(({ text }) => markup`<span>${text}</span>`)}</div>
<div class="drawing"><svg viewBox="0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}" preserveAspectRatio="none" role="img"
 aria-label="${title}: ${summary}"><path class="grid" d="${grid}"/>${zero}${drawing}</svg>
<div class="reader" role="slider" aria-label="${title}: read the values" aria-valuemin="0" aria-valuemax="${last}"
 aria-valuenow="${last}" aria-valuetext="${at}" tabindex="0" hidden><span class="cursor" hidden></span>${
  readout.lines.map(() => markup`<span class="dot" hidden></span>`)}</div></div>
<div class="x-axis" aria-hidden="true">${x.ticks.map((tick) => timeTick(x, tick))}</div></div>
${notes.map(note)}<script type="application/json" class="readout">${jsonInPage(readout)}</script></figure>`;
}

/** Returns a placeholder for a chart without values, with the reason. */
export function emptyFigure(title: string, reason: string): Markup {
  return markup`<figure class="chart"><figcaption>${title}</figcaption><p class="none">${reason}</p></figure>`;
}

/** Returns a note on the scale of an axis, and whether it begins at 0. */
export function scaleNote({ low, high, ticks }: Axis): string {
  return low <= 0 && high >= 0 ? 'Linear scale.'
    : `Linear scale from ${ticks[0]!.text} to ${ticks.at(-1)!.text}: it does not begin at 0.`;
}

function keyItem({ label, style, value }: KeyItem): Markup {
  const shown = value !== undefined && markup` <b class="value">${value}</b>`;
  return markup`<span class="item ${style ?? 'bare'}"><bdi>${label}</bdi>${shown}</span>`;
}

function timeTick(axis: Axis, { value, text, isMinor }: Tick): Markup {
  const place = placeOn(axis, value) * 100;
  const side = place < 2 ? ' first' : place > 97 ? ' last' : '';
  return markup`<span class="tick${side}${isMinor ? ' minor' : ''}" style="left:${place.toFixed(2)}%">${text}</span>`;
}
