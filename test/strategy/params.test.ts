import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { address, amount, duration, instant, pair, token } from '../../src/strategy/index.ts';
import { parseTokenAmount, withTokens } from '../../src/strategy/params.ts';
import { FISH, SOL, TOKENS, USDC } from '../market/tokens.ts';

const read = (schema: z.ZodType, text: unknown): unknown => withTokens(TOKENS, () => schema.parse(text));
const schemaError = (schema: z.ZodType, text: unknown): string => {
  const result = withTokens(TOKENS, () => schema.safeParse(text));
  return result.success ? 'accepted' : result.error.issues.map(({ message }) => message).join('; ');
};

describe('a parameter', () => {
  it('names a token, a pair, an amount, a duration', () => {
    expect(read(token(), 'SOL')).toBe(SOL);
    expect(read(pair(), 'SOL/USDC')).toEqual({ base: SOL, quote: USDC });
    expect(read(amount(), '1.5 SOL')).toEqual({ token: SOL, amount: 1_500_000_000n });
    expect(read(amount(), '1500000001 raw SOL')).toEqual({ token: SOL, amount: 1_500_000_001n });
    expect(read(amount(), '0.00001 FISH')).toEqual({ token: FISH, amount: 1n });
    expect(read(duration(), '1h30m')).toBe('1h30m');
    expect(read(address(), SOL.mint)).toBe(SOL.mint);
  });

  it('names an instant as Date does, in leap years too', () => {
    for (const text of ['1970-01-01T00:00:00Z', '2000-02-29T23:59:59Z', '2026-11-23T15:30:00Z', '2100-03-01T00:00:00Z',
      '2024-02-29T00:00:00.250Z', '1969-12-31T00:00:00Z']) {
      expect(read(instant(), text), text).toBe(Date.parse(text));
    }
  });

  it.each([
    [token(), 'USDT', 'expected one of SOL, USDC, FISH, KELP (did you mean USDC?), got "USDT"'],
    [pair(), 'SOL-USDC', 'expected two different tokens such as "SOL/USDC", got "SOL-USDC"'],
    [pair(), 'SOL/SOL', 'expected two different tokens such as "SOL/USDC", got "SOL/SOL"'],
    [pair(), 'SOL/USDC/FISH', 'expected two different tokens such as "SOL/USDC", got "SOL/USDC/FISH"'],
    [pair(), 'SOL/USDX', 'expected one of SOL, USDC, FISH, KELP (did you mean USDC?), got "SOL/USDX"'],
    [amount(), '1.5', 'expected an amount with its token such as "1.5 SOL", got "1.5"'],
    [amount(), '0.000001 FISH', 'FISH: expected at most 5 decimal places, got 6 in "0.000001"'],
    [amount(), '1e3 SOL', 'SOL: expected a decimal number such as "1.5", got "1e3"'],
    [amount(), '-1 SOL', 'SOL: expected a decimal number such as "1.5", got "-1"'],
    [amount(), '1.5 raw SOL', 'SOL: expected an integer of 0 to 18446744073709551615, got "1.5"'],
    [instant(), '2027-02-29T00:00:00Z', 'expected a time in UTC such as "2027-03-01T12:00:00Z"'],
    [instant(), '2027-03-01', 'expected a time in UTC such as "2027-03-01T12:00:00Z"'],
    [instant(), '2027-03-01T12:00:00+01:00', 'expected a time in UTC such as "2027-03-01T12:00:00Z"'],
    [address(), 'my wallet', 'expected an address in base58'],
    [address(), `${SOL.mint}0`, 'expected an address in base58'],
    [duration(), '5', 'expected a duration such as "5s", "250ms" or "1h30m", got "5"'],
  ])('says what is wrong with %#: %s', (schema, text, message) => {
    expect(schemaError(schema as z.ZodType, text)).toBe(message);
  });

  it('is text: a number in YAML is not an amount', () => {
    for (const schema of [token(), pair(), amount(), duration()]) expect(schemaError(schema, 25)).not.toBe('accepted');
  });

  it('uses the tokens of the configuration that is being parsed, and the outer ones afterwards', () => {
    const inner = withTokens(TOKENS, () => {
      withTokens({ ...TOKENS, bySymbol: () => FISH }, () => { expect(token().parse('SOL')).toBe(FISH); });
      return token().parse('SOL');
    });
    expect(inner).toBe(SOL);
    expect(() => withTokens(TOKENS, () => { throw new Error('boom'); })).toThrow('boom');
    expect(() => token().parse('SOL')).toThrow('inside withTokens');
  });
});

it('parseTokenAmount parses like the schema', () => {
  expect(parseTokenAmount('  25 USDC ', TOKENS)).toEqual({ token: USDC, amount: 25_000_000n });
  expect(parseTokenAmount('25 USDX', TOKENS)).toContain('did you mean USDC?');
});
