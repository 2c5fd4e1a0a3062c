import { limitedBy } from '../research/trials/denial-summary.ts';
import { ratioText, shareText } from '../research/metrics/figure-text.ts';
import type { ObjectiveName } from '../research/trials/objectives.ts';
import { OBJECTIVES } from '../research/trials/objectives.ts';
import type { HeatValue } from './charts/heat-map.ts';
import { heatMapFigure } from './charts/heat-map.ts';
import type { Markup } from '../web/markup.ts';
import { dataTable, markup, note } from '../web/markup.ts';
import type { PageSection } from './page.ts';
import { renderPage } from './page.ts';
import type { ValueKind } from '../research/metrics/value-text.ts';
import type { GridAxis } from '../research/sweep/grid.ts';
import { axisName, combinationCount, risingOrder, valueName, combinationText } from '../research/sweep/grid.ts';
import { landscapeOf, pointKey } from '../research/sweep/landscape.ts';
import type { BestRow, SweepOutcome } from '../research/sweep/sweep-outcome.ts';
import type { SweepRow } from '../research/sweep/grid.ts';
import { confidenceSentence, effortSentence, neighbourhoodSentence } from '../research/sweep/sweep-outcome.ts';
import { groupThousands, pluralize } from '../core/text.ts';
import { deniedCells } from '../research/trials/denial-summary.ts';
import { ranked } from '../research/sweep/run-sweep.ts';

/** The kind of each objective, and the middle of its colours. */
const KINDS: Readonly<Record<ObjectiveName, { readonly kind: ValueKind; readonly middle: number | null }>> = {
  sharpe: { kind: 'ratio', middle: 0 }, sortino: { kind: 'ratio', middle: 0 }, calmar: { kind: 'ratio', middle: 0 },
  total_return: { kind: 'share', middle: 0 }, cagr: { kind: 'share', middle: 0 },
  max_drawdown: { kind: 'share', middle: null }, profit_factor: { kind: 'ratio', middle: 1 },
  expectancy: { kind: 'amount', middle: 0 }, psr: { kind: 'share', middle: 0.5 },
};

/** More rows would make the page slow; the JSON answer has all of them. */
const MOST_ROWS = 5_000;

/** Returns a sweep as one self-contained HTML page. */
export function renderSweep(outcome: SweepOutcome): string {
  const { subject, objective, best, warnings } = outcome;
  const { label, better, show } = OBJECTIVES[objective];
  return renderPage({
    title: `Sweep of ${subject}`,
    lead: markup`<p class="soft">${triedOf(outcome)} · ${label}, the ${better} the better</p>`,
    warnings,
    sentence: best === undefined
      ? markup`No combination has this figure: none of them traded, or the recording is too short for it.`
      : markup`${capital(label)} <b>${show(best.value!)}</b> with ${combinationText(best.params)}, the best of ${
        pluralize(outcome.rows.length, 'trial')}.`,
    sections: [
      {
        id: 'landscape', title: `${capital(label)} by parameters`,
        body: markup`${best !== undefined && markup`<div class="verdict"><p>${capital(confidenceSentence(outcome))}</p>
<p>Around it: ${neighbourhoodSentence(best, objective)}</p></div>`}${landscape(outcome)}`,
      },
      ...(best === undefined ? []
        : [{ id: 'neighbours', title: 'One step from the best', body: neighbours(best, outcome) }]),
      { id: 'trials', title: 'All trials', body: trialTable(outcome) },
      ...leftOut('refused', 'Refused, and no trials', outcome.refused),
      ...leftOut('failed', 'Failed', outcome.failed),
      { id: 'effort', title: 'How it was run', body: markup`<p>${capital(effortSentence(outcome))}.</p>` },
    ],
  });
}

/** Returns how many combinations were tried, refused or drawn at random. */
function triedOf({ grid: { axes, search }, rows, refused, failed }: SweepOutcome): string {
  const all = pluralize(combinationCount(axes), 'combination');
  if (search.kind === 'grid' && refused.length === 0)
    return `${all}, ${combinationCount(axes) === 1 ? 'tried' : 'all tried'}`;
  return `${all}, `
    + `${search.kind === 'grid' ? '' : 'some drawn by chance: '}${groupThousands(String(rows.length + failed.length))} `
    + `tried${refused.length === 0 ? '' : `, ${groupThousands(String(refused.length))} refused`}`;
}

