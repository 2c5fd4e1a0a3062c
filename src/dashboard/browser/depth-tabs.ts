import type { DataTable, TableRow } from '../../web/data-table.ts';
import { createDataTable } from '../../web/data-table.ts';
import type { Content } from '../../web/element.ts';
import { button, element, fill, nameElement } from '../../web/element.ts';
import { exactText, numberText } from '../../web/number-text.ts';
import { sparkline } from '../../web/charts/sparkline.ts';
import { clockText, momentText, spanText } from '../../web/time-text.ts';
import type { LogPage, PageState, PageSwap } from '../page-state.ts';
import type { Actions } from './actions.ts';
import { amountElement, changeElement } from './amounts.ts';
import { meter } from './key-figures.ts';
import { timeElement } from './live-times.ts';
import type { PageApi } from './page-api.ts';
import { preferences } from './preferences.ts';
import type { PricePanel } from './price-panel.ts';
import { createPricePanel } from './price-panel.ts';
import { repaint } from './repaint.ts';
import { messageOf } from './sheet.ts';
import type { DecisionRow } from './strategy-list.ts';
import { decisionText, sellButton } from './strategy-list.ts';
import { openSwap, swapProgress } from './swap-details.ts';

/** The tabs with what is behind the figures. */
interface DepthTabs {
  readonly element: HTMLElement;
  show(state: PageState, swaps: readonly PageSwap[]): void;
  refresh(): void;
  setZone(): void;
}

interface Tab {
  readonly name: string;
  readonly panel: HTMLElement;
  /** Shows a state; only the tab that is open does. */
  readonly show: (state: PageState, swaps: readonly PageSwap[]) => void;
  /** Reads what the state does not hold. */
  readonly read?: () => Promise<void>;
}

/** Returns the tabs. Only the open one is kept up to date. */
export function createDepthTabs(api: PageApi, actions: Actions): DepthTabs {
  let prices: PricePanel | undefined;
  const tabs = [
    positionsTab(api, actions), swapsTab(api, actions), decisionsTab(api),
    marketsTab((pair, place) => {
      prices?.remove();
      prices = createPricePanel(api, pair);
      fill(place, prices.element);
    }),
    limitsTab(), requestsTab(), logTab(api),
  ];
  let open = 0;
  let last: Parameters<Tab['show']> | undefined;
  const heads = tabs.map(({ name }, i) => {
    const head = button(name, () => { choose(i); }, { 'class': 'tab', 'role': 'tab', 'id': `tab-${i}`,
      'aria-controls': `panel-${i}` });
    head.addEventListener('keydown', ({ key }) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[key];
      if (to === undefined) return;
      choose((to + tabs.length) % tabs.length);
      heads[open]!.focus();
    });
    return head;
  });
  for (const [i, { panel }] of tabs.entries()) {
    for (const [name, value] of Object.entries({ 'role': 'tabpanel', 'id': `panel-${i}`, 'tabindex': '0',
      'aria-labelledby': `tab-${i}`, 'class': 'tab-panel' })) panel.setAttribute(name, value);
  }
  const choose = (which: number): void => {
    open = which;
    for (const [i, head] of heads.entries()) {
      head.setAttribute('aria-selected', String(i === open));
      head.setAttribute('tabindex', i === open ? '0' : '-1');
      tabs[i]!.panel.hidden = i !== open;
    }
    if (last !== undefined) tabs[open]!.show(...last);
    void tabs[open]!.read?.();
  };
  choose(0);
  return {
    element: element('section', { 'class': 'panel depth', 'aria-label': 'Details' },
      element('div', { 'class': 'tabs', 'role': 'tablist', 'aria-label': 'Details' }, heads),
      tabs.map(({ panel }) => panel)),
    show: (...state) => {
      last = state;
      tabs[open]!.show(...state);
    },
    refresh: () => {
      void tabs[open]!.read?.();
      void prices?.refresh();
    },
    setZone: () => {
      prices?.setZone();
      if (last !== undefined) tabs[open]!.show(...last);
      void tabs[open]!.read?.();
    },
  };
}

