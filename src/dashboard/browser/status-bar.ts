import type { Millis } from '../../core/time.ts';
import { button, element, setText } from '../../web/element.ts';
import { momentText, spanText } from '../../web/time-text.ts';
import type { PageNeed, PageStarting, PageState } from '../page-state.ts';
import type { Actions } from './actions.ts';
import { timeElement } from './live-times.ts';
import type { Connection } from './live-stream.ts';
import { preferences } from './preferences.ts';
import { repaint } from './repaint.ts';

/** The sentence of state, what needs a person, and whether the page still hears from the daemon. */
interface StatusBar {
  readonly element: HTMLElement;
  showState(state: PageState | PageStarting): void;
  showConnection(connection: Connection, retry: () => void): void;
  /** Says something to a screen reader, once. */
  announce(text: string): void;
}

/** A connection is lost for people only after this long: a short break heals by itself. */
const BREAK_MS = 3_000;

/** Returns the bar at the top of the page. */
export function createStatusBar(actions: Actions): StatusBar {
  const sentence = element('p', { class: 'sentence level-good' }, 'Connecting to the daemon…');
  const needs = element('div', { class: 'needs' });
  const connectionText = element('span');
  let retryNow: (() => void) | undefined;
  const connectionBar = element('div', { class: 'connection', hidden: true }, connectionText,
    button('Try now', () => { retryNow?.(); }));
  const announcer = element('p', { 'class': 'unseen', 'role': 'status' });
  let said = '';
  let connection: Connection = { kind: 'connecting', since: Date.now() };
  let hasState = false;
  let shownAt: Millis = 0;

  const announce = (text: string): void => {
    if (text === said) return;
    said = text;
    setText(announcer, text);
  };
  const showConnection = (): void => {
    const quiet = connection.kind === 'open' ? 0 : Date.now() - connection.since;
    const isLost = connection.kind !== 'open' && hasState && quiet > BREAK_MS;
    document.body.classList.toggle('is-old', isLost);
    connectionBar.hidden = !isLost && (hasState || connection.kind !== 'lost');
    if (connection.kind === 'open') return;
    setText(connectionText, hasState
      ? `Not connected. What you see is ${spanText(quiet)} old, from ${momentText(shownAt, preferences.zone)}. `
        + 'The page keeps trying.'
      : 'The daemon does not answer. The page keeps trying.');
    if (isLost) announce('The connection to the daemon is lost. The figures are old.');
  };
  setInterval(showConnection, 1_000);

  return {
    element: element('div', { class: 'status' }, sentence, connectionBar, needs, announcer),
    announce,
    showConnection: (next, retry) => {
      connection = next;
      retryNow = retry;
      showConnection();
    },
    showState: (state) => {
      hasState = true;
      shownAt = state.at;
      if (!('sentence' in state)) {
        setText(sentence, 'Starting. The first prices come in a moment.');
        announce('The daemon is starting.');
        return;
      }
      const { text, level, reasons, needs: wanted, standing } = state.sentence;
      setText(sentence, text);
      sentence.className = `sentence level-${level}`;
      repaint(needs, [reasons, wanted, state.role], () => [
        wanted.map((need) => needElement(need, state, actions)),
        wanted.length === 0 && reasons.map((reason) => element('p', { class: 'need' }, reason)),
      ]);
      announce([standing, ...wanted.map(({ what }) => what)].join('. '));
    },
  };
}

function needElement(need: PageNeed, state: PageState, actions: Actions): HTMLElement {
  const { what, since, remedy } = need;
  const remedyButton = state.role === 'operator' ? remedyButtonOf(remedy, state, actions) : undefined;
  return element('div', { class: 'need' },
    element('p', {}, what, since !== null && [' · ', timeElement(since)]), remedyButton);
}

function remedyButtonOf(remedy: PageNeed['remedy'], state: PageState, actions: Actions): HTMLElement | undefined {
  const key = `need-${JSON.stringify(remedy)}`;
  switch (remedy.kind) {
    case 'resume':
      return button('Resume…', () => { actions.resume(remedy.strategy); }, { 'data-key': key });
    case 'flatten':
      return button('Sell its positions…', () => { actions.flatten(remedy.strategy); }, { 'data-key': key });
    case 'resolve': {
      const swap = state.swaps.find(({ intent_id: id }) => id === remedy.intent_id);
      return button('Resolve…', () => { actions.resolve(remedy.intent_id, swap); }, { 'data-key': key });
    }
    case 'outside': return undefined;
  }
}
