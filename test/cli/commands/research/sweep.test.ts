import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonLine } from '../../../e2e/gannet.ts';
import { createPlayground, document } from '../../../e2e/gannet.ts';
import { SOL, USDC } from '../../../market/tokens.ts';
import { UNRULY, writeSwings } from '../../../research/trials/trial-setup.ts';

const place = createPlayground();
let recording = '';
beforeAll(async () => { recording = await writeSwings(place.dir); });
afterAll(() => place.close());

function config(name: string, strategy: string): string {
  return place.write(name, `mode: paper\ntokens: { SOL: ${SOL.mint}, USDC: ${USDC.mint} }\n`
    + `risk: { max_slippage_bps: 50, max_trade: "500 USDC" }\n`
    + `strategies:\n  - ${strategy}\n`);
}

function reversion(window = 10, k = 1): string {
  return `{ use: mean-reversion, name: dip, budget: "500 USDC", `
    + `params: { pair: SOL/USDC, size: "25 USDC", window: ${window}, k: ${k} } }`;
}

function unruly(mode: string): string {
  return `{ use: "${UNRULY}", budget: "500 USDC", params: { pair: SOL/USDC, size: "25 USDC", mode: ${mode} } }`;
}

interface Row {
  readonly params: Readonly<Record<string, unknown>>; readonly objective: number | null; readonly decision_hash: string;
}

function tableOf(answer: JsonLine): readonly Row[] {
  return answer['table'] as readonly Row[];
}

async function swept(configFile: string, grid: string, ...flags: readonly string[]): Promise<JsonLine> {
  return document(await place.ask(
    ['--json', 'sweep', configFile, '--recording', recording, '--grid', place.write('grid.yaml', grid), ...flags],
  ));
}

const GRID = 'params:\n  dip.window: [5, 10, 20]\n  dip.k: { from: 0.5, to: 1.5, step: 0.5 }\n';

/** Each of these starts threads more than once, which takes its time on a busy machine. */
const LONG_TIMEOUT = { timeout: 120_000 };