function positionsTab({ session }: PageApi, actions: Actions): Tab {
  const table = createDataTable({
    label: 'Positions', empty: 'There is no position. Everything is in cash.', columns: [
      { name: 'Token' }, { name: 'Strategy' }, { name: 'Amount', isNumber: true }, { name: 'Value', isNumber: true },
      { name: 'Cost', isNumber: true, isMinor: true }, { name: 'Profit', isNumber: true },
      { name: 'Exit rules since', isMinor: true }, { name: 'Actions', isAction: true },
    ],
  });
  return {
    name: 'Positions', panel: element('div', {}, table.element),
    show: ({ strategies }) => {
      table.setRows(strategies.flatMap(({ positions }) => positions).map((position): TableRow => {
        const { strategy, amount, value, cost, profit, since, is_moving: isMoving } = position;
        return { key: `${strategy} ${amount.mint}`, cells: [
          { content: nameElement(amount.symbol) }, { content: nameElement(strategy) },
          { content: amountElement(amount), sort: Number(amount.text) },
          { content: value === null ? '–' : amountElement(value), sort: Number(value?.text ?? 0) },
          { content: cost === null ? '–' : amountElement(cost), sort: Number(cost?.text ?? 0) },
          { content: profit === null ? '–' : changeElement(profit), sort: Number(profit?.text ?? 0) },
          { content: since === null ? '–' : timeElement(since), sort: since ?? 0 },
          { content: session.role === 'operator' && sellButton(position, isMoving, actions) },
        ] };
      }));
    },
  };
}

function swapsTab({ session }: PageApi, actions: Actions): Tab {
  const table = createDataTable({
    label: 'Swaps', empty: 'There was no swap in what this page has seen.', columns: [
      { name: 'Begun' }, { name: 'Strategy' }, { name: 'Pays', isNumber: true }, { name: 'Receives', isNumber: true },
      { name: 'Course' }, { name: 'Reason', isMinor: true },
    ],
  });
  return {
    name: 'Swaps', panel: element('div', {}, table.element),
    show: ({ swaps: open }, told) => {
      const all = new Map([...told, ...open].map((swap) => [swap.intent_id, swap]));
      table.setRows([...all.values()].toSorted((a, b) => b.created_at - a.created_at).map((swap): TableRow => {
        const { intent_id: id, strategy, created_at: at, pays, received, quoted, reason } = swap;
        const got = received ?? quoted;
        const resolve = swap.needs_operator && session.role === 'operator'
          ? () => { actions.resolve(id, swap); } : undefined;
        return { key: id, cells: [
          { content: button(clockText(at, preferences.zone), () => { openSwap(swap, resolve); },
            { 'class': 'link', 'data-state': swap.state, 'aria-label': `Course of the swap of ${momentText(at,
              preferences.zone)}` }), sort: at },
          { content: nameElement(strategy) }, { content: amountElement(pays), sort: Number(pays.text) },
          { content: got === null ? '–' : [received === null && '≈ ', amountElement(got)],
            sort: Number(got?.text ?? 0) },
          { content: swapProgress(swap), sort: swap.state }, reason,
        ] };
      }));
    },
  };
}

function decisionsTab(api: PageApi): Tab {
  const table = createDataTable({
    label: 'Decisions', empty: 'Nothing was decided in this run yet.', columns: [
      { name: 'Time' }, { name: 'Strategy' }, { name: 'Verdict' }, { name: 'Decision and reason' },
      { name: 'Number', isNumber: true, isMinor: true },
    ],
  });
  const denials = element('p', { class: 'soft' });
  return {
    name: 'Decisions', panel: element('div', {}, denials, table.element),
    show: (state) => {
      const counts = Object.entries(state.denials).toSorted(([, a], [, b]) => b - a);
      fill(denials, counts.length === 0 ? 'No denial in this run.'
        : `Denials of this run: ${counts.map(([code, count]) => `${code} ${exactText(String(count))}`).join(' · ')}`);
    },
    read: () => reading(table, async () => {
      const rows = await api.get('/api/decisions?limit=500') as readonly DecisionRow[];
      return rows.map((row) => ({ key: String(row.seq), cells: [
        { content: clockText(row.at, preferences.zone), sort: row.at }, { content: nameElement(row.strategy) },
        row.verdict, decisionText({ ...row, verdict: '' }).trim(),
        { content: exactText(String(row.seq)), sort: row.seq },
      ] }));
    }),
  };
}

