import { formatDecimal } from '../../../core/amount.ts';
import { ONE } from '../../prediction/positions.ts';
import type { Profile } from '../context.ts';

const DECIMALS = 6;

/**
 * Returns the members that say how many contracts: whole ones, beside which the live service writes the exact number
 * twice, in millionths and as a decimal.
 */
export function contractMembers(name: string, micro: bigint, profile: Profile): Readonly<Record<string, string>> {
  const whole = { [name]: (micro / ONE).toString() };
  return profile === 'live'
    ? { ...whole, [`${name}Micro`]: micro.toString(), [`${name}Decimal`]: formatDecimal(micro, DECIMALS) } : whole;
}
