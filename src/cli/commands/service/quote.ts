import type { CommandModule } from '../../command.ts';
import { example } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { serviceRequest } from '../../input/service-request.ts';
import type { TokenNames } from '../../input/token-argument.ts';
import { findToken, nameTokens } from '../../input/token-argument.ts';
import { readAmount } from '../../../market/named-token.ts';
import { impactText, prices } from '../../output/quote-text.ts';
import { facts } from '../../output/table.ts';
import { formatDecimal } from '../../../core/amount.ts';
import type { Token } from '../../../market/token.ts';
import type { SwapOrder } from '../../../trading/swap-terms.ts';

export const quoteCommand: CommandModule = (program, run) => {
  program.command('quote <in> <out> <amount>')
    .description('the price that the service offers; tokens by alias or mint, the amount in whole tokens')
    .addHelpText('after', example('gannet quote SOL USDC 0.5'))
    .action(run(serviceRequest(async (
      { terminal, loaded, connections }, input: string, output: string, amount: string,
    ) => {
      const from = await findToken(input, loaded.config.tokens, connections);
      const to = await findToken(output, loaded.config.tokens, connections);
      const order = await connections.service.swap.order(
        { inputMint: from.mint, outputMint: to.mint, amount: readAmount(amount, from) }, { priority: 'watch' },
      );
      const names = await nameTokens([from.mint, to.mint], loaded.config.tokens, connections);
      terminal.result(asJson(order), () => asText(order, { from, to, names }));
      return EXIT.done;
    })));
};

function asJson(order: SwapOrder): unknown {
  return {
    input_mint: order.inputMint, output_mint: order.outputMint, in_amount: order.inAmount, out_amount: order.outAmount,
    threshold: order.threshold, router: order.router, fee_bps: order.feeBps, price_impact: order.priceImpact ?? null,
    slippage_bps: order.slippageBps ?? null, context_slot: order.contextSlot ?? null,
  };
}

function asText(
  order: SwapOrder, { from, to, names }: { readonly from: Token; readonly to: Token; readonly names: TokenNames },
): string {
  return facts([
    ['you pay', `${formatDecimal(order.inAmount, from.decimals)} ${from.symbol}`],
    ['you get', `${formatDecimal(order.outAmount, to.decimals)} ${to.symbol}`],
    ['price', prices(order, from, to)],
    ['impact', impactText(order.priceImpact)],
    ['fees', `${order.feeBps} bps of the swap, included in the price`],
    ['router', order.router],
    ['tokens', [names.full(from.mint), names.full(to.mint)]],
  ]);
}
