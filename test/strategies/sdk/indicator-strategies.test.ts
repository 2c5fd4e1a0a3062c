import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_DIR } from '../../../src/core/code-files.ts';
import type { Amount } from '../../../src/core/amount.ts';
import { openHosts } from '../../../src/daemon/hosts/strategy-hosts.ts';
import { systemClock } from '../../../src/daemon/watch/system-clock.ts';
import type { CallResult } from '../../../src/engine/host/strategy-call.ts';
import { PORTFOLIO } from '../../daemon/hosts/hosts-fixture.ts';
import { buyingSol } from '../../market/events.ts';
import { SOL, USDC } from '../../market/tokens.ts';

const FILE = join(PROJECT_DIR, 'strategies', 'ema-cross.ts');
const PARAMS = { pair: 'SOL/USDC', size: '25 USDC', bar: '10s', poll: '5s', fast: 1, slow: 2 };

/** Money, and no position. */
const CASH = { ...PORTFOLIO, openIntents: () => 0, available: () => 0n as Amount };

describe('a strategy of indicators over bars', () => {
  it('runs in a box, and a restarted one continues with the inputs that it kept', async () => {
    const hosts = openHosts({ clock: systemClock });
    // Eight bars of two prices settle the means; then they cross up and down.
    const prices = [...Array<number>(17).fill(100), 90, 90, 110, 110, 85, 85];
    const runFrom = async (kept: string | undefined, from: number, until: number): Promise<{
      readonly states: string[]; readonly proposed: string[];
    }> => {
      const reading = await hosts.load({
        use: FILE, file: FILE, origin: 'project',
        isolation: { kind: 'per-strategy', callMs: 5_000, memoryMb: 160 },
      }).read({ params: PARAMS, tokens: [SOL, USDC], name: 'ema-cross', seed: 7 });
      if ('ended' in reading) throw new Error(reading.ended);
      const results: CallResult[] = [reading.apart!.call({ kind: 'start', warming: false, kept, at: 0 }, CASH)];
      for (let i = from; i < until; i += 1) {
        const at = i * 5_000;
        const event = buyingSol(prices[i]! * 1_000, at);
        results.push(reading.apart!.call({ kind: 'event', input: 0, event, at }, CASH));
      }
      const effects = results.flatMap((one) => {
        if ('ending' in one) throw new Error(JSON.stringify(one.ending));
        return one.effects;
      });
      return {
        states: effects.flatMap((effect) => (effect.kind === 'state' ? [effect.text] : [])),
        proposed: effects.flatMap(({ kind }) => (kind === 'propose' ? [kind] : [])),
      };
    };
    try {
      const whole = await runFrom(undefined, 0, prices.length);
      const first = await runFrom(undefined, 0, 19);
      const second = await runFrom(first.states.at(-1), 19, prices.length);
      expect(whole.proposed.length).toBeGreaterThan(0);
      expect(second.states.at(-1)).toBe(whole.states.at(-1));
    } finally {
      await hosts.close();
    }
  });
});
