import type { CommandModule } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { clockTime, percent } from '../../output/figures.ts';
import { restrictionText, statusFacts, statusText } from '../../output/status-text.ts';
import type { Fact } from '../../output/table.ts';
import { facts, table } from '../../output/table.ts';
import { formatDecimal } from '../../../core/amount.ts';
import { formatCounts, printable } from '../../../core/text.ts';
import type { Millis } from '../../../core/time.ts';
import { roughDuration } from '../../../core/time.ts';
import { daemonClient } from '../../../daemon/control/control-client.ts';
import { runStatusOf, statusReasons, strategyStatuses } from '../../../daemon/control/run-status.ts';
import type { FeedState, RpcNodeState, SessionState, StartingState } from '../../../daemon/control/session-state.ts';
import { originOfKey } from '../../../market/feed.ts';
import { SOL_MINT } from '../../../market/token.ts';
import { SOL_DECIMALS } from '../../../solana/constants.ts';


/** A daemon of another version may report less than this one would. */
type ReportedState = StartingState & Partial<Omit<SessionState, 'strategies'>>
  & { readonly strategies?: readonly Partial<SessionState['strategies'][number]>[] };

export const statusCommand: CommandModule = (program, run) => {
  program.command('status')
    .description('the state of the running daemon: equity, swaps, strategies, feeds')
    .action(run(async (context) => {
      const state = await daemonClient(context).get('/api/state') as unknown as ReportedState;
      context.terminal.result(state, () => daemonText(state));
      return EXIT.done;
    }));
};

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
