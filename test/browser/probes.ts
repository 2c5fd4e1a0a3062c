/* oxlint-disable unicorn/consistent-function-scoping -- what runs in a page is carried there alone */

/** The part of a document that the probes read. They run in the page: each is self-contained. */
interface Probed {
  readonly tagName: string;
  readonly id: string;
  readonly className: unknown;
  readonly textContent: string | null;
  readonly parentElement: Probed | null;
  readonly childNodes: Iterable<{ readonly nodeType: number; readonly textContent: string | null }>;
  readonly scrollWidth: number;
  readonly clientWidth: number;
  closest(selector: string): Probed | null;
  matches(selector: string): boolean;
  getAttribute(name: string): string | null;
  querySelector(selector: string): Probed | null;
  querySelectorAll(selector: string): Iterable<Probed>;
  getBoundingClientRect(): {
    readonly left: number; readonly right: number; readonly top: number; readonly bottom: number;
    readonly width: number; readonly height: number;
  };
}

interface ProbedRange {
  setStart(node: object, offset: number): void;
  setEnd(node: object, offset: number): void;
  getClientRects(): Iterable<{ readonly top: number }>;
}

declare const document: {
  readonly documentElement: Probed; readonly body: Probed; querySelectorAll(selector: string): Iterable<Probed>;
  createRange(): ProbedRange;
};
declare const innerWidth: number;
declare function getComputedStyle(element: Probed, part?: string): Readonly<
  Record<'color' | 'backgroundColor' | 'visibility' | 'display' | 'overflowX' | 'position' | 'clipPath', string>
>;

/** The measured layout of a page at one size. */
export interface Layout {
  /** How far the page scrolls sideways, pixels. */
  readonly sideways: number;
  /** Elements beyond the page that are in no scrolling box. */
  readonly beyond: readonly string[];
  /** Texts along an axis that touch each other, or leave the page. */
  readonly touching: readonly string[];
  /** Boxes that hide a part of their content. */
  readonly clipped: readonly string[];
  /** Sections without any height. */
  readonly empty: readonly string[];
}

/** Measures how a page is laid out. */
export function layoutOf(): Layout {
  const named = (element: Probed): string =>
    `${element.tagName}.${String(element.className)} “${(element.textContent ?? '').slice(0, 40)}”`;
  const isSeen = (element: Probed): boolean =>
    element.getBoundingClientRect().width > 0 && getComputedStyle(element).clipPath === 'none';
  const all = [...document.body.querySelectorAll('*')].filter(isSeen);
  const movable = (element: Probed): boolean => {
    const box = element.closest('.wide, .table-frame, nav, .drawing-place');
    return box !== null && box !== element && ['auto', 'scroll', 'hidden'].includes(getComputedStyle(box).overflowX);
  };
  const touching = [...document.querySelectorAll('.x-axis, .y-axis')].flatMap((axis) => {
    const ticks = [...axis.querySelectorAll('span')].filter((tick) => tick.getBoundingClientRect().width > 0)
      .map((tick) => ({ tick, box: tick.getBoundingClientRect() }));
    return ticks.flatMap(({ tick, box }, i) => {
      const hit = ticks.slice(i + 1).find((other) => box.left < other.box.right && other.box.left < box.right
        && box.top < other.box.bottom && other.box.top < box.bottom);
      return hit === undefined && box.left >= 0 && box.right <= innerWidth ? []
        : [`${tick.textContent} and ${hit?.tick.textContent ?? 'the edge'} in ${
          axis.closest('figure')?.querySelector('figcaption')?.textContent ?? '?'}`];
    });
  });
  return {
    sideways: document.documentElement.scrollWidth - innerWidth,
    beyond: all.filter((element) => !movable(element) && (
      element.getBoundingClientRect().right > innerWidth + 0.5 || element.getBoundingClientRect().left < -0.5
    )).map(named),
    touching,
    clipped: all.filter((element) => element.closest('.drawing-place') === null &&
      element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX !== 'visible').map(named),
    empty: [...document.querySelectorAll('main section')]
      .filter((section) => section.getBoundingClientRect().height < 20).map(named),
  };
}

/** Returns the words of the selected elements that wrap within themselves. */
export function brokenWords(selector: string): readonly string[] {
  return [...document.querySelectorAll(selector)].flatMap((element) => [...element.childNodes])
    .filter(({ nodeType }) => nodeType === 3).flatMap((node) =>
      [...(node.textContent ?? '').matchAll(/[^\s-]+/g)].filter(({ 0: word, index }) => {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1;
      }).map(([word]) => word));
}

