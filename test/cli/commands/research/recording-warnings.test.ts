import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { backtestCommand } from '../../../../src/cli/commands/research/research-commands.ts';
import type { MarketEvent } from '../../../../src/market/event.ts';
import type { RecordingSource } from '../../../../src/recording/format.ts';
import { createHistoryWriter } from '../../../../src/recording/history-writer.ts';
import { bothSides } from '../../../backtest/measured.ts';
import type { Answer } from '../../in-process.ts';
import { runCommand } from '../../in-process.ts';
import { SOL, USDC } from '../../../market/tokens.ts';
import { temporaryFolder } from '../../../recording/temporary.ts';

const CONFIG = `mode: paper
tokens: { SOL: ${SOL.mint}, USDC: ${USDC.mint} }
risk: { max_slippage_bps: 50, max_trade: "500 USDC" }
strategies:
  - { use: mean-reversion, name: dip, budget: "500 USDC", max_age: 1h,
      params: { pair: SOL/USDC, size: "25 USDC", every: 5s, window: 10, k: 1, exit_z: 0 } }
`;

/** Runs a backtest over events in this process, and returns what it warns of. */
async function warningsOf(
  events: readonly MarketEvent[], source?: RecordingSource, config?: string,
): Promise<readonly string[]> {
  return (await answerOf(events, source, config)).document['warnings'] as readonly string[];
}

async function answerOf(
  events: readonly MarketEvent[], source: RecordingSource = { kind: 'watched' }, config = CONFIG,
): Promise<Answer> {
  const folder = temporaryFolder();
  const writer = createHistoryWriter({ dir: folder, name: 'rec', createdAt: 0, tokens: [SOL, USDC], source });
  events.forEach((event, index) => { writer.append(index + 1, event.receivedAt, event); });
  await writer.close();
  writeFileSync(join(folder, 'config.yaml'), config);
  return runCommand(
    backtestCommand, ['backtest', join(folder, 'config.yaml'), '--recording', writer.directory, '--no-grid'],
    { stateDir: folder },
  );
}

const prices = (): MarketEvent[] => bothSides(
  Array.from({ length: 400 }, (_, n) => [150.1 + 3 * Math.sin(n / 7), 149.9 + 3 * Math.sin(n / 7)] as const), 5_000,
);

it.each<readonly [RecordingSource, RegExp | undefined]>([
  [{ kind: 'watched' }, undefined],
  [{ kind: 'imported', file: 'mine.csv', form: 'quotes' }, undefined],
  [
    { kind: 'imported', file: 'mine.csv', form: 'candles' },
    /no figure contains the cost of a spread/,
  ],
  [{ kind: 'synthetic', market: 'swings', seed: 7 }, /the market is generated: its prices move around their level/],
  [
    { kind: 'synthetic', market: 'stochastic-volatility', seed: 7 },
    /the market is generated: its prices move at random, with trends and with volatility that clusters/,
  ],
  [{ kind: 'synthetic', market: 'random-walk', seed: 7 }, /the market is generated: its prices move at random/],
])('a backtest warns about prices at which no swap was possible: %j', async (source, said) => {
  const warnings = (await warningsOf(prices(), source)).filter((warning) => /is generated|candles/.test(warning));
  expect(warnings).toStrictEqual(said === undefined ? [] : [expect.stringMatching(said)]);
});

it.each<readonly [RecordingSource, string]>([
  [{ kind: 'synthetic', market: 'swings', seed: 7 }, 'the market is generated'],
  [{ kind: 'watched' }, 'no real market pays a Sharpe ratio of '],
])('issue 13.8: a backtest on a generated market, or with an absurd result, cannot judge luck: %j', async (
  source, reason,
) => {
  // Every dip is followed by a recovery, for a day and a half.
  const dips = Array.from({ length: 400 }, (_, n) =>
    (n % 15 === 14 ? [148.1, 147.9] as const : [150.1 + n % 2 / 10, 149.9 + n % 2 / 10] as const));
  const { document, text } = await answerOf(
    bothSides(dips, 350_000), source, CONFIG.replace('risk: {', 'risk: { max_quote_age: 1h, max_value_age: 1h,'),
  );
  const { sharpe, psr } = document['metrics'] as { readonly sharpe: number; readonly psr: number };
  expect(sharpe).toBeGreaterThan(10);
  expect(psr).toBeGreaterThan(0.99);
  expect((document['verdict'] as readonly string[]).at(-1))
    .toMatch(new RegExp(`^The share of luck in it cannot be judged: ${reason}`));
  expect(text).toMatch(/^ {2}P\(Sharpe > 0\) +n\/m/m);
  expect(text).toContain(`n/m: not meaningful: ${reason}`);
  expect(text).not.toMatch(/unlikely|probability|skill/);
});

