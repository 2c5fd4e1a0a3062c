import { button, element, fill, nameElement } from '../../web/element.ts';
import { clockText } from '../../web/time-text.ts';
import type { PagePosition, PageState, PageStrategy } from '../page-state.ts';
import type { Actions } from './actions.ts';
import { amountElement, changeElement, figureButton } from './amounts.ts';
import { timeElement } from './live-times.ts';
import type { PageApi } from './page-api.ts';
import { preferences } from './preferences.ts';
import type { PricePanel } from './price-panel.ts';
import { createPricePanel } from './price-panel.ts';
import { repaint } from './repaint.ts';
import { factList } from './sheet.ts';

/** The strategies, one row each. */
interface StrategyList {
  readonly element: HTMLElement;
  show(state: PageState): void;
  refresh(): void;
  setZone(): void;
}

interface Row {
  readonly item: HTMLElement;
  readonly head: HTMLElement;
  readonly body: HTMLElement;
  /** While the row is open. */
  prices: PricePanel | undefined;
  isOpen: boolean;
}

const HEADS = ['Strategy', 'Position', 'Profit', 'Last decision', 'Next'];
const MOST_DECISIONS = 20;

/** Returns the list of strategies. A row opens: its price chart, its figures and its decisions. */
export function createStrategyList(api: PageApi, actions: Actions): StrategyList {
  const rows = new Map<string, Row>();
  let last: PageState | undefined;
  const heads = element('div', { 'class': 'strategy-heads', 'aria-hidden': true }, HEADS.map((head) =>
    element('span', {}, head)));
  const list = element('ul', { class: 'strategies' });
  const none = element('p', { class: 'soft nothing' }, 'No strategy is configured.');

  const rowOf = (name: string): Row => {
    const found = rows.get(name);
    if (found !== undefined) return found;
    const [head, body] = [element('div'), element('div', { class: 'strategy-body', hidden: true })];
    const row: Row = { item: element('li', {}, head, body), head, body, prices: undefined, isOpen: false };
    rows.set(name, row);
    return row;
  };
  const toggle = (row: Row, strategy: PageStrategy): void => {
    row.isOpen = !row.isOpen;
    row.body.hidden = !row.isOpen;
    row.prices?.remove();
    row.prices = undefined;
    fill(row.body);
    if (row.isOpen) open(row, strategy);
    if (last !== undefined) show(last);
  };
  const open = (row: Row, { name, pairs }: PageStrategy): void => {
    const chart = element('div', { class: 'strategy-chart' });
    const showPair = (pair: string): void => {
      row.prices?.remove();
      row.prices = createPricePanel(api, pair, name);
      fill(chart, row.prices.element);
    };
    const choice = element('div', { 'class': 'choice', 'role': 'group', 'aria-label': 'Pair' }, pairs.map((pair) =>
      button(nameElement(pair), (pressed) => {
        for (const each of choice.children) each.setAttribute('aria-pressed', String(each === pressed));
        showPair(pair);
      }, { 'class': '', 'aria-pressed': pair === pairs[0] ? 'true' : 'false' })));
    choice.hidden = pairs.length < 2;
    fill(row.body, choice, chart, element('div', { class: 'strategy-facts' }));
    if (pairs[0] !== undefined) showPair(pairs[0]);
    void readMore(row, name);
  };
  const readMore = async (row: Row, name: string): Promise<void> => {
    const decisions = element('div', { class: 'strategy-decisions' });
    row.body.append(decisions);
    try {
      const all = await api.get('/api/decisions?limit=500') as readonly DecisionRow[];
      const own = all.filter(({ strategy }) => strategy === name).slice(0, MOST_DECISIONS);
      fill(decisions, element('h3', {}, 'Its last decisions'), own.length === 0
        ? element('p', { class: 'soft' }, 'It has decided nothing in this run yet.')
        : element('ol', { class: 'plain-list' }, own.map((decision) => element('li', {},
          element('span', { class: 'number soft' }, clockText(decision.at, preferences.zone)), ' ',
          decisionText(decision)))));
    } catch {
      fill(decisions, element('p', { class: 'fault' }, 'Its decisions cannot be read now.'));
    }
  };
  const show = (state: PageState): void => {
    last = state;
    none.hidden = state.strategies.length > 0;
    heads.hidden = state.strategies.length === 0;
    const items = state.strategies.map((strategy) => {
      const row = rowOf(strategy.name);
      repaint(row.head, [strategy, row.isOpen], () => headOf(strategy, row.isOpen, () => { toggle(row, strategy); }));
      const facts = row.body.querySelector('.strategy-facts');
      if (facts !== null) repaint(facts, [strategy, state.role], () => factsOf(strategy, state.role, actions));
      return row.item;
    });
    if (items.some((item, i) => list.children[i] !== item) || list.childElementCount !== items.length)
      list.replaceChildren(...items);
  };
  return {
    element: element('section', { 'class': 'panel', 'aria-labelledby': 'strategies-title' },
      element('h2', { id: 'strategies-title' }, 'Strategies'), heads, none, list),
    show,
    refresh: () => { for (const { prices } of rows.values()) void prices?.refresh(); },
    setZone: () => { for (const { prices } of rows.values()) prices?.setZone(); },
  };
}

