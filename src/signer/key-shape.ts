import bs58 from 'bs58';
import { isGannetError } from '../core/errors.ts';
import { parseSecretKey } from './key.ts';

const KEYPAIR_BYTES = 64;
const HEX_KEYPAIR = /^(?:0x)?[0-9a-fA-F]{128}$/;
const NUMBERS = /^\[?\s*(?:\d{1,3}\s*,\s*){31,}\d{1,3}\s*,?\s*\]?$/;

/** Returns whether a text is a wallet's secret key in one of the usual forms: base58 or hex of 64 bytes, or a list of numbers. */
export function looksLikeWalletKey(text: string): boolean {
  const trimmed = text.trim();
  if (HEX_KEYPAIR.test(trimmed) || NUMBERS.test(trimmed)) return true;
  return trimmed.length >= KEYPAIR_BYTES && trimmed.length <= 100 && bs58.decodeUnsafe(trimmed)?.length === KEYPAIR_BYTES;
}

/**
 * Returns whether a text is a wallet's secret key and not only as long as one: 64 bytes in hex are as likely a token that
 * somebody drew at random, unless their second half is the public key of the first.
 */
export function isWalletKey(text: string): boolean {
  const trimmed = text.trim();
  if (!HEX_KEYPAIR.test(trimmed)) return looksLikeWalletKey(trimmed);
  try {
    parseSecretKey(bs58.encode(Buffer.from(trimmed.replace(/^0x/, ''), 'hex')));
    return true;
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return false;
  }
}
