import { formatDecimal, parseDecimal } from '../core/amount.ts';
import { GannetError, isGannetError } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';
import type { Token, TokenTable } from '../market/token.ts';
import { mint } from '../market/token.ts';
import type { World } from '../daemon/world.ts';
import type { SwapOrder } from '../trading/swap-order.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { openConfigured } from './configured.ts';
import { EXIT } from './exit-codes.ts';
import { table } from './terminal.ts';

export const quoteCommand: CommandModule = (program, run) => {
  program.command('quote <in> <out> <amount>')
    .description('what the service would pay: tokens by alias or mint, the amount in whole tokens')
    .action(run(async (context: CommandContext, input: string, output: string, amount: string) => {
      const { loaded, world } = await openConfigured(context, 'look');
      try {
        const from = await findToken(input, loaded.config.tokens, world);
        const to = await findToken(output, loaded.config.tokens, world);
        const order = await world.service.swap.order({ inputMint: from.mint, outputMint: to.mint, amount: readAmount(amount, from) }, { priority: 'watch' });
        context.terminal.result(asJson(order), () => asText(order, from, to));
        return EXIT.done;
      } finally {
        await world.close();
      }
    }));
};

/** Returns the token that a configured alias or a mint address means. Symbols of the service are no names: they are not unique. */
async function findToken(text: string, known: TokenTable, world: World): Promise<Token> {
  const configured = known.bySymbol(text) ?? known.all.find((token) => token.mint === text);
  if (configured !== undefined) return configured;
  const address = asMint(text, known);
  const decimals = (await world.decimalsOf([address])).get(address);
  if (decimals === undefined) throw new GannetError('TOKEN_UNKNOWN', `the service knows no token ${address}`);
  return { mint: address, symbol: `${text.slice(0, 4)}…${text.slice(-4)}`, decimals };
}

function asMint(text: string, known: TokenTable): Token['mint'] {
  try {
    return mint(text);
  } catch (cause) {
    const symbols = known.all.map(({ symbol }) => symbol);
    const close = nearest(text, symbols);
    throw new GannetError('TOKEN_UNKNOWN',
      `expected a mint address or one of the configured tokens ${symbols.join(', ')}, got "${text.slice(0, 60)}"${close === undefined ? '' : ` (did you mean ${close}?)`}`, { cause });
  }
}

function readAmount(text: string, token: Token): ReturnType<typeof parseDecimal> {
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

function asText(order: SwapOrder, from: Token, to: Token): string {
  const sold = Number(formatDecimal(order.inAmount, from.decimals));
  const bought = Number(formatDecimal(order.outAmount, to.decimals));
  const impact = order.priceImpact === undefined ? 'not said' : `${(order.priceImpact * 100).toFixed(3)} %`;
  return table([
    [`${formatDecimal(order.inAmount, from.decimals)} ${from.symbol}`, `→ ${formatDecimal(order.outAmount, to.decimals)} ${to.symbol}`],
    ['price', `${(bought / sold).toPrecision(7)} ${to.symbol} for one ${from.symbol}`],
    ['', `${(sold / bought).toPrecision(7)} ${from.symbol} for one ${to.symbol}`],
    ['router', order.router],
    ['price impact', impact],
    ['fees', `${order.feeBps} bps`],
  ]);
}
