import { printable } from '../core/text.ts';
import { withoutKeyRuns } from '../signer/key-shape.ts';

// The signer defines the form of a key; the configuration only refuses one.
export { hasWalletKeyForm } from '../signer/key-shape.ts';

/**
 * Returns text from a file made safe to show: no controls, nothing that may be a part of a wallet's key, at most
 * `limit` characters.
 */
export function shown(text: string, limit = 200): string {
  return printable(withoutKeyRuns(text, '(not shown)'), limit);
}
