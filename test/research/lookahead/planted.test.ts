import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { LookaheadResult } from '../../../src/research/lookahead/lookahead.ts';
import type { Leak } from '../../../src/research/lookahead/leak.ts';
import { findLeaks } from '../../../src/research/lookahead/find-leaks.ts';
import type { Market } from './suite.ts';
import { instance, PARAMS, prepared, strategiesIn, writeMarket } from './suite.ts';

/** Which of the spoiled futures shows it first is chance; that one of them does is not. */
const FUTURE: readonly Leak['cause'][] = ['noise', 'truncation', 'reversal'];
const KEPT = { cause: [...FUTURE, 'repetition'], process: 'same' } as const;
const CHANGED = { cause: ['shared-state'], process: 'fresh' } as const;

interface Finding {
  readonly cause: readonly Leak['cause'][];
  readonly process: Leak['process'];
  /** A part of what people are told. */
  readonly says?: string;
  /** Whether it cannot even be loaded without what it should not have. */
  readonly undecided?: true;
}

/** Every planted bug with what gives it away. */
const PLANTED: Readonly<Record<string, Finding>> = {
  'another-calendar': { cause: ['clock'], process: 'fresh' },
  'asks-over-http': { cause: ['network'], process: 'fresh', says: 'the network (get http://127.0.0.1:9/level)' },
  'asks-the-machine': { cause: ['environment'], process: 'fresh' },
  'back-filled-gap': KEPT,
  'centred-average': KEPT,
  'clock-in-words': { cause: ['clock'], process: 'fresh' },
  'default-language': { cause: ['locale'], process: 'fresh' },
  'default-zone': { cause: ['locale'], process: 'fresh' },
  'drawn-by-crypto': { cause: ['chance'], process: 'fresh', says: 'two runs over the same rows' },
  'environment-variable': { ...CHANGED, says: 'process.env.GANNET_HIGH' },
  'even-folder': { cause: ['environment'], process: 'fresh' },
  'even-path': { cause: ['environment'], process: 'fresh' },
  'even-variables': { cause: ['environment'], process: 'fresh' },
  'asks-the-terminal': { cause: ['environment'], process: 'fresh' },
  'exported-series': { cause: ['disk'], process: 'fresh', says: 'export.csv' },
  'fetched-at-import': { cause: ['network'], process: 'fresh', says: 'the network (fetch http://127.0.0.1:9/level)' },
  'file-of-an-earlier-run': { cause: ['disk'], process: 'fresh', says: 'notes.json' },
  'future-bar': KEPT,
  'global-variable': { ...CHANGED, says: 'globalThis.gannetHigh' },
  'imported-json': { cause: ['disk'], process: 'fresh', says: 'closes.json', undecided: true },
  'imported-module': { cause: ['disk'], process: 'fresh', says: 'data in closes.ts', undecided: true },
  'kept-beside-modules': { cause: ['repetition'], process: 'same', says: 'outside of them' },
  'kept-on-the-sdk': { ...CHANGED, says: 'interval.memory' },
  'knows-the-end': { cause: ['disk'], process: 'fresh', says: 'manifest.json' },
  'last-row': KEPT,
  'late-bar': KEPT,
  'late-timer': KEPT,
  'load-of-the-machine': { cause: ['environment'], process: 'fresh' },
  'local-hours': { cause: ['locale'], process: 'fresh', says: 'time zone' },
  'local-midnight': { cause: ['locale'], process: 'fresh' },
  'module-read-at-import': { cause: ['disk'], process: 'fresh', says: 'closes.ts' },
  'neighbours-knowledge': { cause: ['neighbours'], process: 'fresh' },
  'patched-cursor': { ...CHANGED, says: 'RecordingCursor.prototype.next' },
  'patched-prototype': { ...CHANGED, says: 'Array.prototype.at' },
  'path-of-bytes': { cause: ['disk'], process: 'fresh', says: 'export.csv' },
  'reads-the-environment': { cause: ['environment'], process: 'fresh' },
  'restated-statistics': KEPT,
  'series-in-a-module': { cause: ['disk'], process: 'fresh', says: 'notes.ts' },
  'settled-result': KEPT,
  'shared-cache': KEPT,
  'sorted-by-future': KEPT,
  'stopwatch': { cause: ['clock'], process: 'fresh' },
  'unseeded-chance': { cause: ['chance'], process: 'fresh' },
  'wall-clock': { cause: ['clock'], process: 'fresh' },
  'whole-series-maximum': KEPT,
  'whole-series-mean': KEPT,
};

let market: Market;
let result: LookaheadResult;
beforeAll(async () => {
  market = await writeMarket();
  // An even length and an even number: as with no variable at all.
  const path = process.env['PATH'] ?? '';
  vi.stubEnv('PATH', path.length % 2 === 0 ? path : `${path}:`);
  if (Object.keys(process.env).length % 2 === 1) vi.stubEnv('GANNET_ONE_MORE', '1');
  const whisperer = instance(
    'whisperer', fileURLToPath(new URL('./clean/whisperer.ts', import.meta.url)), { ...PARAMS, dir: market.directory },
  );
  result = await findLeaks(prepared(market, [...strategiesIn('planted', market), whisperer]), { times: 2, seed: 1 });
}, 300_000);
afterAll(() => {
  vi.unstubAllEnvs();
  market.remove();
});

describe('a planted look-ahead bug', () => {
  it.each(Object.entries(PLANTED))('is found with its cause: %s', (name, { cause, process, says, undecided }) => {
    const { clean, firstLeak } = result.strategies.find((strategy) => strategy.name === name)!;
    expect(clean).toBe(false);
    expect(cause).toContain(firstLeak!.cause);
    expect(firstLeak!.process).toBe(process);
    if (says !== undefined) expect(firstLeak!.detail).toContain(says);
    if (firstLeak!.cause === 'shared-state') return;
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

  it('is listed above, for every planted file', () => {
    const files = readdirSync(new URL('./planted', import.meta.url))
      .filter((file) => file.endsWith('.ts')).map((file) => file.replace('.ts', ''));
    expect(files.filter((file) => !['harness', 'cache', 'whisper'].includes(file)).sort())
      .toEqual(Object.keys(PLANTED).sort());
  });

  it('does not implicate a correct neighbour', () => {
    expect(result.clean).toBe(false);
    expect(result.strategies.filter(({ clean }) => clean)).toMatchObject([{ name: 'whisperer', firstLeak: undefined }]);
  });
});
