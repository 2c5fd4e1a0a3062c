import { InvalidArgumentError, Option } from 'commander';
import type { StrategyConfig } from '../config/run-config.ts';
import { amount, formatDecimal } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import { intentJson } from '../daemon/json-reporter.ts';
import type { Reporter, Stamp } from '../daemon/reporter.ts';
import type { IntentRecord } from '../daemon/tally.ts';
import { createHumanReporter } from '../daemon/human-reporter.ts';
import { newRunId } from '../daemon/run-id.ts';
import { systemClock } from '../daemon/system-clock.ts';
import type { TokenAmount } from '../market/token.ts';
import { formatTokenAmount } from '../market/token.ts';
import { withTokens } from '../strategy/params.ts';
import type { Token, TokenTable } from '../market/token.ts';
import type { Denial } from '../trading/risk/denial.ts';
import swapOnce from '../../strategies/swap-once.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { openConfigured } from './configured.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { configuredToken, unknownToken } from './named-tokens.ts';
import { readAmount } from './quote.ts';
import { ACCEPT_FLAG, LIVE_FLAG, noteIdleLive, runIn } from './run.ts';

interface SwapFlags {
  readonly live?: boolean;
  readonly acceptNewJournal?: boolean;
  readonly route: 'order' | 'build';
  readonly slippageBps?: number;
}

/** How long it is waited for a price to hold the swap against. */
const PATIENCE_MS = 60_000;

export const swapCommand: CommandModule = (program, run) => {
  program.command('swap <in> <out> <amount>')
    .description('swaps once, through the limits and the whole path of a run; tokens by alias, the amount in whole tokens')
    .addOption(new Option('--route <route>', 'order: assembled and landed by the service; build: composed here').choices(['order', 'build']).default('order'))
    .option('--slippage-bps <bps>', 'the most slippage; left out, risk.max_slippage_bps', basisPoints)
    .option(...LIVE_FLAG)
    .option(...ACCEPT_FLAG)
    .action(run(swap));
};

async function swap(context: CommandContext, input: string, output: string, amountText: string, flags: SwapFlags): Promise<ExitCode> {
  const { loaded: { config }, world } = await openConfigured(context, 'run', flags);
  try {
    noteIdleLive(context, flags, config);
    const from = tokenOf(input, config.tokens);
    const to = tokenOf(output, config.tokens);
    if (from.mint === to.mint) throw new GannetError('USAGE', `expected two different tokens, got ${from.symbol} twice`);
    const spend = { token: from, amount: readAmount(amountText, from) };
    const runId = newRunId(systemClock);
    const journey = createJourney();
    const human = context.terminal.json ? undefined : createHumanReporter({ write: (text) => { context.terminal.out(text); }, colour: context.terminal.colour, tokens: config.tokens });
    const alone = { ...config, strategies: [once(runId, config.tokens, { spend, to, flags })], control: { ...config.control, enabled: false } };
    await runIn(
      { ...context, interrupt: AbortSignal.any([context.interrupt, journey.isOver]) },
      { duration: PATIENCE_MS, maxIntents: 1, ...(flags.acceptNewJournal === undefined ? {} : { acceptNewJournal: flags.acceptNewJournal }) },
      { config: alone, world, runId, reporter: journey.reporter(human) },
    );
    const { json, exitCode, text } = journey.told({ runId, to, isPaper: config.mode === 'paper' });
    context.terminal.result(json, () => text);
    return exitCode;
  } finally {
    await world.close();
  }
}

function tokenOf(text: string, tokens: TokenTable): Token {
  const token = configuredToken(text, tokens);
  if (token === undefined) throw unknownToken(text, tokens, { orMint: false });
  return token;
}

