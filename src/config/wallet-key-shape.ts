import bs58 from 'bs58';
import { printable } from '../core/text.ts';

const KEYPAIR_BYTES = 64;
const HEX_KEYPAIR = /^(?:0x)?[0-9a-fA-F]{128}$/;
const NUMBERS = /^\[?\s*(?:\d{1,3}\s*,\s*){31,}\d{1,3}\s*,?\s*\]?$/;
const KEY_RUN = /[0-9A-Za-z]{64,}|(?:\d{1,3}\s*,\s*){16,}\d{1,3}/g;

/** Returns whether a text is a wallet's secret key in one of the usual forms: base58 or hex of 64 bytes, or a list of numbers. */
export function looksLikeWalletKey(text: string): boolean {
  const trimmed = text.trim();
  if (HEX_KEYPAIR.test(trimmed) || NUMBERS.test(trimmed)) return true;
  return trimmed.length <= 100 && bs58.decodeUnsafe(trimmed)?.length === KEYPAIR_BYTES;
}

/** Returns text from a file made safe to show: no controls, nothing as long as a wallet's key, at most `limit` characters. */
export function shown(text: string, limit = 200): string {
  return printable(text.replace(KEY_RUN, '(not shown)'), limit);
}
