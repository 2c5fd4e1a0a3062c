/** The members of an answer that state its price impact, unchanged. */
interface StatedImpact {
  /** A fraction by the reference (-0.001: a tenth of a percent is lost), percentage points on hosts of later days. */
  readonly priceImpact?: number | undefined;
  /** Its older name: a fraction on both, here and there without its sign. */
  readonly priceImpactPct?: number | undefined;
  readonly inUsdValue?: number | undefined;
  readonly outUsdValue?: number | undefined;
}

/**
 * What a price impact rests on: a reading that the dollar values confirm, those values alone, one member alone, or the
 * worst of readings that contradict each other.
 */
export type ImpactBasis = 'confirmed' | 'usd-values' | 'priceImpactPct' | 'priceImpact' | 'worst';

export interface PriceImpact {
  /** Signed, -1 and up; negative is worse. */
  readonly fraction: number;
  readonly basis: ImpactBasis;
}

/** Twice what a percentage printed with two decimals is rounded by. */
const PRINTED = 1e-4;
/** No host rounds dollars to less than cents; one that has more decimals rounds to those. */
const CENT_DECIMALS = 2;
const MOST_DECIMALS = 9;
/** However few cents a trade is worth, a reading that is further off contradicts them. */
const WIDEST = 0.05;

/**
 * Returns the price impact in an answer, whichever scale it comes in; undefined where the answer does not state it.
 *
 * The readings are priceImpact as a fraction, priceImpact as percentage points, and priceImpactPct as a fraction. Where
 * priceImpactPct is one of the first two, it rules the other out. A positive priceImpactPct may be a loss without its
 * sign, so it is read as a loss too, unless priceImpact is a gain of the same size. More than everything cannot be
 * lost: no reading is below -1.
 *
 * 1. With dollar values, the readings that agree with out over in minus one count: within the rounding of a printed
 *    percentage and of the dollars. The worst of them, where several do.
 * 2. Without dollar values priceImpactPct counts; else the first reading of priceImpact that is possible.
 * 3. Where nothing agrees, the worst of all readings counts, the dollars included: a guard then refuses a swap that it
 *    would refuse under any of the readings.
 */
export function readPriceImpact(stated: StatedImpact): PriceImpact | undefined {
  const byDollars = dollarImpact(stated);
  const { scales, older, agreed } = readingsOf(stated);
  const readings = [...scales, ...older];
  if (byDollars !== undefined) {
    if (readings.length === 0) return { fraction: byDollars, basis: 'usd-values' };
    const tolerance = Math.min(WIDEST, PRINTED
      + roundingOf(stated.inUsdValue!, stated.outUsdValue!) / stated.inUsdValue!);
    const confirmed = readings.filter((reading) => Math.abs(reading - byDollars) <= tolerance);
    return confirmed.length > 0 ? { fraction: Math.min(...confirmed), basis: 'confirmed' }
      : worst([byDollars, ...readings]);
  }
  if (older.length === 0) return scales.length === 0 ? undefined : { fraction: scales[0]!, basis: 'priceImpact' };
  return agreed ? { fraction: Math.min(...older), basis: 'priceImpactPct' } : worst(readings);
}

/** A token without a price has the value 0, which says nothing about a loss. */
function dollarImpact({ inUsdValue, outUsdValue }: StatedImpact): number | undefined {
  if (inUsdValue === undefined || outUsdValue === undefined || !(inUsdValue > 0) || !(outUsdValue > 0))
    return undefined;
  const impact = outUsdValue / inUsdValue - 1;
  return Number.isFinite(impact) ? impact : undefined;
}

/** Each is off by half of its last decimal, and both errors can add up. */
function roundingOf(...dollars: readonly number[]): number {
  let decimals = CENT_DECIMALS;
  while (decimals < MOST_DECIMALS && !dollars.every((value) => Number(value.toFixed(decimals)) === value))
    decimals += 1;
  return 10 ** -decimals;
}

interface Readings {
  /** Of priceImpact, the reference's first. */
  readonly scales: readonly number[];
  /** Of priceImpactPct. */
  readonly older: readonly number[];
  /** Whether the two do not contradict each other. */
  readonly agreed: boolean;
}

function readingsOf({ priceImpact, priceImpactPct }: StatedImpact): Readings {
  const scales = priceImpact === undefined ? [] : bothScales(priceImpact);
  const older = priceImpactPct === undefined ? [] : olderReadings(priceImpactPct);
  if (priceImpactPct === undefined || priceImpact === undefined) return { scales, older, agreed: true };
  // By magnitude, as the older name may lack the sign.
  const offBy = (reading: number): number => Math.abs(Math.abs(priceImpactPct) - Math.abs(reading));
  const closest = scales.toSorted((a, b) => offBy(a) - offBy(b))[0];
  if (closest === undefined || offBy(closest) > PRINTED) return { scales, older, agreed: false };
  return { scales: [closest], older: priceImpact > 0 && priceImpactPct > 0 ? [priceImpactPct] : older, agreed: true };
}

function bothScales(impact: number): number[] {
  return [impact, impact / 100].filter(isPossible);
}

/** As it stands and as a loss; in percentage points only where it is too large for anything else. */
function olderReadings(impact: number): number[] {
  const loss = [-Math.abs(impact), -Math.abs(impact) / 100].find(isPossible);
  return [impact, ...(loss === undefined || loss === impact ? [] : [loss])].filter(isPossible);
}

function isPossible(impact: number): boolean {
  return Number.isFinite(impact) && impact >= -1;
}

function worst(readings: readonly number[]): PriceImpact {
  return { fraction: Math.min(...readings), basis: 'worst' };
}
