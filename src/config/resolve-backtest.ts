import type { Amount, Bps, Lamports } from '../core/amount.ts';
import { amount, lamports, U64_MAX } from '../core/amount.ts';
import { assert } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import { formatDuration, parseDuration } from '../core/time.ts';
import type { Mint, TransferFee } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import { QUOTE_MAX_AGE_MS } from '../trading/limits.ts';
import type { LandingModel, LatencySource, SimulationModel } from '../trading/simulation-model.ts';
import { BASE_MODEL } from '../trading/simulation-model.ts';
import type { ProblemList } from './config-issue.ts';
import type { ConfigFile } from './config-schema.ts';
import type { AmountReader } from './resolve-tokens.ts';
import type { BacktestConfig, StrategyConfig } from './run-config.ts';
import { knownQuantiles, readLatency, readLatencyQuantiles } from './schema-backtest.ts';

/** SOL for fees, where the file does not say how much a simulated wallet has. */
const SIMULATED_SOL = lamports(1_000_000_000n) as bigint as Amount;

type Section = ConfigFile['backtest'];

interface BacktestScope {
  readonly amounts: AmountReader;
  readonly strategies: readonly StrategyConfig[];
  readonly problems: ProblemList;
}

/** Returns the section "backtest": the simulated wallet, and how its swaps are simulated. */
export function resolveBacktest(
  { backtest, mode, risk }: ConfigFile, scope: BacktestScope & { readonly purpose: 'run' | 'check' | 'read' },
): BacktestConfig {
  const written = backtest.balances;
  const balances = written === undefined ? sumOfBudgets(scope.strategies, scope.problems)
    : scope.amounts.byToken(['backtest', 'balances'], written);
  // A budget of SOL is for trading: the SOL for fees is added to it.
  if (written === undefined || !balances.has(SOL_MINT))
    balances.set(SOL_MINT, amount((balances.get(SOL_MINT) ?? 0n) + SIMULATED_SOL));
  if (scope.purpose === 'run' && mode === 'paper' && backtest.latency.land === 'recorded') {
    scope.problems.add(
      ['backtest', 'latency', 'land'],
      'expected a duration or quantiles, got "recorded": a paper run has no recording to take it from',
    );
  }
  const { platform_fee_bps: feeBps } = backtest.costs;
  if (feeBps > risk.max_fee_bps) {
    scope.problems.add(['backtest', 'costs', 'platform_fee_bps'],
      `expected at most risk.max_fee_bps (${risk.max_fee_bps}), got ${feeBps}: `
        + 'every simulated swap would be given up for its fee, and a run without swaps loses nothing. Lower the fee, '
        + 'or raise the limit');
  }
  const leastMs = risk.max_quote_age === undefined ? QUOTE_MAX_AGE_MS : parseDuration(risk.max_quote_age);
  return { balances, model: resolveModel(backtest, leastMs, scope) };
}

function resolveModel(section: Section, leastMs: Millis, scope: BacktestScope): SimulationModel<LatencySource> {
  const { latency, own_impact: ownImpact, landing, costs } = section;
  const [quote, sign, land] =
    [readLatency(latency.quote), readLatencyQuantiles(latency.sign), readLatency(latency.land)];
  assert(quote && sign && land, 'the schema lets no other text through');
  refuseEndless(section, scope);
  return {
    setting: section.setting,
    latency: { quote, sign, land },
    extrapolate: section.extrapolate,
    otherSideHaircutBps: section.other_side_haircut_bps as Bps,
    maxPriceAgeMs: parseDuration(section.max_price_age),
    fillQuoteAge: {
      maxMs: section.max_quote_age === undefined ? undefined : parseDuration(section.max_quote_age), leastMs,
    },
    ownImpact: { share: ownImpact.share, decayMs: parseDuration(ownImpact.decay) },
    landing: {
      adverseBps: landing.adverse_bps as Bps,
      ...assumedShares(landing),
      expiryMs: parseDuration(landing.expiry),
      lastLookBps: landing.last_look_bps as Bps,
    },
    costs: {
      signatures: costs.signatures,
      computeUnitLimit: costs.compute_units,
      microLamportsPerUnit: BigInt(costs.micro_lamports_per_unit),
      tipLamports: resolveTip(costs.tip, scope),
      platformFeeBps: costs.platform_fee_bps as Bps,
      platformFeeIn: costs.platform_fee_in,
    },
    transferFees: resolveTransferFees(section, scope),
  };
}