describe('gannet sweep', LONG_TIMEOUT, () => {
  it('runs every combination and reports the reliability of the best', async () => {
    const report = place.path('reports', 'sweep.html');
    const file = config('dip.yaml', reversion());
    const answer = await swept(file, GRID, '--objective', 'total_return', '--report', report, '--workers', '2');
    expect(answer).toMatchObject({
      trials: 9, refused: [], failed: [], objective: { name: 'total_return', better: 'higher' }, ran: 9, resumed: 0,
      combinations: 9, counted: { count: 9 }, evaluations: 9 * 3_000, report,
      best: {
        repeatable: true, metrics: { trials: 9 },
        neighbourhood: { ground: expect.stringMatching(/^(?:plateau|slope|needle)$/) as string },
      },
    });
    const values = tableOf(answer).map(({ objective }) => objective!);
    expect(values).toStrictEqual(values.toSorted((a, b) => b - a));
    expect(answer['best']).toMatchObject({ ...tableOf(answer)[0], metrics: expect.anything() as unknown });
    // They are known: the answer does not say otherwise beside it.
    expect((answer['best'] as { readonly warnings: readonly string[] }).warnings.filter((warning) =>
      warning.includes('is not known')))
      .toStrictEqual([]);
    const page = readFileSync(report, 'utf8');
    for (const said of [
      'Sweep of dip', 'Total return by dip.window and dip.k', 'One step from the best', 'All trials',
      '9 combinations, all tried · ', tableOf(answer)[8]!.decision_hash,
    ]) expect(page).toContain(said);
    expect(page).not.toContain(place.dir);

    // The same comes out whatever the number of threads, and of backtest with the same parameters.
    const alone = await swept(file, GRID, '--objective', 'total_return', '--fresh', '--workers', '1');
    expect(alone).toMatchObject({ ran: 9, resumed: 0 });
    expect(tableOf(alone)).toStrictEqual(tableOf(answer));
    expect(alone['best']).toStrictEqual(answer['best']);
    const { params, decision_hash: hash } = tableOf(answer)[0]!;
    const plain = config('plain.yaml', reversion(params['dip.window'] as number, params['dip.k'] as number));
    const backtested = document(await place.ask(['--json', 'backtest', plain, '--recording', recording, '--grid']));
    expect(backtested['decision_hash']).toBe(hash);
    // The same parameters on the same data are no new trial; nor are the cells of the grid of latencies and costs.
    expect(backtested)
      .toMatchObject({ metrics: { trials: 9 }, sensitivity: { grid: { latency: [0.5, 1, 2, 4], cost: [0.5, 1, 2] } } });
  });

  it('computes the grid of latencies and costs for a report, and omits it without a report', async () => {
    const file = config('dip.yaml', reversion());
    const without = document(await place.ask(['--json', 'backtest', file, '--recording', recording]));
    expect(without).toMatchObject({ sensitivity: { grid: null } });
    const report = place.path('reports', 'backtest.html');
    const answer =
      document(await place.ask(['--json', 'backtest', file, '--recording', recording, '--report', report]));
    const { grid } =
      answer['sensitivity'] as { readonly grid: { readonly total_return: readonly (readonly number[])[] } };
    expect(grid.total_return[1]![1]).toBe((answer['metrics'] as Readonly<Record<string, number>>)['total_return']);
    for (const values of grid.total_return) expect(values[0]).toBeGreaterThan(values[2]!);
    expect(readFileSync(report, 'utf8')).toContain('Total return by latency and cost');
  });

  it('prints the best combination, its reliability, refused parameters, and the rest of the table', async () => {
    const { stdout, code } = await place.ask([
      'sweep', config('dip.yaml', reversion()), '--recording', recording, '--grid',
      place.write('wide.yaml', 'params:\n  dip.window: [1, 5, 10, 20, 30]\n  dip.k: [0.5, 1, 1.5]\n'), '--objective',
      'total_return', '--workers', '1', '--report', place.path('wide.html'),
    ]);
    for (const said of [
      '12 done, 3 refused, 9 known already', 'best       dip.window', 'variants were tried on these data',
      'one step away', 'and 2 more', 'refused before the trial:', '     3  dip: window: ',
    ]) expect(stdout).toContain(said);
    expect(code).toBe(0);
    expect(place.read('wide.html')).toContain('15 combinations, 12 tried, 3 refused · ');
    // Denied swaps are shown with their number and the main code.
    expect(stdout).toMatch(/ swaps +denied +mainly by\n/);
  });

  it('samples combinations at random, the same for one seed', async () => {
    const random = 'params:\n  dip.window: { from: 1, to: 300, step: 1 }\n  dip.k: { from: 0.1, to: 3, step: 0.1 }\n'
      + 'search: random\nsamples: 6\nseed: 5\n';
    const file = config('dip.yaml', reversion());
    const first = await swept(file, random, '--workers', '1');
    expect(first).toMatchObject({ trials: 6, ran: 6, combinations: 9_000 });
    expect(await swept(file, random, '--workers', '1'))
      .toMatchObject({ trials: 6, ran: 0, resumed: 6, table: tableOf(first) });
  });

  it('fails single trials, not the sweep', async () => {
    expect(await swept(
      config('unruly.yaml', unruly('fine')),
      'params: { unruly.mode: [fine, throw, exit, talk], unruly.every_nth: [7, 9] }\n', '--workers', '1',
    )).toMatchObject({
      trials: 4, failed: [
        { params: { 'unruly.mode': 'throw' } }, {}, { params: { 'unruly.mode': 'exit' } },
        { reason: expect.stringContaining('process.exit() was called') as string },
      ],
    });
  });

  it('reports NOT repeatable, and exits with 1, when a strategy keeps state between runs', async () => {
    // The best is not the first of them: the first of a thread has nothing before it.
    const grid = place.write('keeps.grid.yaml', 'params: { unruly.every_nth: [8, 7, 6, 5] }\n');
    const sweep = [
      '--json', 'sweep', config('keeps.yaml', unruly('remember-globally')), '--recording', recording, '--grid', grid,
      '--workers', '1', '--objective', 'total_return',
    ];
    const { code, stdout } = await place.ask([...sweep, '--report', place.path('keeps.html')]);
    const answer = JSON.parse(stdout) as JsonLine;
    expect(tableOf(answer)[0]!.params['unruly.every_nth']).not.toBe(8);
    expect(answer).toMatchObject({ best: { repeatable: false }, warnings: [
      expect.stringMatching(/^NOT repeatable/), expect.stringMatching(/^in 3 of 4 trials .* determine .*RATE_PER_HOUR/),
      expect.stringMatching(/^in 1 of 4 trials .* shape .*RATE_PER_HOUR/),
    ] });
    expect(code).toBe(1);
    // One parameter makes one row.
    expect(place.read('keeps.html')).toMatch(/<tbody><tr><th scope="row" class="text">[^]*<td class="heat /);
    // Nor does it become repeatable by being asked for again, when all is known from before.
    const again = await place.ask(sweep);
    expect(JSON.parse(again.stdout)).toMatchObject({ ran: 0, resumed: 4, best: { repeatable: false } });
    expect(again.code).toBe(1);
  });

  it('reports why the repetition of the best trial failed', async () => {
    const gate = join(recording, 'shut');
    const file = config(
      'shut.yaml',
      `{ use: "${UNRULY}", budget: "500 USDC", `
        + `params: { pair: SOL/USDC, size: "25 USDC", mode: shut, gate: "${gate}" } }`,
    );
    const sweep = ['--json', 'sweep', file, '--recording', recording, '--grid', place.write(
      'shut.grid.yaml', 'params: { unruly.every_nth: [8, 7] }\n',
    ), '--workers', '1', '--objective', 'total_return'];
    expect((await place.ask(sweep)).code).toBe(0);
    writeFileSync(gate, '');
    const { code, stdout } = await place.ask(sweep);
    expect(JSON.parse(stdout)).toMatchObject({ ran: 0, best: { repeatable: false }, warnings: [
      expect.stringContaining('the best parameters failed: strategy unruly stopped: the gate is shut'),
      expect.stringContaining('RATE_PER_HOUR'), expect.stringContaining('RATE_PER_HOUR'),
    ] });
    expect(code).toBe(1);
  });

  it('continues after a kill, with the same result', async () => {
    const gate = join(recording, 'gate');
    const file = config(
      'held.yaml',
      `{ use: "${UNRULY}", budget: "500 USDC", `
        + `params: { pair: SOL/USDC, size: "25 USDC", mode: held, gate: "${gate}" } }`,
    );
    const grid = place.write('held.grid.yaml', 'params: { unruly.every_nth: { from: 3, to: 22, step: 1 } }\n');
    const args = [
      '--json', '--state-dir', place.path('killed'), 'sweep', file, '--recording', recording, '--grid', grid,
      '--workers', '1',
    ];
    const kept = (): string[] => {
      try {
        return readdirSync(place.path('killed', 'sweeps'))
          .flatMap((name) => readFileSync(place.path('killed', 'sweeps', name), 'utf8').split('\n').slice(1, -1));
      } catch {
        // Not begun yet.
        return [];
      }
    };
    // A thread stays in its fifth trial: neither command can end before it is told to.
    const until = async (
      count: number,
    ): Promise<void> => { while (kept().length < count) await new Promise((resolve) => { setTimeout(resolve, 5); }); };

    const killed = place.start(args);
    await until(4);
    killed.signal('SIGKILL');
    await killed.ended;
    expect(kept()).toHaveLength(4);
    const [name] = readdirSync(place.path('killed', 'sweeps'));
    appendFileSync(join(place.path('killed', 'sweeps'), name!), kept()[0]!.slice(0, 50));

    const interrupted = place.start(args);
    // The torn line among them.
    await until(4 + 1 + 4);
    interrupted.signal('SIGINT');
    const ended = await interrupted.ended;
    expect(ended.code).toBe(130);
    expect(document(ended)).toMatchObject({ error: { code: 'INTERRUPTED', message: expect.stringMatching(
      /^interrupted: 8 of 20 trials are done and kept in .*; the same command goes on from there$/,
    ) as string } });

    writeFileSync(gate, '');
    const whole = document(await place.ask(args));
    expect(whole).toMatchObject({ trials: 20, resumed: 8, ran: 12 });
    const fresh = document(await place.ask([...args, '--fresh']));
    expect(fresh).toMatchObject({ trials: 20, resumed: 0, ran: 20 });
    expect(tableOf(fresh)).toStrictEqual(tableOf(whole));
  });

  it.each([
    [['--workers', '0'], 'expected a whole number from 1 to 999'],
    [['--workers', 'many'], 'expected a whole number from 1 to 999'],
    [['--objective', 'sharp'], 'did you mean sharpe?'],
    [['--trial-limit', 'soon'], 'expected a duration'],
    [['--grid', '/nowhere/grid.yaml'], 'there is no such file'],
    [['--recording', '/nowhere'], 'expected a recording'],
  ])('refuses %j before anything is run', async (flags, message) => {
    const { code, stderr } = await place.ask([
      'sweep', config('dip.yaml', reversion()), '--recording', recording, '--grid', place.write('grid.yaml', GRID),
      ...flags,
    ]);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it('refuses a grid without any combination valid for the recording or the strategy', async () => {
    const file = config('dip.yaml', reversion());
    const refusal = async (grid: string): Promise<JsonLine> => (await swept(file, grid))['error'] as JsonLine;
    expect(await refusal('params: { dip.size: ["26 USDC", "27 USDC"] }\n'))
      .toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('all 2 combinations are refused; the '
        + 'first: the recording lacks what the strategies watch: the price of 26 USDC in SOL') as string });
    expect(await refusal('params: { dip.window: [0, 1] }\n')).toMatchObject({
      code: 'CONFIG_INVALID', message: expect.stringContaining('all 2 combinations are refused') as string,
    });
  });

  it('refuses a state directory that cannot be written', async () => {
    const { code, stdout } = await place.ask([
      '--json', '--state-dir', place.write('a-file', ''), 'sweep', config('dip.yaml', reversion()), '--recording',
      recording, '--grid', place.write('grid.yaml', GRID),
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'USAGE', message: expect.stringContaining('give another folder with --state-dir') as string },
    });
    expect(code).toBe(2);
  });
});
