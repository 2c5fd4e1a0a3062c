import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ended, Playground, Running } from './gannet.ts';
import { reloadUnderLoad } from '../campaign/reloads.ts';
import { createPlayground, document } from './gannet.ts';
import { COUNTER } from './reloaded-strategies.ts';

const WORD = "export const WORD = 'first';\n";

let playground: Playground;
let daemon: Running;
const state = (): string => playground.path('state');

function configure({ step = 1, extra = '', every = '500ms', top = '', when = 'reload: by_command\n' } = {}): string {
  return playground.write('run.yaml', `mode: paper
control: { port: 0 }
${top}${when}strategies:
  - use: ./counter.ts
    name: counter
    budget: "100 USDC"
    warmup: 1m
    params: { pair: SOL/USDC, size: "25 USDC", every: ${every}, step: ${step} }
  - use: ./neighbour.ts
    name: neighbour
    params: { pair: SOL/USDC, size: "25 USDC", every: 1s, step: 1000 }
${extra}`);
}

function start(): Running {
  return playground.start(['run', '--json', '--config', playground.path('run.yaml'), '--state-dir', state()]);
}

const reload = (...args: string[]): Promise<Ended> =>
  playground.ask(['reload', '--json', '--state-dir', state(), ...args]);

/** The counts that a strategy told, such as "first 3 of 3". */
function told(from: Running, name = 'counter'): string[] {
  return from.lines().flatMap(({ type, strategy, message }) =>
    (type === 'alert' && strategy === name ? [String(message)] : []));
}

async function untilTold(from: Running, wanted: RegExp): Promise<string> {
  await from.until(() => told(from).some((message) => wanted.test(message)));
  return told(from).find((message) => wanted.test(message))!;
}

const countIn = (message: string): number => Number(message.split(' ')[1]);

beforeAll(async () => {
  playground = createPlayground();
  playground.write('counter.ts', COUNTER);
  playground.write('word.ts', WORD);
  playground.write('neighbour.ts', COUNTER.replace("name: 'counter'", "name: 'neighbour'"));
  configure();
  daemon = start();
  await untilTold(daemon, /^first 3 of 3$/);
}, 120_000);
afterAll(() => playground.close());