/** A share that the file leaves out is assumed, unless the recording's own run tells it. */
function assumedShares(
  { drop_probability: drop, unknown_probability: unknown }: Section['landing'],
): Pick<LandingModel, 'assumed' | 'dropProbability' | 'unknownProbability'> {
  const { dropProbability, unknownProbability } = BASE_MODEL.landing;
  return {
    dropProbability: drop ?? dropProbability, unknownProbability: unknown ?? unknownProbability,
    ...(drop !== undefined && unknown !== undefined ? {}
      : { assumed: { drop: drop === undefined, unknown: unknown === undefined } }),
  };
}

/** No swap takes this long; a longer time is a mistake in the unit. */
const LONGEST_LATENCY_MS = 3_600_000;

function refuseEndless({ latency, landing }: Section, { problems }: BacktestScope): void {
  for (const [key, text] of Object.entries(latency)) {
    const quantiles = knownQuantiles(readLatency(text) ?? 'recorded') ?? [];
    const path = ['backtest', 'latency', key];
    if (quantiles.some(({ latencyMs }) => latencyMs > LONGEST_LATENCY_MS))
      problems.add(path, `expected at most ${formatDuration(LONGEST_LATENCY_MS)}, got "${text}"`);
    else if (key === 'land' && quantiles.length > 0 && quantiles[0]!.latencyMs > parseDuration(landing.expiry)) {
      problems.add(path, `expected that some swaps land before they expire (landing.expiry: ${landing.expiry}), got `
        + `"${text}": none ever would`);
    }
  }
}

/** No attempt is worth more; a larger tip is a mistake in the unit. */
const LARGEST_TIP = 1_000_000_000n;

function resolveTip(text: string | undefined, { amounts, problems }: BacktestScope): Lamports {
  const path = ['backtest', 'costs', 'tip'];
  const tip = amounts.withToken(path, text);
  if (tip === undefined) return 0n as Lamports;
  if (tip.mint !== SOL_MINT) problems.add(path, `expected an amount of SOL such as "0.0001 SOL", got "${text}"`);
  else if (tip.amount > LARGEST_TIP) problems.add(path, `expected at most 1 SOL, got "${text}"`);
  return tip.amount as bigint as Lamports;
}

function resolveTransferFees(section: Section, { amounts }: BacktestScope): ReadonlyMap<Mint, TransferFee> {
  const fees = new Map<Mint, TransferFee>();
  for (const [alias, { bps, max }] of Object.entries(section.transfer_fees)) {
    const path = ['backtest', 'transfer_fees', alias];
    const token = amounts.token(path, alias, 'key');
    if (token === undefined) continue;
    const maximum = max === undefined ? U64_MAX : amounts.ofToken([...path, 'max'], max, token);
    if (maximum !== undefined) fees.set(token.mint, { bps, maximum });
  }
  return fees;
}

function sumOfBudgets(strategies: readonly StrategyConfig[], problems: ProblemList): Map<Mint, Amount> {
  const sums = new Map<Mint, Amount>();
  for (const { budget } of strategies) {
    if (budget === undefined) continue;
    const sum = (sums.get(budget.mint) ?? 0n) + budget.amount;
    if (sum + SIMULATED_SOL > U64_MAX)
      problems.add(['strategies'], 'the budgets of one token add up to more than any account can hold');
    else sums.set(budget.mint, amount(sum));
  }
  return sums;
}
