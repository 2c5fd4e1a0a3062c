import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StrategyProcess } from '../../../src/daemon/hosts/strategy-process.ts';
import { systemClock } from '../../../src/daemon/watch/system-clock.ts';
import { PORTFOLIO, told } from './hosts-fixture.ts';

const ENTRY = join(import.meta.dirname, 'lying-host.ts');

/** What each lie of a process is ended with, by its reason. */
const ENDINGS: Readonly<Record<string, RegExp>> = {
  'no JSON': /not JSON/,
  'bytes that are no text': /not JSON/,
  'a nested text': /not JSON/,
  'a giant frame': /its length is impossible/,
  'an empty frame': /not JSON/,
  'the answer to another call': /answers another call/,
  'an earlier answer again': /answers another call/,
  null: /not an object/,
  'effects that are no list': /no list of effects/,
  'an unknown effect': /no known kind/,
  'a proposal of another kind': /expected a proposal of kind/,
  'an amount that is no number': /expected an amount/,
  'a text that is too long': /at most 2000 characters/,
  'the holding of no token': /balance of no token/,
  'an unknown question': /no list of effects/,
  'a timer without a delay': /without an id or a delay/,
  'a timer without an id': /without an id or a delay/,
  'a watch of no feeds': /not of 1 to 32 feeds/,
  'a watch of too many feeds': /not of 1 to 32 feeds/,
  'a watch of a foreign kind': /is of the kind "key-file"/,
  'a watch of no mint': /names the mint "x"/,
  'a watch without an id': /a watch without an id/,
  'the end of a watch without an id': /the end of a watch without an id/,
  'a fault of no instance': /fault of no strategy/,
  'a place that is no place': /failure without a message/,
};

describe('what a strategy’s process answers', () => {
  const processes = new Map<string, StrategyProcess>();
  const end = { culprits: [] as (number | undefined)[] };
  beforeAll(async () => {
    const lies = [
      ...Object.keys(ENDINGS), 'honest', 'a flood of questions', 'a flood between calls', 'half a frame', 'a prototype',
      'an end',
    ];
    await Promise.all(lies.map(async (name) => {
      const process = new StrategyProcess({
        readable: [ENTRY], entry: ENTRY, clock: systemClock,
        bounds: { callMs: 100, startMs: 100, loadMs: 10_000, memoryMb: 96 },
        onEnd: ({ culprit }) => { end.culprits.push(culprit); }, onFault: () => undefined,
      });
      processes.set(name, process);
      const said = await process.ask({ id: 1, file: ENTRY, question: { params: {}, tokens: [], name, seed: 1 } });
      expect(said).toEqual({ said: '{}' });
    }));
  });
  afterAll(async () => { await Promise.all(processes.values().map((process) => process.close())); });

  const answer = (name: string): ReturnType<typeof told> =>
    told(processes.get(name)!.call(1, { kind: 'release', at: 1 }, PORTFOLIO, 'a call'));

  it.each(Object.keys(ENDINGS))('ends it where that is no answer: %s', (name) => {
    expect(answer(name)).toEqual(expect.objectContaining({
      code: 'STRATEGY_INVALID_ANSWER', reason: expect.stringMatching(ENDINGS[name]!) as string,
    }));
  });

  it('is taken where it is one, as new plain data', () => {
    expect(answer('honest')).toEqual(['fine']);
    expect(answer('honest')).toEqual(['fine']);
    expect(answer('a prototype')).toEqual(['fine']);
    expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined();
  });

  it('is not awaited longer than the bound, whatever comes in the meantime', () => {
    expect(answer('half a frame')).toEqual(expect.objectContaining({ code: 'STRATEGY_TIMEOUT' }));
    expect(answer('a flood of questions'))
      .toEqual(expect.objectContaining({ code: expect.stringMatching(/^STRATEGY_(?:BOUND|TIMEOUT)$/) as string }));
  });

  it('is dropped where it comes between two calls, and the process ends', () => {
    expect(answer('a flood between calls')).toEqual(['fine']);
    expect(answer('a flood between calls')).toEqual(expect.objectContaining({ code: 'STRATEGY_INVALID_ANSWER' }));
  });

  it('may be that it is gone, with its exit code', () => {
    expect(answer('an end')).toEqual(expect.objectContaining({
      code: 'STRATEGY_ENDED', reason: 'its process ended with code 5',
    }));
  });
});
