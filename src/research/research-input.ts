import { longestWarmup } from '../backtest/backtest.ts';
import { assumedUntil } from '../backtest/models/recorded-model.ts';
import type { RecordedChecks } from '../backtest/recorded-checks.ts';
import type { RunConfig } from '../config/run-config.ts';
import { formatDecimal } from '../core/amount.ts';
import { printable } from '../core/text.ts';
import type { Mint, Token } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { RecordingSource } from '../recording/format.ts';
import type { Recording } from '../recording/reader.ts';
import type { ThreadSetup } from './trials/thread-setup.ts';

/** What a backtest or a study works on: the strategies of a configuration, and a recording that holds their inputs. */
export interface ResearchInput {
  readonly config: RunConfig;
  readonly recording: Recording;
  /** Whether a process still writes the recording. */
  readonly isBeingWritten: boolean;
  readonly checks: RecordedChecks;
  /** Tokens that a live run would check before buying, and that the recording has no check of: they are allowed. */
  readonly unseen: readonly Token[];
  /** Irregularities in the recorded rows, in sentences. */
  readonly recordingWarnings: readonly string[];
  readonly setup: ThreadSetup;
}

/** Returns the warnings that hold for every result computed from an input. */
export function researchWarnings(
  { recording: { truncatedAt, manifest }, isBeingWritten, unseen, recordingWarnings, setup }: ResearchInput,
): string[] {
  return [
    ...walletWarnings(setup),
    ...sourceWarnings(manifest.source),
    ...(truncatedAt === undefined ? [] : [isBeingWritten
      ? `the recording is still being written: it is used up to input number ${truncatedAt}`
      : `the recording was cut off by a crash: everything after input number ${truncatedAt} is lost`]),
    ...recordingWarnings,
    ...latencyWarnings(setup),
    ...(unseen.length === 0 ? []
      : [`the recording does not say whether ${unseen.map(({ symbol }) => symbol).join(', ')} `
        + 'may be bought (risk.token_safety): every purchase is allowed']),
  ];
}

/**
 * Equity is what the strategies' budgets hold. A wallet that holds less refuses their swaps, which no other figure
 * shows.
 */
function walletWarnings({ strategies, balances, tokens }: ThreadSetup): string[] {
  const budgets = new Map<Mint, bigint>();
  for (const { budget } of strategies) {
    if (budget !== undefined) budgets.set(budget.mint, (budgets.get(budget.mint) ?? 0n) + budget.amount);
  }
  const short = [...budgets].filter(([mint, wanted]) => (balances.get(mint) ?? 0n) < wanted).map(([mint, wanted]) => {
    const { symbol, decimals } = tokens.find((token) => token.mint === mint) ?? { symbol: mint, decimals: 0 };
    return `the wallet begins with ${formatDecimal(balances.get(mint) ?? 0n, decimals)} ${symbol} (backtest.balances), `
      + `and the budgets are ${formatDecimal(wanted, decimals)}: equity counts money that the wallet does not hold, `
      + 'and swaps are refused for it';
  });
  if (budgets.size === 0) {
    return ['no strategy has a budget (strategies[].budget): no strategy may swap, so nothing is earned or lost; '
      + 'the result shows only what the strategies report'];
  }
  return (balances.get(SOL_MINT) ?? 0n) > 0n
    ? short : [...short, 'the wallet begins without SOL (backtest.balances): it cannot pay any fee'];
}

/** How the prices of a generated market move, by its name. */
const SYNTHETIC_MOTION: Readonly<Record<string, string>> = {
  'stochastic-volatility': 'at random, with trends and with volatility that clusters',
  'random-walk': 'at random, so that nothing can be earned there except by a mistake',
  'swings': 'around their level, so that buying dips pays there',
};

function sourceWarnings(source: RecordingSource): string[] {
  if (source.kind === 'imported' && source.form === 'candles') {
    return ['the prices come from candles, the same for buying and selling and for every size: '
      + 'no figure contains the cost of a spread or of a market’s depth'];
  }
  if (source.kind !== 'synthetic') return [];
  const motion = SYNTHETIC_MOTION[source.market] ?? `as "${printable(source.market, 40)}" does`;
  return [`the market is generated: its prices move ${motion}; the result says nothing about a real market`];
}

/** No swap may take its time from later ones, so the beginning of a recording has none to take it from. */
function latencyWarnings({ model, firstAt, strategies }: ThreadSetup): string[] {
  const until = assumedUntil(model, firstAt + longestWarmup(strategies));
  return until === undefined ? []
    : [`until ${new Date(until).toISOString()} swaps take the assumed time (backtest.latency): `
      + 'the recorded run had made too few swaps by then'];
}
