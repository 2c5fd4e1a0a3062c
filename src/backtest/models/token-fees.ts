import type { Amount, Bps } from '../../core/amount.ts';
import { mulDiv, ZERO } from '../../core/amount.ts';
import type { TransferFee } from '../../market/mint-account.ts';
import type { Mint } from '../../market/token.ts';
import type { SimulationModel } from '../../trading/simulation-model.ts';

const BPS = 10_000n;

/** Returns what a token's issuer keeps of a transfer: ceil(amount × bps / 10^4), at most the maximum. */
export function transferFeeOf(amount: Amount, fee: TransferFee | undefined): Amount {
  if (fee === undefined || fee.bps === 0) return ZERO;
  const share = mulDiv(amount, BigInt(fee.bps), BPS, 'ceil');
  return share < fee.maximum ? share : (fee.maximum as Amount);
}

/** Returns what the platform takes of an amount, floored as the chain's programs do. */
export function platformFeeOf(amount: Amount, feeBps: Bps): Amount {
  return feeBps === 0 ? ZERO : mulDiv(amount, BigInt(feeBps), BPS, 'floor');
}

/** What a model says of what swaps lose on their way, beside the market's price. */
export type FeeModel = Pick<SimulationModel, 'costs' | 'dearerBps' | 'transferFees'>;

/** Returns what of an amount that goes in reaches the market, and who keeps the rest. */
export function reachingMarket(amountIn: Amount, mint: Mint, { costs: { platformFeeBps, platformFeeIn }, transferFees }: FeeModel): { readonly traded: Amount; readonly platformFee: Amount; readonly transferFee: Amount } {
  const transferFee = transferFeeOf(amountIn, transferFees.get(mint));
  const arriving = (amountIn - transferFee) as Amount;
  const platformFee = platformFeeIn === 'input' ? platformFeeOf(arriving, platformFeeBps) : ZERO;
  return { traded: (arriving - platformFee) as Amount, platformFee, transferFee };
}

/** Returns what the market pays where so much was recorded, what of it reaches the wallet, and who keeps the rest. */
export function reachingWallet(recorded: Amount, mint: Mint, { costs: { platformFeeBps, platformFeeIn }, dearerBps, transferFees }: FeeModel): { readonly paid: Amount; readonly received: Amount; readonly platformFee: Amount; readonly transferFee: Amount } {
  const paid = dearerBps === undefined ? recorded : dearer(recorded, dearerBps);
  const platformFee = platformFeeIn === 'output' ? platformFeeOf(paid, platformFeeBps) : ZERO;
  const sent = (paid - platformFee) as Amount;
  const transferFee = transferFeeOf(sent, transferFees.get(mint));
  return { paid, received: (sent - transferFee) as Amount, platformFee, transferFee };
}

/** To the thousandth of a basis point. */
function dearer(amount: Amount, bps: number): Amount {
  return mulDiv(amount, BigInt(Math.round((10_000 - bps) * 1_000)), 10_000_000n, 'floor');
}
