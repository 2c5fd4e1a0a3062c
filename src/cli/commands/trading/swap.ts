import { Option } from 'commander';
import type { CommandContext, CommandModule } from '../../command.ts';
import { example } from '../../command.ts';
import { ACCEPT_COUNTERS, ACCEPT_FLAG, LIVE_FLAG, noteIdleLive, runIn } from './run.ts';
import { daemonOf, followOrder, orderKey } from './manual-order.ts';
import { previewOf, previewText } from './swap-preview.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { confirmed, expectPerson } from '../../input/confirm.ts';
import { wholeNumber } from '../../input/flags.ts';
import { openConfigured } from '../../input/service-request.ts';
import { rehearsalJson, rehearsalText } from '../../output/rehearsal-text.ts';
import { configuredToken, readAmount, unknownToken } from '../../../market/named-token.ts';
import { movesRealMoney } from '../../../config/live-gate.ts';
import type { RunConfig, StrategyConfig } from '../../../config/run-config.ts';
import type { Amount } from '../../../core/amount.ts';
import { amount, formatDecimal } from '../../../core/amount.ts';
import { GannetError, isGannetError } from '../../../core/errors.ts';
import { daemonClient } from '../../../daemon/control/control-client.ts';
import { probeService } from '../../../daemon/doctor/service-probe.ts';
import { newRunId } from '../../../daemon/files/find-run.ts';
import type { IntentRecord } from '../../../daemon/reporting/counters.ts';
import { intentJson } from '../../../daemon/reporting/json-reporter.ts';
import type { Reporter, Stamp } from '../../../daemon/reporting/reporter.ts';
import { createTerminalReporter } from '../../../daemon/reporting/terminal-reporter.ts';
import type { SwapPreview } from '../../../daemon/manual/swap-preview.ts';
import { previewJson, previewSwap, quoteOf, withRefusals } from '../../../daemon/manual/swap-preview.ts';
import { createHostRecord } from '../../../daemon/rehearsal/host-record.ts';
import { rehearse } from '../../../daemon/rehearsal/rehearse.ts';
import type { Connections } from '../../../daemon/run/connections.ts';
import { openSigner } from '../../../daemon/run/open-signer.ts';
import type { PreviewRuling } from '../../../daemon/run/preview-ruling.ts';
import { previewLostHistory, previewRuling } from '../../../daemon/run/preview-ruling.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';
import type { LoggedDecision } from '../../../engine/decision-log.ts';
import { withTokenNames } from '../../../market/market-text.ts';
import type { Token, TokenAmount, TokenTable } from '../../../market/token.ts';
import { formatTokenAmount } from '../../../market/token.ts';
import { loadDialect } from '../../../service/wire/dialect.ts';
import type { SignerDescription } from '../../../signer/channel/channel-protocol.ts';
import type { SignerClient } from '../../../signer/channel/client.ts';
import { swapProposal } from '../../../strategy/context.ts';
import { withTokens } from '../../../strategy/params.ts';
import type { Denial } from '../../../trading/limits.ts';
import { NO_SWAP_OPTIONS } from '../../../trading/swap-options.ts';
import swapOnce from '../../../../strategies/swap-once.ts';

interface SwapFlags {
  readonly live?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly acceptNewJournal?: boolean;
  readonly route: 'order' | 'build';
  readonly slippageBps?: number;
  readonly strategy?: string;
  readonly key?: string;
}

/** How long the swap waits for a price. */
const PRICE_TIMEOUT_MS = 60_000;

export const swapCommand: CommandModule = (program, run) => {
  program.command('swap <in> <out> <amount>')
    .description(
      'swaps once, within the limits and by the path of a run, through the daemon where one runs; tokens by alias, the '
        + 'amount in whole tokens',
    )
    .addHelpText('after', example('gannet swap USDC SOL 25 --dry-run'))
    .addOption(new Option('--route <route>', 'order: built and landed by the service; build: composed here')
      .choices(['order', 'build']).default('order'))
    .option('--slippage-bps <bps>', 'maximum slippage (default: risk.max_slippage_bps)', wholeNumber(0, 10_000))
    .option('--strategy <name>', 'with a running daemon: whose budget it spends (default: what no strategy has)')
    .option('--key <key>', 'asks again for an order whose answer was lost: it is never made twice')
    .option(...LIVE_FLAG)
    .addOption(new Option('--yes', 'swaps real money without asking').conflicts('dryRun'))
    .option('--dry-run', 'only shows the amounts, the price, the fees and the worst case; with --live also whether the '
      + 'signer would sign it')
    .option(...ACCEPT_FLAG)
    .option(...ACCEPT_COUNTERS)
    .action(run(swap));
};

