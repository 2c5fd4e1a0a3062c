import { button, element } from '../../web/element.ts';
import type { ActionPreview, PagePosition, PageState, PageSwap } from '../page-state.ts';
import { amountElement } from './amounts.ts';
import type { PageApi } from './page-api.ts';
import { confirmAction, messageOf, openSheet } from './sheet.ts';
import { resolveSwap } from './swap-details.ts';

/** What an operator can order from the page. */
export interface Actions {
  /** The buttons that stand together: at the top, on a phone at the bottom. */
  readonly element: HTMLElement;
  /** Halts at once. */
  halt(): void;
  resume(strategy: string | null): void;
  flatten(strategy: string | null): void;
  stopStrategy(name: string): void;
  startStrategy(name: string): void;
  sell(position: PagePosition): void;
  resolve(intentId: string, swap: PageSwap | undefined): void;
  show(state: PageState): void;
}

const REASON = 'from the page';

function orderButton(label: string, action: string, act: () => void): HTMLButtonElement {
  return button(label, act, { 'data-action': action });
}

/** Returns the actions of a login. `said` tells a screen reader what was done. */
export function createActions(api: PageApi, said: (text: string) => void): Actions {
  let standing = '';
  let names: readonly string[] = [];
  const notice = element('p', { 'class': 'action-notice', 'role': 'status' });
  const say = (text: string): void => {
    notice.textContent = text;
    said(text);
  };

  const halt = async (): Promise<void> => {
    haltButton.disabled = true;
    say('Halting…');
    try {
      await api.post('/api/halt', { reason: REASON });
      say('Halted. No new swap starts; swaps in flight are completed.');
    } catch (error) {
      say(`Not halted. ${messageOf(error)}.`);
    } finally {
      haltButton.disabled = standing === 'halted';
    }
  };
  const haltButton = button('Halt', () => { void halt(); }, { 'class': 'button halt', 'data-action': 'halt' });
  const reduceButton = orderButton('Reduce only…', 'reduce-only', () => {
    confirmAction({
      title: 'Reduce only', label: 'Reduce only',
      describe: () => 'No strategy buys from now on. Positions stay, and strategies may sell them. Resume ends it.',
      act: async () => {
        await api.post('/api/reduce-only', { reason: REASON });
        say('Reduce only: strategies may sell, and buy nothing.');
      },
    });
  });
  const sellButton = orderButton('Sell everything…', 'flatten', () => { flatten(null); });
  const resumeButton = orderButton('Resume…', 'resume', () => { resume(null); });
  const more = button('More…', () => {
    const buttons = [reduceButton, sellButton, resumeButton].map((each) => button(each.textContent, () => {
      sheet.close();
      each.click();
    }));
    for (const [i, each] of [reduceButton, sellButton, resumeButton].entries()) buttons[i]!.disabled = each.disabled;
    const sheet = openSheet('Actions', element('div', { class: 'sheet-choices' }, buttons));
  }, { class: 'button more' });

  const resume = (strategy: string | null): void => {
    const subject = strategy ?? 'Trading';
    confirmAction({
      title: `Resume ${strategy ?? 'trading'}`, label: 'Resume',
      describe: () => strategy === null
        ? `${names.length === 1 ? 'The strategy' : `All ${names.length} strategies`} may buy and sell again at once, `
          + 'within their limits. Protections that only an operator ends are ended.'
        : `${strategy} may buy and sell again at once, within its limits.`,
      act: async () => {
        await api.post('/api/resume', { ...strategy === null ? {} : { strategy }, reason: REASON });
        say(`${subject} resumed.`);
      },
    });
  };
  const preview = async (query: Readonly<Record<string, string>>): Promise<Node> => {
    const { sentence, sales } =
      await api.get(`/api/preview?${new URLSearchParams(query).toString()}`) as ActionPreview;
    return element('div', {}, element('p', {}, `${sentence}.`.replace(/\.\.$/, '.')),
      element('ul', { class: 'plain-list' }, sales.map(({ strategy, amount, value }) => element('li', {},
        element('span', {}, strategy), ' ', amountElement(amount),
        value !== null && [' ≈ ', amountElement(value)]))));
  };
  const flatten = (strategy: string | null): void => {
    const subject = strategy === null ? {} : { strategy };
    confirmAction({
      title: strategy === null ? 'Sell everything' : `Sell all of ${strategy}`, label: 'Sell',
      describe: () => preview({ action: 'flatten', ...subject }),
      act: async () => {
        await api.post('/api/flatten', { ...subject, reason: REASON });
        say(strategy === null ? 'Selling everything. Follow it under What happened.' : `Selling all of ${strategy}.`);
      },
    });
  };
  const ofStrategy = (name: string, path: 'stop' | 'start', title: string, what: string): void => {
    confirmAction({
      title: `${title} ${name}`, label: title, describe: () => what,
      act: async () => {
        await api.post(`/api/strategies/${encodeURIComponent(name)}/${path}`, { reason: REASON });
        say(`${name}: ${path === 'stop' ? 'stopped' : 'started'}.`);
      },
    });
  };

  return {
    element: element('div', { 'class': 'actions', 'role': 'group', 'aria-label': 'Actions',
      'hidden': api.session.role !== 'operator' }, notice, haltButton, reduceButton, sellButton, resumeButton, more),
    halt: () => { void halt(); },
    resume,
    flatten,
    stopStrategy: (name) => {
      ofStrategy(name, 'stop', 'Stop',
        `${name} orders nothing until you start it: it neither buys nor sells. Its positions stay as they are.`);
    },
    startStrategy: (name) => {
      ofStrategy(name, 'start', 'Start', `${name} may buy and sell again at once, within its limits.`);
    },
    sell: ({ strategy, amount }) => {
      confirmAction({
        title: `Sell ${amount.symbol} of ${strategy}`, label: 'Sell',
        describe: () => preview({ action: 'sell', strategy, token: amount.mint }),
        act: async () => {
          await api.post('/api/sell', { strategy, token: amount.mint });
          say(`Selling the ${amount.symbol} of ${strategy}.`);
        },
      });
    },
    resolve: (intentId, swap) => { resolveSwap(intentId, swap, api, say); },
    show: (state) => {
      standing = state.sentence.standing;
      names = state.strategies.map(({ name }) => name);
      const isEnding = standing === 'draining' || standing === 'ended';
      haltButton.disabled = standing === 'halted' || isEnding;
      reduceButton.disabled = standing === 'exits-only' || isEnding;
      sellButton.disabled = standing === 'flattening' || isEnding;
      resumeButton.disabled = standing === 'trading' || isEnding;
    },
  };
}
