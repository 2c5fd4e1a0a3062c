import type { Millis } from '../../src/core/time.ts';
import type { Mint } from '../../src/market/token.ts';
import type { TradingState } from '../../src/trading/engine-command.ts';
import type { Fill, Intent } from '../../src/trading/intent.ts';
import type { Protection } from '../../src/trading/limits.ts';
import type { ProtectionChange } from '../../src/trading/protections/memory.ts';
import { FISH, SOL, USDC } from '../market/tokens.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The limits of the model and of the compared engine, as plain numbers. */
export const LIMITS = {
  budgets: { a: [USDC.mint, 500_000_000n], b: [USDC.mint, 300_000_000n], c: [SOL.mint, 2_000_000_000n] },
  strategyExposure: { a: 120_000_000n },
  maxTrade: 100_000_000n,
  maxPositionSol: 150_000_000n,
  maxExposure: 250_000_000n,
  maxOpenIntents: 2,
  perMinute: 3,
  perHour: 12,
  solReserve: 50_000_000n,
  maxQuoteAgeMs: 60_000,
  checkValidMs: 600_000,
  valueAgeMs: 2 * HOUR,
} as const;

export type Name = keyof typeof LIMITS.budgets;
export const NAMES = Object.keys(LIMITS.budgets) as Name[];

/** A proposed swap with its amount resolved. */
export interface ModelSwap {
  readonly strategy: Name;
  readonly input: Mint;
  readonly output: Mint;
  readonly amount: bigint;
}

interface FiredInModel {
  readonly protection: Protection;
  readonly subject: string;
  readonly at: Millis;
}

/** An operator's resume, of one strategy or of all. */
export interface Resume {
  readonly strategy: string | undefined;
}

/**
 * The rules once more, written down as simply as they can be said: sums over plain lists, nothing kept that can be
 * counted.
 */
export class RiskModel {
  readonly wallet: Map<Mint, bigint>;
  readonly books: Record<Name, Map<Mint, bigint>>;
  readonly open: Intent[] = [];
  /** Open ones that an earlier run left: they lock their input and count no more. */
  readonly left = new Set<string>();
  readonly approvals: Millis[] = [];
  readonly quotes = new Map<string, {
    readonly from: Mint; readonly to: Mint; readonly inAmount: bigint; readonly outAmount: bigint; readonly at: Millis;
  }>();
  readonly checks = new Map<Mint, { readonly at: Millis; readonly bad: boolean }>();
  readonly fired = new Map<string, FiredInModel>();
  readonly own = new Map<string, TradingState>();
  readonly flattening = new Set<string>();
  /** Exits in parts by strategy and token: what is left to sell, and how many parts in a row came to nothing. */
  readonly orders = new Map<string, { readonly strategy: Name; readonly mint: Mint; left: bigint; failures: number }>();
  trading: TradingState = 'active';
  access = true;

  constructor(wallet: ReadonlyMap<Mint, bigint>) {
    this.wallet = new Map(wallet);
    this.books = Object.fromEntries(
      NAMES.map((name) => [name, new Map([LIMITS.budgets[name] as [Mint, bigint]])]),
    ) as RiskModel['books'];
  }

  reserved(strategy: Name | undefined, mint: Mint): bigint {
    return this.open.filter((intent) =>
      intent.inputMint === mint && (strategy === undefined || intent.strategy === strategy))
      .reduce((sum, { amountIn }) => sum + amountIn, 0n);
  }

  available(strategy: Name, mint: Mint): bigint {
    return (this.books[strategy].get(mint) ?? 0n) - this.reserved(strategy, mint);
  }

  free(mint: Mint): bigint {
    const left = (this.wallet.get(mint) ?? 0n) - this.reserved(undefined, mint);
    return left > 0n ? left : 0n;
  }

  isExit({ strategy, output }: Pick<ModelSwap, 'strategy' | 'output'>): boolean {
    return LIMITS.budgets[strategy][0] === output;
  }

  /** Returns what an exit of all would sell. */
  sellable(strategy: Name, mint: Mint): bigint {
    const kept = mint === SOL.mint ? LIMITS.solReserve : 0n;
    const free = this.free(mint) - kept;
    const own = this.available(strategy, mint);
    const least = own < free ? own : free;
    return least > 0n ? least : 0n;
  }