/** The requested swap. */
interface Asked {
  readonly spend: TokenAmount;
  readonly to: Token;
  readonly flags: SwapFlags;
}

async function swap(
  given: CommandContext, input: string, output: string, amountText: string, flags: SwapFlags,
): Promise<ExitCode> {
  const isThere = await daemonOf(given);
  if (isThere) return swapThroughDaemon(given, [input, output, amountText], flags);
  for (const [flag, value] of [['--strategy', flags.strategy], ['--key', flags.key]] as const) {
    if (value === undefined) continue;
    throw new GannetError('CONTROL_UNREACHABLE', 'no daemon runs with the state directory '
      + `${given.options.stateDir}, and ${flag} is for a swap through one: start it with "gannet run", or leave `
      + `${flag} out`);
  }
  const { context, closeSigner } = withOneSigner(given);
  const dryRun = flags.dryRun === true;
  const { loaded: { config }, connections, hosts } = await openConfigured(context, dryRun ? 'read' : 'run', flags);
  // The strategies of the configuration do not run beside a manual swap.
  await hosts?.close();
  try {
    if (!dryRun) noteIdleLive(context, flags, config);
    const from = tokenOf(input, config.tokens);
    const to = tokenOf(output, config.tokens);
    if (from.mint === to.mint)
      throw new GannetError('USAGE', `expected two different tokens, got ${from.symbol} twice`);
    const asked = { spend: { token: from, amount: readAmount(amountText, from) }, to, flags };
    if (!dryRun && !movesRealMoney(config)) return await swapNow(context, { config, connections }, asked, undefined);
    if (!dryRun && flags.yes !== true) expectPerson(
      context, 'add --yes to swap real money without being asked, or --dry-run to see the amounts',
    );
    const { preview, ruling } = await previewWithRefusals(context, { config, connections }, asked);
    if (dryRun && flags.live === true && movesRealMoney(config))
      return await rehearsed(context, { config, connections }, { asked, preview });
    if (dryRun) context.terminal.result({ dry_run: true, ...previewJson(preview) }, () => previewText(preview));
    else if (!context.terminal.json) context.terminal.out(`${previewText(preview)}\n`);
    if (dryRun) return EXIT.done;
    if (ruling?.isCertain === true) return refused(context, ruling.denial, { preview, tokens: config.tokens });
    if (flags.yes !== true && !await confirmed(context, 'swap this?')) {
      context.terminal.out('  nothing was swapped\n');
      return EXIT.failed;
    }
    return await swapNow(context, { config, connections }, asked, preview);
  } finally {
    closeSigner();
    await connections.close();
  }
}

/** With --dry-run --live: shows the preview, and what "gannet rehearse" says of the same swap. */
async function rehearsed(
  context: CommandContext, { config, connections }: { readonly config: RunConfig; readonly connections: Connections },
  { asked: { spend, to, flags: { route } }, preview }: { readonly asked: Asked; readonly preview: SwapPreview },
): Promise<ExitCode> {
  const { connectSigner, environment, terminal } = context;
  const found = await rehearse({
    config, connections, connectSigner, environment, clock: systemClock, configChecks: [],
    probe: await probeService(config, [spend.token.mint, to.mint], systemClock),
    record: createHostRecord(loadDialect(config.service.dialect)),
    swaps: [{
      inputMint: spend.token.mint, outputMint: to.mint, amount: amount(spend.amount), route, purpose: 'entry',
      // As for the swap itself: the section "swap" does not apply to it.
      options: NO_SWAP_OPTIONS, slippageBps: preview.slippageBps,
    }],
  });
  const { profile: _profile, ...rehearsal } = rehearsalJson(found);
  terminal.result({ dry_run: true, ...previewJson(preview), rehearsal },
    () => previewText(preview) + rehearsalText(found, terminal));
  return found.ok ? EXIT.done : EXIT.failed;
}

