import { InvalidArgumentError, Option } from 'commander';
import { movesRealMoney } from '../config/live-gate.ts';
import type { RunConfig, StrategyConfig } from '../config/run-config.ts';
import type { Amount } from '../core/amount.ts';
import { amount, formatDecimal } from '../core/amount.ts';
import { GannetError, isGannetError } from '../core/errors.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import { intentJson } from '../daemon/json-reporter.ts';
import { openSigner } from '../daemon/open-signer.ts';
import type { Reporter, Stamp } from '../daemon/reporter.ts';
import type { IntentRecord } from '../daemon/tally.ts';
import { createHumanReporter } from '../daemon/human-reporter.ts';
import { newRunId } from '../daemon/run-id.ts';
import type { BeforehandRuling } from '../daemon/rule-beforehand.ts';
import { lostBeforehand, ruleBeforehand } from '../daemon/rule-beforehand.ts';
import { systemClock } from '../daemon/system-clock.ts';
import type { World } from '../daemon/world.ts';
import { swapProposal } from '../engine/swap-proposal.ts';
import { spoken } from '../market/market-text.ts';
import type { TokenAmount } from '../market/token.ts';
import { formatTokenAmount } from '../market/token.ts';
import { withTokens } from '../strategy/params.ts';
import type { Token, TokenTable } from '../market/token.ts';
import type { SignerClient } from '../signer/client.ts';
import type { SignerDescription } from '../signer/requests.ts';
import type { Denial } from '../trading/risk/denial.ts';
import swapOnce from '../../strategies/swap-once.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { openConfigured } from './configured.ts';
import { confirmed, expectPerson } from './confirm.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { configuredToken, unknownToken } from './named-tokens.ts';
import { readAmount } from './quote.ts';
import { ACCEPT_FLAG, LIVE_FLAG, noteIdleLive, runIn } from './run.ts';
import type { SwapPreview } from './swap-preview.ts';
import { previewJson, previewSwap, previewText, quoteOf, withRefusals } from './swap-preview.ts';

interface SwapFlags {
  readonly live?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
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
    .addOption(new Option('--yes', 'without asking, where real money is swapped').conflicts('dryRun'))
    .option('--dry-run', 'only says what the swap would come to: amounts, price, fees and the worst case')
    .option(...ACCEPT_FLAG)
    .action(run(swap));
};

/** The swap that was asked for. */
interface Asked {
  readonly spend: TokenAmount;
  readonly to: Token;
  readonly flags: SwapFlags;
}

async function swap(
  given: CommandContext, input: string, output: string, amountText: string, flags: SwapFlags,
): Promise<ExitCode> {
  const { context, closeSigner } = withOneSigner(given);
  const dryRun = flags.dryRun === true;
  const { loaded: { config }, world } = await openConfigured(context, dryRun ? 'look' : 'run', flags);
  try {
    if (!dryRun) noteIdleLive(context, flags, config);
    const from = tokenOf(input, config.tokens);
    const to = tokenOf(output, config.tokens);
    if (from.mint === to.mint) throw new GannetError('USAGE', `expected two different tokens, got ${from.symbol} twice`);
    const asked = { spend: { token: from, amount: readAmount(amountText, from) }, to, flags };
    if (!dryRun && !movesRealMoney(config)) return await swapNow(context, { config, world }, asked, undefined);
    if (!dryRun && flags.yes !== true) expectPerson(context, 'add --yes to swap real money without being asked, or --dry-run to see what the swap would come to');
    const { preview, ruling } = await foresee(context, { config, world }, asked);
    if (dryRun) context.terminal.result({ dry_run: true, ...previewJson(preview) }, () => previewText(preview));
    else if (!context.terminal.json) context.terminal.out(`${previewText(preview)}\n`);
    if (dryRun) return EXIT.done;
    if (ruling?.isCertain === true) return refused(context, ruling.denial, { preview, tokens: config.tokens });
    if (flags.yes !== true && !await confirmed(context, 'swap this?')) {
      context.terminal.out('  nothing was swapped\n');
      return EXIT.failed;
    }
    return await swapNow(context, { config, world }, asked, preview);
  } finally {
    closeSigner();
    await world.close();
  }
}

/** The preview and the run ask the signer over one channel: it cannot be opened a second time. */
function withOneSigner(
  context: CommandContext,
): { readonly context: CommandContext; readonly closeSigner: () => void } {
  const { connectSigner } = context;
  let client: SignerClient | undefined;
  return {
    context: connectSigner === undefined ? context : { ...context, connectSigner: () => (client ??= connectSigner()) },
    closeSigner: () => { client?.close(); },
  };
}

/**
 * Previews a swap with what would refuse it. Throws what the start of the run would throw of the key, the journal and
 * the counters. With --dry-run these are refusals of the preview, and nothing is written.
 */
async function foresee(
  context: CommandContext, { config, world }: { readonly config: RunConfig; readonly world: World }, asked: Asked,
): Promise<{ readonly preview: SwapPreview; readonly ruling: BeforehandRuling | undefined }> {
  const { flags: { dryRun = false, acceptNewJournal = false, route, slippageBps } } = asked;
  const faults: GannetError[] = [];
  const wallet = await walletOf(context, { config, world }, dryRun ? (fault) => { faults.push(fault); } : undefined);
  const scope = wallet === undefined || !movesRealMoney(config) ? undefined
    : { config, world, stateDir: context.options.stateDir, clock: systemClock, wallet };
  const lost = scope === undefined || acceptNewJournal ? undefined : await lostBeforehand(scope);
  if (lost !== undefined && !dryRun) throw lost;
  if (lost !== undefined) faults.push(lost);
  const preview = await previewSwap({ config, world, wallet: wallet?.address }, { ...asked, route, slippageBps });
  const { spend, to } = asked;
  const ruling = scope === undefined ? undefined : await ruleBeforehand(scope, {
    strategy: once(newRunId(systemClock), config.tokens, asked, preview.least),
    proposal: swapProposal(spend.token, to, spend, 'asked for by the operator', {
      route, slippageBps: preview.slippageBps, limit: preview.least,
    }),
    quote: quoteOf(preview, systemClock.now()),
  });
  return { preview: withRefusals(preview, { ruling, faults, limits: config.limits }), ruling };
}