  /** Returns whether a swap may be made, after what is on has been brought up to date. */
  allows(swap: ModelSwap, at: Millis, continues = false): boolean {
    const { strategy, input, output, amount } = swap;
    const exit = this.isExit(swap);
    const states = [this.trading, this.own.get(strategy) ?? 'active'];
    if (!this.access || states.includes('halted') || amount <= 0n || input === output) return false;
    const isOrderedOut = exit && this.flattening.has(strategy);
    if (!isOrderedOut && this.concerned(swap, exit).some(({ protection: { action } }) => action === 'halt' || !exit))
      return false;
    if (this.open.some((intent) => intent.inputMint === input)) return false;
    const isOrdered = this.orders.has(`${strategy} ${input}`) || this.orders.has(`${strategy} ${output}`);
    if (isOrdered && !continues && !isOrderedOut) return false;
    if (amount > this.available(strategy, input) || amount > this.free(input)) return false;
    const solAfter = this.free(SOL.mint) - (input === SOL.mint ? amount : 0n);
    if (exit) return input !== SOL.mint || solAfter >= LIMITS.solReserve;
    const opened = new Set([output, ...this.open.map(({ outputMint }) => outputMint)].filter((mint) =>
      mint !== SOL.mint && (this.wallet.get(mint) ?? 0n) === 0n));
    if (states.includes('reduce-only') || this.flattening.has(strategy)
        || solAfter - 2_074_080n * BigInt(opened.size) < LIMITS.solReserve) return false;
    if (this.open.filter(({ id }) => !this.left.has(id)).length >= LIMITS.maxOpenIntents
        || this.approvedSince(at - 60_000) >= LIMITS.perMinute || this.approvedSince(at - HOUR) >= LIMITS.perHour)
      return false;
    return this.isVetted(output, at) && this.pairAge(input, output, at) <= LIMITS.maxQuoteAgeMs && this.fits(swap, at)
      && this.knowsLosses(strategy, at);
  }

  /** Returns how much of an exit one swap sells: parts of one size, none of them worth more than max_trade. */
  part({ input, amount }: ModelSwap, at: Millis): bigint {
    const worth = this.value(input, amount, USDC.mint, at);
    if (worth === undefined || worth <= LIMITS.maxTrade) return amount;
    const most = (amount * LIMITS.maxTrade) / worth;
    const parts = (amount + most - 1n) / most;
    return (amount + parts - 1n) / parts;
  }

  /** Takes up that of an exit only a part is sold at once. */
  order({ strategy, input, amount }: ModelSwap): void {
    this.orders.set(`${strategy} ${input}`, { strategy, mint: input, left: amount, failures: 0 });
  }

  /** Takes up that a part came to nothing, or what it sold. */
  settlePart(strategy: string, mint: Mint, sold: bigint | undefined): void {
    const order = this.orders.get(`${strategy} ${mint}`);
    if (order === undefined) return;
    order.left -= sold ?? 0n;
    order.failures = sold === undefined ? order.failures + 1 : 0;
    if (order.left <= 0n || order.failures >= 8) this.orders.delete(`${strategy} ${mint}`);
  }

  /** Takes up an approval. */
  approve(intent: Intent): void {
    this.open.push(intent);
    this.approvals.push(intent.createdAt);
  }

  /** Takes up the end of an intent. */
  close(intent: Intent, fill: Fill | undefined, fee: bigint): void {
    this.open.splice(this.open.findIndex(({ id }) => id === intent.id), 1);
    if (intent.purpose === 'exit') this.settlePart(intent.strategy, intent.inputMint, fill?.amountIn);
    const book = this.books[intent.strategy as Name];
    if (fill !== undefined) {
      for (const balances of [book, this.wallet]) {
        this.move(balances, fill.inputMint, -fill.amountIn);
        this.move(balances, fill.outputMint, fill.amountOut);
      }
    }
    this.move(this.wallet, SOL.mint, -(fill?.feeLamports ?? fee));
    this.move(this.wallet, SOL.mint, -(fill?.rentLamports ?? 0n));
  }

  move(balances: Map<Mint, bigint>, mint: Mint, change: bigint): void {
    const next = (balances.get(mint) ?? 0n) + change;
    if (next > 0n) balances.set(mint, next);
    else balances.delete(mint);
  }

