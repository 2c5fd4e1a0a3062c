import { element, nameElement } from '../../web/element.ts';
import type { PageState } from '../page-state.ts';
import { timeElement } from './live-times.ts';
import { repaint } from './repaint.ts';

/** The last alerts; the place is empty while there is none. */
interface AlertList {
  readonly element: HTMLElement;
  show(state: PageState): void;
}

const MOST_OPEN = 3;
const LEVELS = { info: 'good', warning: 'check', critical: 'act' } as const;

/** Returns the alerts: the newest three, and the others behind a line. */
export function createAlertList(): AlertList {
  const list = element('div');
  const panel = element('section', { 'class': 'panel alerts', 'aria-labelledby': 'alerts-title', 'hidden': true },
    element('h2', { id: 'alerts-title' }, 'Alerts'), list);
  return {
    element: panel,
    show: ({ alerts }) => {
      panel.hidden = alerts.length === 0;
      repaint(list, alerts, () => [
        listOf(alerts.slice(0, MOST_OPEN)),
        alerts.length > MOST_OPEN && element('details', {},
          element('summary', {}, `${alerts.length - MOST_OPEN} more`), listOf(alerts.slice(MOST_OPEN))),
      ]);
    },
  };
}

function listOf(alerts: PageState['alerts']): HTMLElement {
  return element('ul', { class: 'alert-lines' }, alerts.map(({ at, level, message, strategy }) => element('li', {},
    element('span', { class: `pill level-${LEVELS[level]}` }, level),
    element('span', {}, message, strategy !== null && [' · ', nameElement(strategy)]),
    element('span', { class: 'soft' }, timeElement(at)))));
}
