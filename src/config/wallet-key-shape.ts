import { printable } from '../core/text.ts';
import { withoutKeyRuns } from '../signer/key-shape.ts';

// What a key looks like is the signer's to say; here it only serves to refuse one.
export { looksLikeWalletKey } from '../signer/key-shape.ts';

/** Returns text from a file made safe to show: no controls, nothing that may be a part of a wallet's key, at most `limit` characters. */
export function shown(text: string, limit = 200): string {
  return printable(withoutKeyRuns(text, '(not shown)'), limit);
}