/** Returns the texts of a page whose contrast is below 4.5 to 1, and the number of checked texts. */
export function faintTexts(): { readonly count: number; readonly faint: readonly string[] } {
  const channels = (colour: string): [number, number, number, number] => {
    const numbers = (colour.match(/[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);
    const scale = colour.startsWith('color(') ? 255 : 1;
    const [red = 0, green = 0, blue = 0, alpha = 1] = numbers;
    return [red * scale, green * scale, blue * scale, alpha];
  };
  const luminance = ([red, green, blue]: readonly number[]): number => {
    const [r, g, b] = [red!, green!, blue!]
      .map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const behind = (element: Probed): readonly number[] => {
    for (let each: Probed | null = element; each !== null; each = each.parentElement) {
      const colour = channels(getComputedStyle(each).backgroundColor);
      if (colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  let count = 0;
  const faint: string[] = [];
  for (const element of document.body.querySelectorAll('*')) {
    const own = [...element.childNodes]
      .filter(({ nodeType, textContent }) => nodeType === 3 && textContent!.trim() !== '');
    if (own.length === 0 || element.getBoundingClientRect().width === 0 || element.matches('script, style')) continue;
    count += 1;
    const [light, dark] = [luminance(channels(getComputedStyle(element).color)), luminance(behind(element))]
      .toSorted((a, b) => b - a);
    const ratio = (light! + 0.05) / (dark! + 0.05);
    if (ratio < 4.5) {
      const text = own[0]!.textContent!.trim().slice(0, 30);
      faint.push(`${ratio.toFixed(2)} ${element.tagName}.${String(element.className)} “${text}”`);
    }
  }
  return { count, faint };
}

/** What a page offers to screen readers and keyboards. */
export interface Access {
  readonly headings: readonly { readonly level: number; readonly text: string }[];
  /** Tables without a name, or cells that head nothing. */
  readonly tables: readonly string[];
  /** Drawings and controls without a name. */
  readonly nameless: readonly string[];
  /** Links without a target, and duplicate ids. */
  readonly broken: readonly string[];
}

/** Returns what a page offers to screen readers and keyboards. */
export function accessOf(): Access {
  const isNamed = (element: Probed): boolean => (element.getAttribute('aria-label') ?? '').trim() !== '';
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  return {
    headings: [...document.querySelectorAll('h1, h2, h3, h4')]
      .map((heading) => ({ level: Number(heading.tagName.slice(1)), text: heading.textContent ?? '' })),
    // A chart is laid out by tables that screen readers skip.
    tables: [...document.querySelectorAll('table')].filter((table) => table.closest('[aria-hidden=true]') === null)
      .filter((table) => !isNamed(table) || table.querySelector('thead th[scope=col]') === null
        || [...table.querySelectorAll('tbody tr')].some((row) => row.querySelector('th[scope=row]') === null))
          .map(({ textContent }) => (textContent ?? '').slice(0, 40)),
    nameless: [...document.querySelectorAll('svg, [role=slider], [role=region], nav')]
      .filter((element) => !isNamed(element)).map(({ tagName, className }) => `${tagName}.${String(className)}`),
    broken: [
      ...[...document.querySelectorAll('a')].map((link) => link.getAttribute('href') ?? '')
        .filter((href) => !ids.includes(href.slice(1)) && !href.startsWith('https://')),
      ...[...document.querySelectorAll('[aria-labelledby]')].map((element) => element.getAttribute('aria-labelledby')!)
        .filter((id) => !ids.includes(id)),
      ...ids.filter((id, i) => ids.indexOf(id) !== i),
    ],
  };
}

/** Returns the text of each element that matches. */
export function textsOf(selector: string): string[] {
  return [...document.querySelectorAll(selector)].map(({ textContent }) => textContent ?? '');
}

/** Returns the printed figures by name. */
export function printedTexts(): Record<string, string> {
  return Object.fromEntries([...document.querySelectorAll('[data-figure]')].map((element) =>
    [element.getAttribute('data-figure')!, element.textContent ?? '']));
}

/** Returns the colour behind a page. */
export function groundColour(): string {
  return getComputedStyle(document.body).backgroundColor;
}
