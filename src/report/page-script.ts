import { pluralize } from '../core/text.ts';
import { runStatistics } from '../research/metrics/run-statistics.ts';
import type { TimeChartData } from '../web/charts/chart-data.ts';
import { createTimeChart } from '../web/charts/time-chart.ts';
import { enhanceTable } from '../web/data-table.ts';
import type { EmbeddedReport } from './embedded-records.ts';
import { assessmentsOf, figuresOf, mismatches, unpackRecord } from './embedded-records.ts';
import type { PackedChart } from './packed-columns.ts';
import { unpackChart } from './packed-columns.ts';
import { flatStatistics } from './printed-statistics.ts';
import { printedFigures } from './printed-figures.ts';
import { PAGE_ROWS, showTrades } from './trade-list.ts';

/** Starts a report: its charts and tables first, then the check of its figures. */
export async function startReport(): Promise<void> {
  if (typeof DecompressionStream === 'undefined') {
    say('The charts are not drawn, and the figures were not computed again: this browser is too old to unpack the data '
      + 'in this file.', '');
    return;
  }
  followSections();
  for (const holder of document.querySelectorAll<HTMLElement>('.sortable')) enhanceTable(holder, PAGE_ROWS);
  const drawing = drawCharts();
  const data = document.getElementById('data')?.textContent;
  await drawing;
  if (data === undefined || document.getElementById('check') === null) return;
  await pause();
  await recheckFigures(data);
}

/** Charts are drawn one after the other, so that the first one is seen at once and the page stays usable. */
async function drawCharts(): Promise<void> {
  for (const [i, place] of [...document.querySelectorAll('.chart:has(> .chart-data)')].entries()) {
    const packed = place.querySelector('.chart-data')!.textContent;
    const data: TimeChartData = unpackChart(await unpackData(packed) as PackedChart);
    place.querySelector('.chart-text')!.replaceWith(createTimeChart(data, { zone: 'utc', hasCredit: i === 0 }).element);
    await pause();
  }
}

/** Lets the browser draw what is new. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });
}

/** Marks the section in view in the navigation, and keeps its link in view where the navigation scrolls. */
function followSections(): void {
  const links = new Map([...document.querySelectorAll<HTMLAnchorElement>('nav a')]
    .map((link) => [link.getAttribute('href')!.slice(1), link]));
  const seen = new Set<string>();
  const observer = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      const id = target.getAttribute('aria-labelledby')!;
      if (isIntersecting) seen.add(id);
      else seen.delete(id);
    }
    const current = [...links.keys()].find((id) => seen.has(id));
    for (const [id, link] of links) {
      if (id !== current) {
        link.removeAttribute('aria-current');
        continue;
      }
      link.setAttribute('aria-current', 'true');
      const bar = link.closest('nav')!;
      const { left, right } = link.getBoundingClientRect();
      if (left < 0 || right > bar.clientWidth) bar.scrollLeft += left - bar.clientWidth / 3;
    }
  }, { rootMargin: '-64px 0px -50% 0px' });
  for (const id of links.keys()) {
    const section = document.getElementById(id)?.closest('section');
    if (section !== null && section !== undefined) observer.observe(section);
  }
}

/**
 * Computes a report's figures again from its data, compares them with the printed ones, and writes the result into the
 * page.
 */
async function recheckFigures(data: string): Promise<void> {
  try {
    const report = await unpackData(data) as EmbeddedReport;
    const record = unpackRecord(report.record);
    showTrades(record);
    await pause();
    const { count, wrong, left } = checked(report, record);
    if (wrong.length === 0) {
      const others = left === 0 ? ''
        : ` The data of the other settings are too large for this file: their ${left} figures are not checked.`;
      const checked = `${count} figures were computed again in this page from the data in this file`;
      say(`${checked}, and are equal to the printed ones.${others}`, 'good');
    } else {
      const which = pluralize(wrong.length, 'figure does', 'figures do');
      const first = wrong.slice(0, 20).join('; ');
      say(`${which} not follow from the data in this file: do not trust this report. ${first}`, 'bad');
    }
  } catch (error) {
    say(`The data in this file cannot be read: do not trust its figures. ${String(error)}`, 'bad');
  }
}

function say(text: string, kind: string): void {
  const place = document.getElementById('check');
  if (place === null) return;
  place.textContent = text;
  place.className = `check ${kind}`.trim();
  // Who reads the first screen alone must see it.
  if (kind === 'bad') document.querySelector('main')!.prepend(place);
}

function checked(
  { others, trials, figures }: EmbeddedReport, record: ReturnType<typeof unpackRecord>,
): {
  /** The number of equal figures, in the data or on the page, each name once. */
  readonly count: number;
  readonly wrong: readonly string[];
  /** The number of figures on the page that cannot be computed. */
  readonly left: number;
} {
  const assessments = assessmentsOf({
    record, others: Object.fromEntries(Object.entries(others).map(([name, other]) => [name, unpackRecord(other)])),
    trials,
  });
  const statistics = runStatistics(record);
  const computed = { ...figuresOf(assessments), statistics: flatStatistics(statistics) };
  const wrong = mismatches(figures, computed).map(({ of, figure, embedded, computed: found }) =>
    `${of}: ${figure} is ${JSON.stringify(embedded)}, the data give ${JSON.stringify(found)}`);
  const printed = printedFigures(record, assessments, statistics);
  const names = new Set(Object.entries(figures).flatMap(([of, metrics]) =>
    Object.keys(metrics).map((metric) => `${of}.${metric}`)));
  const left = new Set<string>();
  for (const element of document.querySelectorAll('[data-figure]')) {
    const name = element.getAttribute('data-figure') ?? '';
    const isLeft = name.startsWith('setting ') && !assessments.has(name.slice(0, name.indexOf('.')));
    (isLeft ? left : names).add(name);
    if (isLeft) continue;
    const expected = printed.get(name);
    const text = element.textContent;
    if (text === expected) continue;
    wrong.push(`${name} is printed as “${text}”, the data give “${expected ?? 'nothing'}”`);
  }
  return { count: names.size, wrong, left: left.size };
}

/** Returns the data of a report from its deflated JSON in base64. Throws where they are damaged. */
export async function unpackData(packed: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(packed.trim()), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).json();
}
