import type { Axis, Tick } from './axis.ts';
import { placeOn } from './axis.ts';
import type { Markup } from './markup.ts';
import { jsonInPage, markup } from './markup.ts';
import type { Readout } from './readout.ts';

/** The box in which a drawing's coordinates are, whatever its size on the page; whole numbers are fine enough there. */
export const PLOT_WIDTH = 10_000;
export const PLOT_HEIGHT = 3_000;

/** The colours of lines, bars and points, by what they stand for. */
export type PlotStyle = 'main' | 'second' | 'third' | 'gain' | 'loss' | 'entry' | 'exit' | 'gap';

/** What a colour or a form in a drawing means. */
export interface KeyItem {
  readonly label: string;
  /** Left out, nothing is drawn of it: it is a number alone. */
  readonly style?: PlotStyle | undefined;
  /** What the read-out begins with; without one the item has none. */
  readonly value?: string | undefined;
}

/** A drawing between two axes with all that it takes to read it. */
export interface Plot {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly key: readonly KeyItem[];
  /** Where the values in the key are from, until somebody points at others. */
  readonly at: string;
  /** SVG within PLOT_WIDTH by PLOT_HEIGHT. */
  readonly drawing: Markup;
  /** What the drawing shows, for those who do not see it. */
  readonly summary: string;
  readonly notes: readonly string[];
  readonly readout: Readout;
}

/** Returns where a value is across or down a drawing. */
export const acrossPlot = (axis: Axis, value: number): number => Math.round(placeOn(axis, value) * PLOT_WIDTH);
export const downPlot = (axis: Axis, value: number): number => Math.round((1 - placeOn(axis, value)) * PLOT_HEIGHT);

/**
 * Returns a drawing with its axes, its key and its notes. It stretches to whatever width there is, with lines of one
 * strength; all text stands beside it, so that it keeps its size on a phone. The script of the page lets it be read
 * point by point; without the script the key holds the last values.
 */
export function plotFigure({ title, x, y, key, at, drawing, summary, notes, readout }: Plot): Markup {
  const zero = y.low < 0 && y.high > 0 && markup`<path class="zero" d="M0 ${downPlot(y, 0)}H${PLOT_WIDTH}"/>`;
  const grid = y.ticks.map(({ value }) => `M0 ${downPlot(y, value)}H${PLOT_WIDTH}`).join('')
    + x.ticks.map(({ value }) => `M${acrossPlot(x, value)} 0V${PLOT_HEIGHT}`).join('');
  return markup`<figure class="chart"><figcaption>${title}</figcaption>
<p class="key"><span class="when">${at}</span>${key.map(keyItem)}</p>
<div class="plot"><div class="y-axis" aria-hidden="true">${y.ticks.toReversed().map(({ text }) => markup`<span>${text}</span>`)}</div>
<div class="drawing"><svg viewBox="0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}: ${summary}"><path class="grid" d="${grid}"/>${zero}${drawing}</svg>
<div class="reader" role="slider" aria-label="${title}: read the values" aria-valuemin="0" aria-valuemax="${readout.steps.length - 1}" aria-valuenow="${readout.steps.length - 1}" aria-valuetext="${at}" tabindex="0" hidden><span class="cursor" hidden></span>${readout.lines.map(() => markup`<span class="dot" hidden></span>`)}</div></div>
<div class="x-axis" aria-hidden="true">${x.ticks.map((tick) => timeTick(x, tick))}</div></div>
${notes.map((note) => markup`<p class="note">${note}</p>`)}<script type="application/json" class="readout">${jsonInPage(readout)}</script></figure>`;
}

/** Returns the place of a chart for which there is nothing to draw, and why. */
export function emptyFigure(title: string, reason: string): Markup {
  return markup`<figure class="chart"><figcaption>${title}</figcaption><p class="none">${reason}</p></figure>`;
}

/** Returns what is said of an axis of values: how it is scaled, and whether it could mislead. */
export function scaleNote({ low, high, ticks }: Axis): string {
  return low <= 0 && high >= 0 ? 'Linear scale.'
    : `Linear scale from ${ticks[0]!.text} to ${ticks.at(-1)!.text}: it does not begin at 0.`;
}

function keyItem({ label, style, value }: KeyItem): Markup {
  return markup`<span class="item ${style ?? 'bare'}"><bdi>${label}</bdi>${value !== undefined && markup` <b class="value">${value}</b>`}</span>`;
}

function timeTick(axis: Axis, { value, text, isMinor }: Tick): Markup {
  const place = placeOn(axis, value) * 100;
  const side = place < 2 ? ' first' : place > 97 ? ' last' : '';
  return markup`<span class="tick${side}${isMinor ? ' minor' : ''}" style="left:${place.toFixed(2)}%">${text}</span>`;
}