/** An instance of its own for every swap, so that what one bought is not what the next may spend. */
function once(runId: string, tokens: TokenTable, { spend, to, flags }: { readonly spend: TokenAmount; readonly to: Token; readonly flags: SwapFlags }): StrategyConfig {
  const rawParams = {
    spend: formatTokenAmount(spend), buy: to.symbol, route: flags.route,
    ...(flags.slippageBps === undefined ? {} : { slippage_bps: flags.slippageBps }),
  };
  return {
    name: `swap-${runId.slice(9).toLowerCase()}`,
    use: swapOnce.name,
    origin: 'project',
    strategy: swapOnce,
    params: withTokens(tokens, () => swapOnce.params.parse(rawParams)),
    rawParams,
    budget: { mint: spend.token.mint, amount: amount(spend.amount) },
    maxAgeMs: undefined,
    isByHand: true,
  };
}

/** What is seen of the one swap while it runs. */
interface Journey {
  /** Aborted when there is nothing more to wait for. */
  readonly isOver: AbortSignal;
  /** Returns a reporter that keeps what the command tells at its end, and passes the swap's own steps on. */
  reporter(human: Reporter | undefined): Reporter;
  /** Returns what became of it. */
  told(run: { readonly runId: string; readonly to: Token; readonly isPaper: boolean }): { readonly json: unknown; readonly exitCode: ExitCode; readonly text: string };
}

function createJourney(): Journey {
  const over = new AbortController();
  const steps: { readonly at: number; readonly record: IntentRecord }[] = [];
  let denial: Denial | undefined;
  return {
    isOver: over.signal,
    reporter: (human) => ({
      started: () => undefined,
      decided: (decision, intent) => { human?.decided(decision, intent); },
      denied: (decision: LoggedDecision, refusal: Denial) => {
        denial = refusal;
        // It is looked at this moment, and proposed anew.
        if (refusal.code === 'TOKEN_UNVETTED') return;
        human?.denied(decision, refusal);
        over.abort();
      },
      intent: (stamp: Stamp, record: IntentRecord) => {
        denial = undefined;
        steps.push({ at: stamp.at, record });
        human?.intent(stamp, record);
      },
      alert: (stamp, strategy, alert) => { human?.alert(stamp, strategy, alert); },
      feed: (stamp, health) => { human?.feed(stamp, health); },
      state: (stamp, state, message) => {
        if (state !== 'draining') human?.state(stamp, state, message);
      },
      trading: (stamp, change) => { human?.trading(stamp, change); },
      protection: (stamp, change) => { human?.protection(stamp, change); },
      summary: () => undefined,
    }),
    told({ runId, to, isPaper }) {
      const last = steps.at(-1)?.record;
      const ok = last?.state === 'confirmed';
      return {
        exitCode: ok ? EXIT.done : denial?.code === 'TRADING_HALTED' ? EXIT.halted : EXIT.failed,
        json: {
          run_id: runId,
          ...(last === undefined ? {} : intentJson(last)),
          denial: denial === undefined ? null : { code: denial.code, reason: denial.reason },
          journey: steps.map(({ at, record: { state, signature, code, reason } }) => ({ at, state, signature, code, reason })),
        },
        text: ok && last.fill !== undefined
          ? `  done${isPaper ? ' on paper, no money moved' : ''}: ${formatDecimal(last.fill.amountOut, to.decimals)} ${to.symbol} ${isPaper ? 'would have been ' : ''}received; "gannet replay ${runId}" repeats the decision\n`
          : `  not done: ${reasonOf(denial, last)}\n`,
      };
    },
  };
}

function reasonOf(denial: Denial | undefined, last: IntentRecord | undefined): string {
  if (denial !== undefined) return `${denial.code}, ${denial.reason}`;
  if (last === undefined) return `no price came within ${PATIENCE_MS / 1_000} s`;
  return `the swap is ${last.state}${last.code === undefined ? '' : `, ${last.code}`}${last.reason === undefined ? '' : ` (${last.reason})`}`;
}

function basisPoints(text: string): number {
  const value = Number(text);
  if (!/^\d{1,5}$/.test(text) || value > 10_000) throw new InvalidArgumentError('expected whole basis points of 0 to 10000.');
  return value;
}
