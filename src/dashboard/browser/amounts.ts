import type { Content } from '../../web/element.ts';
import { element, nameElement } from '../../web/element.ts';
import type { NumberUnit } from '../../web/number-text.ts';
import { exactText, numberText } from '../../web/number-text.ts';
import { momentText } from '../../web/time-text.ts';
import type { PageAmount, PageFigure } from '../page-state.ts';
import { timeElement } from './live-times.ts';
import { preferences } from './preferences.ts';
import { factList, openSheet } from './sheet.ts';

const LONGEST_SYMBOL = 12;

/** Returns a symbol of a token, cut where it is too long for its place. */
export function symbolElement(symbol: string): HTMLElement {
  const isLong = symbol.length > LONGEST_SYMBOL;
  const made = nameElement(isLong ? `${symbol.slice(0, LONGEST_SYMBOL)}…` : symbol);
  made.classList.add('unit');
  return made;
}

/** Returns an amount with its unit. */
export function amountElement({ text, symbol }: Pick<PageAmount, 'text' | 'symbol'>): HTMLElement {
  return element('span', { class: 'number' }, numberText(Number(text)), ' ', symbolElement(symbol));
}

/** Returns a profit or a loss with its sign and an arrow, so that it does not depend on its colour. */
export function changeElement({ text, symbol }: PageAmount): HTMLElement {
  return element('span', { class: `number ${toneOf(Number(text))}`.trim() }, ...signedText(Number(text)), ' ',
    symbolElement(symbol));
}

/** Returns the parts of a change: arrow, sign and number. */
export function signedText(value: number, kind: NumberUnit['kind'] = 'amount'): Content[] {
  const number = numberText(value, kind);
  if (isShownAsZero(number)) return [number];
  return [element('span', { 'class': `arrow ${value > 0 ? 'up' : 'down'}`, 'aria-hidden': true }),
    value > 0 ? `+${number}` : number];
}

/** Returns the class of a profit or a loss; none where the number is shown as zero. */
export function toneOf(value: number, kind: NumberUnit['kind'] = 'amount'): string {
  return isShownAsZero(numberText(value, kind)) ? '' : value > 0 ? 'gain' : 'loss';
}

function isShownAsZero(number: string): boolean {
  return !/[1-9]/.test(number);
}

/** Shows how a figure is computed, from what, as of when, and what it is exactly. */
export function explain(title: string, { amount, explanation, as_of: at, is_known: isKnown }: PageFigure): void {
  openSheet(
    title, element('p', {}, explanation),
    !isKnown && element('p', { class: 'notice' }, 'Not every input has a fresh price: this is the last known figure.'),
    factList([...exactFacts(amount), ['As of', [momentText(at, preferences.zone), ' (', timeElement(at), ')']]]),
  );
}

/** Returns the exact amount of a token, in its own unit and in its smallest one. */
export function exactFacts({ text, symbol, units, mint, decimals }: PageAmount): [string, Content][] {
  return [
    ['Exactly', [element('span', { class: 'number' }, exactText(text)), ' ', nameElement(symbol)]],
    ['Smallest units', `${exactText(units)}${decimals === null ? '' : ` (${decimals} decimals)`}`],
    ['Mint', element('code', {}, mint)],
  ];
}

/** Returns an amount that explains itself when it is pressed. */
export function figureButton(title: string, figure: PageFigure, isChange: boolean, key: string): HTMLElement {
  const made = element('button', { 'type': 'button', 'class': `figure${figure.is_known ? '' : ' old'}`,
    'data-key': key }, isChange ? changeElement(figure.amount) : amountElement(figure.amount));
  made.addEventListener('click', () => { explain(title, figure); });
  return made;
}
