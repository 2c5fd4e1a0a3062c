import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { map, NEVER, of, type Observable } from 'rxjs';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { watchThrows } from '../../src/backtest/throw-locations.ts';
import { parseDuration } from '../../src/core/time.ts';
import type { StrategyContext } from '../../src/strategy/context.ts';
import { defineStrategy } from '../../src/strategy/index.ts';
import type { Proposal } from '../../src/trading/proposal.ts';

const folder = mkdtempSync(join(tmpdir(), 'gannet-throws-'));
afterAll(() => { rmSync(folder, { recursive: true }); });

/** The context of a strategy, which these strategies do not use. */
const GIVEN = [{}, {}, {} as StrategyContext] as const;

/** Runs a strategy, and returns where it threw, and what it emitted. */
function thrownBy(
  run: () => Observable<Proposal>,
): { readonly place: string | undefined; readonly error: unknown; readonly proposals: readonly Proposal[] } {
  const strategy =
    defineStrategy({ name: 'dip', summary: 'Throws.', params: z.strictObject({}), inputs: () => ({}), run });
  const { strategies, thrownAt } = watchThrows([{ name: 'own', strategy, params: {} }]);
  const proposals: Proposal[] = [];
  let failure: unknown;
  try {
    strategies[0]!.strategy.run(...GIVEN).subscribe({
      next: (proposal) => { proposals.push(proposal); }, error: (error: unknown) => { failure = error; },
    });
  } catch (error) {
    failure = error;
  }
  return { place: thrownAt('own'), error: failure, proposals };
}

describe('the location where a strategy threw', () => {
  it('is in its own file, for a direct throw and for an error of its stream, and the error is unchanged', () => {
    const fault = new Error('the sky fell');
    const alert = { kind: 'alert', level: 'info', message: 'as ever' } as const;
    expect(thrownBy(() => { throw fault; }))
      .toMatchObject({ place: expect.stringMatching(/^throw-locations\.test\.ts:\d+:\d+$/), error: fault });
    expect(thrownBy(() => of(1, 2).pipe(map((n) => { if (n === 2) throw fault; return alert; })))).toMatchObject({
      place: expect.stringMatching(/^throw-locations\.test\.ts:\d+:\d+$/), error: fault, proposals: [alert],
    });
  });

  it('is the call in its own file where the project or a package threw', () => {
    expect(thrownBy(() => { parseDuration('soon'); return NEVER; }).place).toMatch(/^throw-locations\.test\.ts:/);
    expect(thrownBy(() => of(1).pipe(map(() => z.never().parse(1)))).place).toMatch(/^throw-locations\.test\.ts:/);
  });

  it('is found for a file at any path', async () => {
    const file = join(folder, 'own (copy).ts');
    writeFileSync(file, '\nexport function fall(): never {\n  throw new Error("down");\n}\n');
    const { fall } = await import(pathToFileURL(file).href) as { readonly fall: () => never };
    expect(thrownBy(() => fall()).place).toMatch(/^own \(copy\)\.ts:3:\d+$/);
  });

  it('is unknown where nothing was thrown, or an error without a stack', () => {
    expect(thrownBy(() => NEVER)).toEqual({ place: undefined, error: undefined, proposals: [] });
    expect(thrownBy(() => { throw 'down' as unknown as Error; })).toMatchObject({ place: undefined, error: 'down' });
    expect(thrownBy(() => undefined as unknown as Observable<Proposal>).error).toBeInstanceOf(TypeError);
  });
});
