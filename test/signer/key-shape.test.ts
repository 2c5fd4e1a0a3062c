import { createHash } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { holdsKeyRun, withoutKeyRuns } from '../../src/signer/key-shape.ts';

const MARK = '(not shown)';
const FORMS: Readonly<Record<string, (bytes: Buffer) => string>> = {
  'base58': (bytes) => bs58.encode(bytes),
  'hex': (bytes) => bytes.toString('hex'),
  'hex of the seed, in capitals': (bytes) => bytes.toString('hex', 0, 32).toUpperCase(),
  'base64': (bytes) => bytes.toString('base64'),
  'base64url of the seed': (bytes) => bytes.toString('base64url', 0, 32),
  'numbers': (bytes) => JSON.stringify([...bytes]),
  'numbers, one a line': (bytes) => [...bytes].join(',\n'),
  'base58, character by character': (bytes) => bs58.encode(bytes).split('').join(' '),
  'base58, with invisible characters between': (bytes) => bs58.encode(bytes).split('').join('\u200b'),
};
// As likely as any other: few of them resemble words, and which ones is the same each time.
const keys = fc.nat()
  .map((number) => Buffer.from(Keypair.fromSeed(createHash('sha256').update(`key ${number}`).digest()).secretKey));

describe('withoutKeyRuns removes a wallet’s key', () => {
  test.each(Object.entries(FORMS))('in %s, with any text around it', (_, form) => {
    fc.assert(fc.property(keys, (key) => {
      const text = form(key);
      expect(holdsKeyRun(`key=${text}`)).toBe(true);
      const shown = withoutKeyRuns(`expected text, got "${text}" here`, MARK);
      expect(shown).toMatch(/^expected text, got "\S{0,15}(?:\(not shown\)|…).* here$/s);
      for (let at = 0; at + 16 <= text.length; at++) expect(shown).not.toContain(text.slice(at, at + 16));
    }), { numRuns: 100, seed: 1 });
  });

  test.each(Object.entries(FORMS).slice(0, 5))('in %s, cut off or interrupted', (_, form) => {
    fc.assert(fc.property(keys, fc.integer({ min: 30, max: 42 }), fc.constantFrom('', '~', '\u0012', '.', '-', '0'),
      fc.nat({ max: 14 }), (key, length, inserted, at) => {
        const cut = form(key).slice(0, length);
        const garbled = `${cut.slice(0, at)}${inserted}${cut.slice(at)}`;
        const shown = withoutKeyRuns(`got "${garbled}"`, MARK);
        for (let from = 0; from + 16 <= cut.length; from++) expect(shown).not.toContain(cut.slice(from, from + 16));
      }), { numRuns: 200, seed: 1 });
  });

  test('also where its rest has the form of an address', () => {
    expect(withoutKeyRuns('got "3wCFUy56xdV5g6T\u009az3MYdEYWzh6k78cnYDpwPRZ34Sw9kiU7LoGnYuJuYWp"', MARK))
      .toBe(`got "3wCFUy56xdV5g6T\u009a${MARK}"`);
  });
});

describe('withoutKeyRuns keeps readable text', () => {
  test.each([
    'wallet.address: expected a base58 address of 32 bytes, got "WALLET"',
    'unknown token "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"; '
      + 'known are So11111111111111111111111111111111111111112, USDC',
    '/home/someone/.config/gannet/wallet-of-the-trading-bot.json',
    '/tmp/gannet-e2e-NRXnA4/input-live.yaml:5:17 strategies[0].params.max_age',
    'https://swap.example/v2/an/address/with/many/parts', 'GANNET_CONTROL_TOKEN', 'my_second_wallet_key_2',
    'someStrategyWithLongName', 'SERVICE_RATE_LIMITED',
    '18446744073709551615', 'state/recordings/2026-11-21T22-55-00-000Z', 'expected 1, 2, 3, 4, 5 or 6',
  ])('%s', (text) => {
    expect(withoutKeyRuns(text, MARK)).toBe(text);
  });

  test('shortens an address to its ends, since it might be a seed', () => {
    expect(withoutKeyRuns('no such mint: Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij.', MARK))
      .toBe('no such mint: Pear99…zfZfij.');
  });

  test('but holdsKeyRun refuses an address as a name', () => {
    expect(holdsKeyRun('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')).toBe(true);
    expect(holdsKeyRun('GANNET_WALLET_KEY')).toBe(false);
    expect(holdsKeyRun('/home/someone/.config/solana/id.json')).toBe(false);
  });
});

test.each([
  '1 ', '1,', 'a', 'aA', 'a-', 'abC', 'Q7',
])('a text of many "%s" is read in time that grows with it', (piece) => {
  const before = process.cpuUsage();
  withoutKeyRuns(piece.repeat(200_000), MARK);
  // Some hundredths of a second; were it to grow with the square, minutes.
  expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
});
