import type { Millis } from '../../core/time.ts';
import { button, element, fill, outsideLink, setText } from '../element.ts';
import { unitText } from '../number-text.ts';
import type { Zone } from '../time-text.ts';
import { clockText, dayText, momentText } from '../time-text.ts';
import { onSchemeChange } from './chart-colours.ts';
import type { TimeChartData } from './chart-data.ts';
import { onGrid, placeOnGrid } from './chart-data.ts';
import { createDrawing } from './chart-drawing.ts';
import { chartSummary, chartTable } from './chart-text.ts';

/** The ranges of a chart whose data the page loads again for each. */
interface LoadedRanges {
  readonly names: readonly string[];
  readonly chosen: string;
  readonly choose: (name: string) => void;
}

/** How a chart stands in a page. */
interface TimeChartOptions {
  readonly zone: Zone;
  /** Without them, range buttons show a part of the data that are there. */
  readonly ranges?: LoadedRanges | undefined;
  /** Whether the chart shows its title; else something beside it does. */
  readonly hasTitle?: boolean | undefined;
  /** Whether it names the library, as its licence asks once on a page. */
  readonly hasCredit?: boolean | undefined;
}

/** A chart over time in a page, by mouse, touch, keyboard and as a table. */
interface TimeChart {
  readonly element: HTMLElement;
  update(data: TimeChartData): void;
  setZone(zone: Zone): void;
  setRange(name: string): void;
  remove(): void;
}

const HOUR_MS = 3_600_000;
const SPANS: readonly (readonly [name: string, span: Millis])[] =
  [['1h', HOUR_MS], ['1d', 24 * HOUR_MS], ['7d', 168 * HOUR_MS], ['30d', 720 * HOUR_MS]];
const ZOOM = 0.6;
/** Marks this many steps beside the pointer are named too. */
const NEAR_STEPS = 1;

