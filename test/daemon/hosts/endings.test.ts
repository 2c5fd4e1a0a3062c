import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StrategyHosts } from '../../../src/daemon/hosts/host-generations.ts';
import type { ApartStrategy } from '../../../src/engine/host/strategy-call.ts';
import { begin, hosts, loadDeed, show, told } from './hosts-fixture.ts';

const LINE = /^misbehaving\.ts:\d+:\d+$/;
/** Where no line is known. */
const FILE = /^misbehaving\.ts/;

/** What each deed ends with. */
const ENDINGS: Readonly<Record<string, { readonly code: string; readonly reason: RegExp; readonly place?: RegExp }>> = {
  loop: {
    code: 'STRATEGY_TIMEOUT', reason: /longer than 250 ms for one call \(an event of its input 1, quote\)/, place: LINE,
  },
  expression: { code: 'STRATEGY_TIMEOUT', reason: /longer than 250 ms/, place: LINE },
  microtasks: { code: 'STRATEGY_TIMEOUT', reason: /longer than 250 ms/, place: FILE },
  heap: { code: 'STRATEGY_MEMORY', reason: /may take 160 MB|exhausted/ },
  buffers: { code: 'STRATEGY_MEMORY', reason: /may take 160 MB/, place: LINE },
  exit: { code: 'STRATEGY_ENDED', reason: /process\.exit\(\) was called/, place: LINE },
  'exit, caught': { code: 'STRATEGY_ENDED', reason: /process\.exit\(\) was called/, place: LINE },
  rejection: { code: 'STRATEGY_ASYNC', reason: /rejected a promise without a handler: no handler/, place: LINE },
  'machine timer': { code: 'STRATEGY_ASYNC', reason: /waits by the machine’s clock/, place: LINE },
  'rxjs timer': { code: 'STRATEGY_ASYNC', reason: /waits by the machine’s clock/, place: LINE },
  'error without a receiver':
    { code: 'STRATEGY_ASYNC', reason: /threw outside the engine’s time: no receiver/, place: LINE },
  promise: { code: 'STRATEGY_ASYNC', reason: /proposed outside the engine’s time/ },
  'log lines': { code: 'STRATEGY_BOUND', reason: /did 6001 things in one call, and may do 5000/ },
  questions: { code: 'STRATEGY_BOUND', reason: /asked for its portfolio more than 2000 times/ },
  'a large answer': { code: 'STRATEGY_BOUND', reason: /larger than 1048576 bytes/ },
  timers: { code: 'STRATEGY_BOUND', reason: /11000 things in one call/ },
};

describe('a strategy in a process of its own', () => {
  let processes: StrategyHosts;
  const strategies = new Map<string, ApartStrategy>();
  beforeAll(async () => {
    processes = hosts();
    const deeds = [...Object.keys(ENDINGS), 'nothing', 'holdings', 'throw', 'recursion'];
    await Promise.all(deeds.map(async (deed) => {
      strategies.set(deed, await loadDeed(processes, deed, deed, 'per-strategy'));
    }));
  });
  afterAll(() => processes.close());

  const seconds = (deed: string): ReturnType<typeof told> => {
    const strategy = strategies.get(deed)!;
    const first = begin(strategy);
    if ('ending' in first) return first.ending;
    expect(told(show(strategy, 1))).toEqual(['1 events, 500000000 left, 1 open, 1']);
    return told(show(strategy, 2));
  };

  it('decides by the engine’s time and its portfolio', () => {
    expect(seconds('nothing')).toEqual(['2 events, 500000000 left, 1 open, 2']);
  });

  it('sees position, equity and budget as in the engine’s own process', () => {
    const strategy = strategies.get('holdings')!;
    begin(strategy);
    expect(told(show(strategy, 1))).toEqual(['1 events, 500000000 left, 1 open, 1',
      '500000000 held, bought at 140, sold at 150, 5000000 gained, 700000000 of 600 USDC']);
  });

  it.each(Object.keys(ENDINGS))('is ended with a code, a reason and its line where it does this: %s', (deed) => {
    const { code, reason, place = FILE } = ENDINGS[deed]!;
    const ending = seconds(deed);
    expect(ending).toEqual({
      code, reason: expect.stringMatching(reason) as string, place: expect.stringMatching(place) as string,
    });
  });

  it.each(['throw', 'recursion'])('is stopped by the engine as in its own process where it does this: %s', (deed) => {
    expect(seconds(deed)).toEqual(['fail']);
  });
});