  /** Takes a trigger or release; returns its fault, undefined without one. */
  changed(
    { change, protection, subject, at }: ProtectionChange, key: string, resume: Resume | undefined,
  ): string | undefined {
    const before = this.fired.get(key);
    if (change === 'fired') {
      this.fired.set(key, { protection, subject, at });
      return before === undefined ? undefined : `${key} was triggered twice`;
    }
    this.fired.delete(key);
    if (before === undefined) return `${key} was released without a trigger`;
    const { release, scope } = protection;
    if (release.kind === 'elapsed' && at - before.at < release.afterMs) return `${key} was released too soon`;
    if (release.kind === 'next-day' && Math.floor(at / DAY) === Math.floor(before.at / DAY))
      return `${key} was released on the same day`;
    const isResumed = resume !== undefined
      && (resume.strategy === undefined || (scope === 'strategy' && subject === resume.strategy));
    return release.kind === 'operator' && !isResumed ? `${key} was released without an operator` : undefined;
  }

  private concerned({ strategy, input, output }: ModelSwap, exit: boolean): FiredInModel[] {
    return [...this.fired.values()].filter(({ protection: { scope }, subject }) =>
      scope === 'global' || (scope === 'strategy' && subject === strategy)
        || (scope === 'token' && (subject === output || (exit && subject === input))));
  }

  private approvedSince(at: Millis): number {
    return this.approvals.filter((time) => time > at).length;
  }

  private isVetted(mint: Mint, at: Millis): boolean {
    const check = this.checks.get(mint);
    return mint !== FISH.mint || (check !== undefined && !check.bad && at - check.at <= LIMITS.checkValidMs);
  }

  private pairAge(a: Mint, b: Mint, at: Millis): Millis {
    return Math.min(...[`${a}${b}`, `${b}${a}`].map((pair) => at - (this.quotes.get(pair)?.at ?? -Infinity)));
  }

  private value(mint: Mint, amount: bigint, currency: Mint, at: Millis): bigint | undefined {
    if (mint === currency || amount === 0n) return amount;
    const sell = this.quotes.get(`${mint}${currency}`);
    if (sell !== undefined && at - sell.at <= LIMITS.valueAgeMs) return (amount * sell.outAmount) / sell.inAmount;
    const buy = this.quotes.get(`${currency}${mint}`);
    return buy !== undefined && at - buy.at <= LIMITS.valueAgeMs ? (amount * buy.inAmount) / buy.outAmount : undefined;
  }

  private fits({ strategy, input, output, amount }: ModelSwap, at: Millis): boolean {
    const usd = (mint: Mint, units: bigint): bigint | undefined => this.value(mint, units, USDC.mint, at);
    const exposure = (names: readonly Name[]): (bigint | undefined)[] => [
      ...names.flatMap((name) => [...this.books[name]].filter(([mint]) => mint !== LIMITS.budgets[name][0])
        .map(([mint, units]) => usd(mint, units))),
      ...[...this.open, { strategy, inputMint: input, amountIn: amount }]
        .filter((swap) =>
          names.includes(swap.strategy as Name) && swap.inputMint === LIMITS.budgets[swap.strategy as Name][0])
        .map(({ inputMint, amountIn }) => usd(inputMint, amountIn)),
    ];
    const intoOutput = [
      usd(output, NAMES.reduce((sum, name) => sum + (this.books[name].get(output) ?? 0n), 0n)), usd(input, amount),
      ...this.open.filter(({ outputMint }) => outputMint === output)
        .map(({ inputMint, amountIn }) => usd(inputMint, amountIn)),
    ];
    return within([usd(input, amount)], LIMITS.maxTrade)
      && (output !== SOL.mint || within(intoOutput, LIMITS.maxPositionSol))
      && (strategy !== 'a' || within(exposure(['a']), LIMITS.strategyExposure.a))
      && within(exposure(NAMES), LIMITS.maxExposure);
  }

  /** The equity for drawdown and daily loss must be known: of the strategy, and of all in one token. */
  private knowsLosses(strategy: Name, at: Millis): boolean {
    const [currency] = LIMITS.budgets[strategy];
    return [...this.books[strategy]].every(([mint, units]) => this.value(mint, units, currency, at) !== undefined)
      && this.value(SOL.mint, 1n, USDC.mint, at) !== undefined;
  }
}

/** Returns whether parts together are at most so much; one whose value is unknown never is. */
function within(parts: readonly (bigint | undefined)[], most: bigint): boolean {
  return parts.every((part) => part !== undefined)
    && parts.reduce((sum: bigint, part) => sum + (part ?? 0n), 0n) <= most;
}