/** Returns a chart in an element of its own. */
export function createTimeChart(
  first: TimeChartData, { zone: firstZone, ranges, hasTitle = true, hasCredit = false }: TimeChartOptions,
): TimeChart {
  let data = first;
  let zone = firstZone;
  let isLog = false;
  let isCandles = false;
  let point: number | undefined;
  let isRemoved = false;

  const legend = element('div', { class: 'legend' });
  const place = element('div', { 'class': 'drawing-place', 'aria-hidden': 'true' });
  const reader = element('div', {
    'class': 'chart-reader', 'role': 'slider', 'tabindex': 0, 'aria-label': `${first.title}: read the values`,
    'aria-valuemin': 0,
  });
  const empty = element('p', { class: 'chart-empty' });
  const canvas = element('div', { class: 'canvas' }, place, reader, empty);
  const summary = element('p', { class: 'unseen' });
  const table = element('div', { 'class': 'table-frame', 'tabindex': 0, 'role': 'region',
    'aria-label': `${first.title}: values` });
  const details = element('details', {}, element('summary', {}, 'Values as a table'), table);
  const rangeButtons = element('div', { 'class': 'choice', 'role': 'group', 'aria-label': 'Range' });
  const logButton = button('Log', () => { isLog = !isLog; redraw(); }, { class: '', title: 'Logarithmic scale' });
  const candleButton = button('Candles', () => { isCandles = !isCandles; redraw(); }, { class: '' });
  const fitButton = button('Fit', () => { drawing.show(undefined); }, { class: '', title: 'Show all (key 0)' });
  const forms = element('div', { 'class': 'choice', 'role': 'group', 'aria-label': 'Form' },
    candleButton, logButton, fitButton);
  const figure = element('figure', { class: 'time-chart' },
    element('div', { class: 'chart-head' },
      element('figcaption', { class: hasTitle ? 'chart-title' : 'unseen' }, first.title),
      element('div', { class: 'chart-tools' }, rangeButtons, forms)),
    legend, canvas, summary,
    element('div', { class: 'chart-foot' }, details, hasCredit && chartCredit()));

  const drawing = createDrawing(place, (at) => {
    point = at;
    showPoint();
  });

  const lastPoint = (): number => (drawing.grid()?.times.length ?? 1) - 1;

  /** Shows the values of the point in the legend, and what is marked there. */
  const showPoint = (): void => {
    const grid = drawing.grid();
    const at = point === undefined || grid === undefined ? undefined : grid.times[clamped(point)];
    const texts = data.lines.map((line) => {
      const values = grid === undefined ? [] : onGrid(line.points, grid);
      const value = values.slice(0, (at === undefined ? values.length - 1 : clamped(point!)) + 1)
        .findLast((each) => each !== undefined && each !== null);
      return { line, text: value === undefined || value === null ? '–' : unitText(value, data.units[line.pane]!) };
    });
    const marked = at === undefined || grid === undefined ? [] : data.marks.filter((mark) =>
      Math.abs(placeOnGrid(mark.at, grid) - clamped(point!)) <= NEAR_STEPS);
    fill(
      legend, at !== undefined && element('span', {}, whenText(at, grid!.step)),
      texts.map(({ line: { label, tone, form }, text }) => element('span', { class: form },
        element('span', { class: `swatch tone-${tone}` }), label, ' ', element('b', {}, text))),
      marked.slice(0, 3).map(({ text }) => element('b', {}, text)),
    );
    reader.setAttribute('aria-valuemax', String(lastPoint()));
    reader.setAttribute('aria-valuenow', String(clamped(point ?? lastPoint())));
    reader.setAttribute('aria-valuetext', [
      at === undefined ? 'latest' : whenText(at, grid!.step),
      ...texts.map(({ line: { label }, text }) => `${label} ${text}`), ...marked.map(({ text }) => text),
    ].join(', '));
  };
  const clamped = (at: number): number => Math.max(0, Math.min(lastPoint(), at));
  const whenText = (at: Millis, step: Millis): string =>
    `${dayText(at, zone)}${step >= 24 * HOUR_MS ? '' : ` ${clockText(at, zone, step < 60_000)}`}`;

  const showRanges = (): void => {
    const grid = drawing.grid();
    const span = grid === undefined ? 0 : grid.times.at(-1)! - grid.times[0]!;
    const names = ranges?.names ?? [...SPANS.filter(([, each]) => each < span).map(([name]) => name), 'all'];
    if (rangeButtons.childElementCount !== names.length) {
      fill(rangeButtons, names.map((name) => button(name, () => { choose(name); },
        { 'class': '', 'data-range': name })));
    }
    rangeButtons.hidden = names.length < 2;
  };
  const choose = (name: string): void => {
    setPressed(name);
    if (ranges === undefined) drawing.show(SPANS.find(([each]) => each === name)?.[1]);
    else ranges.choose(name);
  };
  const setPressed = (name: string): void => {
    for (const each of rangeButtons.children)
      each.setAttribute('aria-pressed', String(each.getAttribute('data-range') === name));
  };

  const redraw = (): void => {
    drawing.draw(data, { zone, isLog, isCandles });
    const isEmpty = drawing.grid() === undefined;
    empty.hidden = !isEmpty;
    setText(empty, data.empty);
    reader.hidden = isEmpty;
    details.hidden = isEmpty;
    candleButton.hidden = data.hasCandles !== true;
    candleButton.setAttribute('aria-pressed', String(isCandles));
    logButton.setAttribute('aria-pressed', String(isLog));
    showRanges();
    setText(summary, chartSummary(data));
    showPoint();
    if (details.open) showTable();
  };
  const showTable = (): void => {
    const { names, rows } = chartTable(data);
    fill(table, element('table', { 'class': 'list', 'aria-label': data.title },
      element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'time'),
        names.map((name) => element('th', { scope: 'col', class: 'right' }, name)))),
      element('tbody', {}, rows.map(({ at, values }) => element('tr', {},
        element('th', { scope: 'row', class: 'number' }, momentText(at, zone)),
        values.map((value) => element('td', { class: 'right' }, value)))))));
  };

  details.addEventListener('toggle', () => { if (details.open) showTable(); });
  place.addEventListener('pointerdown', () => { reader.focus({ preventScroll: true }); });
  reader.addEventListener('focus', () => { drawing.setWheel(true); });
  reader.addEventListener('blur', () => {
    drawing.setWheel(false);
    point = undefined;
    drawing.moveTo(undefined);
    showPoint();
  });
  reader.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const from = clamped(point ?? lastPoint());
    const far = Math.max(2, Math.round(lastPoint() / 20));
    const to = { ArrowLeft: from - 1, ArrowDown: from - 1, ArrowRight: from + 1, ArrowUp: from + 1,
      PageDown: from - far, PageUp: from + far, Home: 0, End: lastPoint() }[event.key];
    if (to !== undefined) point = clamped(to);
    else if (event.key === '+' || event.key === '=') drawing.zoom(ZOOM, point);
    else if (event.key === '-') drawing.zoom(1 / ZOOM, point);
    else if (event.key === '0') drawing.show(undefined);
    else if (event.key === 'Escape') point = undefined;
    else return;
    event.preventDefault();
    drawing.moveTo(point);
    showPoint();
  });
  const stopScheme = onSchemeChange(() => { drawing.recolour(); });
  redraw();
  setPressed(ranges?.chosen ?? 'all');

  return {
    element: figure,
    update: (next) => {
      // An answer may arrive after the chart was closed.
      if (isRemoved) return;
      data = next;
      redraw();
    },
    setZone: (next) => {
      zone = next;
      redraw();
    },
    setRange: setPressed,
    remove: () => {
      isRemoved = true;
      stopScheme();
      drawing.remove();
      figure.remove();
    },
  };
}

/** Returns the notice that the licence of the library asks for. */
function chartCredit(): HTMLElement {
  return element('p', { class: 'credit' }, 'Charts: ',
    outsideLink('https://www.tradingview.com/', 'TradingView Lightweight Charts™'),
    ', © 2026 TradingView, Inc., Apache-2.0');
}
