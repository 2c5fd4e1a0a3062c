import type { CommandModule } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import type { RequestFlags } from '../../input/request-flags.ts';
import { addFlags } from '../../input/request-flags.ts';
import { serviceRequest } from '../../input/service-request.ts';
import type { TokenNames } from '../../input/token-argument.ts';
import { findToken, nameTokens } from '../../input/token-argument.ts';
import { readAmount } from '../../../market/named-token.ts';
import { snakeCased } from '../../output/answer-json.ts';
import { instant, usd } from '../../output/figures.ts';
import { feeText, impactText, mintsOf, prices, routeText } from '../../output/quote-text.ts';
import { facts } from '../../output/table.ts';
import { formatDecimal } from '../../../core/amount.ts';
import { printable } from '../../../core/text.ts';
import type { Token } from '../../../market/token.ts';
import type { OrderRequest } from '../../../service/endpoints/swap-v2.ts';
import type { OrderAnswer } from '../../../service/wire/order-answer.ts';

type Flags = Omit<OrderRequest, 'inputMint' | 'outputMint' | 'amount'>;

const FLAGS: RequestFlags<OrderRequest, 'inputMint' | 'outputMint' | 'amount'> = {
  taker: ['text', 'the wallet that signs (default: none, so no transaction)'],
  receiver: ['text', 'another wallet that receives the output'],
  swapMode: ['text', 'ExactIn, the only mode'],
  slippageBps: ['number', 'maximum slippage, 0 to 10000 (default: the service chooses)'],
  referralAccount: ['text', 'the account of the referral fee'],
  referralFee: ['number', 'basis points, 50 to 255; needs --referral-account'],
  payer: ['text', 'pays fees and rent instead of the taker'],
  priorityFeeLamports: ['amount', 'the priority fee (default: the service chooses)'],
  bundleTipLamports: ['amount', 'the tip for faster inclusion'],
  broadcastFeeType: ['text', 'maxCap or exactFee'],
  excludeRouters: ['list', 'routers not to use'],
  excludeDexes: ['list', 'markets that the router iris does not use'],
};

export const orderCommand: CommandModule = (program, run) => {
  const command = program.command('order <in> <out> <amount>')
    .description('an order, with every parameter of the service; nothing is signed');
  addFlags(command, FLAGS).action(run(serviceRequest(async (
    { terminal, loaded, connections }, input: string, output: string, amount: string, flags: Flags,
  ) => {
    const from = await findToken(input, loaded.config.tokens, connections);
    const to = await findToken(output, loaded.config.tokens, connections);
    const order = await connections.service.swap.order(
      { ...flags, inputMint: from.mint, outputMint: to.mint, amount: readAmount(amount, from) }, { priority: 'watch' },
    );
    const names =
      await nameTokens([from.mint, to.mint, ...mintsOf(order.routePlan)], loaded.config.tokens, connections);
    terminal.result(snakeCased(order), () => asText(order, { from, to, names }));
    return order.buildError === undefined ? EXIT.done : EXIT.failed;
  })));
};

function asText(
  order: OrderAnswer, { from, to, names }: { readonly from: Token; readonly to: Token; readonly names: TokenNames },
): string {
  return facts([
    ['you pay', `${formatDecimal(order.inAmount, from.decimals)} ${from.symbol}  ${usd(order.inUsdValue)}`.trimEnd()],
    ['you get', `${formatDecimal(order.outAmount, to.decimals)} ${to.symbol}  ${usd(order.outUsdValue)}`.trimEnd()],
    ['at least', `${formatDecimal(order.threshold, to.decimals)} `
      + `${to.symbol}${order.slippageBps === undefined ? '' : `, after ${order.slippageBps} bps of slippage`}`],
    ['price', prices(order, from, to)],
    ['impact', impactText(order.priceImpact)],
    ['router', printable(order.router) + (order.mode === undefined ? '' : `, ${printable(order.mode)} order`)
      + (order.gasless === true ? ', gasless' : '')],
    ['route', routeText(order.routePlan, names)],
    ['fee', feeText(order, names)],
    ['signatures', paid(order.signatureFeeLamports, order.signatureFeePayer)],
    ['priority', paid(order.prioritizationFeeLamports, order.prioritizationFeePayer)],
    ['rent', paid(order.rentFeeLamports, order.rentFeePayer)],
    ['maker', order.maker === undefined ? undefined
      : `${printable(order.maker)}${order.expireAt === undefined ? '' : `, until ${instant(order.expireAt)} UTC`}`],
    ['transaction', transactionText(order)],
    ['tokens', [names.full(from.mint), names.full(to.mint)]],
  ]);
}

function transactionText({ transaction, taker, buildError, requestId, lastValidBlockHeight }: OrderAnswer): string[] {
  if (buildError !== undefined) return [
    `none: ${printable(buildError.message)}${buildError.code === undefined ? '' : ` (code ${buildError.code})`}`,
  ];
  if (transaction === undefined) return [taker === undefined ? 'none, because --taker is missing' : 'none'];
  return [
    `${transaction.length} bytes to sign, valid up to block height ${lastValidBlockHeight ?? 'unknown'}`,
    `request ${printable(requestId ?? 'without id')}`,
  ];
}

function paid(lamports: bigint | undefined, payer: string | undefined): string | undefined {
  if (lamports === undefined || lamports === 0n) return undefined;
  return `${formatDecimal(lamports, 9)} SOL${payer === undefined ? '' : `, paid by ${printable(payer)}`}`;
}
