import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { weaknessOf } from '../../src/core/secret-strength.ts';

const TEXTS = 1_000;

/** Texts of random bytes, the same ones in every run. */
function randomTexts(bytes: number, textOf: (bytes: Buffer) => string): string[] {
  return Array.from({ length: TEXTS }, (_, index) =>
    textOf(createHash('shake256', { outputLength: bytes }).update(`secret ${index}`).digest()));
}

describe('a secret of the environment', () => {
  it.each([
    ['openssl rand -hex 16', 16, (bytes: Buffer) => bytes.toString('hex')],
    ['openssl rand -hex 32', 32, (bytes: Buffer) => bytes.toString('hex').toUpperCase()],
    ['openssl rand -base64 18', 18, (bytes: Buffer) => bytes.toString('base64')],
    ['22 characters of base64url', 17, (bytes: Buffer) => bytes.toString('base64url').slice(0, 22)],
    ['32 bytes as base64url', 32, (bytes: Buffer) => bytes.toString('base64url')],
    ['26 characters of base32', 26, (bytes: Buffer) =>
      Array.from(bytes, (byte) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[byte % 32]).join('')],
  ])('is accepted where it is random: %s', (_name, bytes, textOf) => {
    const refused = randomTexts(bytes, textOf).filter((text) => weaknessOf(text) !== undefined);
    expect(refused.length, refused.join(' ')).toBeLessThanOrEqual(TEXTS / 200);
  });

  it.each([
    ['x', /1 character can hold 4 bits at most/],
    ['', /0 characters can hold 0 bits/],
    ['correct-horse', /13 characters can hold \d+ bits/],
    ['0123456789abcdef0123456789abcde', /31 characters can hold 124 bits at most/],
    ['8392017465820193746582', /22 characters can hold 73 bits at most/],
    ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', /only 1 different character/],
    ['0'.repeat(64), /only 1 different character/],
    ['ababababababABABABABababababab', /only 4 different characters/],
    ['0123456789abcdef0123456789abcdef', /repeats itself/],
    ['Zk3vQ8wX'.repeat(4), /repeats itself/],
    ['abcdefghijklmnopqrstuvwxyz123456', /repeats itself, or follows the alphabet/],
    ['qwertyuiopasdfghjklzxcvbnm1234', /row of the keyboard/],
    ['ZYXWVUTSRQPONMLKJIHGFEDCBA98765', /follows the alphabet/],
    ['correct-horse-battery-staple-trading', /words/],
    ['TheOperatorOfThisTradingStation2026', /words/],
    ['f81d4fae-7dec-41d0-a765-00a0c91e6bf6', /UUID/],
    ['Zk3vQ8wXp1Lm9Rt5Yb7Nc2 4', /blanks/],
    ['Zk3vQ8wXp1Lm9Rt5Yb7Nc2é', /not ASCII/],
  ])('is refused where it is weak: %s', (secret, reason) => {
    expect(weaknessOf(secret)).toMatch(reason);
  });

  it('is refused where a request could not carry it', () => {
    const [long] = randomTexts(400, (bytes) => bytes.toString('base64url'));
    expect(weaknessOf(long!)).toMatch(/more than 512 characters/);
    for (const end of ['\n', '\u0000', '\u200b'])
      expect(weaknessOf(`Zk3vQ8wXp1Lm9Rt5Yb7Nc2${end}`)).toMatch(/not ASCII/);
  });

  it('never appears in the reason', () => {
    for (const secret of ['swordfish', 'swordfish'.repeat(5), 'my swordfish is a very long secret indeed'])
      expect(weaknessOf(secret)).not.toContain('swordfish');
  });
});
