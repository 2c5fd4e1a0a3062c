import { plainText, ratioText, shareText, SHOWN_METRICS } from '../metrics/shown-metrics.ts';
import { assessRun } from '../record/run-figures.ts';
import type { Assessment } from '../metrics/metrics.ts';
import type { Markup } from './markup.ts';
import { markup } from './markup.ts';
import type { NamedText, ReportInput } from './report-input.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const FILLS_SHOWN = 100;

/** Returns all figures of the run. */
export function figureList({ run: { assessment: { metrics, sharpeInterval } } }: ReportInput): Markup {
  const within = sharpeInterval === undefined ? '' : `${Math.round(sharpeInterval.level * 100)} % within ${ratioText(sharpeInterval.low)} to ${ratioText(sharpeInterval.high)}`;
  return markup`<h2>Figures</h2><dl class="figures">${SHOWN_METRICS.map(({ name, label, show }) => {
    const value = metrics[name];
    return markup`<div><dt>${label}</dt><dd>${typeof value === 'number' ? show(value) : 'not given'}${name === 'sharpe' && within !== '' && markup`<br><span class="soft">${within}</span>`}</dd></div>`;
  })}</dl>
${metrics.drawdown_trough !== null && markup`<p class="soft">The deepest drawdown began ${metrics.drawdown_start}, was lowest ${metrics.drawdown_trough}, and ${metrics.drawdown_recovered === null ? 'is not recovered' : `was recovered ${metrics.drawdown_recovered}`}.</p>`}`;
}

/** Returns the months of each year. */
export function monthlyTable({ months }: ReportInput): Markup {
  const years = [...new Set(months.map(({ year }) => year))];
  return markup`<h2>Months</h2>${table(['year', ...MONTHS, 'all'], years.map((year) => {
    const ofYear = months.filter((month) => month.year === year);
    const all = ofYear.reduce<number | undefined>((product, { change }) => (product === undefined || change === undefined ? undefined : product * (1 + change)), 1);
    return [String(year), ...MONTHS.map((_, i) => change(ofYear.find(({ month }) => month === i + 1)?.change)), change(all === undefined ? undefined : all - 1)];
  }))}<p class="soft">By UTC; the first and the last month may be parts.</p>`;
}

/** Returns what it all cost. */
export function costTable({ costs, run: { record: { currency } } }: ReportInput): Markup {
  const total = costs.reduce((sum, { value, isApart }) => sum + (isApart ? 0 : value ?? 0), 0);
  return markup`<h2>Costs</h2>${table(['', 'paid', currency], [
    ...costs.map(({ what, paid, value }) => [what, paid, value === null ? '' : plainText(Number(value.toPrecision(6)))]),
    ['together, deposits apart', '', plainText(Number(total.toPrecision(6)))],
  ])}`;
}

/** Returns what was refused, and what became of the rest. */
export function denialTable({ run: { result } }: ReportInput): Markup {
  const { denials, intents, simulation } = result;
  return markup`${countTable('Denials', 'code', denials)}${countTable('What became of swaps', 'end', intents)}${countTable('Not simulated', 'code', simulation.refusals)}`;
}

/** Returns the three settings side by side. */
export function sensitivityTable({ settings, run: { record: { currency } } }: ReportInput): Markup {
  const { optimistic, base, pessimistic } = settings;
  const runs = [optimistic, base, pessimistic];
  return markup`<h2>Sensitivity</h2>${table(['', 'optimistic', 'base', 'pessimistic'], [
    [`equity at the end, ${currency}`, ...runs.map(({ series }) => lastOf(series.values))],
    ['swaps that landed', ...runs.map(({ result }) => String(result.fills.length))],
    ['swaps that failed', ...runs.map(({ result }) => String(result.intents['failed'] ?? 0))],
    ...metricRows(runs.map(({ assessment }) => assessment)),
  ])}<p class="soft">Optimistic: at once, as quoted, nothing fails. Base: as configured. Pessimistic: twice as slow, at the least that was accepted, three times the mishaps, twice the priority.</p>`;
}

