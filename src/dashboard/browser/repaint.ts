import type { Content } from '../../web/element.ts';
import { fill } from '../../web/element.ts';
import { preferences } from './preferences.ts';

const shown = new WeakMap<Element, string>();

/**
 * Fills a place again if what it is made of has changed. The control that has the focus keeps it: the one with the same
 * `data-key` gets it.
 */
export function repaint(place: Element, from: unknown, build: () => Content): void {
  const text = `${preferences.zone} ${JSON.stringify(from)}`;
  if (shown.get(place) === text) return;
  shown.set(place, text);
  const focused = document.activeElement;
  const key = focused !== null && place.contains(focused) ? focused.getAttribute('data-key') : null;
  fill(place, build());
  if (key === null) return;
  const next = [...place.querySelectorAll<HTMLElement>('[data-key]')]
    .find((each) => each.getAttribute('data-key') === key);
  next?.focus({ preventScroll: true });
}
