import type { Amount, Bps } from '../../core/amount.ts';
import { mulDiv, ZERO } from '../../core/amount.ts';
import type { TransferFee } from '../../market/token.ts';

const BPS = 10_000n;

/** Returns the fee of a token's issuer on a transfer: ceil(amount × bps / 10^4), at most the maximum. */
export function transferFeeOf(amount: Amount, fee: TransferFee | undefined): Amount {
  if (fee === undefined || fee.bps === 0) return ZERO;
  const share = mulDiv(amount, BigInt(fee.bps), BPS, 'ceil');
  return share < fee.maximum ? share : (fee.maximum as Amount);
}

/** Returns the platform's fee on an amount, floored as the chain's programs do. */
export function platformFeeOf(amount: Amount, feeBps: Bps): Amount {
  return feeBps === 0 ? ZERO : mulDiv(amount, BigInt(feeBps), BPS, 'floor');
}
