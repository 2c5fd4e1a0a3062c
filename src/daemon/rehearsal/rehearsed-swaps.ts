import type { RunConfig, StrategyConfig } from '../../config/run-config.ts';
import { watchedBy } from '../../config/run-config.ts';
import type { Amount, Bps } from '../../core/amount.ts';
import { GannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import { configuredToken, readAmount, unknownToken } from '../../market/named-token.ts';
import type { Mint, Token } from '../../market/token.ts';
import type { IntentPurpose } from '../../trading/intent.ts';
import type { Route } from '../../trading/proposal.ts';
import type { SwapOptions } from '../../trading/swap-options.ts';
import { NO_SWAP_OPTIONS } from '../../trading/swap-options.ts';

/** A swap to rehearse on one route. */
export interface RehearsedSwap {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amount: Amount;
  readonly route: Route;
  readonly purpose: IntentPurpose;
  /** How the strategy requests its swaps. */
  readonly options: SwapOptions;
  /** risk.max_slippage_bps where absent. */
  readonly slippageBps?: Bps | undefined;
}

type Pair = Omit<RehearsedSwap, 'route'>;

const ROUTES: readonly Route[] = ['order', 'build'];

/**
 * Returns the swaps of a configuration: each pair and size that its strategies ask prices of, on both routes; on one
 * where the section `swap` fixes it.
 */
export function swapsOfStrategies({ strategies }: Pick<RunConfig, 'strategies'>): readonly RehearsedSwap[] {
  return onRoutes(strategies.flatMap(pairsOf));
}

/**
 * Returns the swaps of pairs in the form `IN/OUT:AMOUNT` or `IN/OUT`, whose sizes are those of the strategies, else
 * risk.max_trade. Throws USAGE, TOKEN_UNKNOWN or AMOUNT_INVALID.
 */
export function swapsOfPairs(config: RunConfig, texts: readonly string[]): readonly RehearsedSwap[] {
  return onRoutes(texts.flatMap((text) => namedPair(config, text)));
}

function onRoutes(pairs: readonly Pair[]): readonly RehearsedSwap[] {
  const swaps = pairs.flatMap((pair) => {
    const { route } = pair.options;
    return (route === undefined ? ROUTES : [route]).map((each) => ({ ...pair, route: each }));
  });
  return [...new Map(swaps.map((swap) => [keyOf(swap), swap])).values()];
}

function keyOf({ inputMint, outputMint, amount, route, options }: RehearsedSwap): string {
  const texts = JSON.stringify(options, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  return `${inputMint} ${outputMint} ${amount} ${route} ${texts}`;
}

function pairsOf(strategy: StrategyConfig): readonly Pair[] {
  return watchedBy(strategy).flatMap(({ spec }) => {
    if (spec.kind !== 'quote' && spec.kind !== 'quote-detail') return [];
    const { inputMint, outputMint, amount } = spec;
    return [{
      inputMint, outputMint, amount, options: strategy.swap ?? NO_SWAP_OPTIONS,
      purpose: outputMint === strategy.budget?.mint ? 'exit' as const : 'entry' as const,
    }];
  });
}

function namedPair(config: RunConfig, text: string): readonly Pair[] {
  const [, from = '', to = '', amountText] = /^([^/:]+)\/([^/:]+)(?::(.+))?$/.exec(text) ?? [];
  if (from === '') throw new GannetError(
    'USAGE', `--pair: expected IN/OUT or IN/OUT:AMOUNT, such as USDC/SOL:25, got "${printable(text, 60)}"`,
  );
  const [input, output] = [tokenOf(from, config), tokenOf(to, config)];
  if (input.mint === output.mint)
    throw new GannetError('USAGE', `--pair: expected two different tokens, got ${input.symbol} twice`);
  const known = config.strategies.flatMap(pairsOf)
    .filter(({ inputMint, outputMint }) => inputMint === input.mint && outputMint === output.mint);
  if (amountText === undefined && known.length > 0) return known;
  const { maxTrade } = config.limits;
  const amount = amountText === undefined ? maxTrade?.mint === input.mint ? maxTrade.amount : undefined
    : readAmount(amountText, input);
  if (amount === undefined) throw new GannetError('USAGE', `--pair ${printable(text, 60)}: no strategy watches this `
    + `pair, so name an amount, such as ${input.symbol}/${output.symbol}:1`);
  return [{
    inputMint: input.mint, outputMint: output.mint, amount, purpose: 'entry',
    options: known[0]?.options ?? NO_SWAP_OPTIONS,
  }];
}

function tokenOf(text: string, { tokens }: RunConfig): Token {
  const token = configuredToken(text, tokens);
  if (token === undefined) throw unknownToken(text, tokens, { orMint: false });
  return token;
}
