import type { Content } from '../../web/element.ts';
import { button, element, fill, nameElement } from '../../web/element.ts';
import { clockText, momentText } from '../../web/time-text.ts';
import type { PageSwap } from '../page-state.ts';
import { amountElement, exactFacts } from './amounts.ts';
import { timeElement } from './live-times.ts';
import type { PageApi } from './page-api.ts';
import { preferences } from './preferences.ts';
import { factList, messageOf, openSheet } from './sheet.ts';

const END_WORDS: Readonly<Record<string, string>> =
  { failed: 'failed', expired: 'expired', abandoned: 'abandoned', unknown: 'outcome unknown' };

/** Returns how far a swap has come: one mark for each step, and the step that it has reached in words. */
export function swapProgress({ steps, state, is_open: isOpen, attempt }: PageSwap): HTMLElement {
  const reached = steps.findLastIndex(({ at }) => at !== null);
  const last = steps[reached];
  const end = END_WORDS[state];
  const word = end ?? (last === undefined ? state : last.name);
  return element('span', { class: `progress${end === undefined ? '' : ' is-off'}${isOpen ? ' is-open' : ''}` },
    element('span', { 'class': 'marks', 'aria-hidden': true }, steps.map(({ at }, i) =>
      element('i', { class: at !== null ? 'done' : i === reached + 1 && isOpen ? 'next' : '' }))),
    element('span', {}, attempt > 1 ? `${word}, attempt ${attempt}` : word));
}

/** Opens the whole course of a swap. */
export function openSwap(swap: PageSwap, resolve: (() => void) | undefined): void {
  const { steps, pays, quoted, received, strategy, reason, router, signature, code, cause, intent_id: id } = swap;
  const sheet = openSheet(
    `${swap.purpose === 'entry' ? 'Buy' : 'Sale'}: ${pays.symbol} for ${swap.buys}`,
    element('ol', { class: 'steps' }, steps.map(({ name, at, detail }) => element('li',
      { class: at === null ? 'to-come' : 'done' },
      element('span', { class: 'step-name' }, name),
      element('span', { class: 'number' }, at === null ? '' : clockText(at, preferences.zone)),
      element('span', { class: 'soft' }, detail)))),
    (code !== null || cause !== null) && element('p', { class: 'notice' }, [code, cause].filter(Boolean).join(': ')),
    factList([
      ['State', swap.state], ['Strategy', nameElement(strategy)], ['Reason', reason],
      ['Pays', amountElement(pays)],
      ...quoted === null ? [] : [['Quoted', amountElement(quoted)] as [string, Content]],
      ...received === null ? [] : [['Received', amountElement(received)] as [string, Content],
        ...exactFacts(received).slice(0, 2)],
      ...router === null ? [] : [['Router', router] as [string, Content]],
      ['Attempt', swap.attempt], ['Begun', [momentText(swap.created_at, preferences.zone), ' (',
        timeElement(swap.created_at), ')']],
      ...signature === null ? [] : [['Signature', element('code', {}, signature)] as [string, Content]],
      ['Intent', element('code', {}, id)],
    ]),
    resolve !== undefined && element('div', { class: 'sheet-actions' }, button('Resolve…', () => {
      sheet.close();
      resolve();
    }, { class: 'button primary' })),
  );
}

const WAYS = [
  ['landed', 'It landed', 'Gannet reads the amounts from the chain by the signature, and books them.'],
  ['expired', 'It expired', 'It was never on the chain and can no longer land. Its input is unlocked.'],
  ['failed', 'It failed on the chain', 'The chain holds it with an error. Only fees were paid. Its input is unlocked.'],
  ['abandoned', 'It was never sent', 'It never left this machine. Its input is unlocked.'],
] as const;

/** Asks how a swap with an unknown outcome ended, and says so to the daemon, which checks it against the chain. */
export function resolveSwap(
  intentId: string, swap: PageSwap | undefined, api: PageApi, said: (text: string) => void,
): void {
  const signature = element('input', { 'class': 'field wide', 'name': 'signature', 'autocomplete': 'off',
    'spellcheck': 'false', 'value': swap?.signature ?? '' });
  const signatureField = element('label', { class: 'form-field' }, 'Signature of the transaction', signature);
  const reason = element('input', { 'class': 'field wide', 'name': 'reason', 'maxlength': 300, 'required': true,
    'autocomplete': 'off' });
  const fault = element('p', { class: 'fault', role: 'alert' });
  const send = element('button', { class: 'button primary', type: 'submit' }, 'Resolve');
  let way: (typeof WAYS)[number][0] = 'landed';
  const choices = WAYS.map(([value, label, effect], i) => {
    const input = element('input', { type: 'radio', name: 'way', value, checked: i === 0 });
    input.addEventListener('change', () => {
      way = value;
      signatureField.hidden = way !== 'landed';
    });
    return element('label', { class: 'form-choice' }, input,
      element('span', {}, element('b', {}, label), element('span', { class: 'soft' }, effect)));
  });
  const form = element('form', { class: 'form' },
    element('p', {}, 'Check the transaction in an explorer of the chain before you answer.'),
    swap !== undefined && factList([['Pays', amountElement(swap.pays)], ['Begun', timeElement(swap.created_at)],
      ['Intent', element('code', {}, intentId)]]),
    element('fieldset', {}, element('legend', {}, 'How did it end?'), choices), signatureField,
    element('label', { class: 'form-field' }, 'How you know it (goes into the log)', reason), fault,
    element('div', { class: 'sheet-actions' }, send));
  const sheet = openSheet('Resolve a swap', form);
  const submit = async (): Promise<void> => {
    send.disabled = true;
    fill(fault);
    try {
      await api.post(`/api/intents/${encodeURIComponent(intentId)}/resolve`, {
        as: way, reason: reason.value.trim(), ...way === 'landed' ? { signature: signature.value.trim() } : {},
      });
      sheet.close();
      said(`The swap is resolved as ${way}.`);
    } catch (error) {
      fill(fault, messageOf(error));
      send.disabled = false;
    }
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit();
  });
}