it('issue 13.8: a backtest starts with the risk limits when they refused 1 % of the proposals or more', async () => {
  const limited = CONFIG.replace('risk: {', 'risk: { max_swaps: { per_minute: 1, per_hour: 10, per_day: 100 },');
  const { document, text } = await answerOf(prices(), undefined, limited);
  const denials = document['denials'] as Readonly<Record<string, number>>;
  const refused = Object.values(denials).reduce((sum, count) => sum + count, 0);
  expect(denials).toHaveProperty('RATE_PER_HOUR');
  const [first] = document['warnings'] as readonly string[];
  expect(first).toMatch(new RegExp(`^the risk limits shape this result: they refused ${refused} of `
    + `${String(document['decisions'])} proposals \\(\\d+ %\\), ${denials['RATE_PER_HOUR']} by RATE_PER_HOUR `
    + `\\(max_swaps\\.per_hour is used up\\).*; other limits lead to another result$`));
  expect(text.startsWith(`  ! ${first}\n`)).toBe(true);
  expect((await warningsOf(prices())).join('\n')).not.toContain('risk limits');
});

it('a backtest reports gaps and price jumps with place and time', async () => {
  const events = prices().filter(({ receivedAt }, index) => index < 300 || receivedAt > 1_200_000)
    .map((event, index) => (
      index === 40 && event.kind === 'quote'
        ? { ...event, outAmount: event.outAmount * 1_000n as typeof event.outAmount, rate: event.rate * 1_000 }
        : event));
  const warnings = (await warningsOf(events)).join('\n');
  expect(warnings).toMatch(
    /nothing was recorded of the price of .* from 1970-01-01T00:\d\d:\d\d\.\d{3}Z to 1970-01-01T00:[\d:.]+Z, for \d+m/,
  );
  expect(warnings).toMatch(
    /quote\/1970-01-01T00\.arrows\.zst:41 \(1970-01-01T00:\d\d:\d\d\.\d{3}Z\): the price in .* leaps from .* to .*;/,
  );
});

it('a backtest warns when no strategy has a budget', async () => {
  expect(CONFIG).toContain('budget: "500 USDC", ');
  const [first] = await warningsOf(prices().slice(0, 40), undefined, CONFIG.replace('budget: "500 USDC", ', ''));
  expect(first).toMatch(/^no strategy has a budget \(strategies\[\]\.budget\): no strategy may swap/);
});

/** What is said of a wallet that begins with so much. */
async function ofWallet(balances: string): Promise<readonly string[]> {
  return (await warningsOf(prices().slice(0, 40), undefined, `${CONFIG}backtest: { balances: ${balances} }\n`))
    .filter((warning) => warning.startsWith('the wallet'));
}

it('a backtest warns when its wallet holds less than the budgets, or nothing for fees', async () => {
  expect(await ofWallet('{ USDC: "0", SOL: "0" }')).toEqual([
    expect.stringMatching(
      /^the wallet begins with 0 USDC \(backtest\.balances\), and the budgets are 500: equity counts money/,
    ), expect.stringMatching(/^the wallet begins without SOL/),
  ]);
  expect(await ofWallet('{ USDC: "499.5" }')).toEqual([expect.stringMatching(/^the wallet begins with 499\.5 USDC/)]);
  expect(await ofWallet('{ USDC: "500" }')).toEqual([]);
});

it('a backtest refuses a price of zero and decreasing times, with file, row and time', async () => {
  const nothing = prices().map((event, index) =>
    (index === 40 && event.kind === 'quote' ? { ...event, outAmount: 0n as typeof event.outAmount, rate: 0 } : event));
  await expect(warningsOf(nothing)).rejects.toMatchObject({ code: 'RECORDING_CORRUPT', message: expect.stringMatching(
    /^quote\/1970-01-01T00\.arrows\.zst:41 \(1970-01-01T00:\d\d:\d\d\.\d{3}Z\): a price of 0 for/,
  ) });
  const back = prices().map((event, index) => (index === 40 ? { ...event, receivedAt: 1_000 } : event));
  await expect(warningsOf(back)).rejects.toMatchObject({ code: 'RECORDING_CORRUPT', message: expect.stringMatching(
    /^quote\/1970-01-01T00\.arrows\.zst:41: time goes backwards: 1970-01-01T00:00:01\.000Z comes after/,
  ) });
});

it('a backtest refuses an empty recording, and one of a single instant', async () => {
  await expect(warningsOf([]))
    .rejects.toMatchObject({ code: 'RECORDING_INCOMPLETE', message: expect.stringContaining('holds no events') });
  await expect(warningsOf(prices().slice(0, 2))).rejects.toMatchObject({
    code: 'RECORDING_INCOMPLETE',
    message: expect.stringContaining('holds a single instant, 1970-01-01T00:00:05.000Z: that is an empty period'),
  });
});
