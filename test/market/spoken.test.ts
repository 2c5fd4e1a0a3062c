import { describe, expect, it } from 'vitest';
import { plainMessage } from '../../src/core/text.ts';
import { withTokenNames } from '../../src/market/market-text.ts';
import type { Mint } from '../../src/market/token.ts';
import { tokenTable } from '../../src/market/token.ts';

const SOL = 'So11111111111111111111111111111111111111112';
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const OTHER = 'Ke1p7QNiWUUCQY2fCqeLKfvNXuauV8ipQsxfpnD9Xz4';
const tokens =
  tokenTable([{ symbol: 'SOL', mint: SOL as Mint, decimals: 9 }, { symbol: 'USDC', mint: USDC as Mint, decimals: 6 }]);

describe('issue 13.26: a message with the names of the configuration', () => {
  it.each([
    [`24500000 of ${USDC} offered, at least 25000000 of ${USDC} wanted`, '24.5 USDC offered, at least 25 USDC wanted'],
    [
      '1020001 lamports for signatures and priority, expected at most 1020000 lamports',
      '0.001020001 SOL for signatures and priority, expected at most 0.00102 SOL',
    ],
    [`quote:${USDC}:${SOL}:25000000 is 12s old`, 'the price of 25 USDC in SOL is 12s old'],
    [`token-stats:${SOL} has not arrived`, 'the statistics of SOL has not arrived'],
    [`swaps ${USDC} to ${SOL}`, 'swaps USDC to SOL'],
    [`5 of ${OTHER} gone`, `5 smallest units of ${OTHER} gone`],
    [`paid by ${OTHER}, 3 of 4 tries`, `paid by ${OTHER}, 3 of 4 tries`],
  ])('has the tokens of its amounts and the names of its feeds: %s', (raw, words) => {
    expect(withTokenNames(tokens, raw)).toBe(words);
  });

  it.each([
    [
      'Transaction simulation failed:\n  Error processing Instruction 2',
      'Transaction simulation failed: Error processing Instruction 2',
    ],
    ['{"jsonrpc":"2.0","error":{"code":-32602,"message":"invalid params"}}', 'invalid params'],
    ['upstream: {"errors":[{"detail":"the node is behind"}]}', 'upstream: the node is behind'],
    ['[1,2]', 'no reason given'],
    ['a set {1, 2} is no JSON', 'a set {1, 2} is no JSON'],
  ])('of another program is one line without JSON: %s', (text, words) => {
    expect(plainMessage(text)).toBe(words);
  });
});
