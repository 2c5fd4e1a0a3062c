import type { Amount } from '../../core/amount.ts';
import { formatDecimal, mulDiv, parseDecimal } from '../../core/amount.ts';
import { GannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { roughDuration } from '../../core/time.ts';
import { showAmount, symbolOf, withTokenNames } from '../../market/market-text.ts';
import { configuredToken } from '../../market/named-token.ts';
import type { Mint, TokenTable } from '../../market/token.ts';
import { exitEndsAt, exitPart } from '../../trading/exit-sizing.ts';
import type { Denial } from '../../trading/limits.ts';
import { saleValue } from '../../trading/positions/sale-value.ts';
import type { SwapProposal } from '../../trading/proposal.ts';
import { firstDenial } from '../../trading/risk/rules.ts';
import { candidateOf, spendable } from '../../trading/risk/swap-candidate.ts';
import type { EngineState } from '../../trading/engine-state.ts';

/** An amount for people and programs. */
export interface Money {
  readonly text: string;
  readonly units: string;
  readonly symbol: string;
}

/** What is asked to be sold: without a part or an amount, all. */
export interface SaleRequest {
  /** An alias of the configuration, or a mint. */
  readonly token: string;
  readonly strategy?: string | undefined;
  /** A share in per cent: "50%". */
  readonly part?: string | undefined;
  /** In whole tokens: "1.5". */
  readonly amount?: string | undefined;
}

/** What is to be sold: all that the strategy may sell, or an amount of it. */
export interface Sale {
  readonly strategy: string;
  readonly mint: Mint;
  readonly into: Mint;
  readonly amount: Amount | 'all';
}

/** What one sale would do. */
interface SaleFigures {
  readonly strategy: string;
  readonly mint: string;
  readonly amount: Money;
  /** The token that it brings. */
  readonly into: string;
  /** Null without a price. */
  readonly value: Money | null;
  /** Null while a cap leaves no room. */
  readonly swaps: number | null;
  /** Null where it takes a day or longer. */
  readonly ends_in_ms: Millis | null;
  readonly refused: Denial | null;
}

/** What a sale, or a flatten, would do: figures and one sentence. */
export interface SalesPreview {
  readonly action: 'sell' | 'flatten';
  readonly sentence: string;
  readonly sales: readonly SaleFigures[];
  /** Null where a price is missing, or where budgets are in different tokens. */
  readonly value: Money | null;
  readonly ends_in_ms: Millis | null;
  /** Why nothing would be sold. */
  readonly refused: { readonly code: string; readonly reason: string } | null;
}

/** The most positions that a refusal lists. */
const HELD_SHOWN = 6;
/** The estimated time to quote, sign and land one swap. */
const SWAP_MS: Millis = 5_000;
/** A part has at most four decimal places, so that its share is exact. */
const PART = /^(\d{1,3})(?:\.(\d{1,4}))?%$/;
const PART_WHOLE = 1_000_000n;

/** Returns a refusal of an order, with the status of its answer. */
export function refusal(status: number, code: string, message: string): GannetError {
  return new GannetError('ORDER_REFUSED', message, { details: { status, code } });
}

/** Returns an amount for people and programs. */
export function money(tokens: TokenTable, mint: Mint, amount: bigint): Money {
  const token = tokens.byMint(mint);
  return {
    text: token === undefined ? amount.toString() : formatDecimal(amount, token.decimals), units: amount.toString(),
    symbol: token?.symbol ?? mint,
  };
}

/** Returns the sale that a person asks for. Throws ORDER_REFUSED with what to do, where there is no such position. */
export function findSale(state: EngineState, { token, strategy, part, amount }: SaleRequest): Sale {
  if (part !== undefined && amount !== undefined)
    throw refusal(400, 'BAD_REQUEST', 'expected a part or an amount, got both');
  const { strategies, portfolio, tokens } = state;
  if (strategy !== undefined && !strategies.has(strategy)) throw unknownStrategy(state, strategy);
  const positions = positionsOf(state, strategy);
  const mint = configuredToken(token, tokens)?.mint ?? positions.find((position) => position.mint === token)?.mint;
  const held = positionsOf(state, undefined).slice(0, HELD_SHOWN).map((position) =>
    `${position.strategy} ${showAmount(tokens, position.mint, position.held)}`).join(', ');
  const holdings = held === '' ? 'nothing is held now' : `held now: ${held}`;
  const name = printable(token, 60);
  if (mint === undefined)
    throw refusal(404, 'TOKEN_UNKNOWN', `no token "${name}" is configured, and no strategy holds it; ${holdings}`);
  const holders = positions.filter((position) => position.mint === mint);
  const [holder] = holders;
  if (holder === undefined) {
    const isBudget = strategy !== undefined && portfolio.book(strategy).budget?.mint === mint;
    throw refusal(409, 'NO_POSITION', isBudget
      ? `${name} is the token of ${strategy}’s budget: a sale would lead into it; ${holdings}`
      : `${strategy ?? 'no strategy'} holds ${strategy === undefined ? '' : 'no '}${name}; ${holdings}`);
  }
  if (holders.length > 1) {
    throw refusal(409, 'STRATEGY_NEEDED', `${holders.map((one) => one.strategy).join(' and ')} hold ${name}: say whose `
      + 'with --strategy');
  }
  return { ...holder, amount: sizeOf(state, holder, { part, amount }) };
}

/** Returns the refusal of a strategy that this run does not have. */
export function unknownStrategy({ strategies }: EngineState, name: string): GannetError {
  return refusal(404, 'STRATEGY_UNKNOWN', `there is no strategy "${printable(name, 60)}"; this run has `
    + `${[...strategies.keys()].join(', ') || 'none'}`);
}

interface Position extends Omit<Sale, 'amount'> {
  readonly held: Amount;
}

/** Returns what strategies hold beside the tokens of their budgets. */
function positionsOf({ strategies, portfolio }: EngineState, only: string | undefined): Position[] {
  return [...strategies.keys()].filter((name) => only === undefined || name === only).flatMap((strategy) => {
    const { budget, balances } = portfolio.book(strategy);
    return budget === undefined ? [] : [...balances].filter(([mint]) => mint !== budget.mint)
      .map(([mint, held]) => ({ strategy, mint, into: budget.mint, held }));
  });
}

function sizeOf(
  state: EngineState, { strategy, mint, held }: Position, { part, amount }: Pick<SaleRequest, 'part' | 'amount'>,
): Amount | 'all' {
  if (part !== undefined) {
    const [, whole = '', places = ''] = PART.exec(part) ?? [];
    const share = whole === '' ? 0n : BigInt(whole + places.padEnd(4, '0'));
    if (share <= 0n || share > PART_WHOLE)
      throw refusal(400, 'PART_INVALID', 'expected a part of more than 0% and at most 100%, got '
        + `"${printable(part, 20)}"`);
    if (share === PART_WHOLE) return 'all';
    const size = mulDiv(state.portfolio.available(strategy, mint), share, PART_WHOLE, 'floor');
    if (size > 0n) return size;
    throw refusal(409, 'PART_TOO_SMALL', `${part} of ${showAmount(state.tokens, mint, held)} is nothing`);
  }
  if (amount === undefined) return 'all';
  const asked = readUnits(amount, state.tokens.byMint(mint)?.decimals ?? 0);
  const free = state.portfolio.available(strategy, mint);
  if (asked <= free) return asked;
  throw refusal(409, 'MORE_THAN_HELD', `${strategy} holds ${showAmount(state.tokens, mint, held)}`
    + `${free === held ? '' : `, of which ${showAmount(state.tokens, mint, free)} are in no open swap`}: it cannot `
    + `sell ${showAmount(state.tokens, mint, asked)}; leave the amount out to sell all`);
}

function readUnits(text: string, decimals: number): Amount {
  try {
    const units = parseDecimal(text, decimals);
    if (units > 0n) return units;
  } catch (error) {
    if (!(error instanceof GannetError)) throw error;
    throw refusal(400, error.code, error.message);
  }
  throw refusal(400, 'AMOUNT_INVALID', 'expected an amount of more than 0');
}

/** Returns what the sale of one position would do, at the prices of the watched markets. */
export function previewSale(state: EngineState, sale: Sale, at: Millis): SalesPreview {
  const figures = figuresOf(state, sale, at);
  const { refused } = figures;
  return {
    ...summary(state, 'sell', [figures]),
    ...(refused === null ? {} : { refused, sentence: `Nothing would be sold now: ${adviceOn(refused)}.` }),
  };
}

/** Returns what a flatten of one strategy, or of all, would do. An operator's flatten ends a halt. */
export function previewFlatten(state: EngineState, strategy: string | undefined, at: Millis): SalesPreview {
  if (strategy !== undefined && !state.strategies.has(strategy)) throw unknownStrategy(state, strategy);
  const sales = positionsOf(state, strategy).map((position) =>
    ({ ...figuresOf(state, { ...position, amount: 'all' }, at), refused: null }));
  const sold = sales.filter(({ amount }) => amount.units !== '0');
  if (sold.length > 0) return summary(state, 'flatten', sold);
  const whose = strategy === undefined ? 'every strategy' : strategy;
  return {
    action: 'flatten', sales: [], value: null, ends_in_ms: 0,
    sentence: `Sells nothing: ${whose} holds only the token of its budget. Entries stop until "gannet resume".`,
    refused: { code: 'NO_POSITION', reason: 'nothing is held' },
  };
}

function figuresOf(state: EngineState, { strategy, mint, into, amount: asked }: Sale, at: Millis): SaleFigures {
  const { tokens, limits, spends } = state;
  const proposal: SwapProposal =
    { kind: 'swap', inputMint: mint, outputMint: into, amount: asked, reason: 'a preview' };
  const candidate = candidateOf(state, state.strategies.get(strategy)!, proposal, at, { byHand: true });
  const denial = firstDenial(state, candidate);
  const amount = asked === 'all' ? spendable(state, strategy, mint) : asked;
  const value = saleValue(state, { mint, into, amount }, at);
  const part = exitPart(state, { inputMint: mint, outputMint: into, amount }, at);
  const endsAt = amount === 0n ? at : exitEndsAt({
    amount, cap: limits.caps?.get(mint), at, spent: spends.counted(mint, 'day', at),
    ...(part.amount > 0n && part.waits === undefined ? { largest: part.amount } : {}),
  });
  return {
    strategy, mint, amount: money(tokens, mint, amount), into: symbolOf(tokens, into),
    value: value === undefined ? null : money(tokens, into, value),
    swaps: part.amount > 0n ? Number((amount + part.amount - 1n) / part.amount) : null,
    ends_in_ms: endsAt === undefined ? null : endsAt - at + (amount === 0n ? 0 : SWAP_MS),
    refused: denial === undefined ? null : { code: denial.code, reason: withTokenNames(tokens, denial.reason) },
  };
}

function summary(
  state: EngineState, action: SalesPreview['action'], sales: readonly SaleFigures[],
): SalesPreview {
  const currencies = new Set(sales.map(({ into }) => into));
  const isValued = currencies.size === 1 && sales.every(({ value }) => value !== null);
  const total = isValued ? sales.reduce((sum, { value }) => sum + BigInt(value!.units), 0n) : undefined;
  const currency = state.portfolio.book(sales[0]!.strategy).budget!.mint;
  const value = total === undefined ? null : money(state.tokens, currency, total);
  // A strategy sells one position after another; strategies sell at the same time.
  const byStrategy = Map.groupBy(sales, ({ strategy }) => strategy).values()
    .map((own) => own.reduce<number | null>((sum, { ends_in_ms: ends }) =>
      (sum === null || ends === null ? null : sum + ends), 0)).toArray();
  const endsInMs = byStrategy.includes(null) ? null : Math.max(...byStrategy.map((ends) => ends ?? 0));
  const what = sales.length === 1 ? `${sales[0]!.amount.text} ${symbolText(sales[0]!.amount.symbol)} of `
    + sales[0]!.strategy : `${sales.length} positions`;
  const worth = value === null ? 'at a price that is not known now' : `about ${rounded(state, currency, total!)}`;
  const time = endsInMs === null ? 'in a day or longer' : `in about ${roughTime(endsInMs)}`;
  const capped = capTexts(state, sales);
  return {
    action, sales, value, ends_in_ms: endsInMs, refused: null,
    sentence: `Sells ${what}, ${worth}, ${time}${capped.length === 0 ? '' : ` (caps: ${capped.join('; ')})`}.`,
  };
}

/** Returns the caps that a sale of several swaps has to fit into. */
function capTexts({ limits: { caps, maxTrade }, tokens }: EngineState, sales: readonly SaleFigures[]): string[] {
  const split = sales.filter(({ swaps, ends_in_ms: ends }) => swaps !== 1 || ends === null);
  const texts = split.flatMap(({ mint }) => {
    const { perTrade, perHour, perDay } = caps?.get(mint as Mint) ?? {};
    return ([[perTrade, 'a swap'], [perHour, 'an hour'], [perDay, 'a day']] as const).flatMap(([most, span]) =>
      (most === undefined ? [] : [`${showAmount(tokens, mint as Mint, most)} ${span}`]));
  });
  if (split.length > 0 && maxTrade !== undefined)
    texts.unshift(`${showAmount(tokens, maxTrade.mint, maxTrade.amount)} a swap`);
  return [...new Set(texts)];
}

/** A mint without a name is too long for a sentence. */
function symbolText(symbol: string): string {
  return symbol.length > 16 ? `of ${symbol.slice(0, 4)}…${symbol.slice(-4)}` : symbol;
}

/** Returns an amount for a sentence, with two decimal places at most. */
function rounded({ tokens }: EngineState, mint: Mint, amount: bigint): string {
  const decimals = tokens.byMint(mint)?.decimals ?? 0;
  const unit = 10n ** BigInt(Math.max(0, decimals - 2));
  const whole = ((amount + unit / 2n) / unit) * unit;
  return showAmount(tokens, mint, whole === 0n ? amount : whole);
}

function roughTime(span: Millis): string {
  if (span < 60_000) return `${Math.max(1, Math.round(span / 1_000))} seconds`;
  const minutes = Math.round(span / 60_000);
  return minutes < 60 ? `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}` : roughDuration(minutes * 60_000);
}

/** Returns a refusal with what the operator can do about it. */
export function adviceOn({ code, reason }: { readonly code: string; readonly reason: string }): string {
  const advice = ADVICE[code];
  return `${reason} (${code})${advice === undefined ? '' : `; ${advice}`}`;
}

const ADVICE: Readonly<Record<string, string>> = {
  TRADING_HALTED: '"gannet reduce-only" allows sales, "gannet resume" allows everything',
  TRADING_REDUCE_ONLY: '"gannet resume" allows entries',
  INTENT_OPEN_FOR_MINT: 'ask again when that swap is over',
  INTENTS_OPEN_LIMIT: 'ask again when one of them is over',
  TRADE_EXCEEDS_MAX: 'ask for less, or raise risk.max_trade and start the daemon again',
  SOL_RESERVE: 'sell less, or send SOL to the wallet',
};