/**
 * Returns the wallet that the run would use; undefined where none is known. `onFault` is given where nothing may be
 * written, and takes what keeps the key from being read.
 */
async function walletOf(
  { connectSigner }: CommandContext, { config, world }: { readonly config: RunConfig; readonly world: World },
  onFault: ((fault: GannetError) => void) | undefined,
): Promise<Pick<SignerDescription, 'address' | 'signed'> | undefined> {
  if (onFault === undefined) return (await openSigner({ config, world, signer: connectSigner?.() })).description;
  const configured = config.wallet.address ?? world.sandbox?.addresses.wallet.address;
  if (configured !== undefined) return { address: configured };
  if (connectSigner === undefined || !movesRealMoney(config)) return undefined;
  try {
    return { address: await connectSigner().address() };
  } catch (error) {
    if (!isGannetError(error)) throw error;
    onFault(error);
    return undefined;
  }
}

/** Tells a refusal that is certain before anything is asked or started. */
function refused(
  { terminal }: CommandContext, { code, reason }: Denial,
  { preview, tokens }: { readonly preview: SwapPreview; readonly tokens: TokenTable },
): ExitCode {
  const json = { denial: { code, reason }, journey: [], preview: previewJson(preview) };
  terminal.result(json, () => notDone(tokens, `${code}, ${reason}`));
  return exitCodeOf(code);
}

function notDone(tokens: TokenTable, reason: string): string {
  return `  not done: ${spoken(tokens, reason)}\n`;
}

function exitCodeOf(code: string | undefined): ExitCode {
  return code === 'TRADING_HALTED' ? EXIT.halted : EXIT.failed;
}

/** Swaps once. What was previewed is the bound: a price that has fallen below its worst case by now is refused. */
async function swapNow(context: CommandContext, { config, world }: { readonly config: RunConfig; readonly world: World }, asked: Asked, preview: SwapPreview | undefined): Promise<ExitCode> {
  const { terminal } = context;
  const runId = newRunId(systemClock);
  const journey = createJourney();
  const human = terminal.json ? undefined : createHumanReporter({ write: (text) => { terminal.out(text); }, colour: terminal.colour, tokens: config.tokens });
  const strategy = once(runId, config.tokens, asked, preview?.least);
  const alone = { ...config, strategies: [strategy], control: { ...config.control, enabled: false } };
  await runIn(
    { ...context, interrupt: AbortSignal.any([context.interrupt, journey.isOver]) },
    { duration: PATIENCE_MS, maxIntents: 1, ...(asked.flags.acceptNewJournal === undefined ? {} : { acceptNewJournal: asked.flags.acceptNewJournal }) },
    { config: alone, world, runId, reporter: journey.reporter(human) },
  );
  const { json, exitCode, text } = journey.told({ runId, to: asked.to, isPaper: config.mode === 'paper', tokens: config.tokens });
  terminal.result({ ...json, ...(preview === undefined ? {} : { preview: previewJson(preview) }) }, () => text);
  return exitCode;
}

function tokenOf(text: string, tokens: TokenTable): Token {
  const token = configuredToken(text, tokens);
  if (token === undefined) throw unknownToken(text, tokens, { orMint: false });
  return token;
}

/** An instance of its own for every swap, so that what one bought is not what the next may spend. */
function once(runId: string, tokens: TokenTable, { spend, to, flags }: Asked, least: Amount | undefined): StrategyConfig {
  const rawParams = {
    spend: formatTokenAmount(spend), buy: to.symbol, route: flags.route,
    ...(flags.slippageBps === undefined ? {} : { slippage_bps: flags.slippageBps }),
    ...(least === undefined ? {} : { at_least: formatTokenAmount({ token: to, amount: least }) }),
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
  told(run: { readonly runId: string; readonly to: Token; readonly isPaper: boolean; readonly tokens: TokenTable }): { readonly json: Readonly<Record<string, unknown>>; readonly exitCode: ExitCode; readonly text: string };
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
    told({ runId, to, isPaper, tokens }) {
      const last = steps.at(-1)?.record;
      const ok = last?.state === 'confirmed';
      return {
        exitCode: ok ? EXIT.done : exitCodeOf(denial?.code),
        json: {
          run_id: runId,
          ...(last === undefined ? {} : intentJson(last)),
          denial: denial === undefined ? null : { code: denial.code, reason: denial.reason },
          journey: steps.map(({ at, record: { state, signature, code, reason } }) => ({ at, state, signature, code, reason })),
        },
        text: ok && last.fill !== undefined
          ? `  done${isPaper ? ' on paper, no money moved' : ''}: ${formatDecimal(last.fill.amountOut, to.decimals)} ${to.symbol} ${isPaper ? 'would have been ' : ''}received; "gannet replay ${runId}" repeats the decision\n`
          : notDone(tokens, reasonOf(denial, last)),
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
