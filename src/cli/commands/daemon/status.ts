import { setTimeout as pause } from 'node:timers/promises';
import type { CommandContext, CommandModule } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { clockTime, percent } from '../../output/figures.ts';
import { restrictionText, statusFacts, statusText } from '../../output/status-text.ts';
import type { Fact } from '../../output/table.ts';
import { facts, table } from '../../output/table.ts';
import { linesWrapped, outputColumns } from '../../output/terminal.ts';
import { formatDecimal } from '../../../core/amount.ts';
import { formatCounts, printable } from '../../../core/text.ts';
import { GannetError, isGannetError } from '../../../core/errors.ts';
import type { Millis } from '../../../core/time.ts';
import { parseDuration, roughDuration } from '../../../core/time.ts';
import { daemonClient } from '../../../daemon/control/control-client.ts';
import { runStatusOf, statusReasons, strategyStatuses } from '../../../daemon/control/run-status.ts';
import type { FeedState, RpcNodeState, SessionState, StartingState } from '../../../daemon/control/session-state.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';
import { originOfKey } from '../../../market/feed.ts';
import { SOL_MINT } from '../../../market/token.ts';
import { SOL_DECIMALS } from '../../../solana/constants.ts';


/** A daemon of another version may report less than this one would. */
type ReportedState = StartingState & Partial<Omit<SessionState, 'strategies'>>
  & { readonly strategies?: readonly Partial<SessionState['strategies'][number]>[] };

export const statusCommand: CommandModule = (program, run) => {
  program.command('status')
    .description('the state of the running daemon: equity, swaps, strategies, feeds')
    .option('--watch [interval]', 'shows it again and again, every 5s unless told, until Ctrl-C; waits for a daemon')
    .action(run(async (context: CommandContext, { watch }: StatusFlags) => {
      if (watch !== undefined) return watchStatus(context, watch === true ? WATCH_EVERY_MS : intervalOf(watch));
      const state = await stateOf(context);
      context.terminal.result(state, () => daemonText(state));
      return EXIT.done;
    }));
};

interface StatusFlags {
  readonly watch?: string | true;
}

const WATCH_EVERY_MS: Millis = 5_000;
const WATCH_LEAST_MS: Millis = 500;

async function stateOf(context: CommandContext): Promise<ReportedState> {
  return await daemonClient(context).get('/api/state') as unknown as ReportedState;
}

function intervalOf(text: string): Millis {
  const interval = parseDuration(text);
  if (interval >= WATCH_LEAST_MS) return interval;
  throw new GannetError('USAGE', `--watch: expected at least ${WATCH_LEAST_MS} ms between two readings, got ${text}`);
}

/** Shows the state until an interrupt. Between two daemons it says that it waits, and shows the next one. */
async function watchStatus(context: CommandContext, everyMs: Millis): Promise<ExitCode> {
  const { terminal, interrupt } = context;
  let waitsFor: string | undefined;
  let hasShown = false;
  while (!interrupt.aborted) {
    try {
      const state = await stateOf(context);
      terminal.result(state, () => framed(daemonText(state)));
      [waitsFor, hasShown] = [undefined, true];
    } catch (error) {
      // A new daemon has a new token: the one that a file named a moment ago is refused.
      const isTransient = isGannetError(error)
        && (error.code === 'CONTROL_UNREACHABLE' || (hasShown && error.code === 'CONTROL_UNAUTHORIZED'));
      if (!isTransient) throw error;
      if (waitsFor !== error.message)
        terminal.result({ phase: 'waiting', reason: error.message }, () => framed(waitingText(error.message)));
      waitsFor = error.message;
    }
    await pause(everyMs, undefined, { signal: interrupt }).catch(() => undefined);
  }
  return EXIT.done;
}

function waitingText(reason: string): string {
  return facts([['state', 'waiting for a daemon'], ['because', printable(reason, 500)]]);
}

/** On a terminal the text replaces the one before, and what does not fit is left out; elsewhere it is a block. */
function framed(text: string): string {
  const heading = `  ${clockTime(systemClock.now())} UTC\n`;
  if (!process.stdout.isTTY) return `${heading}${text}\n`;
  const lines = linesWrapped(`${heading}${text}`, outputColumns()).split('\n');
  return `${REDRAW}${lines.slice(0, Math.max(1, process.stdout.rows - 1)).join('\n')}`;
}

/** Moves to the first line, and removes everything from there on. */
const REDRAW = '\u001b[H\u001b[J';

