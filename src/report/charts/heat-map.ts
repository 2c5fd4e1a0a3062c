import { assert } from '../../core/assert.ts';
import type { Markup } from '../../web/markup.ts';
import { markup, note } from '../../web/markup.ts';
import type { ValueKind } from '../../research/metrics/value-text.ts';
import { valueText } from '../../research/metrics/value-text.ts';
import type { HeatScale, HeatStep } from './heat-scale.ts';
import { heatScale } from './heat-scale.ts';

/** A number, or why it is missing. */
export type HeatValue = number | { readonly missing: string };
/** A value, or null where there is no cell. */
export type HeatCell = HeatValue | null;

/** Numbers by two varied parameters. */
export interface HeatMap {
  readonly title: string;
  /** The name of the numbers, such as "total return". */
  readonly measured: string;
  readonly kind: ValueKind;
  /** The varied parameters and the labels of their values; untrusted text. */
  readonly down: HeatSide;
  readonly across: HeatSide;
  /** A row for each label down, with a value for each label across. */
  readonly values: readonly (readonly HeatCell[])[];
  /** The framed cell, with places from 0. Its label is "as configured" unless `label` says otherwise. */
  readonly configured?: { readonly row: number; readonly column: number; readonly label?: string | undefined }
    | undefined;
  /** The value between both hues: 0 by default; null for a scale from the smallest to the largest value. */
  readonly middle?: number | null | undefined;
  readonly notes?: readonly string[] | undefined;
  /** The text of a number's cell; by default the number itself. */
  readonly textOf?: ((row: number, column: number) => Markup) | undefined;
  /** A last column without colours, with a text for each row. */
  readonly total?: { readonly name: string; readonly texts: readonly Markup[] } | undefined;
  /** The cells are as narrow as their numbers, so that seven fit on a phone. */
  readonly isNarrow?: boolean | undefined;
}

/** One side of a heat map. */
interface HeatSide {
  readonly name: string;
  readonly labels: readonly string[];
}

/** Longer labels would leave no room for the cells. */
const LABEL_SHOWN = 60;

/**
 * Returns a heat map as a table with coloured cells, a legend, and the reasons for missing values. Each cell contains
 * its number; the colours repeat it. Throws where rows and labels differ in number.
 */
export function heatMapFigure(map: HeatMap): Markup {
  const { title, measured, kind, down, across, values, configured, notes = [], total } = map;
  assert(values.length === down.labels.length && values.every((row) => row.length === across.labels.length), () =>
    `a heat map has a value for each of ${down.labels.length} by ${across.labels.length} labels, got rows `
      + `of ${values.map((row) => row.length).join(', ')}`);
  const framed = configured?.label ?? 'as configured';
  const scale = heatScale(values.flat().filter((value) => typeof value === 'number'), map.middle);
  const reasons = [...new Set(values.flat()
    .flatMap((value) => (typeof value === 'number' || value === null ? [] : [value.missing])))];
  const cell = (value: HeatCell, row: number, column: number): Markup => {
    if (value === null) return markup`<td></td>`;
    const isConfigured = configured?.row === row && configured.column === column;
    const colour = typeof value === 'number' ? scale.style(value) : 'missing';
    const style = `heat ${colour}${isConfigured ? ' configured' : ''}`;
    const text = typeof value === 'number' ? map.textOf?.(row, column) ?? markup`${valueText(value, kind)}`
      : markup`–<sup>${noteSign(reasons.indexOf(value.missing))}</sup>`;
    return markup`<td class="${style}">${text}${isConfigured && markup`<span class="unseen"> (${framed})</span>`}</td>`;
  };
  const totals = total === undefined ? 0 : 1;
  const summary = `${title}: ${measured} by ${down.name} and ${across.name}`;
  return markup`<figure class="heat-map${map.isNarrow === true && ' narrow'}"><figcaption>${title}</figcaption>
<div class="wide" role="region" tabindex="0" aria-label="${title}"><table aria-label="${summary}"><thead><tr><td></td>${
  markup`<th scope="colgroup" class="side" colspan="${across.labels.length + totals}">${across.name}</th>`}</tr>
<tr><th scope="col" class="text side">${down.name}</th>${
  across.labels.map((label) => markup`<th scope="col">${shortened(label)}</th>`)}${
    total !== undefined && markup`<th scope="col">${total.name}</th>`}</tr></thead>
<tbody>${values.map((row, r) => markup`<tr><th scope="row" class="text">${shortened(down.labels[r]!)}</th>${
  row.map((value, c) => cell(value, r, c))}${
    total !== undefined && markup`<td class="total">${total.texts[r]}</td>`}</tr>
`)}</tbody></table></div>
${legend(scale, { measured, kind, framed: configured === undefined ? undefined : framed })}
${reasons.map((reason, i) => note(markup`<sup>${noteSign(i)}</sup> ${reason}`))}${notes.map(note)}</figure>`;
}

function legend({ steps }: HeatScale, { measured, kind, framed }: {
  readonly measured: string; readonly kind: ValueKind; readonly framed: string | undefined;
}): Markup {
  const range = ({ from, to }: HeatStep): string => (
    from === to ? valueText(from, kind) : `${valueText(from, kind)} to ${valueText(to, kind)}`);
  return markup`<p class="heat-key"><span>${measured}:</span>${
    steps.map((step) => markup` <span class="heat ${step.style}">${range(step)}</span>`)}${
    framed !== undefined && markup` <span class="heat configured">${framed}</span>`}</p>`;
}

function shortened(label: string): string {
  return label.length > LABEL_SHOWN ? `${label.slice(0, LABEL_SHOWN)}…` : label;
}

/** a, b, … z, aa, ab, … */
function noteSign(place: number): string {
  const letter = String.fromCharCode(97 + (place % 26));
  return place < 26 ? letter : noteSign(Math.floor(place / 26) - 1) + letter;
}