describe('gannet reload', { timeout: 120_000 }, () => {
  it('changes parameters: the state and the warm-up go on, and the neighbour is left alone', async () => {
    configure({ step: 0.5 });
    const { reloaded, unchanged } = document(await reload()) as { reloaded: unknown[]; unchanged: string[] };
    expect(reloaded).toEqual([{ strategy: 'counter', params: [{ name: 'step', before: 1, after: 0.5 }] }]);
    expect(unchanged).toEqual(['neighbour']);
    // Three prices are in memory at once: those before the reload were shown again.
    const next = await untilTold(daemon, /^first \d+\.5 of 3$/);
    expect(countIn(next)).toBeGreaterThan(3);
    expect(told(daemon).filter((message) => message.endsWith('of 1'))).toHaveLength(1);
  });

  it('changes code, of a file beside the strategy’s own too', async () => {
    playground.write('word.ts', WORD.replace('first', 'second'));
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
    expect(document(await reload('counter')))
      .toEqual({ reloaded: [{ strategy: 'counter', params: [], code: { before: hash, after: hash } }],
        refused: [], unchanged: ['neighbour'] });
    const next = await untilTold(daemon, /^second \d+(?:\.5)? of 3$/);
    expect(countIn(next)).toBeGreaterThan(3.5);
    // The neighbour imports the same file, and was not named.
    expect(told(daemon, 'neighbour').every((message) => message.startsWith('first'))).toBe(true);
  });

  it('refuses a version with a fault, naming file, line and what to do, and the running one goes on', async () => {
    const good = COUNTER;
    const cases: readonly (readonly [what: string, break_: () => void, said: RegExp])[] = [
      ['does not parse', () => playground.write('counter.ts', `${good}\nconst = 1;\n`),
        /run\.yaml:\d+:\d+ .*counter\.ts.*cannot be loaded: /],
      ['throws at load', () => playground.write('counter.ts', `${good}\nthrow new Error('not today');\n`),
        /run\.yaml:\d+:\d+ .*counter\.ts.*cannot be loaded: counter\.ts:\d+:\d+: not today/],
      ['no strategy', () => playground.write('counter.ts', 'export default 7;\n'),
        /run\.yaml:\d+:\d+ .*expected the default export of \.\/counter\.ts .*: export default defineStrategy/],
      ['another name', () => playground.write('counter.ts', good.replace("name: 'counter'", "name: 'other'")),
        /the name of the strategy in \.\/counter\.ts .*"other".* undo the change, or stop the daemon and start it/],
      ['code rules', () => playground.write('counter.ts', good.replace('WORD + ', 'WORD + Date.now() + ')),
        /run\.yaml:\d+:\d+ .*counter\.ts:14:\d+: it uses Date; take the time from/],
      ['a state that does not fit', () => playground.write('counter.ts', good.replace('{ n: 0 }', "{ n: 'none' }")),
        /strategy counter cannot start: the state "count" .* does not fit: .* \(counter\.ts:\d+:\d+\)/],
      ['throws in run', () => playground.write('counter.ts',
        good.replace('const counted', "throw new Error('no'); const counted")),
        /strategy counter cannot start: no \(counter\.ts:11:\d+\); correct it, and reload again/],
      ['a missing file', () => playground.write('counter.ts', good.replace('./word.ts', './gone.ts')),
        /counter\.ts.*cannot be loaded: .*gone\.ts/],
      ['parameters refused', () => configure({ step: -1 }), /run\.yaml:\d+:\d+ strategies\[0\]\.params\.step: /],
      ['beyond the rate', () => configure({ top: 'service: { requests_per_second: 1 }\n', every: '100ms' }),
        /run\.yaml:\d+:\d+ .*(?:requests a second|too often|every)/],
      ['another budget', () => { configure(); playground.write('run.yaml',
        playground.read('run.yaml').replace('"100 USDC"', '"200 USDC"')); },
        /budget of strategy counter cannot change while the daemon runs/],
      ['another strategy', () => configure({ extra: '  - { use: ./neighbour.ts, name: third, params: { pair: SOL/USDC, '
        + 'size: "25 USDC", every: 1s, step: 1 } }\n' }), /strategies \(they are counter, neighbour, third, and/],
      ['another seed', () => configure({ top: 'seed: 99\n' }), /seed cannot change while the daemon runs/],
      ['no YAML', () => playground.write('run.yaml', 'strategies: [\n'), /run\.yaml:\d+:\d+ /],
    ];
    for (const [what, breakIt, said] of cases) {
      playground.write('counter.ts', good);
      configure({ step: 0.5 });
      breakIt();
      const ended = await reload('counter');
      const { error } = document(ended) as { error: { code: string; message: string } };
      expect({ what, message: error.message }).toEqual({ what, message: expect.stringMatching(said) as string });
      expect([what, error.code, ended.code]).toEqual([what, 'CONTROL_REFUSED', ended.code]);
      expect(ended.code).not.toBe(0);
    }
    playground.write('counter.ts', good);
    configure({ step: 0.5 });
    const unknown = document(await reload('absent')) as { error: { message: string } };
    expect(unknown.error.message).toBe('there is no strategy "absent"; this run has counter, neighbour');
    const before = told(daemon).length;
    await daemon.until(() => told(daemon).length > before + 1);
    expect(told(daemon).at(-1)).toMatch(/^second \d/);
    expect(told(daemon).some((message) => /not today|other/.test(message))).toBe(false);
  });

  it('of all takes a good version over beside a faulty one, and says both', async () => {
    playground.write('counter.ts', COUNTER.replace('WORD + ', 'WORD + Date.now() + '));
    playground.write('run.yaml', playground.read('run.yaml').replace('step: 1000', 'step: 2000'));
    const ended = await reload();
    expect(document(ended)).toEqual({
      reloaded: [expect.objectContaining({
        strategy: 'neighbour', params: [{ name: 'step', before: 1_000, after: 2_000 }],
      })],
      refused: [{ strategy: 'counter', reason: expect.stringMatching(/counter\.ts:14:\d+: it uses Date/) as string }],
      unchanged: [],
    });
    expect(ended.code).toBe(1);
    const shown = await playground.ask(['reload', '--state-dir', state()]);
    expect([shown.code, shown.stderr]).toEqual([1, expect.stringMatching(/counter\.ts:14:\d+: it uses Date/)]);
    playground.write('counter.ts', COUNTER);
    configure({ step: 0.5 });
    expect((await reload()).code).toBe(0);
  });

  it('goes on after a kill, follows changed files on paper, and is replayed to the same hash', async () => {
    playground.write('word.ts', WORD.replace('first', 'third'));
    expect((await reload('counter')).code).toBe(0);
    const last = await untilTold(daemon, /^third /);
    await sleep(1_500);
    daemon.signal('SIGKILL');
    configure({ step: 0.5, when: '' });
    await daemon.ended;
    const run = daemon.lines().find(({ type }) => type === 'started') as { run_id?: string };
    daemon = start();
    const next = await untilTold(daemon, /^third /);
    expect(countIn(next)).toBeGreaterThanOrEqual(countIn(last));
    // A changed file is enough on paper; of a fault in it there is an alert.
    playground.write('word.ts', 'export const WORD = ;\n');
    await daemon.until((stdout) => stdout.includes('changed files are not reloaded'));
    playground.write('word.ts', WORD.replace('first', 'changed'));
    await untilTold(daemon, /^changed \d/);
    // The files have changed since: the replay takes the copies that the run kept.
    const replayed = document(await playground.ask(['replay', run.run_id!, '--json', '--state-dir', state()]));
    expect(replayed).toMatchObject({ match: true });
    expect(replayed['decisions']).toBeGreaterThan(10);
  });

  it('of nothing that has changed, and without a daemon, says so', async () => {
    expect(document(await reload())).toEqual({ reloaded: [], refused: [], unchanged: ['counter', 'neighbour'] });
    daemon.signal('SIGTERM');
    await daemon.ended;
    const ended = await reload();
    expect(document(ended)).toMatchObject({ error: { code: 'CONTROL_UNREACHABLE' } });
    expect(ended.code).not.toBe(0);
  });
});

describe('reloads of a live daemon that swaps without a pause', () => {
  it('change no decision, and lose or repeat no swap', { timeout: 300_000 }, async () => {
    const { violations, switches, inFlight, compared, intents, footprints } =
      await reloadUnderLoad({ place: playground, mode: 'live', reloads: 8, seed: 3 });
    expect(violations).toEqual([]);
    expect(switches).toBeGreaterThan(7);
    expect(inFlight).toBeGreaterThan(0);
    expect(compared).toBeGreaterThan(20);
    expect(intents).toEqual({ confirmed: expect.any(Number) as number });
    const [first, last] = [footprints[0]!, footprints.at(-1)!];
    // A leak is one descriptor or more for each switch. Processes that are being replaced hold a few for a moment.
    expect(last.openFiles - first.openFiles).toBeLessThan(switches);
    expect(last.hosts).toBeLessThanOrEqual(5);
  });
});
