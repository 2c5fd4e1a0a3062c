import { assert } from '../core/assert.ts';
import type { Markup } from './markup.ts';
import { markup } from './markup.ts';
import type { ValueKind } from '../research/metrics/value-text.ts';
import { valueText } from '../research/metrics/value-text.ts';

/**
 * What colours of a heat map mean: the styles are `down4` to `down1`, `even`, `up1` to `up4`, of hues that colour-blind
 * people tell apart.
 */
export interface HeatScale {
  readonly style: (value: number) => string;
  /** Those that occur, from the least value to the most. */
  readonly steps: readonly HeatStep[];
}

/** A range of values of one colour. */
export interface HeatStep {
  readonly style: string;
  readonly from: number;
  readonly to: number;
}

const STEPS = 4;

/**
 * Returns a scale for values. Around a middle, the colours are as far from it on either side as the farthest value is,
 * so that equal distances look equal; without one (null) they go from the least value to the most.
 */
export function heatScale(values: readonly number[], middle: number | null = 0): HeatScale {
  const low = values.reduce((least, value) => Math.min(least, value), Infinity);
  const high = values.reduce((most, value) => Math.max(most, value), -Infinity);
  const style = middle === null ? byRange(low, high) : byDistance(middle, Math.max(middle - low, high - middle));
  const steps = new Map<string, HeatStep>();
  for (const value of values.toSorted((a, b) => a - b)) {
    const name = style(value);
    steps.set(name, { style: name, from: steps.get(name)?.from ?? value, to: value });
  }
  return { style, steps: [...steps.values()] };
}

function byDistance(middle: number, farthest: number): (value: number) => string {
  return (value) => {
    if (value === middle) return 'even';
    return `${value < middle ? 'down' : 'up'}${Math.min(STEPS, Math.max(1, Math.ceil((Math.abs(value - middle) / farthest) * STEPS)))}`;
  };
}

function byRange(low: number, high: number): (value: number) => string {
  return (value) =>
    (low === high ? 'even' : `up${Math.min(STEPS, Math.floor(((value - low) / (high - low)) * STEPS) + 1)}`);
}

/** A number, or why there is none. */
export type HeatValue = number | { readonly missing: string };

/** Numbers by two things that were varied. */
export interface HeatMap {
  readonly title: string;
  /** What the numbers are, such as "total return". */
  readonly measured: string;
  readonly kind: ValueKind;
  /** What was varied, and by what names its values go; all of them text from anywhere. */
  readonly down: HeatSide;
  readonly across: HeatSide;
  /** A row for each label down, with a value for each label across. */
  readonly values: readonly (readonly HeatValue[])[];
  /** The cell that is framed, that of what is configured unless `label` says otherwise: places from 0. */
  readonly configured?: { readonly row: number; readonly column: number; readonly label?: string | undefined }
    | undefined;
  /** Around what the colours part: 0 by default, null where they go from the least to the most. */
  readonly middle?: number | null | undefined;
  readonly notes?: readonly string[] | undefined;
}

/** One side of a heat map. */
export interface HeatSide {
  readonly name: string;
  readonly labels: readonly string[];
}

/** Longer ones would leave no room for the cells. */
const LABEL_SHOWN = 60;

/**
 * Returns a heat map as a table with coloured cells, a legend, and the reasons for what is missing. Each cell says its
 * number: the colours only show at once what the numbers say. Throws where rows and labels do not fit each other.
 */
export function heatMapFigure(map: HeatMap): Markup {
  const { title, measured, kind, down, across, values, configured, notes = [] } = map;
  assert(values.length === down.labels.length && values.every((row) => row.length === across.labels.length), () =>
    `a heat map has a value for each of ${down.labels.length} by ${across.labels.length} labels, got rows `
      + `of ${values.map((row) => row.length).join(', ')}`);
  const framed = configured?.label ?? 'as configured';
  const scale = heatScale(values.flat().filter((value) => typeof value === 'number'), map.middle);
  const reasons = [...new Set(values.flat().flatMap((value) => (typeof value === 'number' ? [] : [value.missing])))];
  const cell = (value: HeatValue, isConfigured: boolean): Markup => {
    const style = `${typeof value === 'number' ? `heat ${scale.style(value)}` : 'heat missing'}${isConfigured ? ' configured' : ''}`;
    const text = typeof value === 'number' ? markup`${valueText(value, kind)}`
      : markup`–<sup>${noteSign(reasons.indexOf(value.missing))}</sup>`;
    return markup`<td class="${style}">${text}${isConfigured && markup`<span class="unseen"> (${framed})</span>`}</td>`;
  };
  return markup`<figure class="heat-map"><figcaption>${title}</figcaption>
<div class="wide" role="region" tabindex="0" aria-label="${title}"><table aria-label="${title}: ${measured} by ${down.name} and ${across.name}"><thead><tr><td></td><th scope="colgroup" class="side" colspan="${across.labels.length}">${across.name}</th></tr>
<tr><th scope="col" class="text side">${down.name}</th>${across.labels.map((label) => markup`<th scope="col">${shortened(label)}</th>`)}</tr></thead>
<tbody>${values.map((row, r) => markup`<tr><th scope="row" class="text">${shortened(down.labels[r]!)}</th>${row.map((value, c) => cell(value, configured?.row === r && configured.column === c))}</tr>
`)}</tbody></table></div>
${legend(scale, { measured, kind, framed: configured === undefined ? undefined : framed })}
${reasons.map((reason, i) => markup`<p class="note"><sup>${noteSign(i)}</sup> ${reason}</p>`)}${notes.map((note) => markup`<p class="note">${note}</p>`)}</figure>`;
}

function legend({ steps }: HeatScale, { measured, kind, framed }: {
  readonly measured: string; readonly kind: ValueKind; readonly framed: string | undefined;
}): Markup {
  return markup`<p class="heat-key"><span>${measured}:</span>${steps.map(({ style, from, to }) => markup` <span class="heat ${style}">${from === to ? valueText(from, kind) : `${valueText(from, kind)} to ${valueText(to, kind)}`}</span>`)}${framed !== undefined && markup` <span class="heat configured">${framed}</span>`}</p>`;
}

function shortened(label: string): string {
  return label.length > LABEL_SHOWN ? `${label.slice(0, LABEL_SHOWN)}…` : label;
}

/** a, b, … z, aa, ab, … */
function noteSign(place: number): string {
  const letter = String.fromCharCode(97 + (place % 26));
  return place < 26 ? letter : noteSign(Math.floor(place / 26) - 1) + letter;
}
