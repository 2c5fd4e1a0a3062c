import { interpolate } from '../config/interpolate.ts';
import { isGannetError } from '../core/errors.ts';
import { memberOf, textOf, yamlRoot } from './yaml-reading.ts';

/**
 * Returns what `wallet.key_from` of a configuration comes to once it is read for real: escapes, aliases and variables
 * followed. Undefined where there is none, or where it cannot be read: then nobody signs by it either.
 */
export function keySourceOf(text: string, environment: Readonly<Record<string, string | undefined>>): string | undefined {
  try {
    const root = yamlRoot('', text);
    const wallet = memberOf({ ...root, node: interpolate(root.node, environment).root }, 'wallet');
    return wallet === undefined ? undefined : textOf(memberOf(wallet, 'key_from'));
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return undefined;
  }
}
