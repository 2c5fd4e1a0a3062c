import { formatDecimal } from '../core/amount.ts';
import { printable } from '../core/text.ts';
import type { Millis } from '../core/time.ts';
import { roughDuration } from '../core/time.ts';
import { formatCounts } from '../daemon/counts-text.ts';
import type { FeedState, SessionState, StartingState } from '../daemon/session-state.ts';
import { SOL_MINT } from '../market/token.ts';
import type { CommandModule } from './command.ts';
import { daemonClient } from './daemon-client.ts';
import { EXIT } from './exit-codes.ts';
import { instant } from './figures.ts';
import { facts, table } from './table.ts';
import { stateText, tradingFacts, wordText } from './trading-table.ts';

const SOL_DECIMALS = 9;

/** A daemon of another version may say less than this one would. */
type ToldState = StartingState & Partial<Omit<SessionState, 'strategies'>> & { readonly strategies?: readonly Partial<SessionState['strategies'][number]>[] };

export const statusCommand: CommandModule = (program, run) => {
  program.command('status')
    .description('what the running daemon is doing')
    .action(run(async (context) => {
      const daemon = daemonClient(context);
      const state = await daemon.get('/api/state') as unknown as ToldState;
      // Somebody reads it: a script that looks by itself is no sign of an operator.
      if (!context.terminal.json && state.presence_wanted === true) await daemon.post('/api/presence', {});
      context.terminal.result(state, () => statusText(state));
      return EXIT.done;
    }));
};

/** Returns the state of a daemon for people. */
export function statusText(state: ToldState): string {
  const { strategies, feeds = [], intents } = state;
  if (strategies === undefined) return facts([['run', `${state.run_id}, ${state.phase}`]]);
  return [
    facts([
      ['run', `${state.run_id}, ${state.mode ?? ''}, ${state.phase}`],
      ...(state.waits_for === undefined || state.waits_for.length === 0 ? [] : [['waits for', [...state.waits_for]] as [string, string[]]]),
      ...tradingFacts(state),
      ['service', accessText(state)],
      ['decisions', `${state.decisions ?? 0}, denied: ${formatCounts(state.denials ?? {})}`],
      ['swaps', formatCounts(intents?.counts ?? {})],
      ['SOL', solText(state)],
      ['under way', openText(intents?.open ?? [], state.at)],
    ]),
    '\n',
    table([
      ['strategy', 'from', 'state', 'may trade', 'swaps', 'today', 'holds', 'said'],
      ...strategies.map((strategy) => [
        strategy.name ?? '', strategy.use ?? '', strategy.running === true ? 'running' : 'stopped', stateText(strategy),
        String(strategy.swaps ?? 0), strategy.equity?.today ?? '', (strategy.holds ?? []).join(', '), wordText(strategy.trading_word),
      ]),
    ], { right: [4, 5] }),
    '\n',
    feedTable(feeds),
  ].join('');
}

function solText({ wallet, sol_reserve: reserve, deposits_lamports: deposits = '0' }: ToldState): string[] | undefined {
  if (wallet === undefined || reserve === undefined) return undefined;
  return [
    `${sol(wallet[SOL_MINT] ?? '0')} in the wallet, ${sol(reserve)} of it kept for fees and exits`,
    ...(BigInt(deposits) > 0n ? [`${sol(deposits)} in deposits of this run’s token accounts (back when they are closed: "gannet wallet")`] : []),
  ];
}

function sol(lamports: string): string {
  return `${formatDecimal(BigInt(lamports), SOL_DECIMALS)} SOL`;
}

/** Unknown ones stand out: they may want a word of the operator's. */
function openText(open: readonly Partial<SessionState['intents']['open'][number]>[], now: Millis | undefined): string[] {
  if (open.length === 0) return ['nothing'];
  return open.map(({ intent_id: id = '', state = '', created_at: createdAt }) => {
    const age = createdAt === undefined || now === undefined ? '' : `, ${roughDuration(Math.max(0, now - createdAt))} old`;
    return `${id} (${state}${age})${state === 'unknown' ? ` !! nobody can say what became of it: gannet journal show ${id}` : ''}`;
  });
}

function accessText({ service_access: access, feeds = [] }: ToldState): string | undefined {
  if (access === undefined) return undefined;
  const isSilent = feeds.length > 0 && feeds.every(({ status }) => status !== 'healthy');
  if (access.state === 'granted') return isSilent ? 'gives no answers now: no feed is healthy, the log says why' : 'lets this run in';
  if (access.state === 'silent') return `does not answer since ${instant(access.since ?? undefined)} UTC, entries wait for it: ${printable(access.reason ?? '')}`;
  return `refuses the API key since ${instant(access.since ?? undefined)} UTC, nothing is traded: ${printable(access.reason ?? '')}`;
}

function feedTable(feeds: readonly FeedState[]): string {
  const rows = feeds.map((feed) => [
    printable(feed.watches), ageText(feed.age_ms), ageText(feed.mean_age_ms), roughDuration(feed.every_ms),
    feed.answers === 0 && feed.status === 'healthy' ? 'waiting' : feed.status, String(feed.answers), String(feed.failures),
  ]);
  return table([['watched', 'age', 'mean age', 'wanted every', 'state', 'answers', 'failures'], ...rows], { right: [1, 2, 3, 5, 6] });
}

function ageText(age: Millis | null): string {
  return age === null ? '' : roughDuration(age);
}