function headOf(strategy: PageStrategy, isOpen: boolean, press: () => void): HTMLElement {
  const { name, standing, level, positions, profit, last_decision: decision, next_due: due, equity } = strategy;
  const made = element('button', { 'type': 'button', 'class': 'strategy-head', 'aria-expanded': String(isOpen),
    'data-key': `strategy-${name}` },
  element('span', { class: 'cell name' }, element('b', {}, nameElement(name)),
    element('span', { class: `pill level-${level}` }, standing)),
  element('span', { class: 'cell position' }, positions.length === 0
    ? element('span', { class: 'soft' }, 'no position')
    : positions.slice(0, 2).map(({ amount, value }) => element('span', { class: 'line' },
      value === null ? amountElement(amount) : [amountElement(value), ' ', element('span', { class: 'soft' },
        'in ', nameElement(amount.symbol))])),
  positions.length > 2 && element('span', { class: 'soft' }, `and ${positions.length - 2} more`)),
  element('span', { class: `cell profit${equity?.is_known === false ? ' old' : ''}` }, profit === null
    ? element('span', { class: 'soft' }, '–') : changeElement(profit.amount)),
  element('span', { class: 'cell decision' }, decision === null
    ? element('span', { class: 'soft' }, 'has decided nothing yet')
    : [decision.sentence, ' ', element('span', { class: 'soft' }, timeElement(decision.at))]),
  element('span', { class: 'cell next soft' }, due === null ? '–' : timeElement(due)));
  made.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('time') !== null) return;
    press();
  });
  return made;
}

function factsOf(strategy: PageStrategy, role: PageState['role'], actions: Actions): HTMLElement[] {
  const { name, use, stopped, budget, cash, equity, profit, positions, swaps, fees } = strategy;
  const isHalted = strategy.standing === 'halted';
  return [
    element('div', { class: 'positions' }, positions.map((position) => positionElement(position, role, actions))),
    factList([
      ['Strategy', nameElement(use)],
      ...stopped === null ? [] : [['Stopped', stopped] as [string, string]],
      ['Budget', budget === null ? 'none' : amountElement(budget)],
      ['Cash', cash === null ? '–' : amountElement(cash)],
      ['Equity', equity === null ? '–' : figureButton(`Equity of ${name}`, equity, false, `equity-${name}`)],
      ['Profit', profit === null ? '–' : figureButton(`Profit of ${name}`, profit, true, `profit-${name}`)],
      ['Swaps', swaps], ['Network fees', amountElement(fees)],
    ]),
    element('div', { class: 'row-actions', hidden: role !== 'operator' },
      isHalted
        ? button('Start…', () => { actions.startStrategy(name); }, { 'data-key': `start-${name}` })
        : button('Stop…', () => { actions.stopStrategy(name); }, { 'data-key': `stop-${name}` }),
      positions.length > 0
      && button('Sell its positions…', () => { actions.flatten(name); }, { 'data-key': `flatten-${name}` })),
  ];
}

function positionElement(position: PagePosition, role: PageState['role'], actions: Actions): HTMLElement {
  const { amount, value, profit, is_moving: isMoving, unsold } = position;
  return element('div', { class: 'position-line' },
    element('span', {}, amountElement(amount), value !== null && [' ≈ ', amountElement(value)],
      profit !== null && [' ', changeElement(profit)]),
    unsold !== null && element('span', { class: 'soft' }, unsold),
    role === 'operator' && sellButton(position, isMoving, actions));
}

/** Returns the button that sells one position. */
export function sellButton(position: PagePosition, isMoving: boolean, actions: Actions): HTMLElement {
  const made = button(isMoving ? 'Selling' : 'Sell…', () => { actions.sell(position); },
    { 'class': 'button small', 'data-key': `sell-${position.strategy}-${position.amount.mint}`,
      'aria-label': `Sell ${position.amount.symbol} of ${position.strategy}` });
  made.disabled = isMoving;
  return made;
}

/** A decision as `/api/decisions` gives it. */
export interface DecisionRow {
  readonly seq: number;
  readonly at: number;
  readonly strategy: string;
  readonly verdict: string;
  readonly code: string | null;
  readonly reason?: string | null;
  readonly proposal: { readonly kind?: string; readonly reason?: string } | null;
}

/** Returns a decision in words. */
export function decisionText({ verdict, code, reason, proposal }: DecisionRow): string {
  const wanted = [proposal?.kind, proposal?.reason].filter((part) => part !== undefined && part !== '').join(': ');
  const why = [code, reason].filter((part) => typeof part === 'string' && part !== '').join(': ');
  return `${verdict}${wanted === '' ? '' : ` ${wanted}`}${why === '' ? '' : ` (${why})`}`;
}
