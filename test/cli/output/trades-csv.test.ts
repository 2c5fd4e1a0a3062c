import { expect, it } from 'vitest';
import { tradesCsv } from '../../../src/cli/output/trades-csv.ts';
import type { Trade } from '../../../src/research/metrics/trades.ts';

const TRADE = {
  pair: 'SOL/USDC', symbol: 'SOL', strategy: 'dip', quantity: 250_000_000n, decimals: 9,
  openedAt: Date.UTC(2026, 0, 1, 12), closedAt: Date.UTC(2026, 0, 1, 13, 30), entryValue: 25, exitValue: 27.5,
  costs: 0.5, profit: 2, entryReason: 'below the band, at 99.5', exitReason: '=HYPERLINK("x")',
  excursion: { adverse: 0.01, favourable: 0.125 },
} satisfies Trade;

it('trades as CSV have sizes in whole tokens, percentages, and reasons that no spreadsheet executes', () => {
  const [, line, ...rest] = tradesCsv([TRADE], () => undefined).split('\r\n');
  // 25 for 0.25 SOL is 100 each, 27.5 is 110; 2 of 25 is 8 %.
  expect(line).toBe('SOL/USDC,dip,2026-01-01T12:00:00.000Z,2026-01-01T13:30:00.000Z,5400,0.25,100,110,25,27.5,0.5,2,8,'
    + '1,12.5,"below the band, at 99.5","\'=HYPERLINK(""x"")"');
  expect(rest).toEqual(['']);
});

it('trades as CSV leave unknown figures empty, and take the decimals of a token that was not watched', () => {
  const bare = {
    ...TRADE, decimals: undefined, excursion: undefined, entryReason: undefined, exitReason: undefined, entryValue: 0,
  };
  expect(tradesCsv([bare], () => undefined).split('\r\n')[1]).toMatch(/,5400,,,,0,27\.5,0\.5,2,,,,,$/);
  expect(tradesCsv([bare], () => 6).split('\r\n')[1]).toMatch(/,5400,250,0,0\.11,0,27\.5,/);
  expect(tradesCsv([], () => 6)).toMatch(/^pair,.*exit_reason\r\n$/);
});
