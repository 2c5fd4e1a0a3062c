import { printable } from '../core/text.ts';

// What a key looks like is the signer's to say; here it only serves to refuse one.
export { looksLikeWalletKey } from '../signer/key-shape.ts';

const KEY_RUN = /[0-9A-Za-z]{64,}|(?:\d{1,3}\s*,\s*){16,}\d{1,3}/g;

/** Returns text from a file made safe to show: no controls, nothing as long as a wallet's key, at most `limit` characters. */
export function shown(text: string, limit = 200): string {
  return printable(text.replace(KEY_RUN, '(not shown)'), limit);
}
