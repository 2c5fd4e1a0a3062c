import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backtestCommand } from '../../../../src/cli/commands/research/research-commands.ts';
import { walkForwardCommand } from '../../../../src/cli/commands/research/research-commands.ts';
import type { Answer } from '../../in-process.ts';
import { runCommand } from '../../in-process.ts';
import { SOL, USDC } from '../../../market/tokens.ts';
import { DAY, HOUR, priceAt, START, writeMarket } from '../../../research/walk-forward/market.ts';

const folder = mkdtempSync(join(tmpdir(), 'gannet-walk-cli-'));
const removals: (() => void)[] = [() => { rmSync(folder, { recursive: true }); }];
afterAll(() => { for (const remove of removals) remove(); });

const CONFIG = join(folder, 'config.yaml');
const GRID = join(folder, 'grid.yaml');
const LENGTHS = ['--in-sample', '2d', '--out-of-sample', '1d', '--objective', 'total_return'];
const SECOND_ENDS = START + 4 * HOUR + 4 * DAY;
let recording: string;

async function recorded(price: (at: number) => number): Promise<string> {
  const market = await writeMarket(6, price);
  removals.push(() => { market.remove(); });
  return market.directory;
}

const walk = (args: readonly string[], stateDir = join(folder, 'state')): Promise<Answer> =>
  runCommand(walkForwardCommand, ['walk-forward', CONFIG, ...args], { stateDir });

interface FoldJson {
  readonly status: string;
  readonly params: { readonly dip: { readonly window: number } };
  readonly out_of_sample: { readonly metrics: { readonly total_return: number } };
}

beforeAll(async () => {
  writeFileSync(CONFIG, `mode: paper
tokens: { SOL: ${SOL.mint}, USDC: ${USDC.mint} }
risk: { max_slippage_bps: 50, max_trade: "500 USDC", max_value_age: 1h }
strategies:
  - { use: mean-reversion, name: dip, budget: "500 USDC", max_age: 1h, warmup: 4h,
      params: { pair: SOL/USDC, size: "25 USDC", every: 20m, k: 1 } }
`);
  writeFileSync(GRID, 'params: { dip.window: [4, 8, 24] }\n');
  recording = await recorded(priceAt);
});

