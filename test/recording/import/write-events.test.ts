import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeEvents } from '../../../src/recording/import/write-events.ts';
import type { MarketEvent } from '../../../src/market/event.ts';
import { buyingSol } from '../../market/events.ts';
import { TOKENS } from '../../market/tokens.ts';

const START = Date.UTC(2026, 0, 5);

const folder = mkdtempSync(join(tmpdir(), 'gannet-write-events-'));
afterAll(() => { rmSync(folder, { recursive: true }); });

describe('a failed write of events', () => {
  it.each(['on their way', 'at their end'])('leaves no folder: %s', async (when) => {
    const directory = join(folder, when);
    const events = function* (): Generator<MarketEvent> {
      yield buyingSol(125_000, START);
      // No disk need be full: nothing can be written below what is no folder.
      writeFileSync(join(directory, 'quote'), '');
      if (when === 'on their way') throw new Error('there are no more');
    };
    await expect(writeEvents(events(), {
      directory, tokens: TOKENS.all, source: { kind: 'imported', file: 'prices.csv', form: 'quotes' }, startAt: START,
      interrupt: new AbortController().signal,
    })).rejects.toMatchObject({ code: 'RECORDING_WRITE_FAILED' });
    expect(existsSync(directory)).toBe(false);
  });
});
