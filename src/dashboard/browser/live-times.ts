import type { Millis } from '../../core/time.ts';
import { element, setText } from '../../web/element.ts';
import { agoText, momentText } from '../../web/time-text.ts';
import { preferences } from './preferences.ts';

let ahead: Millis = 0;

/** Takes the daemon's time, from which all ages are counted: a phone's clock may be wrong. */
export function setDaemonTime(at: Millis): void {
  ahead = at - Date.now();
}

/** Returns the daemon's time. */
export function daemonNow(): Millis {
  return Date.now() + ahead;
}

/** Returns how long ago something was. It goes on by itself, and a press shows the time itself. */
export function timeElement(at: Millis): HTMLElement {
  const made = element('time', { 'data-at': at, 'title': momentText(at, preferences.zone) });
  setText(made, agoText(at, daemonNow()));
  return made;
}

/** Lets all times of the page go on. */
export function startTimes(): void {
  setInterval(showTimes, 1_000);
  document.addEventListener('click', ({ target }) => {
    const time = target instanceof Element ? target.closest('time[data-at]') : null;
    if (time === null) return;
    time.toggleAttribute('data-absolute');
    showTimes();
  });
}

/** Writes all times again, for instance when the zone changes. */
export function showTimes(): void {
  for (const time of document.querySelectorAll('time[data-at]')) {
    const at = Number(time.getAttribute('data-at'));
    const moment = momentText(at, preferences.zone);
    setText(time, time.hasAttribute('data-absolute') ? moment : agoText(at, daemonNow()));
    if (time.getAttribute('title') !== moment) time.setAttribute('title', moment);
  }
}
