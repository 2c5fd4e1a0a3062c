import { button, element, fill } from '../../web/element.ts';
import type { EquityCurve, PageState } from '../page-state.ts';
import { createActions } from './actions.ts';
import { createDepthTabs } from './depth-tabs.ts';
import { createEquityPanel } from './equity-panel.ts';
import { createKeyFigures } from './key-figures.ts';
import { createAlertList } from './alert-list.ts';
import { openStream } from './live-stream.ts';
import { setDaemonTime, showTimes, startTimes } from './live-times.ts';
import { loginForm, logInByLink } from './login-form.ts';
import type { PageApi } from './page-api.ts';
import { currentApi } from './page-api.ts';
import type { Scheme } from './preferences.ts';
import { chooseScheme, chooseZone, loadPreferences, preferences } from './preferences.ts';
import { messageOf } from './sheet.ts';
import { createStatusBar } from './status-bar.ts';
import { createStoryColumn } from './story-column.ts';
import { createStrategyList } from './strategy-list.ts';

const REFRESH_MS = 15_000;

/** Starts the page: it logs in, or asks for the token, and then shows the daemon. */
export async function startPage(): Promise<void> {
  loadPreferences();
  const root = document.querySelector('#page')!;
  const enter = (api: PageApi): void => { showPage(root, api); };
  const ask = (said: string): void => {
    fill(root, element('main', { class: 'login-place' }, loginForm(enter, said)));
    root.querySelector('input')?.focus();
  };
  try {
    const api = await logInByLink() ?? await currentApi();
    if (api === undefined) ask('');
    else enter(api);
  } catch (error) {
    ask(`${messageOf(error)}.`);
  }
}

function showPage(root: Element, api: PageApi): void {
  const actions = createActions(api, (text) => { status.announce(text); });
  const status = createStatusBar(actions);
  const figures = createKeyFigures();
  const alerts = createAlertList();
  const stories = createStoryColumn(api, actions);
  const strategies = createStrategyList(api, actions);
  const tabs = createDepthTabs(api, actions);
  let day: EquityCurve | undefined;
  let state: PageState | undefined;
  let curveOf = '';

  const show = (): void => {
    figures.show(state, day);
    if (state === undefined) return;
    actions.show(state);
    equity.show(state);
    alerts.show(state);
    strategies.show(state);
    tabs.show(state, stories.swaps());
  };
  const equity = createEquityPanel(api, (curve) => {
    day = curve;
    figures.show(state, day);
  });
  const refresh = (): void => {
    if (document.hidden) return;
    void equity.refresh();
    strategies.refresh();
    tabs.refresh();
  };
  const setZone = (): void => {
    showTimes();
    equity.setZone();
    strategies.setZone();
    stories.redraw();
    tabs.setZone();
    show();
  };

  fill(root,
    element('header', { class: 'top' }, status.element, actions.element),
    element('main', { class: 'layout' },
      element('h1', { class: 'unseen' }, 'Gannet'),
      figures.element, equity.element, alerts.element, strategies.element, stories.element, tabs.element),
    element('footer', { class: 'bottom' }, zoneChoice(setZone), schemeChoice(),
      button('Log out', () => { void logOut(api); }, { class: 'button quiet' }),
      element('p', { class: 'soft' }, `You are logged in as ${api.session.role}.`)));
  show();
  startTimes();
  const { retry } = openStream({
    onState: (next) => {
      setDaemonTime(next.at);
      status.showState(next);
      if (!('sentence' in next)) return;
      state = next;
      if (curveOf !== next.run_id) {
        curveOf = next.run_id;
        refresh();
      }
      show();
    },
    onStory: (story) => {
      stories.add(story);
      if (state !== undefined) tabs.show(state, stories.swaps());
    },
    onConnection: (connection) => { status.showConnection(connection, () => { retry(); }); },
    onLoggedOut: () => { location.reload(); },
  });
  setInterval(refresh, REFRESH_MS);
  document.addEventListener('visibilitychange', refresh);
}

async function logOut(api: PageApi): Promise<void> {
  try {
    await api.logOut();
  } finally {
    location.reload();
  }
}

function zoneChoice(chosen: () => void): HTMLElement {
  return choiceOf('Times', [['local', 'Local time'], ['utc', 'UTC']], preferences.zone, (zone) => {
    chooseZone(zone);
    chosen();
  });
}

function schemeChoice(): HTMLElement {
  const schemes: readonly (readonly [Scheme, string])[] = [['auto', 'As the device'], ['light', 'Light'],
    ['dark', 'Dark']];
  return choiceOf('Colours', schemes, preferences.scheme, chooseScheme);
}

function choiceOf<Value extends string>(
  label: string, values: readonly (readonly [value: Value, name: string])[], first: Value,
  choose: (value: Value) => void,
): HTMLElement {
  const group = element('div', { 'class': 'choice', 'role': 'group', 'aria-label': label });
  const buttons = values.map(([value, name]) => button(name, (pressed) => {
    for (const each of buttons) each.setAttribute('aria-pressed', String(each === pressed));
    choose(value);
  }, { 'class': '', 'aria-pressed': String(value === first) }));
  fill(group, buttons);
  return group;
}
