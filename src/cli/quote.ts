import type { Amount } from '../core/amount.ts';
import { formatDecimal, parseDecimal } from '../core/amount.ts';
import { GannetError, isGannetError } from '../core/errors.ts';
import type { Token } from '../market/token.ts';
import type { SwapOrder } from '../trading/swap-order.ts';
import type { CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { looking } from './look.ts';
import type { TokenNames } from './named-tokens.ts';
import { findToken, nameTokens } from './named-tokens.ts';
import { facts } from './table.ts';

export const quoteCommand: CommandModule = (program, run) => {
  program.command('quote <in> <out> <amount>')
    .description('what the service would pay: tokens by alias or mint, the amount in whole tokens')
    .action(run(looking(async ({ terminal, loaded, world }, input: string, output: string, amount: string) => {
      const from = await findToken(input, loaded.config.tokens, world);
      const to = await findToken(output, loaded.config.tokens, world);
      const order = await world.service.swap.order({ inputMint: from.mint, outputMint: to.mint, amount: readAmount(amount, from) }, { priority: 'watch' });
      const names = await nameTokens([from.mint, to.mint], loaded.config.tokens, world);
      terminal.result(asJson(order), () => asText(order, { from, to, names }));
      return EXIT.done;
    })));
};

/** Returns an amount of whole tokens in smallest units. Throws AMOUNT_INVALID naming the token. */
export function readAmount(text: string, token: Token): Amount {
  try {
    const amount = parseDecimal(text, token.decimals);
    if (amount === 0n) throw new GannetError('AMOUNT_INVALID', 'expected more than 0');
    return amount;
  } catch (cause) {
    throw isGannetError(cause) ? new GannetError(cause.code, `amount of ${token.symbol}: ${cause.message}`, { cause }) : cause;
  }
}

function asJson(order: SwapOrder): unknown {
  return {
    input_mint: order.inputMint, output_mint: order.outputMint, in_amount: order.inAmount, out_amount: order.outAmount,
    threshold: order.threshold, router: order.router, fee_bps: order.feeBps, price_impact: order.priceImpact ?? null,
    slippage_bps: order.slippageBps ?? null, context_slot: order.contextSlot ?? null,
  };
}

function asText(order: SwapOrder, { from, to, names }: { readonly from: Token; readonly to: Token; readonly names: TokenNames }): string {
  return facts([
    ['you pay', `${formatDecimal(order.inAmount, from.decimals)} ${from.symbol}`],
    ['you get', `${formatDecimal(order.outAmount, to.decimals)} ${to.symbol}`],
    ['price', prices(order, from, to)],
    ['impact', impactText(order.priceImpact)],
    ['fees', `${order.feeBps} bps of the swap, in the price already`],
    ['router', order.router],
    ['tokens', [names.full(from.mint), names.full(to.mint)]],
  ]);
}

/** Returns the price of a swap in both directions. */
export function prices(order: Pick<SwapOrder, 'inAmount' | 'outAmount'>, from: Token, to: Token): string[] {
  const sold = Number(formatDecimal(order.inAmount, from.decimals));
  const bought = Number(formatDecimal(order.outAmount, to.decimals));
  return [`${(bought / sold).toPrecision(7)} ${to.symbol} for one ${from.symbol}`, `${(sold / bought).toPrecision(7)} ${from.symbol} for one ${to.symbol}`];
}

/** Returns a price impact in words: what the swap loses by its own size. */
export function impactText(impact: number | undefined): string {
  if (impact === undefined) return 'the service does not say';
  return `${(impact * 100).toFixed(3)} % ${impact < 0 ? '(worse than the market)' : ''}`.trimEnd();
}