/** Swaps through the running daemon: it checks, signs and journals the swap as one of its own. */
async function swapThroughDaemon(
  context: CommandContext, [input, output, amountText]: readonly [string, string, string], flags: SwapFlags,
): Promise<ExitCode> {
  const { terminal } = context;
  const body = {
    in: input, out: output, amount: amountText, strategy: flags.strategy, route: flags.route,
    slippage_bps: flags.slippageBps,
  };
  const key = orderKey(flags.key);
  const again = `gannet swap ${input} ${output} ${amountText}`
    + `${flags.strategy === undefined ? '' : ` --strategy ${flags.strategy}`} --key ${key}`;
  // The confirmation of an order that is asked for again was given before.
  if (flags.key !== undefined) return followOrder(context, { path: '/api/swap', body, key, again });
  const answer = await daemonClient(context).post('/api/preview', body, { timeoutMs: PRICE_TIMEOUT_MS });
  const preview = previewOf(answer);
  const dryRun = flags.dryRun === true;
  const asks = preview.isRealMoney && flags.yes !== true && !dryRun;
  if (asks) expectPerson(context, 'add --yes to swap real money without being asked, or --dry-run to see the amounts');
  if (dryRun) terminal.result({ dry_run: true, ...answer as object }, () => previewText(preview));
  else if (preview.isRealMoney && !terminal.json) terminal.out(`${previewText(preview)}\n`);
  if (dryRun) return EXIT.done;
  if (asks && !await confirmed(context, 'swap this?')) {
    terminal.out('  nothing was swapped\n');
    return EXIT.failed;
  }
  const bound = preview.isRealMoney ? { at_least: preview.least.toString() } : {};
  return followOrder(context, { path: '/api/swap', body: { ...body, ...bound }, key, again });
}

/** The preview and the run share one channel to the signer, which cannot be opened twice. */
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
 * Previews a swap with its refusals. Throws what the start of a run throws for the key, the journal and the counters;
 * with
 * --dry-run these are refusals of the preview, and nothing is written.
 */
async function previewWithRefusals(
  context: CommandContext, { config, connections }: { readonly config: RunConfig; readonly connections: Connections },
  asked: Asked,
): Promise<{ readonly preview: SwapPreview; readonly ruling: PreviewRuling | undefined }> {
  const { flags: { dryRun = false, acceptNewJournal = false, route, slippageBps } } = asked;
  const faults: GannetError[] = [];
  const countedAt = systemClock.now();
  const wallet = await walletOf(context, { config, connections }, dryRun
    ? (fault) => { faults.push(fault); } : undefined);
  const scope = wallet === undefined || !movesRealMoney(config) ? undefined
    : { config, connections, stateDir: context.options.stateDir, clock: systemClock, wallet, countedAt };
  const lost = scope === undefined || acceptNewJournal ? undefined : await previewLostHistory(scope);
  if (lost !== undefined && !dryRun) throw lost;
  if (lost !== undefined) faults.push(lost);
  const { chain } = connections;
  const preview = await previewSwap({
    limits: config.limits, quotes: connections.service.swap, description: connections.description,
    isRealMoney: movesRealMoney(config), wallet: wallet?.address,
    balances: chain === undefined ? undefined : (address) => chain.balances(address),
  }, { ...asked, route, slippageBps });
  const { spend, to } = asked;
  const ruling = scope === undefined ? undefined : await previewRuling(scope, {
    strategy: once(newRunId(systemClock), config.tokens, asked, preview.least),
    proposal: swapProposal(spend.token, to, spend, 'asked for by the operator', {
      route, slippageBps: preview.slippageBps, limit: preview.least,
    }),
    quote: quoteOf(
      { order: preview.order, inputMint: spend.token.mint, outputMint: to.mint }, systemClock.now(),
    ),
  });
  return { preview: withRefusals(preview, { ruling, faults, limits: config.limits }), ruling };
}

/**
 * Returns the wallet that the run would use; undefined when none is known. With `onFault` nothing is written, and a key
 * that cannot be read is passed to it.
 */
