import { z } from 'zod';
import { usd } from '../../output/figures.ts';
import { impactText, prices } from '../../output/quote-text.ts';
import { facts } from '../../output/table.ts';
import type { Amount, Lamports } from '../../../core/amount.ts';
import { bps, formatDecimal } from '../../../core/amount.ts';
import { printable } from '../../../core/text.ts';
import type { SwapPreview } from '../../../daemon/manual/swap-preview.ts';
import { networkFee } from '../../../daemon/manual/swap-preview.ts';
import type { Token } from '../../../market/token.ts';
import { formatTokenAmount } from '../../../market/token.ts';
import { USUAL_MAX_FEE_LAMPORTS } from '../../../signer/policy/expectation.ts';
import { SOL_DECIMALS } from '../../../solana/constants.ts';

/** The answer of a daemon to the question for a preview. */
const ANSWER = z.object({
  real_money: z.boolean(), wallet: z.string().nullable(), held: z.coerce.bigint().nullable(),
  route: z.enum(['order', 'build']), amount_in: z.coerce.bigint(), quoted_out: z.coerce.bigint(),
  minimum_out: z.coerce.bigint(), slippage_bps: z.number(), price_impact: z.number().nullable(), fee_bps: z.number(),
  router: z.string(), network_fee_lamports: z.coerce.bigint().nullable(), rent_lamports: z.coerce.bigint().nullable(),
  would_be_refused: z.array(z.string()), service: z.string(), in_usd: z.number().nullable(),
  out_usd: z.number().nullable(), in: z.custom<Token>(), out: z.custom<Token>(),
});

/** Returns the preview that a daemon answered. */
export function previewOf(answer: unknown): SwapPreview {
  const {
    real_money: isRealMoney, wallet, held, route, amount_in: spent, quoted_out: out, minimum_out: least,
    slippage_bps: slippage, price_impact: impact, fee_bps: fee, router, network_fee_lamports: network,
    rent_lamports: rent,
    would_be_refused: refusals, service, in_usd: inUsd, out_usd: outUsd, in: from, out: to,
  } = ANSWER.parse(answer);
  return {
    spend: { token: from, amount: spent }, to, route, slippageBps: bps(slippage), least: least as Amount, isRealMoney,
    wallet: wallet ?? undefined, held: held === null ? undefined : held as Amount, service, refusals,
    order: {
      inAmount: spent as Amount, outAmount: out as Amount, threshold: least as Amount, priceImpact: impact ?? undefined,
      contextSlot: undefined, router, feeBps: fee, inUsdValue: inUsd ?? undefined, outUsdValue: outUsd ?? undefined,
      signatureFeeLamports: network === null ? undefined : network as Lamports, prioritizationFeeLamports: undefined,
      rentFeeLamports: rent === null ? undefined : rent as Lamports, buildError: undefined,
    },
  };
}

/** Returns a preview as text. */
export function previewText(
  { spend, to, order, route, slippageBps, least, isRealMoney, wallet, held, service, refusals }: SwapPreview,
): string {
  const network = networkFee(order);
  const rent = order.rentFeeLamports ?? 0n;
  return facts([
    ['money', isRealMoney ? `REAL MONEY, on ${service}` : `no real money: ${service}`],
    ['wallet', wallet ?? 'unknown'],
    ['balance', held === undefined ? undefined : formatTokenAmount({ token: spend.token, amount: held })],
    ['you pay', `${formatTokenAmount(spend)}  ${usd(order.inUsdValue)}`.trimEnd()],
    [
      'you get',
      `about ${formatTokenAmount({ token: to, amount: order.outAmount })}  ${usd(order.outUsdValue)}`.trimEnd(),
    ],
    ['worst case', `${formatTokenAmount({ token: to, amount: least })}, after ${slippageBps} bps of slippage; the `
      + 'signer signs nothing below it'],
    ['price', prices(order, spend.token, to)],
    ['impact', impactText(order.priceImpact)],
    ['fee', `${order.feeBps} bps of the swap, included in the price`],
    ['network', `${network === undefined ? '' : `${sol(network)} now, `}at most ${sol(USUAL_MAX_FEE_LAMPORTS)}: the `
      + 'signer refuses higher fees'],
    ['deposit', rent === 0n ? undefined : `${sol(rent)} for a token account, returned when it is closed`],
    ['route', route === 'order' ? `order, by ${printable(order.router, 60)}`
      : 'build, composed here and sent through the RPC node'],
    ['refused', refusals.map((refusal) => `!! would be refused: ${refusal}`)],
  ]);
}

function sol(lamports: bigint): string {
  return `${formatDecimal(lamports, SOL_DECIMALS)} SOL`;
}
