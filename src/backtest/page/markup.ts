import { printable } from '../../core/text.ts';

/** A piece of a page in which nothing is left to be escaped. */
export interface Markup {
  readonly markup: string;
}

type Part = Markup | string | number | null | undefined | false | readonly Part[];

/** Returns a piece of a page from a template. Whatever is put into it is text, and escaped, unless it is a piece itself. */
export function markup(template: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { markup: template.map((text, i) => text + (i < parts.length ? textOf(parts[i]) : '')).join('') };
}

/** Returns what the project itself has put together as a piece of a page. Nothing from outside may be in it. */
export function trusted(text: string): Markup {
  return { markup: text };
}

/** Returns data as JSON that no page mistakes for its own: the same document, without a character that could end an element. */
export function jsonInPage(value: unknown): Markup {
  return { markup: JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`) };
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function textOf(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'object') return 'markup' in part ? part.markup : part.map(textOf).join('');
  return printable(String(part), Infinity).replace(/[&<>"']/g, (char) => ENTITIES[char]!);
}
