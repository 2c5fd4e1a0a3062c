import type { z } from 'zod';
import type { Amount } from '../core/amount.ts';
import { amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import { formatPath } from '../config/config-issue.ts';
import type { ProblemList } from '../config/config-issue.ts';
import { createAmountReader } from '../config/resolve-tokens.ts';
import { resolveLimits, riskSchema } from '../config/risk-limits.ts';
import { exitsSchema, resolveExits } from '../config/strategies/exit-config.ts';
import type { Mint, Pair, Token, TokenAmount, TokenTable } from '../market/token.ts';
import { SOL_MINT, USDC_MINT, mint, tokenTable } from '../market/token.ts';
import type { Strategy } from '../strategy/define.ts';
import { specsOf } from '../strategy/input.ts';
import { parseTokenAmount, withTokens } from '../strategy/params.ts';
import type { RiskLimits } from '../trading/limits.ts';
import type { ExitPlan } from '../trading/positions/exit-plan.ts';
import type { SwapAnswers } from './swap-answers.ts';
import { instantOf, spanOf } from './timeline.ts';

/** One strategy of a test: what an entry of `strategies` in the YAML says. */
export interface EntryOptions {
  /** As under `params` of the YAML. */
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  /** The money of the strategy, "1000 USDC" where absent; null for none. */
  readonly budget?: string | null | undefined;
  /** As under `exits` of the YAML: rules by which positions are sold, whatever the strategy does. */
  readonly exits?: z.input<typeof exitsSchema> | undefined;
  /** The name of the strategy in the run; its own where absent. */
  readonly name?: string | undefined;
  /** As `warmup` of the YAML: what a restart shows of the events before it. */
  readonly warmup?: string | undefined;
  /** As `max_age` of the YAML. */
  readonly maxAge?: string | undefined;
  /** What an earlier run saved of the strategy, in the form of `run.savedState()`; nothing where absent. */
  readonly savedState?: Readonly<Record<string, unknown>> | undefined;
}

/** A strategy that runs beside the tested one, with a budget of its own and the same wallet and limits. */
export interface BesideOptions extends EntryOptions {
  readonly strategy: Strategy;
}

/** The strategy's configuration in a test, and its surroundings. */
export interface TestOptions extends EntryOptions {
  /** Further strategies of the run. */
  readonly beside?: readonly BesideOptions[] | undefined;
  /** Further tokens by alias: their decimals, or mint and decimals. SOL and USDC are known. */
  readonly tokens?: Readonly<Record<string, number | { readonly mint: string; readonly decimals: number }>> | undefined;
  /** Balances of the wallet beside the budgets, `{ SOL: '10' }` where absent: network fees are paid from it. */
  readonly wallet?: Readonly<Record<string, string>> | undefined;
  /** As under `risk` of the YAML. Limits that it does not name refuse nothing. */
  readonly risk?: z.input<typeof riskSchema> | undefined;
  /** Prices that are known before the start: `{ 'SOL/USDC': 150 }`. */
  readonly prices?: Readonly<Record<string, number>> | undefined;
  /** What becomes of approved swaps; each is filled at once at the last price where absent. */
  readonly swaps?: SwapAnswers | undefined;
  /** The instant of the start, "2026-01-01T00:00:00Z" where absent. */
  readonly startAt?: string | undefined;
  /** The seed of `ctx.random`; 1 where absent. */
  readonly seed?: number | undefined;
}

/** A strategy of a run. */
export interface TestEntry {
  readonly strategy: Strategy;
  readonly name: string;
  readonly params: unknown;
  readonly budget: TokenAmount | undefined;
  readonly exits: ExitPlan | undefined;
  readonly warmupMs: Millis;
  readonly maxAgeMs: Millis | undefined;
  /** What an earlier run saved of it, as JSON. */
  readonly savedState: string | undefined;
}

/** What a run in a test is made of. */
export interface TestSetup {
  /** The tested strategy first. */
  readonly entries: readonly [TestEntry, ...TestEntry[]];
  readonly tokens: TokenTable;
  readonly balances: ReadonlyMap<Mint, Amount>;
  readonly limits: RiskLimits;
  readonly startAt: Millis;
  readonly seed: number;
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
  const problems = createProblems();
  const amounts = createAmountReader(tokens, problems);
  const balances = amounts.byToken(['wallet'], options.wallet ?? { SOL: '10' });
  const read = (own: Strategy, entry: EntryOptions): TestEntry => {
    const checked = entryOf(own, entry, { tokens, amounts, problems });
    const { budget } = checked;
    if (budget !== undefined) {
      const held = balances.get(budget.token.mint) ?? 0n;
      balances.set(budget.token.mint, amount(held + budget.amount));
    }
    return checked;
  };
  const entries = [read(strategy, options), ...(options.beside ?? []).map((one) => read(one.strategy, one))] as const;
  const twice = entries.find(({ name }, place) => entries.findIndex((one) => one.name === name) < place);
  if (twice !== undefined)
    throw new TypeError(`two strategies have the name "${twice.name}": give one another "name"`);
  const limits = limitsOf(options.risk, { amounts, problems });
  if (problems.all.length > 0) {
    throw new TypeError(problems.all.map(({ path, message }) => `${formatPath(path)}: ${message}`).join('\n'));
  }
  return {
    entries, tokens, balances, limits, startAt: instantOf(options.startAt ?? START, 0), seed: options.seed ?? 1,
  };
}

interface EntryScope {
  readonly tokens: TokenTable;
  readonly amounts: ReturnType<typeof createAmountReader>;
  readonly problems: ProblemList;
}

function entryOf(strategy: Strategy, options: EntryOptions, { tokens, amounts, problems }: EntryScope): TestEntry {
  const faults = paramFaults(strategy, options.params ?? {}, tokens);
  if (faults.length > 0) throw new TypeError(`the parameters of ${strategy.name}:\n  ${faults.join('\n  ')}`);
  const params = withTokens(tokens, () => strategy.params.parse(options.params ?? {}));
  const { budget: budgetText = BUDGET } = options;
  const budget = budgetText === null ? undefined : readAmount('budget', budgetText, tokens);
  const exits = options.exits === undefined ? undefined : parsed(exitsSchema, options.exits, 'exits');
  return {
    strategy, name: options.name ?? strategy.name, params, budget,
    exits: resolveExits(exits, {
      path: [], tokens, amounts, problems, budget: budget && { mint: budget.token.mint, amount: amount(budget.amount) },
      watched: Object.values(strategy.inputs(params)).flatMap(specsOf),
    }),
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

/** Returns the pair whose price a quote between two tokens has, from the strategies' parameters or their budgets. */
export function pairOfMints(
  [one, other]: readonly [Token, Token], entries: readonly Pick<TestEntry, 'params' | 'budget'>[],
): Pair {
  const named = entries.flatMap(({ params }) => pairsIn(params)).find(({ base, quote }) =>
    (base.mint === one.mint && quote.mint === other.mint) || (base.mint === other.mint && quote.mint === one.mint));
  if (named !== undefined) return named;
  const money = [...entries.map(({ budget }) => budget?.token.mint), USDC_MINT, SOL_MINT]
    .find((known) => known === one.mint || known === other.mint);
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

function limitsOf(risk: TestOptions['risk'], scope: Pick<EntryScope, 'amounts' | 'problems'>): RiskLimits {
  const section = parsed(riskSchema, { ...WIDE, ...risk }, 'risk');
  return resolveLimits(section, {
    ...scope, protections: section.protections, solReserve: 0n as Amount, caps: new Map(),
  });
}

/** Returns a section as its schema reads it. Throws TypeError with all faults. */
function parsed<S extends z.ZodType>(schema: S, given: z.input<S>, name: string): z.output<S> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  throw new TypeError(read.error.issues.map(({ path, message }) =>
    `${formatPath([name, ...path as (string | number)[]])}: ${message}`).join('\n'));
}

function createProblems(): ProblemList {
  const all: { path: readonly (string | number)[]; message: string; position: { line: number; column: number } }[] = [];
  return {
    all,
    add: (path, message) => { all.push({ path, message, position: { line: 0, column: 0 } }); },
    isFaulty: () => all.length > 0,
  };
}
