import type { Content } from '../../web/element.ts';
import { button, element, fill } from '../../web/element.ts';

/** A sheet over the page: an explanation, the course of a swap, a confirmation. */
interface Sheet {
  readonly dialog: HTMLDialogElement;
  readonly body: HTMLElement;
  close(): void;
}

/** Opens a sheet with a title. Escape, a press beside it and its button close it; then its opener has the focus. */
export function openSheet(title: string, ...content: readonly Content[]): Sheet {
  const body = element('div', { class: 'sheet-body' }, ...content);
  const heading = element('h2', { id: 'sheet-title', tabindex: -1 }, title);
  const dialog = element('dialog', { 'class': 'sheet', 'aria-labelledby': 'sheet-title' },
    element('div', { class: 'sheet-head' }, heading,
      button('Close', () => { dialog.close(); }, { class: 'button quiet' })),
    body);
  dialog.addEventListener('close', () => { dialog.remove(); });
  dialog.addEventListener('click', ({ target }) => { if (target === dialog) dialog.close(); });
  document.body.append(dialog);
  dialog.showModal();
  heading.focus();
  return { dialog, body, close: () => { dialog.close(); } };
}

/** Returns names and their values, one below the other. */
export function factList(facts: readonly (readonly [name: string, value: Content])[]): HTMLElement {
  return element('dl', { class: 'facts' }, facts.map(([name, value]) =>
    element('div', {}, element('dt', {}, name), element('dd', {}, value))));
}

/**
 * Asks before an action. `describe` says first what will happen; the action can be carried out once that is known. What
 * goes wrong is said in the sheet.
 */
export function confirmAction({ title, label, describe, act }: {
  readonly title: string;
  readonly label: string;
  readonly describe: () => Promise<Content> | Content;
  readonly act: () => Promise<void>;
}): void {
  const what = element('div', { 'class': 'what', 'aria-live': 'polite' }, 'Asking the daemon what would happen…');
  const fault = element('p', { class: 'fault', role: 'alert' });
  const go = button(label, () => { void carryOut(); }, { class: 'button primary' });
  go.disabled = true;
  const sheet = openSheet(title, what, fault, element('div', { class: 'sheet-actions' },
    button('Cancel', () => { sheet.close(); }), go));
  const carryOut = async (): Promise<void> => {
    go.disabled = true;
    fill(fault);
    try {
      await act();
      sheet.close();
    } catch (error) {
      fill(fault, messageOf(error));
      go.disabled = false;
    }
  };
  const prepare = async (): Promise<void> => {
    try {
      fill(what, await describe());
      go.disabled = false;
    } catch (error) {
      fill(what, 'What would happen is not known.');
      fill(fault, messageOf(error));
    }
  };
  void prepare();
}

/** Returns what went wrong, for people. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
