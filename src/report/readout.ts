import { instantText } from './charts/axis.ts';
import type { ValueKind } from '../research/metrics/value-text.ts';
import { shownValue, valueText } from '../research/metrics/value-text.ts';

/** The points of a drawing, for the reader who points at it. Values have the precision at which they are shown. */
export interface Readout {
  /** The ends of both axes. */
  readonly x: readonly [low: number, high: number];
  readonly y: readonly [low: number, high: number];
  /** The horizontal places of the points: the first, then the distances between them. */
  readonly steps: readonly number[];
  /** The names of the points; left out, the points are times. */
  readonly names?: readonly string[] | undefined;
  readonly kind: ValueKind;
  /** In the order of the legend. */
  readonly lines: readonly { readonly label: string; readonly values: readonly (number | null)[] }[];
}

/** Returns values with the precision at which they are shown. */
export function readoutValues(values: readonly (number | null)[], kind: ValueKind): (number | null)[] {
  return values.map((value) => (value === null ? null : shownValue(value, kind)));
}

/** Enables the read-out of each drawing on a page by mouse, touch and keyboard. */
export function startReadouts(page: PageDocument): void {
  for (const chart of page.querySelectorAll('.chart')) {
    const data = chart.querySelector('.readout')?.textContent;
    const reader = chart.querySelector('.reader');
    if (data !== undefined && data !== null && reader !== null)
      startReadout(chart, reader, JSON.parse(data) as Readout);
  }
}

function startReadout(chart: PageElement, reader: PageElement, readout: Readout): void {
  const points = placesOf(readout);
  if (points.length === 0) return;
  const when = chart.querySelector('.when')!;
  const values = [...chart.querySelectorAll('.value')];
  const texts = [when, ...values];
  const before = texts.map(({ textContent }) => textContent);
  const cursor = reader.querySelector('.cursor')!;
  const dots = [...reader.querySelectorAll('.dot')];
  let current = points.length - 1;

  const spoken = (value: number | null): string => (value === null ? 'none' : valueText(value, readout.kind));
  const show = (index: number): void => {
    current = Math.max(0, Math.min(points.length - 1, index));
    const name = readout.names?.[current] ?? instantText(atOf(readout, points[current]!), readout.x[1] - readout.x[0]);
    const shown = readout.lines.map(({ values: all }) => all[current] ?? null);
    when.textContent = name;
    for (const [i, value] of shown.entries()) {
      const place = dots[i]!;
      if (values[i] !== undefined) values[i].textContent = value === null ? '–' : valueText(value, readout.kind);
      place.hidden = value === null;
      place.style.setProperty('left', percent(points[current]!));
      if (value !== null) place.style.setProperty('top', percent(1 - share(value, readout.y)));
    }
    cursor.hidden = false;
    cursor.style.setProperty('left', percent(points[current]!));
    reader.setAttribute('aria-valuenow', String(current));
    reader.setAttribute(
      'aria-valuetext',
      `${name}: ${readout.lines.map(({ label }, i) => `${label} ${spoken(shown[i]!)}`).join(', ')}`,
    );
  };
  const forget = (): void => {
    for (const [i, text] of before.entries()) texts[i]!.textContent = text;
    for (const mark of [cursor, ...dots]) mark.hidden = true;
  };
  const point = ({ clientX }: PageEvent): void => {
    const { left, width } = reader.getBoundingClientRect();
    show(nearest(points, (clientX - left) / width));
  };
  reader.hidden = false;
  reader.addEventListener('pointermove', point);
  reader.addEventListener('pointerdown', point);
  reader.addEventListener('pointerleave', forget);
  reader.addEventListener('focus', () => { show(current); });
  reader.addEventListener('blur', forget);
  reader.addEventListener('keydown', (event) => {
    const next = targetOf(event.key, current, points.length);
    if (next === undefined) return;
    event.preventDefault();
    show(next);
  });
}

function targetOf(key: string, current: number, count: number): number | undefined {
  const far = Math.max(2, Math.round(count / 20));
  switch (key) {
    case 'ArrowLeft': case 'ArrowDown': return current - 1;
    case 'ArrowRight': case 'ArrowUp': return current + 1;
    case 'PageDown': return current - far;
    case 'PageUp': return current + far;
    case 'Home': return 0;
    case 'End': return count - 1;
    default: return undefined;
  }
}

/** Returns the horizontal place of each point, 0 to 1. */
function placesOf({ steps, x }: Readout): number[] {
  let at = 0;
  return steps.map((step) => share(at += step, x));
}

function atOf({ x: [low, high] }: Readout, place: number): number {
  return Math.round(low + place * (high - low));
}

function share(value: number, [low, high]: readonly [number, number]): number {
  return (value - low) / (high - low);
}

function nearest(points: readonly number[], across: number): number {
  let [best, least] = [0, Infinity];
  for (const [i, place] of points.entries()) {
    const distance = Math.abs(place - across);
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}

function percent(part: number): string {
  return `${(part * 100).toFixed(2)}%`;
}

/** The part of a browser's document that the scripts of a page need. */
export interface PageDocument {
  getElementById(id: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
}

interface PageElement {
  textContent: string | null;
  className: string;
  hidden: boolean;
  readonly style: { setProperty(name: string, value: string): void };
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
  getBoundingClientRect(): {
    readonly left: number; readonly top: number; readonly width: number; readonly height: number;
  };
  addEventListener(type: string, listener: (event: PageEvent) => void): void;
}

interface PageEvent {
  readonly clientX: number;
  readonly clientY: number;
  readonly key: string;
  preventDefault(): void;
}
