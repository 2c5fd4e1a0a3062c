import { grouped } from '../../core/counted.ts';
import { shortDuration } from '../../core/time.ts';

const YEAR_DAYS = 365.25;
const DAY_MS = 86_400_000;

/** Returns a share as a percentage: "12.50 %". */
export function shareText(value: number): string {
  return `${ratioText(value * 100)} %`;
}

/** Returns a probability as a percentage: never a certainty, which no data give. */
export function likelihoodText(value: number): string {
  return value > 0.9999 ? 'over 99.99 %' : value < 0.0001 ? 'under 0.01 %' : shareText(value);
}

/** Returns a ratio with two places, its thousands apart; what rounds to nothing has no sign. */
export function ratioText(value: number): string {
  return grouped(value.toFixed(2).replace(/^-(?=0\.00$)/, ''));
}

/** Returns how far a number is from nothing, for a sentence: "12.50 %", and never 0 of what is not. */
export function sizeText(share: number): string {
  return share !== 0 && Math.abs(share) < 0.00005 ? 'less than 0.01 %' : shareText(Math.abs(share));
}

/** Returns a span of years for people: "30.1s", "one day", "29.9 days". Rounded down: what is said to be less than 30 may not read as 30. */
export function spanOfYears(years: number): string {
  const days = years * YEAR_DAYS;
  if (days < 1 - 1e-9) return shortDuration(days * DAY_MS);
  const rounded = Math.floor(days * 10 + 1e-6) / 10;
  return rounded === 1 ? 'one day' : `${rounded} days`;
}