/** Returns each strategy and each benchmark beside the whole. */
export function comparisonTable({ run: { record, assessment }, benchmarks: { buy_and_hold, dca, cash } }: ReportInput): Markup {
  const strategies = record.strategies.length < 2 ? [] : record.strategies.map((strategy) => ({ name: strategy.name, assessment: assessRun(record, [strategy]) }));
  const beside = Object.entries({ 'buy and hold': buy_and_hold, 'bought step by step': dca, cash }).flatMap(([name, benchmark]) => (benchmark === undefined ? [] : [{ name, assessment: benchmark.assessment }]));
  const all = [{ name: 'all', assessment }, ...strategies, ...beside];
  return markup`<h2>Strategies and benchmarks</h2>${table(['', ...all.map(({ name }) => name)], metricRows(all.map((each) => each.assessment)))}`;
}

/** Returns the last swaps with what is to be known of each. */
export function fillTable({ run: { result, record } }: ReportInput): Markup {
  const recorded = new Set(record.strategies.map(({ name }) => name));
  const fills = result.fills.filter(({ intent }) => recorded.has(intent.strategy));
  const first = Math.max(0, fills.length - FILLS_SHOWN);
  const rows = fills.slice(first).map(({ at, intent, notes }, i) => {
    const fill = record.fills[first + i];
    return [
      new Date(at).toISOString().slice(0, 19).replace('T', ' '), intent.strategy, `${fill?.input ?? ''} → ${fill?.output ?? ''}`,
      fill?.value === null || fill === undefined ? '' : plainText(Number(fill.value.toPrecision(6))), intent.reason, notes.marks.join(', '),
    ];
  });
  return markup`<h2>Swaps</h2>${first > 0 && markup`<p class="soft">The last ${FILLS_SHOWN} of ${fills.length}.</p>`}${rows.length === 0
    ? markup`<p class="none">None.</p>`
    : table(['time (UTC)', 'strategy', 'swap', record.currency, 'reason', 'price is'], rows, [1, 2, 4, 5])}`;
}

/** Returns names and what they are. */
export function namedTable(title: string, rows: readonly NamedText[]): Markup {
  return markup`<h2>${title}</h2>${table(['', ''], rows.map(([name, text]) => [name, markup`<code>${text}</code>`]), [1])}`;
}

type Cell = string | Markup;

function countTable(title: string, first: string, counts: Readonly<Record<string, number>>): Markup {
  return markup`<h2>${title}</h2>${Object.keys(counts).length === 0 ? markup`<p class="none">None.</p>` : table([first, 'times'], countRows(counts))}`;
}

function countRows(counts: Readonly<Record<string, number>>): string[][] {
  return Object.entries(counts).toSorted(([, a], [, b]) => b - a).map(([name, count]) => [name, String(count)]);
}

function lastOf(values: readonly number[]): string {
  return values.length === 0 ? '-' : plainText(values.at(-1)!);
}

function table(head: readonly string[], rows: readonly (readonly Cell[])[], textColumns: readonly number[] = []): Markup {
  const isText = (column: number): Markup | false => textColumns.includes(column) && markup` class="text"`;
  return markup`<div class="wide"><table>${head.some((name) => name !== '') && markup`<thead><tr>${head.map((name, i) => markup`<th${isText(i)}>${name}</th>`)}</tr></thead>`}<tbody>${rows.map((row) =>
    markup`<tr>${row.map((cell, i) => markup`<td${isText(i)}>${cell}</td>`)}</tr>`)}</tbody></table></div>`;
}

function metricRows(assessments: readonly Assessment[]): string[][] {
  return SHOWN_METRICS.flatMap(({ name, label, show }) => {
    const values = assessments.map(({ metrics }) => metrics[name]);
    return values.every((value) => value === null) ? [] : [[label, ...values.map((value) => (typeof value === 'number' ? show(value) : '-'))]];
  });
}

function change(value: number | undefined): Cell {
  if (value === undefined) return '';
  return markup`<span class="${value < 0 ? 'loss' : 'gain'}">${shareText(value)}</span>`;
}
