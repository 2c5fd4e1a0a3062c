import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoppedView } from '../hostile/hosted-run.ts';
import { SOL, USDC } from '../market/tokens.ts';
import { writeSwings } from '../research/trials/trial-setup.ts';
import type { Ended } from './gannet.ts';
import { createPlayground, document, PROJECT } from './gannet.ts';

const STOPPED = `
import { firstValueFrom, mergeMap, observeOn, of, throwError } from '${import.meta.resolve('rxjs')}';
import { z } from '${import.meta.resolve('zod')}';
import { amount, defineStrategy, duration, pair, quotes } from '${PROJECT}src/strategy/index.ts';
const kept = [];
const again = (ctx) => of(0).pipe(observeOn(ctx.clock), mergeMap(() => again(ctx)));
const acts = {
  loop: () => { for (let n = 0; n < 1;) n *= 2; },
  reject: () => { void firstValueFrom(throwError(() => new Error('no one waits for it'))); },
  heap: () => { for (;;) kept.push(new Array(100).fill(kept.length)); },
  throw: () => { throw new Error('it fell over'); },
};
export default defineStrategy({ name: 'stopped', summary: 'Is stopped.',
  params: z.strictObject({ pair: pair(), size: amount(), every: duration(), act: z.string() }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: p.every }) }),
  run: ({ price }, p, ctx) => price.pipe(mergeMap((quote, n) => {
    if (n < 2) return of(ctx.alert('info', 'a price'));
    if (p.act === 'proposals') return of(...Array.from({ length: 1_001 }, () => ctx.alert('info', 'again')));
    if (p.act === 'timers') return again(ctx);
    acts[p.act]();
    return of(ctx.alert('info', 'went on'));
  })) });
`;
/** What `gannet run` refuses in code, so that no run can show it. */
const OUTWARD = STOPPED.replace('const acts = {', `const acts = {
  exit: () => { process.exit(0); },
  speak: () => {
    process.stdout.write('\\u001B[2J\\u001B]0;title\\u0007\\n');
    process.stderr.write('\\u001B[8mhidden\\u009B31m\\n');
  },`);
const ACTS = ['loop', 'reject', 'heap', 'throw', 'proposals', 'timers'] as const;
const MOST_MS = 90_000;

const playground = createPlayground();
let recording = '';
let live: ReadonlyMap<string, StoppedView>;

function strategyOf(act: string, every: string, file = 'stopped.ts'): string {
  return `  - { use: ./${file}, name: ${act}, budget: "100 USDC", params: { pair: SOL/USDC, size: "25 USDC", `
    + `every: ${every}, act: ${act} } }`;
}

/** Runs strategies that are stopped, and returns why `gannet status` says that each was. */
async function stoppedInRun(): Promise<ReadonlyMap<string, StoppedView>> {
  const config = playground.write('run.yaml',
    `isolation: per_strategy\ncontrol: { port: 0 }\nstrategy_bounds: { call_time: 1s }\nstrategies:\n`
      + `${ACTS.map((act) => strategyOf(act, '1s')).join('\n')}\n`);
  const running = playground.start(['run', '--json', '--config', config, '--state-dir', playground.path('live')]);
  const stopped = new Map<string, StoppedView>();
  await running.until((stdout) => stdout.includes('\n'));
  for (const until = Date.now() + MOST_MS; stopped.size < ACTS.length && Date.now() < until; await sleep(200)) {
    const { stdout } = await playground.ask(['status', '--json', '--state-dir', playground.path('live')]);
    const { strategies = [] } = JSON.parse(stdout) as {
      readonly strategies?: readonly { readonly name: string; readonly stopped: StoppedView | null }[];
    };
    for (const { name, stopped: why } of strategies) if (why !== null && !stopped.has(name)) stopped.set(name, why);
  }
  running.signal('SIGTERM');
  await running.ended;
  return stopped;
}

function inBacktest(act: string, file?: string): Promise<Ended> {
  const config = playground.write(`${act}.yaml`, `mode: paper
tokens: { SOL: ${SOL.mint}, USDC: ${USDC.mint} }
backtest: { balances: { USDC: "1000", SOL: "1000" } }
strategies:
${strategyOf(act, '5s', file)}
`);
  const args = ['--json', '--state-dir', playground.path('state'), 'backtest', config, '--recording', recording];
  return playground.run([...args, '--no-grid'], { environment: { NODE_OPTIONS: '--max-old-space-size=800' } });
}

beforeAll(async () => {
  playground.write('stopped.ts', STOPPED);
  playground.write('outward.ts', OUTWARD);
  recording = await writeSwings(playground.dir);
  live = await stoppedInRun();
}, 2 * MOST_MS);
afterAll(() => playground.close());

describe('a strategy that is stopped', { timeout: 120_000 }, () => {
  it.each([
    ['loop', 'STRATEGY_TIMEOUT', /^it took longer than \S+ m?s for one call/],
    ['reject', 'STRATEGY_ASYNC', /^it rejected a promise without a handler: no one waits for it/],
    ['heap', 'STRATEGY_MEMORY', /^(?:its process took|it exhausted the memory of its process,) .*\d+ MB/],
  ])('ends a backtest with the code, the reason and the line that a run shows: %s', async (act, code, reason) => {
    const why = live.get(act)!;
    expect(why).toMatchObject({ code, reason: expect.stringMatching(reason) as string });
    const ended = await inBacktest(act);
    const error = document(ended)['error'] as { readonly message: string };
    // Memory runs out at any point of its line.
    const place = act === 'heap' ? /^stopped\.ts:\d+:\d+$/ : new RegExp(`^${String(why.place)}$`);
    expect(error).toMatchObject({ code, details: { place: expect.stringMatching(place) as string } });
    expect(error.message).toMatch(new RegExp(`^strategy ${act}: .*, at stopped\\.ts:\\d+:\\d+$`));
    expect(error.message.slice(`strategy ${act}: `.length)).toMatch(reason);
    expect(why.place).toMatch(/^stopped\.ts:\d+:\d+$/);
    expect([ended.code, ended.stderr]).toEqual([2, '']);
  });

  it.each(['throw', 'proposals', 'timers'])('stops alone in a backtest, for the reason of a run: %s', async (act) => {
    const { code, reason, place } = live.get(act)!;
    const said = `strategy ${act} stopped: ${reason}${place === null ? '' : ` (${place})`}: the rest of the backtest`;
    const ended = await inBacktest(act);
    expect((document(ended)['warnings'] as string[])[0]).toContain(said);
    expect([code, ended.code]).toEqual(['STRATEGY_FAILED', 0]);
  });

  it('is named with the line where it would end the process of a backtest', async () => {
    const ended = await inBacktest('exit', 'outward.ts');
    const [warning] = document(ended)['warnings'] as string[];
    expect(warning).toMatch(/^strategy exit stopped: process\.exit\(\) was called: .* \(outward\.ts:8:\d+\): the rest/);
    expect([ended.code, ended.stderr]).toEqual([0, '']);
  });

  it('reaches the output of a backtest with its control characters escaped', async () => {
    const { code, stdout, stderr } = await inBacktest('speak', 'outward.ts');
    // The one document of the command stands alone on standard output.
    expect(JSON.parse(stdout)).toMatchObject({ fills: 0 });
    expect(stderr).toContain('\\u001b[2J\\u001b]0;title\\u0007\n');
    expect(stderr).toContain('\\u001b[8mhidden\\u009b31m\n');
    expect(`${stdout}${stderr}`.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(code).toBe(0);
  });
});
