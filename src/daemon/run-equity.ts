import type { Millis } from '../core/time.ts';
import { showAmount } from '../market/market-text.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import { currentValue } from '../trading/exposure.ts';
import { ALL } from '../trading/protections/memory.ts';
import type { EngineState } from '../trading/state.ts';

const DAY_MS = 86_400_000;

/**
 * What all strategies with a budget are worth together, network fees taken off, in smallest units of the first budget's
 * token; changes are negative where they lost. The wallet beside the budgets is left out.
 */
export interface RunEquity {
  readonly mint: string;
  readonly value: string;
  /** Since midnight UTC, or since the start of the run where that is later. */
  readonly day_change: string;
  /** Since the first instant of this run at which everything had a price. */
  readonly change_since_start: string;
  /** Under the highest equity: 0.05 is 5 %. */
  readonly drawdown: number;
  /** Whether everything had a price at the last sample; else the figures are those of the last sample that had. */
  readonly is_known: boolean;
  /** The same for people, "1012.4 USDC", "+12.4 USDC". */
  readonly text: { readonly value: string; readonly today: string; readonly since_start: string };
}

/** What was seen of equity in this run. */
interface Seen {
  readonly mint: Mint;
  readonly first: bigint;
  value: bigint;
  peak: bigint;
  day: number;
  dayStart: bigint;
  isKnown: boolean;
}

/** Samples the equity of a run for people. It only reads the state: no decision depends on it. */
export class EquitySampler {
  readonly #state: EngineState;
  #seen: Seen | undefined;

  constructor(state: EngineState) {
    this.#state = state;
  }

  /** Takes what everything is worth at an instant. */
  sample(at: Millis): void {
    const worth = worthOf(this.#state, at);
    const seen = this.#seen;
    if (worth === undefined) {
      if (seen !== undefined) seen.isKnown = false;
      return;
    }
    const day = Math.floor(at / DAY_MS);
    if (seen === undefined) {
      this.#seen = { mint: worth.mint, first: worth.value, value: worth.value, peak: worth.value, day, dayStart: worth.value, isKnown: true };
      return;
    }
    if (day !== seen.day) Object.assign(seen, { day, dayStart: seen.value });
    Object.assign(seen, { value: worth.value, isKnown: true });
    if (worth.value > seen.peak) seen.peak = worth.value;
  }

  /**
   * Returns the equity at an instant, null before everything had a price. The day's start and the highest equity are those
   * of the protections where one looks at them: they outlive a restart.
   */
  read(at: Millis): RunEquity | null {
    this.sample(at);
    const seen = this.#seen;
    if (seen === undefined) return null;
    const { tokens, protections } = this.#state;
    const record = protections.equity.get(ALL);
    const kept = record?.basis.startsWith(`${seen.mint} `) === true ? record : undefined;
    const peak = kept === undefined || seen.peak > kept.peak ? seen.peak : kept.peak;
    const dayStart = kept?.day === seen.day ? kept.dayStart : seen.dayStart;
    const signed = (change: bigint): string => `${change < 0n ? '-' : '+'}${showAmount(tokens, seen.mint, change < 0n ? -change : change)}`;
    return {
      mint: seen.mint,
      value: seen.value.toString(),
      day_change: (seen.value - dayStart).toString(),
      change_since_start: (seen.value - seen.first).toString(),
      drawdown: peak > 0n && peak > seen.value ? Number(((peak - seen.value) * 1_000_000n) / peak) / 1_000_000 : 0,
      is_known: seen.isKnown,
      text: { value: showAmount(tokens, seen.mint, seen.value), today: signed(seen.value - dayStart), since_start: signed(seen.value - seen.first) },
    };
  }
}

/** Returns what all strategies with a budget are worth together; undefined without one, or where a price is missing. */
function worthOf(state: EngineState, at: Millis): { readonly mint: Mint; readonly value: bigint } | undefined {
  const books = [...state.strategies.keys()].map((name) => state.portfolio.book(name)).filter(({ budget }) => budget !== undefined);
  const mint = books[0]?.budget?.mint;
  if (mint === undefined) return undefined;
  let value = 0n;
  for (const { balances, feesLamports } of books) {
    for (const [held, amount] of balances) {
      const part = held === mint ? amount : currentValue(state, { mint: held, amount }, mint, at);
      if (part === undefined) return undefined;
      value += part;
    }
    // Without a price of SOL the fees of a few lamports are left out, as the protections do.
    if (feesLamports > 0n) value -= currentValue(state, { mint: SOL_MINT, amount: feesLamports }, mint, at) ?? 0n;
  }
  return { mint, value };
}
