import type { RunConfig, StrategyConfig } from '../../config/run-config.ts';
import { formatDecimal } from '../../core/amount.ts';
import { showAmount, symbolOf } from '../../market/market-text.ts';
import type { TokenTable } from '../../market/token.ts';
import { SOL_DECIMALS } from '../../solana/constants.ts';
import type { SwapProposal } from '../../trading/proposal.ts';
import type { BuildOptions, OrderOptions, SwapOptions } from '../../trading/swap-options.ts';

type SwapConfig = Pick<RunConfig, 'strategies'>;

/** Returns how the swaps of each strategy with a budget are requested, for people, one strategy after the other. */
export function describeSwaps({ strategies }: SwapConfig): string[] {
  return strategies.filter(({ budget }) => budget !== undefined)
    .map(({ name, swap }) => `${name}: ${describeOptions(swap).join(', ')}`);
}

function describeOptions(options: SwapOptions | undefined): string[] {
  if (options === undefined) return ['the route that it proposes, manual'];
  const { route, isAutomatic, order, build } = options;
  const known = { ...order, ...build };
  return [
    route === undefined ? 'the route that it proposes' : `route ${route}`,
    isAutomatic ? 'automatic slippage and routing' : 'manual',
    ...orderText(order),
    ...buildText(build),
    ...(known.excludeDexes === undefined ? [] : [`exchanges without ${known.excludeDexes.join(', ')}`]),
  ];
}

function orderText(order: OrderOptions): string[] {
  const { excludeRouters, priorityFeeLamports, bundleTipLamports, broadcastFeeType, receiver } = order;
  return [
    ...(excludeRouters === undefined ? [] : [`routers without ${excludeRouters.join(', ')}`]),
    ...(priorityFeeLamports === undefined ? [] : [`priority fee ${sol(priorityFeeLamports)}`]),
    ...(bundleTipLamports === undefined ? [] : [`tip ${sol(bundleTipLamports)}`]),
    ...(broadcastFeeType === undefined ? [] : [broadcastFeeType === 'maxCap' ? 'fees are limits' : 'fees are exact']),
    ...(receiver === undefined ? [] : [`entries go to ${receiver}`]),
    ...(order.referralAccount === undefined ? []
      : [`a fee of ${order.referralFee} bps to ${order.referralAccount}`]),
  ];
}

function buildText(build: BuildOptions): string[] {
  const { mode, dexes, maxAccounts, wrapAndUnwrapSol, blockhashSlotsToExpiry } = build;
  const destination = build.destinationTokenAccount ?? build.nativeDestinationAccount;
  return [
    ...(dexes === undefined ? [] : [`exchanges ${dexes.join(', ')} only`]),
    ...(mode === undefined ? [] : ['fast']),
    ...(maxAccounts === undefined ? [] : [`at most ${maxAccounts} accounts`]),
    ...(wrapAndUnwrapSol === undefined ? []
      : [wrapAndUnwrapSol ? 'SOL is wrapped and unwrapped' : 'SOL stays wrapped']),
    ...(blockhashSlotsToExpiry === undefined ? [] : [`expires after ${blockhashSlotsToExpiry} blocks`]),
    ...(destination === undefined ? [] : [`entries go to ${destination}`]),
    ...(build.feeAccount === undefined ? [] : [`a fee of ${build.platformFeeBps} bps to ${build.feeAccount}`]),
  ];
}

/** Returns what a run without real trades does with the options of a strategy's swaps, for people. */
export function describeSimulated({ strategies }: SwapConfig): string[] {
  return strategies.some(hasOptions) ? [
    'paper: routers, exchanges of an order, fees, tips and receivers count; a price is always that of an order',
    'backtest: the route counts; costs are those of backtest.simulation, and other options do not apply',
  ] : [];
}

function hasOptions({ swap }: Pick<StrategyConfig, 'swap'>): boolean {
  return swap !== undefined
    && (swap.isAutomatic || Object.keys(swap.order).length > 0 || Object.keys(swap.build).length > 0);
}

function sol(lamports: bigint): string {
  return `${formatDecimal(lamports, SOL_DECIMALS)} SOL`;
}

/** Returns a proposed swap for people: "swap 1 USDC to SOL". */
export function describeSwap(tokens: TokenTable, proposal: SwapProposal, amountIn: bigint | undefined): string {
  const size = amountIn ?? (typeof proposal.amount === 'bigint' ? proposal.amount : undefined);
  const input = size !== undefined ? showAmount(tokens, proposal.inputMint, size)
    : proposal.amount === 'all' ? `all ${symbolOf(tokens, proposal.inputMint)}`
    : `a part of its ${symbolOf(tokens, proposal.inputMint)}`;
  return `swap ${input} to ${symbolOf(tokens, proposal.outputMint)}`;
}
