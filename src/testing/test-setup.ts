import type { z } from 'zod';
import type { Amount } from '../core/amount.ts';
import { amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import { formatPath } from '../config/config-issue.ts';
import type { ProblemList } from '../config/config-issue.ts';
import { createAmountReader } from '../config/resolve-tokens.ts';
import { resolveLimits, riskSchema } from '../config/risk-limits.ts';
import type { Mint, Pair, Token, TokenAmount, TokenTable } from '../market/token.ts';
import { SOL_MINT, USDC_MINT, mint, tokenTable } from '../market/token.ts';
import type { Strategy } from '../strategy/define.ts';
import { parseTokenAmount, withTokens } from '../strategy/params.ts';
import type { RiskLimits } from '../trading/limits.ts';
import type { SwapAnswers } from './swap-answers.ts';
import { instantOf, spanOf } from './timeline.ts';

/** The strategy's configuration in a test: what an entry of `strategies` in the YAML says, and its surroundings. */
export interface TestOptions {
  /** As under `params` of the YAML. */
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  /** The money of the strategy, "1000 USDC" where absent; null for none. */
  readonly budget?: string | null | undefined;
  /** Further tokens by alias: their decimals, or mint and decimals. SOL and USDC are known. */
  readonly tokens?: Readonly<Record<string, number | { readonly mint: string; readonly decimals: number }>> | undefined;
  /** Balances of the wallet beside the budget, `{ SOL: '10' }` where absent: network fees are paid from it. */
  readonly wallet?: Readonly<Record<string, string>> | undefined;
  /** As under `risk` of the YAML. Limits that it does not name refuse nothing. */
  readonly risk?: z.input<typeof riskSchema> | undefined;
  /** Prices that are known before the start: `{ 'SOL/USDC': 150 }`. */
  readonly prices?: Readonly<Record<string, number>> | undefined;
  /** What becomes of approved swaps; each is filled at once at the last price where absent. */
  readonly swaps?: SwapAnswers | undefined;
  /** The instant of the start, "2026-01-01T00:00:00Z" where absent. */
  readonly startAt?: string | undefined;
  /** The name of the strategy in the run; its own where absent. */
  readonly name?: string | undefined;
  /** The seed of `ctx.random`; 1 where absent. */
  readonly seed?: number | undefined;
  /** As `warmup` of the YAML: what a restart shows of the events before it. */
  readonly warmup?: string | undefined;
  /** As `max_age` of the YAML. */
  readonly maxAge?: string | undefined;
  /** What an earlier run saved of the strategy, in the form of `run.savedState()`; nothing where absent. */
  readonly savedState?: Readonly<Record<string, unknown>> | undefined;
}

/** What a run in a test is made of. */
export interface TestSetup {
  readonly strategy: Strategy;
  readonly name: string;
  readonly params: unknown;
  readonly tokens: TokenTable;
  readonly budget: TokenAmount | undefined;
  readonly balances: ReadonlyMap<Mint, Amount>;
  readonly limits: RiskLimits;
  readonly startAt: Millis;
  readonly seed: number;
  readonly warmupMs: Millis;
  readonly maxAgeMs: Millis | undefined;
  /** What an earlier run saved of the strategy, as JSON. */
  readonly savedState: string | undefined;
}

const START = '2026-01-01T00:00:00Z';
const BUDGET = '1000 USDC';

/** Limits that refuse nothing that makes sense. */
const WIDE: z.input<typeof riskSchema> = {
  max_open_intents: 100, max_swaps: { per_minute: 1e6, per_hour: 1e6, per_day: 1e6 }, max_watches: 1_000,
  protections: [], token_safety: { enabled: false },
};

/** Returns the setup of a run. Throws TypeError with all faults of the options. */
export function setUp(strategy: Strategy, options: TestOptions): TestSetup {
  const tokens = tokensOf(options.tokens ?? {});
  const faults = paramFaults(strategy, options.params ?? {}, tokens);
  if (faults.length > 0) throw new TypeError(`the parameters of ${strategy.name}:\n  ${faults.join('\n  ')}`);
  const { budget: budgetText = BUDGET } = options;
  const budget = budgetText === null ? undefined : readAmount('budget', budgetText, tokens);
  const problems = createProblems();
  const amounts = createAmountReader(tokens, problems);
  const balances = amounts.byToken(['wallet'], options.wallet ?? { SOL: '10' });
  if (budget !== undefined) {
    const own = balances.get(budget.token.mint) ?? 0n;
    balances.set(budget.token.mint, amount(own + budget.amount));
  }
  const limits = limitsOf(options.risk, { amounts, problems });
  if (problems.all.length > 0) {
    throw new TypeError(problems.all.map(({ path, message }) => `${formatPath(path)}: ${message}`).join('\n'));
  }
  return {
    strategy, name: options.name ?? strategy.name, tokens, budget, balances, limits,
    params: withTokens(tokens, () => strategy.params.parse(options.params ?? {})),
    startAt: instantOf(options.startAt ?? START, 0), seed: options.seed ?? 1,
    warmupMs: options.warmup === undefined ? 0 : spanOf(options.warmup),
    maxAgeMs: options.maxAge === undefined ? undefined : spanOf(options.maxAge),
    savedState: options.savedState === undefined ? undefined : JSON.stringify(options.savedState),
  };
}

/** Returns what is wrong with the parameters of a strategy, each fault as "path: message"; empty where nothing is. */
export function paramErrors(
  strategy: Strategy, params: unknown, options: Pick<TestOptions, 'tokens'> = {},
): string[] {
  return paramFaults(strategy, params, tokensOf(options.tokens ?? {}));
}

function paramFaults(strategy: Strategy, params: unknown, tokens: TokenTable): string[] {
  const result = withTokens(tokens, () => strategy.params.safeParse(params));
  return result.success ? []
    : result.error.issues.map(({ path, message }) => `${formatPath(path as (string | number)[])}: ${message}`);
}

/** Returns the pair that a text such as "SOL/USDC" names; undefined where it names none. */
export function pairNamed(text: string, tokens: TokenTable): Pair | undefined {
  const [base, quote] = text.split('/').map((symbol) => tokens.bySymbol(symbol));
  return base === undefined || quote === undefined ? undefined : { base, quote };
}

/** Returns the pair whose price a quote between two tokens has, from the strategy's parameters or its budget. */
export function pairOfMints(
  [one, other]: readonly [Token, Token], { params, budget }: Pick<TestSetup, 'params' | 'budget'>,
): Pair {
  const named = pairsIn(params).find(({ base, quote }) =>
    (base.mint === one.mint && quote.mint === other.mint) || (base.mint === other.mint && quote.mint === one.mint));
  if (named !== undefined) return named;
  const money = [budget?.token.mint, USDC_MINT, SOL_MINT].find((known) => known === one.mint || known === other.mint);
  return money === one.mint ? { base: other, quote: one } : { base: one, quote: other };
}

function pairsIn(value: unknown): Pair[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('base' in value && 'quote' in value) return [value as Pair];
  return Object.values(value).flatMap(pairsIn);
}

/** The default tokens of every configuration. */
const KNOWN: readonly Token[] = [
  { symbol: 'SOL', mint: SOL_MINT, decimals: 9 }, { symbol: 'USDC', mint: USDC_MINT, decimals: 6 },
];

function tokensOf(further: NonNullable<TestOptions['tokens']>): TokenTable {
  return tokenTable([...KNOWN, ...Object.entries(further).map(([symbol, given]): Token => (
    typeof given === 'number' ? { symbol, mint: madeUpMint(symbol), decimals: given }
      : { symbol, mint: mint(given.mint), decimals: given.decimals }))]);
}

/** The length at which every base58 text with a first letter of the middle is an address of 32 bytes. */
const MINT_LENGTH = 43;

/** Returns an address that follows from an alias: the same in every run. */
function madeUpMint(symbol: string): Mint {
  const letters = symbol.replaceAll(/[^1-9A-HJ-NP-Za-km-z]/g, 'x');
  return mint(`T${letters}`.repeat(MINT_LENGTH).slice(0, MINT_LENGTH));
}

function readAmount(what: string, text: string, tokens: TokenTable): TokenAmount {
  const parsed = parseTokenAmount(text, tokens);
  if (typeof parsed === 'string') throw new TypeError(`${what}: ${parsed}`);
  return parsed;
}

function limitsOf(
  risk: TestOptions['risk'], scope: { readonly amounts: ReturnType<typeof createAmountReader>;
    readonly problems: ProblemList },
): RiskLimits {
  const read = riskSchema.safeParse({ ...WIDE, ...risk });
  if (!read.success) {
    throw new TypeError(read.error.issues.map(({ path, message }) =>
      `${formatPath(['risk', ...path as (string | number)[]])}: ${message}`).join('\n'));
  }
  const section = read.data;
  return resolveLimits(section, {
    ...scope, protections: section.protections, solReserve: 0n as Amount, caps: new Map(),
  });
}

function createProblems(): ProblemList {
  const all: { path: readonly (string | number)[]; message: string; position: { line: number; column: number } }[] = [];
  return {
    all,
    add: (path, message) => { all.push({ path, message, position: { line: 0, column: 0 } }); },
    isFaulty: () => all.length > 0,
  };
}
