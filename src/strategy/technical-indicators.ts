/**
 * Over a hundred streaming indicators of `trading-signals`, for `indicate`. They stand apart from `index.ts`: to load
 * them takes about 60 ms, which no strategy without them pays.
 */
import { EMA, RSI as WilderRSI } from 'trading-signals';

export {
  AC, AccelerationBands, AccumulativeSwingIndex, AD, ADOSC, ADX, ADXR, Alligator, ALMA, AO, APO, Aroon, ATR,
  BollingerBands, BollingerBandsWidth, BOP, BreakoutBarLow, CCI, CFO, CG, ChandeKrollStop, ChandelierExit, CHOP, CMF,
  CMO, ConnorsRSI, CoppockCurve, CVI, DEMA, DeMarker, DerivativeOscillator, DisparityIndex, DMA, DonchianChannels,
  DPO, DX, ElderRay, EMA, EMV, ER, FisherTransform, ForceIndex, FRAMA, GannHiLo, GAPO, GatorOscillator,
  HigherLowTrail, HMA, HTTrendline, IBS, IchimokuCloud, IMI, IQR, KAMA, KeltnerChannels, KST, KVO, LaguerreRSI,
  LinearRegression, MACD, MAD, MAMA, MarketFacilitationIndex, MassIndex, McGinleyDynamic, MFI, MOM, NATR, NVI, OBV,
  PercentB, Period, PGO, PMO, PPO, PremierStochastic, ProjectionOscillator, PSAR, PSL, PVI, PVO, PVT, QQE, Qstick,
  RandomWalkIndex, RCI, REI, RelativeVigorIndex, RelativeVolatilityIndex, RMA, RMI, ROC, RogersSatchellVolatility,
  RVOL, SMA, SMA15, SMI, STC, StochasticOscillator, StochasticRSI, SuperSmoother, SuperTrend, SwingHigh, SwingIndex,
  SwingLow, T3, TDS, TEMA, TR, TRIMA, TRIX, TSI, TTMSqueeze, UlcerIndex, UltimateOscillator, VHF, VIDYA,
  VolatilityStop, VortexIndicator, VROC, VWAP, VWMA, WAD, WaddahAttarExplosion, WaveTrend, WilliamsR, WMA, WSMA,
  ZigZag, ZLEMA,
} from 'trading-signals';

/**
 * The relative strength index with Wilder's smoothing, seeded with a simple mean: 0 to 100, above 50 where gains
 * outweigh losses. It is 50 as long as the price has never changed, where the package says 100.
 */
export class RSI extends WilderRSI {
  #last: number | undefined;
  #before: number | undefined;
  #hasChanged = false;
  #hadChanged = false;

  override update(price: number, replace: boolean): number | null {
    if (replace) this.#hasChanged = this.#hadChanged;
    else this.#before = this.#last;
    this.#hadChanged = this.#hasChanged;
    this.#last = price;
    if (this.#before !== undefined && price !== this.#before) this.#hasChanged = true;
    const result = super.update(price, replace);
    return result === null || this.#hasChanged ? result : (this.result = 50);
  }
}

/**
 * The exponential moving average whose first value is the simple mean of its first inputs, as charts usually define it;
 * `EMA` begins with the first input. Give three of them to `MACD`, and let its results count from there on: `settled`.
 */
export class SeededEMA extends EMA {
  readonly #first: number[] = [];

  override get isStable(): boolean {
    return this.result !== undefined;
  }

  override getResultOrThrow(): number {
    return this.result ?? super.getResultOrThrow();
  }

  override update(price: number, replace: boolean): number {
    const isNew = !replace || this.#first.length === 0;
    const isSeeding = isNew ? this.#first.length < this.interval : this.previousResult === undefined;
    if (!isSeeding) return super.update(price, replace);
    if (!isNew) this.#first.pop();
    this.#first.push(price);
    const mean = this.#first.reduce((sum, one) => sum + one, 0) / this.#first.length;
    return this.#first.length < this.interval ? mean : super.update(mean, replace);
  }
}