async function walletOf(
  { connectSigner }: CommandContext,
  { config, connections }: { readonly config: RunConfig; readonly connections: Connections },
  onFault: ((fault: GannetError) => void) | undefined,
): Promise<Pick<SignerDescription, 'address' | 'signed'> | undefined> {
  if (onFault === undefined) return (await openSigner({ config, connections, signer: connectSigner?.() })).description;
  const configured = config.wallet.address ?? connections.sandbox?.addresses.wallet.address;
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

/** Prints a refusal that is certain before the swap starts. */
function refused(
  { terminal }: CommandContext, { code, reason }: Denial,
  { preview, tokens }: { readonly preview: SwapPreview; readonly tokens: TokenTable },
): ExitCode {
  const json = { denial: { code, reason }, journey: [], preview: previewJson(preview) };
  terminal.result(json, () => notDone(tokens, `${code}, ${reason}`));
  return exitCodeOf(code);
}

function notDone(tokens: TokenTable, reason: string): string {
  return `  not done: ${withTokenNames(tokens, reason)}\n`;
}

function exitCodeOf(code: string | undefined): ExitCode {
  return code === 'TRADING_HALTED' ? EXIT.halted : EXIT.failed;
}

/** Swaps once. The preview is the bound: a price below its worst case is refused. */
async function swapNow(
  context: CommandContext, { config, connections }: { readonly config: RunConfig; readonly connections: Connections },
  asked: Asked, preview: SwapPreview | undefined,
): Promise<ExitCode> {
  const { terminal } = context;
  const runId = newRunId(systemClock);
  const watch = createSwapWatch();
  const human = terminal.json ? undefined : createTerminalReporter({
    write: (text) => { terminal.out(text); }, colour: terminal.colour, tokens: config.tokens,
  });
  const strategy = once(runId, config.tokens, asked, preview?.least);
  const alone = { ...config, strategies: [strategy], control: { ...config.control, enabled: false } };
  await runIn(
    { ...context, interrupt: AbortSignal.any([context.interrupt, watch.isOver]) },
    { duration: PRICE_TIMEOUT_MS, maxIntents: 1, ...(asked.flags.acceptNewJournal === undefined ? {}
      : { acceptNewJournal: asked.flags.acceptNewJournal }) },
    { config: alone, connections, runId, reporter: watch.reporter(human) },
  );
  const { json, exitCode, text } =
    watch.result({ runId, to: asked.to, isPaper: config.mode === 'paper', tokens: config.tokens });
  terminal.result({ ...json, ...(preview === undefined ? {} : { preview: previewJson(preview) }) }, () => text);
  return exitCode;
}

function tokenOf(text: string, tokens: TokenTable): Token {
  const token = configuredToken(text, tokens);
  if (token === undefined) throw unknownToken(text, tokens, { orMint: false });
  return token;
}

/** Returns a strategy instance of its own for the swap, so that a later swap cannot spend what it bought. */
function once(
  runId: string, tokens: TokenTable, { spend, to, flags }: Asked, least: Amount | undefined,
): StrategyConfig {
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
    isManual: true,
  };
}

/** Follows the one swap of a run. */
interface SwapWatch {
  /** Aborted when the swap is over. */
  readonly isOver: AbortSignal;
  /** Returns a reporter that keeps the course of the swap, and passes it on to another reporter. */
  reporter(human: Reporter | undefined): Reporter;
  /** Returns the result of the command. */
  result(
    run: { readonly runId: string; readonly to: Token; readonly isPaper: boolean; readonly tokens: TokenTable },
  ): { readonly json: Readonly<Record<string, unknown>>; readonly exitCode: ExitCode; readonly text: string };
}

function createSwapWatch(): SwapWatch {
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
        // The token is being checked; the strategy proposes the swap again.
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
    result({ runId, to, isPaper, tokens }) {
      const last = steps.at(-1)?.record;
      const ok = last?.state === 'confirmed';
      return {
        exitCode: ok ? EXIT.done : exitCodeOf(denial?.code),
        json: {
          run_id: runId,
          ...(last === undefined ? {} : intentJson(last)),
          denial: denial === undefined ? null : { code: denial.code, reason: denial.reason },
          journey: steps.map(({ at, record: { state, signature, code, reason, gatewayRequestId } }) =>
            ({ at, state, signature, code, reason, gateway_request_id: gatewayRequestId })),
        },
        text: ok && last.fill !== undefined
          ? `  done${isPaper ? ' on paper, no money moved' : ''}: ${formatDecimal(last.fill.amountOut, to.decimals)} `
            + `${to.symbol} ${isPaper ? 'would have been ' : ''}received; "gannet replay ${runId}" repeats the `
            + `decision\n`
          : notDone(tokens, reasonOf(denial, last)),
      };
    },
  };
}

function reasonOf(denial: Denial | undefined, last: IntentRecord | undefined): string {
  if (denial !== undefined) return `${denial.code}, ${denial.reason}`;
  if (last === undefined) return `no price arrived within ${PRICE_TIMEOUT_MS / 1_000} s`;
  return 'the swap '
    + `is ${last.state}`
    + `${last.code === undefined ? '' : `, ${last.code}`}${last.reason === undefined ? '' : ` (${last.reason})`}`
    + (last.gatewayRequestId === undefined ? '' : ` (request ${last.gatewayRequestId})`);
}
