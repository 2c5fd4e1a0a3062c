import { NEVER } from 'rxjs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { isStrategy } from '../../src/strategy/define.ts';
import { defineStrategy } from '../../src/strategy/index.ts';

const definition = (name: string) =>
  ({ name, summary: 'x', params: z.strictObject({}), inputs: () => ({}), run: () => NEVER });

it('isStrategy accepts only results of defineStrategy', () => {
  expect(isStrategy(defineStrategy(definition('mean-reversion')))).toBe(true);
  for (const other of [definition('mean-reversion'), null, undefined, 'dca', {}]) expect(isStrategy(other)).toBe(false);
});

it('refuses names that do not fit files, intents or logs', () => {
  for (const name of ['', 'Dca', 'my_strategy', '-x', '9lives', 'a b', 'a'.repeat(64), '../x']) {
    expect(() => defineStrategy(definition(name)), name)
      .toThrow(expect.objectContaining({ code: 'STRATEGY_INVALID' }) as Error);
  }
});