function landscape({ best, rows, failed, refused, grid: { axes, search }, objective }: SweepOutcome): Markup {
  const { label, better } = OBJECTIVES[objective];
  const { kind, middle } = KINDS[objective];
  if (best === undefined) return markup`<p class="none">There is nothing to draw.</p>`;
  const varied = axes.filter(({ values }) => values.length > 1);
  if (varied.length === 1) return row(varied[0]!, { rows, at: axes.indexOf(varied[0]!), objective, best });
  const missing = new Map([
    ...failed.map(({ point, reason }) => [pointKey(point), `failed: ${reason}`] as const),
    ...refused.map(({ point, reason }) => [pointKey(point), `refused: ${reason}`] as const),
  ]);
  const map = landscapeOf(best, rows, { axes, better, isWhole: search.kind === 'grid', missing });
  if (map === undefined) return markup`<p class="none">Nothing was varied.</p>`;
  return heatMapFigure({
    title: `${capital(label)} by ${map.down.name} and ${map.across.name}`, measured: label, kind, middle,
    down: map.down, across: map.across,
    values: map.values.map((row) => row.map((value) => (typeof value === 'string' ? { missing: value } : value))),
    configured: { ...map.best, label: 'the best' }, notes: [map.rest, map.thinned].filter((note) => note !== undefined),
  });
}

/** Returns the values of one varied parameter in one row, in rising order where they are numbers. */
function row(axis: GridAxis, { rows, at, objective, best }: {
  readonly rows: readonly SweepRow[]; readonly at: number; readonly objective: ObjectiveName; readonly best: BestRow;
}): Markup {
  const name = axisName(axis);
  const { label } = OBJECTIVES[objective];
  const order = risingOrder(axis) ?? axis.values.map((_, i) => i);
  const valueOf = (i: number): HeatValue =>
    rows.find(({ point }) => point[at] === i)?.value ?? { missing: 'it has no such figure' };
  return heatMapFigure({
    title: `${capital(label)} by ${name}`, measured: label, ...KINDS[objective],
    down: { name: '', labels: [label] }, across: { name, labels: order.map((i) => valueName(axis.values[i]!)) },
    values: [order.map(valueOf)],
    configured: { row: 0, column: order.indexOf(best.point[at]!), label: 'the best' },
  });
}

function neighbours({ neighbourhood, value, result }: BestRow, { objective }: SweepOutcome): Markup {
  const { show } = OBJECTIVES[objective];
  if (neighbourhood.neighbours.length === 0) return markup`<p class="none">No combination one step away was tried.</p>`;
  return dataTable({
    label: 'Combinations one step from the best',
    columns: [
      { name: 'parameter', isText: true }, { name: 'of the best' }, { name: 'one step away' },
      { name: OBJECTIVES[objective].label }, { name: 'risk limits', isText: true },
    ],
    rows: [
      ['the best itself', '', '', show(value!), limitsCell(limitedBy(result) !== undefined)],
      ...neighbourhood.neighbours.map(({ param, from, to, value: other, limited }) =>
        [param, valueName(from), valueName(to), other === null ? 'not given' : show(other), limitsCell(limited)]),
    ],
  });
}

function limitsCell(limited: boolean): string {
  return limited ? 'made the result' : '';
}

function trialTable({ rows, grid: { axes }, objective }: SweepOutcome): Markup {
  const { label, show } = OBJECTIVES[objective];
  const shown = ranked(rows, objective).slice(0, MOST_ROWS);
  const names = [
    '#', ...axes.map(axisName), label, 'total return', 'max drawdown', 'profit factor', 'swaps', 'denied',
  ];
  return markup`${shown.length < rows.length
    && note(`The best ${shown.length} of ${rows.length}; the JSON answer has all of them.`)}
<div class="sortable">${dataTable({
    label: 'All trials, best first', isWide: true,
    columns: [
      ...names.map((name) => ({ name })), { name: 'mostly by', isText: true }, { name: 'decision hash', isText: true },
    ],
    rows: shown.map(({ point, value, result: { metrics, fills, denials, decisionHash } }, i) => {
      const [denied, by] = deniedCells(denials);
      return [
        i + 1, ...axes.map((axis, a) => valueName(axis.values[point[a]!]!)), given(value, show),
        given(metrics.total_return, shareText), given(metrics.max_drawdown, shareText),
        given(metrics.profit_factor, ratioText), fills, denied, markup`<span class="whole">${by}</span>`,
        markup`<code class="whole" title="${decisionHash}">${decisionHash.slice(0, 12)}</code>`,
      ];
    }),
  })}</div>`;
}

function given(value: number | null, show: (value: number) => string): string {
  return value === null ? 'not given' : show(value);
}

function leftOut(
  id: string, title: string, points: readonly { readonly params: SweepRow['params']; readonly reason: string }[],
): PageSection[] {
  if (points.length === 0) return [];
  const shown = points.slice(0, MOST_ROWS);
  return [{
    id, title,
    body: markup`${shown.length < points.length && note(`The first ${shown.length} of ${points.length}.`)}${dataTable({
      label: title, columns: [{ name: 'parameters', isText: true }, { name: 'reason', isText: true }],
      rows: shown.map(({ params, reason }) => [combinationText(params), reason]),
    })}`,
  }];
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
