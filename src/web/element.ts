import { printable } from '../core/text.ts';

/** What `element` sets beside the content: attributes by their names; `false` and undefined leave one out. */
type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** The content of an element: text, which stays text, other elements, or nothing. */
export type Content = Node | string | number | null | undefined | false | readonly Content[];

const LONGEST_TEXT = 2_000;
/** Attributes that can run code or load something are set by their own functions alone. */
const SAFE_ATTRIBUTE = /^(?!on|style$|src|href|action|formaction)[a-z-]+$/;

/** Returns a new element with text and elements in it. Text from outside can neither become markup nor hide itself. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag, attributes: Attributes = {}, ...content: readonly Content[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(made, name, value);
  append(made, content);
  return made;
}

/** Returns a button that acts when it is pressed. */
export function button(
  label: Content, press: (pressed: HTMLButtonElement) => void, attributes: Attributes = {},
): HTMLButtonElement {
  const made = element('button', { type: 'button', class: 'button', ...attributes }, label);
  made.addEventListener('click', () => { press(made); });
  return made;
}

/** Returns a link to another site, which learns nothing of this page. */
export function outsideLink(address: `https://${string}`, ...content: readonly Content[]): HTMLAnchorElement {
  const made = element('a', { rel: 'noopener noreferrer', target: '_blank' }, ...content);
  made.href = address;
  return made;
}

/** Sets or removes an attribute of a kind that neither runs nor loads anything. */
function setAttribute(of: Element, name: string, value: string | number | boolean | undefined): void {
  if (!SAFE_ATTRIBUTE.test(name)) throw new Error(`the attribute ${name} is not set by this function`);
  if (value === undefined || value === false) of.removeAttribute(name);
  else of.setAttribute(name, value === true && !name.startsWith('aria-') ? '' : safeText(String(value)));
}

/** Replaces the content of an element. */
export function fill(place: Element, ...content: readonly Content[]): void {
  place.replaceChildren();
  append(place, content);
}

/** Sets the text of an element, and leaves it alone where it is the same: a selection in it stays. */
export function setText(place: Element, text: string): void {
  const safe = safeText(text);
  if (place.textContent !== safe) place.textContent = safe;
}

/** Returns an untrusted name, whose direction of writing does not affect the text around it. */
export function nameElement(name: string): HTMLElement {
  return element('bdi', {}, name);
}

/** Returns text with control characters and what changes the direction of writing as escapes. */
function safeText(text: string): string {
  return printable(text, LONGEST_TEXT);
}

function append(place: Element, content: readonly Content[]): void {
  for (const part of content) {
    if (part === null || part === undefined || part === false) continue;
    if (part instanceof Node) place.append(part);
    else if (typeof part === 'object') append(place, part);
    else place.append(safeText(String(part)));
  }
}
