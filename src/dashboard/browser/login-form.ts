import { element, fill } from '../../web/element.ts';
import type { PageApi } from './page-api.ts';
import { logIn } from './page-api.ts';
import { messageOf } from './sheet.ts';

/** Returns the form that asks for the token. `entered` gets the API of the session. */
export function loginForm(entered: (api: PageApi) => void, said = ''): HTMLElement {
  const token = element('input', { 'class': 'field wide', 'type': 'password', 'name': 'token', 'required': true,
    'autocomplete': 'current-password', 'spellcheck': 'false' });
  const fault = element('p', { class: 'fault', role: 'alert' }, said);
  const send = element('button', { class: 'button primary', type: 'submit' }, 'Log in');
  const form = element('form', { class: 'form login' },
    element('h1', {}, 'Gannet'),
    element('label', { class: 'form-field' }, 'Token', token), fault, send,
    element('p', { class: 'soft' }, 'The token is GANNET_CONTROL_TOKEN of the daemon. Or open the login link that the '
      + 'daemon prints at its start; ', element('code', {}, 'gannet page'), ' prints a new one.'));
  const submit = async (): Promise<void> => {
    send.disabled = true;
    fill(fault);
    try {
      entered(await logIn({ token: token.value.trim() }));
    } catch (error) {
      fill(fault, `${messageOf(error)}.`);
      token.select();
    } finally {
      send.disabled = false;
    }
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit();
  });
  return form;
}

/** Logs in by the code of a login link, and takes the code out of the address; undefined without a code. */
export async function logInByLink(): Promise<PageApi | undefined> {
  const code = /^#login=([\w.~-]+)$/.exec(location.hash)?.[1];
  if (code === undefined) return undefined;
  history.replaceState(null, '', location.pathname);
  return logIn({ code });
}