/** Returns the state of a daemon as text: its status first, then the reasons, then the figures. */
export function daemonText(state: ReportedState): string {
  const { strategies, feeds = [], intents } = state;
  if (strategies === undefined) return facts([['state', state.phase], ['run', state.run_id]]);
  const { standing: status = runStatusOf(state), standing_reasons: reasons = statusReasons(state) } = state;
  const statuses = strategyStatuses(state);
  return [
    facts([
      ...statusFacts(status, reasons),
      ['money', moneyText(state)],
      [
        'run',
        [state.run_id, ...(state.uptime_ms === undefined ? [] : [`up ${roughDuration(state.uptime_ms)}`])].join(', '),
      ],
      ...equityFacts(state),
      ['swaps', formatCounts(intents?.counts ?? {})],
      ['last swap', swapText(state)],
      ['manual', (state.manual ?? []).map(({ name, holds }) => `${name} holds ${printable(holds.join(', '))}`)],
      ['open', openText(intents?.open ?? [], state.at)],
      ['last error', state.last_error
        ? `${clockTime(state.last_error.at)} UTC: ${printable(state.last_error.message, 300)}` : undefined],
      ['widened', wideningText(state)],
      ['decisions', `${state.decisions ?? 0}, denied: ${formatCounts(state.denials ?? {})}`],
      ['caps', (state.caps ?? []).map(({ text }) => printable(text))],
      ['dead man', state.dead_man
        ? `trading stops in ${roughDuration(state.dead_man.left_ms)} unless an operator sends a request` : undefined],
      ['nodes', (state.rpc_nodes ?? []).map(nodeText)],
      ['SOL', solText(state)],
    ]),
    '\n',
    table([
      ['strategy', 'from', 'state', 'swaps', 'today', 'holds', 'restricted'],
      ...strategies.map((strategy, index) => [
        strategy.name ?? '', strategy.use ?? '', statusText(strategy.standing ?? statuses[index]!),
        String(strategy.swaps ?? 0), strategy.equity?.today ?? '', (strategy.holds ?? []).join(', '),
        restrictionText(strategy),
      ]),
    ], { right: [3, 4] }),
    '\n',
    feedTable(feeds),
  ].join('');
}

function moneyText({ mode, real_money: isReal }: ReportedState): string | undefined {
  if (mode === undefined) return undefined;
  if (mode === 'paper') return 'paper: nothing is signed';
  return isReal === undefined ? mode : isReal ? 'REAL MONEY' : 'no real money: the embedded chain';
}

function equityFacts({ equity }: ReportedState): Fact[] {
  if (equity === undefined) return [];
  if (equity === null) return [['equity', 'not known yet: a price is missing, or no strategy has a budget']];
  const { text, drawdown, is_known: isKnown } = equity;
  return [
    ['equity', `${text.value}${isKnown ? '' : ' (the last known value: a price is missing now)'}`],
    ['profit', `${text.today} today, ${text.since_start} since the start of this run`],
    ['drawdown', `${percent(drawdown * 100)} below the highest equity`],
  ];
}

function swapText({ last_swap: swap, at }: ReportedState): string | undefined {
  if (swap === undefined || swap === null) return undefined;
  return `${swap.intent_id} ${swap.state}`
    + `${at === undefined ? '' : ` ${roughDuration(Math.max(0, at - swap.at))} ago`}: ${printable(swap.text)}`;
}

/** The newest order that allows more, because an operator who did not give it must see it. */
function wideningText({ last_widening: order }: ReportedState): string | undefined {
  if (order === undefined || order === null) return undefined;
  const reason = order.reason === null ? '' : ` (${printable(order.reason)})`;
  return `${clockTime(order.at)} UTC: ${printable(order.widens, 300)}, by "${printable(order.action)}" of `
    + `${printable(order.origin)}${reason}`;
}

function solText(
  { wallet, sol_reserve: reserve, deposits_lamports: deposits = '0' }: ReportedState,
): string[] | undefined {
  if (wallet === undefined || reserve === undefined) return undefined;
  return [
    `${sol(wallet[SOL_MINT] ?? '0')} in the wallet, ${sol(reserve)} of it kept for fees and exits`,
    ...(BigInt(deposits) > 0n
      ? [`${sol(deposits)} in deposits of this run’s token accounts (returned when they are closed: "gannet wallet")`]
      : []),
  ];
}

function sol(lamports: string): string {
  return formatDecimal(BigInt(lamports), SOL_DECIMALS);
}

/** Swaps of an unknown outcome are marked, because the operator may have to resolve them. */
function openText(
  open: readonly Partial<SessionState['intents']['open'][number]>[], now: Millis | undefined,
): string[] {
  if (open.length === 0) return ['nothing'];
  return open.map(({ intent_id: id = '', state = '', created_at: createdAt }) => {
    const age = createdAt === undefined || now === undefined ? ''
      : `, ${roughDuration(Math.max(0, now - createdAt))} old`;
    return `${id} (${state}${age})${state === 'unknown' ? ` !! outcome unknown: gannet journal show ${id}` : ''}`;
  });
}

function nodeText({ name, state, calls, latency_ms: latency, slots_behind: behind }: RpcNodeState): string {
  const failed = calls.invalid + calls.unreachable;
  return [
    `${printable(name)} ${state}`, ...(behind === null || behind === 0 ? [] : [`${behind} slots behind`]),
    ...(latency === null ? [] : [`answers in ${roughDuration(latency)}`]),
    `${calls.ok + calls.refused + failed} calls, ${failed} failed`,
  ].join(', ');
}

function feedTable(feeds: readonly FeedState[]): string {
  const rows = feeds.map((feed) => [
    printable(feed.watches), ageText(feed.age_ms), ageText(feed.mean_age_ms),
    originOfKey(feed.feed) === 'webhook' ? '' : roughDuration(feed.every_ms),
    feed.answers === 0 && feed.status === 'healthy' ? 'waiting' : feed.status, String(feed.answers),
    String(feed.failures),
  ]);
  return table([['watched', 'age', 'mean age', 'wanted every', 'state', 'answers', 'failures'], ...rows], {
    right: [1, 2, 3, 5, 6],
  });
}

function ageText(age: Millis | null): string {
  return age === null ? '' : roughDuration(age);
}