function marketsTab(openPrices: (pair: string, place: HTMLElement) => void): Tab {
  const place = element('div');
  const table = createDataTable({
    label: 'Markets', empty: 'No strategy watches a pair.', columns: [
      { name: 'Pair' }, { name: 'Price', isNumber: true }, { name: 'Last hour', isAction: true }, { name: 'Health' },
      { name: 'Read' }, { name: 'Every', isNumber: true, isMinor: true }, { name: 'Strategies', isMinor: true },
    ],
  });
  return {
    name: 'Markets', panel: element('div', {}, table.element, place),
    show: ({ markets }) => {
      table.setRows(markets.map(({ pair, price, spark, health, at, every_ms: every, strategies }): TableRow => ({
        key: pair, cells: [
          { content: button(nameElement(pair), () => { openPrices(pair, place); }, { class: 'link' }), sort: pair },
          { content: price === null ? '–' : numberText(Number(price), 'price'), sort: Number(price ?? 0) },
          { content: spark.length < 2 ? '–' : element('span', { class: 'spark-cell' }, sparkline(spark)) },
          { content: element('span', { class: `pill level-${health === 'fresh' ? 'good' : 'check'}` }, health),
            sort: health },
          { content: at === null ? '–' : timeElement(at), sort: at ?? 0 },
          { content: spanText(every), sort: every }, strategies.join(', '),
        ],
      })));
    },
  };
}

function limitsTab(): Tab {
  const panel = element('div');
  return {
    name: 'Limits and caps', panel,
    show: ({ limits, protections, dead_man: deadMan }) => {
      repaint(panel, [limits, protections, deadMan], () => [
        protections.length > 0 && element('div', { class: 'needs' }, protections.map(({ text, since, until }) =>
          element('div', { class: 'need' }, element('p', {}, text, ' · ', timeElement(since),
            until !== null && [' · ends ', timeElement(until)])))),
        deadMan !== null && element('p', { class: 'soft' }, 'A dead man’s switch halts trading ',
          timeElement(deadMan.fires_at), ` unless it is reset (every ${spanText(deadMan.after_ms)}).`),
        limits.length === 0 ? element('p', { class: 'soft' }, 'No limit is configured.')
          : element('ul', { class: 'limits' }, limits.map(({ name, used, limit, share, effect }) => element('li', {},
            element('span', { class: 'limit-name' }, name),
            element('span', { class: 'number' }, used === null ? '' : `${used} of `, limit),
            share === null ? element('span', {}) : meter(share),
            element('span', { class: 'soft' }, effect)))),
      ]);
    },
  };
}

function requestsTab(): Tab {
  const table = createDataTable({
    label: 'Requests', empty: 'No request was sent yet.', columns: [
      { name: 'Bucket' }, { name: 'Used a second', isNumber: true }, { name: 'Allowed', isNumber: true },
      { name: 'Sent', isNumber: true, isMinor: true }, { name: 'Refused (429)', isNumber: true },
      { name: 'Queued', isNumber: true, isMinor: true }, { name: 'Cooling down' },
    ],
  });
  return {
    name: 'Requests', panel: element('div', {}, table.element),
    show: ({ requests }) => {
      table.setRows(requests.map((bucket): TableRow => ({ key: bucket.name, cells: [
        bucket.name, { content: [numberText(bucket.used_per_second, 'ratio'),
          meter(bucket.used_per_second / bucket.allowed_per_second)], sort: bucket.used_per_second },
        { content: numberText(bucket.allowed_per_second, 'ratio'), sort: bucket.allowed_per_second },
        { content: numberText(bucket.sent, 'count'), sort: bucket.sent },
        { content: numberText(bucket.refused, 'count'), sort: bucket.refused },
        { content: numberText(bucket.queued + bucket.in_flight, 'count'), sort: bucket.queued + bucket.in_flight },
        { content: bucket.cool_down_until === null ? 'no' : ['until ', timeElement(bucket.cool_down_until)] },
      ] })));
    },
  };
}

function logTab(api: PageApi): Tab {
  const table = createDataTable({
    label: 'Log', empty: 'The log is empty.', columns: [
      { name: 'Time' }, { name: 'Level' }, { name: 'Message' }, { name: 'Details', isMinor: true },
    ],
  });
  return {
    name: 'Log', panel: element('div', { class: 'log' }, table.element), show: () => undefined,
    read: () => reading(table, async () => {
      const { lines } = await api.get('/api/log?limit=500') as LogPage;
      return lines.map(({ at, level, message, details }, i) => ({ key: `${at ?? ''} ${i} ${message}`, cells: [
        { content: at === null ? '–' : clockText(Date.parse(at), preferences.zone), sort: at ?? '' }, level, message,
        { content: element('code', {}, details.length > 300 ? `${details.slice(0, 300)}…` : details) },
      ] }));
    }),
  };
}

/** Reads rows into a table, and says in the table where that fails. */
async function reading(table: DataTable, read: () => Promise<readonly TableRow[]>): Promise<void> {
  const fault = table.element.querySelector('.fault') ?? element('p', { class: 'fault' });
  let said: Content = null;
  try {
    table.setRows(await read());
  } catch (error) {
    said = messageOf(error);
  }
  fill(fault, said);
  table.element.prepend(fault);
}
