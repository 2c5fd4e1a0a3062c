import { formatDecimal } from '../core/amount.ts';
import { printable } from '../core/text.ts';
import type { Millis } from '../core/time.ts';
import { roughDuration } from '../core/time.ts';
import { formatCounts } from '../daemon/counts-text.ts';
import type { FeedState, SessionState, StartingState } from '../daemon/session-state.ts';
import { standingOf, standingReasons, strategyStandings } from '../daemon/standing.ts';
import { SOL_MINT } from '../market/token.ts';
import type { CommandModule } from './command.ts';
import { daemonClient } from './daemon-client.ts';
import { EXIT } from './exit-codes.ts';
import { clockTime, percent } from './figures.ts';
import type { Fact } from './table.ts';
import { facts, table } from './table.ts';
import { ownWordText, standingFacts, standingText } from './trading-table.ts';

const SOL_DECIMALS = 9;

/** A daemon of another version may say less than this one would. */
type ToldState = StartingState & Partial<Omit<SessionState, 'strategies'>> & { readonly strategies?: readonly Partial<SessionState['strategies'][number]>[] };

export const statusCommand: CommandModule = (program, run) => {
  program.command('status')
    .description('what the running daemon is doing')
    .action(run(async (context) => {
      const state = await daemonClient(context).get('/api/state') as unknown as ToldState;
      context.terminal.result(state, () => statusText(state));
      return EXIT.done;
    }));
};

/** Returns the state of a daemon for people: one word for the whole first, then why, then the figures. */
export function statusText(state: ToldState): string {
  const { strategies, feeds = [], intents } = state;
  if (strategies === undefined) return facts([['state', state.phase], ['run', state.run_id]]);
  const { standing = standingOf(state), standing_reasons: reasons = standingReasons(state) } = state;
  const standings = strategyStandings(state);
  return [
    facts([
      ...standingFacts(standing, reasons),
      ['money', moneyText(state)],
      ['run', [state.run_id, ...(state.uptime_ms === undefined ? [] : [`up ${roughDuration(state.uptime_ms)}`])].join(', ')],
      ...equityFacts(state),
      ['swaps', formatCounts(intents?.counts ?? {})],
      ['last swap', swapText(state)],
      ['under way', openText(intents?.open ?? [], state.at)],
      ['last error', state.last_error ? `${clockTime(state.last_error.at)} UTC: ${printable(state.last_error.message, 300)}` : undefined],
      ['decisions', `${state.decisions ?? 0}, denied: ${formatCounts(state.denials ?? {})}`],
      ['caps', (state.caps ?? []).map(({ text }) => printable(text))],
      ['dead man', state.dead_man ? `trading stops in ${roughDuration(state.dead_man.left_ms)} unless an operator asks for something` : undefined],
      ['SOL', solText(state)],
    ]),
    '\n',
    table([
      ['strategy', 'from', 'state', 'swaps', 'today', 'holds', 'said'],
      ...strategies.map((strategy, index) => [
        strategy.name ?? '', strategy.use ?? '', standingText(strategy.standing ?? standings[index]!),
        String(strategy.swaps ?? 0), strategy.equity?.today ?? '', (strategy.holds ?? []).join(', '), ownWordText(strategy),
      ]),
    ], { right: [3, 4] }),
    '\n',
    feedTable(feeds),
  ].join('');
}

function moneyText({ mode, real_money: isReal }: ToldState): string | undefined {
  if (mode === undefined) return undefined;
  if (mode === 'paper') return 'paper: nothing is signed';
  return isReal === undefined ? mode : isReal ? 'REAL MONEY' : 'of the embedded chain: none of it is real';
}

function equityFacts({ equity }: ToldState): Fact[] {
  if (equity === undefined) return [];
  if (equity === null) return [['equity', 'not known yet: a price is missing, or no strategy has a budget']];
  const { text, drawdown, is_known: isKnown } = equity;
  return [
    ['equity', `${text.value}${isKnown ? '' : ' (the last known value: a price is missing now)'}`],
    ['profit', `${text.today} today, ${text.since_start} since the start of this run`],
    ['drawdown', `${percent(drawdown * 100)} under the highest equity`],
  ];
}

function swapText({ last_swap: swap, at }: ToldState): string | undefined {
  if (swap === undefined || swap === null) return undefined;
  return `${swap.intent_id} ${swap.state}${at === undefined ? '' : ` ${roughDuration(Math.max(0, at - swap.at))} ago`}: ${printable(swap.text)}`;
}

function solText({ wallet, sol_reserve: reserve, deposits_lamports: deposits = '0' }: ToldState): string[] | undefined {
  if (wallet === undefined || reserve === undefined) return undefined;
  return [
    `${sol(wallet[SOL_MINT] ?? '0')} in the wallet, ${sol(reserve)} of it kept for fees and exits`,
    ...(BigInt(deposits) > 0n ? [`${sol(deposits)} in deposits of this run’s token accounts (back when they are closed: "gannet wallet")`] : []),
  ];
}

function sol(lamports: string): string {
  return formatDecimal(BigInt(lamports), SOL_DECIMALS);
}

/** Unknown ones stand out: they may want a word of the operator's. */
function openText(open: readonly Partial<SessionState['intents']['open'][number]>[], now: Millis | undefined): string[] {
  if (open.length === 0) return ['nothing'];
  return open.map(({ intent_id: id = '', state = '', created_at: createdAt }) => {
    const age = createdAt === undefined || now === undefined ? '' : `, ${roughDuration(Math.max(0, now - createdAt))} old`;
    return `${id} (${state}${age})${state === 'unknown' ? ` !! nobody can say what became of it: gannet journal show ${id}` : ''}`;
  });
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
