import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LookaheadResult } from '../../../src/backtest/lookahead.ts';
import type { Leak, LeakCause } from '../../../src/backtest/lookahead/leak.ts';
import { lookForLeaks } from '../../../src/cli/lookahead.ts';
import type { Market } from './suite.ts';
import { instance, PARAMS, prepared, strategiesIn, writeMarket } from './suite.ts';

/** Which of the spoiled futures shows it first is chance; that one of them does is not. */
const FUTURE: readonly LeakCause[] = ['noise', 'truncation', 'reversal'];
const KEPT = { poison: [...FUTURE, 'repetition'], process: 'same' } as const;
const READ = { poison: FUTURE, process: 'fresh' } as const;
const CHANGED = { poison: ['shared-state'], process: 'fresh' } as const;

interface Finding {
  readonly poison: readonly LeakCause[];
  readonly process: Leak['process'];
  /** A part of what people are told. */
  readonly says?: string;
  /** Whether it cannot even be loaded without what it should not have. */
  readonly undecided?: true;
}

/** Every planted bug with what gives it away. */
const PLANTED: Readonly<Record<string, Finding>> = {
  'another-calendar': { poison: ['clock'], process: 'fresh' },
  'asks-a-database': { poison: ['disk'], process: 'fresh', says: 'notes.sqlite' },
  'asks-a-process': { poison: ['disk'], process: 'fresh', says: 'a process (execFileSync)' },
  'asks-a-thread': { poison: ['disk'], process: 'fresh', says: 'a thread (Worker)' },
  'asks-over-http': { poison: ['network'], process: 'fresh', says: 'the network (get http://127.0.0.1:9/level)' },
  'asks-the-machine': { poison: ['environment'], process: 'fresh' },
  'back-filled-gap': KEPT,
  'centred-average': KEPT,
  'clock-in-words': { poison: ['clock'], process: 'fresh' },
  'default-language': { poison: ['locale'], process: 'fresh' },
  'default-zone': { poison: ['locale'], process: 'fresh' },
  'drawn-by-crypto': { poison: ['chance'], process: 'fresh', says: 'two runs over the same rows' },
  'environment-variable': { ...CHANGED, says: 'process.env.GANNET_HIGH' },
  'event-time': { ...READ, says: 'recording/reader.ts' },
  'exported-series': { poison: ['disk'], process: 'fresh', says: 'export.csv' },
  'fetched-at-import': { poison: ['network'], process: 'fresh', says: 'the network (fetch http://127.0.0.1:9/level)' },
  'file-of-an-earlier-run': { poison: ['disk'], process: 'fresh', says: 'notes.json' },
  'future-bar': KEPT,
  'global-variable': { ...CHANGED, says: 'globalThis.gannetHigh' },
  'imported-json': { poison: ['disk'], process: 'fresh', says: 'closes.json', undecided: true },
  'imported-module': { poison: ['disk'], process: 'fresh', says: 'data in closes.ts', undecided: true },
  'kept-beside-modules': { poison: ['repetition'], process: 'same', says: 'outside of them' },
  'kept-on-the-sdk': { ...CHANGED, says: 'interval.memory' },
  'knows-the-end': { ...READ, says: 'manifest.json' },
  'last-row': KEPT,
  'late-bar': KEPT,
  'late-timer': KEPT,
  'load-of-the-machine': { poison: ['environment'], process: 'fresh' },
  'local-hours': { poison: ['locale'], process: 'fresh', says: 'time zone' },
  'local-midnight': { poison: ['locale'], process: 'fresh' },
  'module-read-at-import': { poison: ['disk'], process: 'fresh', says: 'closes.ts' },
  'neighbours-knowledge': { poison: ['neighbours'], process: 'fresh' },
  'patched-cursor': { ...CHANGED, says: 'RecordingCursor.prototype.next' },
  'patched-prototype': { ...CHANGED, says: 'Array.prototype.at' },
  'path-of-bytes': { poison: ['disk'], process: 'fresh', says: 'export.csv' },
  'reads-the-environment': { poison: ['environment'], process: 'fresh' },
  'reads-the-recording': { ...READ, says: 'recording/reader.ts' },
  'restated-statistics': KEPT,
  'series-in-a-module': { poison: ['disk'], process: 'fresh', says: 'notes.ts' },
  'settled-result': KEPT,
  'shared-cache': KEPT,
  'sorted-by-future': KEPT,
  'stopwatch': { poison: ['clock'], process: 'fresh' },
  'unseeded-chance': { poison: ['chance'], process: 'fresh' },
  'wall-clock': { poison: ['clock'], process: 'fresh' },
  'whole-series-maximum': KEPT,
  'whole-series-mean': KEPT,
};

let market: Market;
let result: LookaheadResult;
beforeAll(async () => {
  market = await writeMarket();
  const whisperer = instance('whisperer', fileURLToPath(new URL('./clean/whisperer.ts', import.meta.url)), { ...PARAMS, dir: market.directory });
  result = await lookForLeaks(prepared(market, [...strategiesIn('planted', market), whisperer]), { times: 2, seed: 1 });
}, 300_000);
afterAll(() => { market.remove(); });

describe('a planted look-ahead bug', () => {
  it.each(Object.entries(PLANTED))('is found and named: %s', (name, { poison, process, says, undecided }) => {
    const { clean, firstLeak } = result.strategies.find((strategy) => strategy.name === name)!;
    expect(clean).toBe(false);
    expect(poison).toContain(firstLeak!.poison);
    expect(firstLeak!.process).toBe(process);
    if (says !== undefined) expect(firstLeak!.detail).toContain(says);
    if (firstLeak!.poison === 'shared-state') return;
    if (undecided) {
      expect(firstLeak).toMatchObject({ seq: null, at: null, expected: null, found: null });
      return;
    }
    // Named by the decision: its number, its time, and what was decided instead.
    expect(firstLeak!.seq).toBeGreaterThan(0);
    expect(firstLeak!.at).toBeGreaterThanOrEqual(market.firstAt);
    if (firstLeak!.from !== null) expect(firstLeak!.at).toBeLessThan(firstLeak!.from);
    expect(firstLeak!.expected ?? firstLeak!.found).toMatchObject({ strategy: name, at: firstLeak!.at });
    expect(firstLeak!.expected).not.toEqual(firstLeak!.found);
  });

  it('stands in the list above, each of them', () => {
    const files = readdirSync(new URL('./planted', import.meta.url)).filter((file) => file.endsWith('.ts')).map((file) => file.replace('.ts', ''));
    expect(files.filter((file) => !['bench', 'cache', 'whisper'].includes(file)).sort()).toEqual(Object.keys(PLANTED).sort());
  });

  it('does not taint a neighbour that does nothing wrong', () => {
    expect(result.clean).toBe(false);
    expect(result.strategies.filter(({ clean }) => clean)).toMatchObject([{ name: 'whisperer', firstLeak: undefined }]);
  });
});