describe('gannet walk-forward', () => {
  let answer: Answer;
  let report: string;
  beforeAll(async () => {
    report = join(folder, 'report.html');
    answer = await walk(['--recording', recording, '--grid', GRID, ...LENGTHS, '--workers', '2', '--report', report]);
  });

  it('reports its folds, their joint result, and its reliability', () => {
    const { code, document } = answer;
    const folds = document['folds'] as readonly FoldJson[];
    expect([code, folds.length]).toStrictEqual([0, 3]);
    const growth = folds.reduce((product, fold) => product * (1 + fold.out_of_sample.metrics.total_return), 1) - 1;
    expect(document).toMatchObject({
      terms: { objective: 'total_return', in_sample: '2d', out_of_sample: '1d', anchored: false, parameter_sets: 3 },
      folds: folds.map((_, i) => ({
        number: i + 1, status: 'judged', reason: null, params: { dip: { window: expect.any(Number) as number } },
        in_sample: { done: 3, refused: 0, failed: 0, objective: expect.any(Number) as number },
        out_of_sample: {
          period: { start: new Date(START + 4 * HOUR + (2 + i) * DAY).toISOString() },
          equity: { start: '500', currency: 'USDC' },
        },
      })),
      judged_folds: 3, efficiency: expect.any(Number), repeatable: true, stability: { choices: 3 },
      out_of_sample: {
        equity: { start: '500' }, metrics: { total_return: expect.closeTo(growth, 9), trials: 1 },
        benchmarks: { buy_and_hold: { metrics: { total_return: expect.any(Number) } } },
      },
      trials: { count: 1 },
    });
  });

  it('prints the same as text, and writes a report', () => {
    const { text, document } = answer;
    for (const said of [
      ...document['verdict'] as string[], ...document['warnings'] as string[], 'dip.window', 'out of sample',
      'buy and hold', report,
    ]) expect(text).toContain(said);
    // What is chosen by is in the table once.
    expect(text).toMatch(/ chosen +return in-sample +out of sample +swaps\n/);
    const page = readFileSync(report, 'utf8');
    for (const said of [
      'Walk-forward of dip', ...document['verdict'] as string[], 'Equity out of sample',
      'in-sample, by what was tried and by fold',
    ]) expect(page).toContain(said);
    expect(page).not.toContain(folder);
  });

  it('groups folds that prove nothing for the same reason', async () => {
    const { document, text } =
      await walk(['--recording', recording, '--grid', GRID, ...LENGTHS, '--workers', '1', '--objective', 'calmar']);
    expect(text.match(/ no choice\n/g)).toHaveLength(3);
    expect(text).toMatch(/ chosen +Calmar ratio in-sample +out of sample +return in-sample +out of sample +swaps\n/);
    expect((document['warnings'] as string[]).filter((warning) => warning.includes('excluded from averages')))
      .toEqual([expect.stringMatching(
        /^all 3 folds are excluded from averages, the first because none of 3 has a Calmar ratio .*less than 30 days$/,
      )]);
  });

  it('reports where the risk limits made the result: per run, per fold, and in the report', async () => {
    const open = readFileSync(CONFIG, 'utf8');
    const page = join(folder, 'limited.html');
    writeFileSync(CONFIG, open.replace(
      'max_value_age: 1h', 'max_value_age: 1h, max_swaps: { per_minute: 1, per_hour: 1, per_day: 1 }',
    ));
    const { document, text } = await walk(
      ['--recording', recording, '--grid', GRID, ...LENGTHS, '--workers', '1', '--report', page],
      join(folder, 'limited'),
    ).finally(() => { writeFileSync(CONFIG, open); });
    const warnings = document['warnings'] as string[];
    const said = [expect.stringMatching(
      /^in all 9 in-sample trials the risk limits determine the result as much as the parameters: .*by RATE_PER_/,
    ) as string,
      expect.stringMatching(/^in all 3 out-of-sample runs the risk limits determine the result as much as/) as string];
    expect(warnings.filter((warning) => warning.includes('risk limits'))).toStrictEqual(said);
    const limited =
      { limited_by: expect.stringMatching(/^RATE_PER_/) as string, denials: expect.anything() as unknown };
    expect(document['folds']).toMatchObject([1, 2, 3].map(() => ({ in_sample: limited, out_of_sample: limited })));
    expect(text.match(/ limited in-sample by RATE_PER_\w+, out of sample by RATE_PER_\w+\n/g)).toHaveLength(3);
    expect(readFileSync(page, 'utf8').match(/judged; limited in-sample by RATE_PER_/g)).toHaveLength(3);
    expect(answer.text).not.toContain('limited');
  });

  it('is the same with another number of threads, and finished folds do not depend on later data', async () => {
    const other = await recorded((at) => (at < SECOND_ENDS ? priceAt(at) : 90 + 30 * Math.sin(at / HOUR)));
    const { document } = await walk(['--recording', other, '--grid', GRID, ...LENGTHS, '--workers', '1']);
    const [now, before] = [document['folds'], answer.document['folds']] as (readonly FoldJson[])[];
    expect(now!.slice(0, 2)).toStrictEqual(before!.slice(0, 2));
    expect(now![2]).not.toStrictEqual(before![2]);
  });

  it('counts as one trial per way of folding, and its parameter sets as trials of everything else', async () => {
    const again = await walk(['--recording', recording, '--grid', GRID, ...LENGTHS, '--workers', '1']);
    expect(again.document['trials']).toMatchObject({ count: 1 });
    const anchored = await walk(['--recording', recording, '--grid', GRID, ...LENGTHS, '--anchored', '--workers', '1']);
    expect(anchored.document['trials']).toMatchObject({ count: 2 });
    const alone = await runCommand(
      backtestCommand, ['backtest', CONFIG, '--recording', recording, '--no-grid'], { stateDir: join(folder, 'state') },
    );
    // Three that were chosen among, two walks, and the configured window of twenty.
    expect(alone.document['trials']).toMatchObject({ count: 6 });
  });

  it.each([
    [
      'in-sample is shorter than the warm-up', ['--in-sample', '1h', '--out-of-sample', '1d'], 'USAGE',
      /shorter than the 4h that the strategies need to warm up/,
    ],
    [
      'the recording is too short', ['--in-sample', '5d', '--out-of-sample', '2d'], 'RECORDING_INCOMPLETE',
      /one fold takes 4h to warm up, 5d in-sample, 2d out-of-sample/,
    ],
  ])('is refused where %s', async (_, lengths, code, message) => {
    await expect(walk(['--recording', recording, '--grid', GRID, ...lengths]))
      .rejects.toMatchObject({ code, message: expect.stringMatching(message) as string });
  });

  it('is refused with the number of trials when that is too large', async () => {
    const grid = join(folder, 'endless.yaml');
    writeFileSync(grid, 'params: { dip.window: { from: 2, to: 9999, step: 1 } }\n');
    await expect(walk(['--recording', recording, '--grid', grid, '--in-sample', '4h', '--out-of-sample', '8h']))
      .rejects.toMatchObject({ code: 'USAGE', message: expect.stringMatching(
        /17 folds of 9,998 parameter sets are 169,966 trials; at most 100,000 are allowed/,
      ) as string });
  });

  it('is refused with the reason when every parameter set is refused', async () => {
    const grid = join(folder, 'refused.yaml');
    writeFileSync(grid, 'params: { dip.window: [1, 0] }\n');
    await expect(walk(['--recording', recording, '--grid', grid, ...LENGTHS])).rejects.toMatchObject({
      code: 'CONFIG_INVALID', message: expect.stringMatching(/all 2 .*refused.* window/) as string,
    });
  });

  it.each([
    ['--objective', 'luck'], ['--in-sample', 'soon'], ['--workers', '0'],
  ])('takes no %s %s', async (option, value) => {
    await expect(walk(['--recording', recording, '--grid', GRID, ...LENGTHS, option, value]))
      .rejects.toMatchObject({ code: 'commander.invalidArgument' });
  });

  it('ends at once at an interrupt', async () => {
    const interrupted = runCommand(
      walkForwardCommand, ['walk-forward', CONFIG, '--recording', recording, '--grid', GRID, ...LENGTHS],
      { stateDir: join(folder, 'state'), interrupt: AbortSignal.abort() },
    );
    await expect(interrupted).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });
});
