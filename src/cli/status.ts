import { request } from 'undici';
import { GannetError, messageOf } from '../core/errors.ts';
import { parseJson } from '../core/json.ts';
import { printable } from '../core/text.ts';
import type { Millis } from '../core/time.ts';
import { roughDuration } from '../core/time.ts';
import { readControlFile } from '../daemon/control-api.ts';
import { formatCounts } from '../daemon/counts-text.ts';
import type { FeedState, SessionState, StartingState } from '../daemon/session-state.ts';
import type { CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { instant } from './figures.ts';
import { facts, table } from './table.ts';

const TIMEOUT_MS = 5_000;

export const statusCommand: CommandModule = (program, run) => {
  program.command('status')
    .description('what the running daemon is doing')
    .action(run(async ({ terminal, options, environment }) => {
      const { url, token } = readControlFile(options.stateDir);
      const state = await askState(url, environment['GANNET_CONTROL_TOKEN'] ?? token);
      terminal.result(state, () => statusText(state));
      return EXIT.done;
    }));
};

async function askState(url: string, token: string): Promise<SessionState | StartingState> {
  const timeouts = { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS };
  const answer = await request(new URL('/api/state', url), { headers: { authorization: `Bearer ${token}` }, ...timeouts })
    .catch((cause: unknown) => {
      throw new GannetError('CONTROL_UNREACHABLE', `the daemon at ${url} does not answer: ${messageOf(cause)}; is it still running?`, { cause });
    });
  const text = await answer.body.text();
  if (answer.statusCode === 401) throw new GannetError('CONTROL_UNAUTHORIZED', `the daemon at ${url} refused the token`);
  if (answer.statusCode !== 200) throw new GannetError('CONTROL_UNREACHABLE', `the daemon at ${url} answered ${answer.statusCode}: ${printable(text)}`);
  return parseJson(text) as unknown as SessionState | StartingState;
}

/** Returns the state of a daemon for people. */
export function statusText(state: SessionState | StartingState): string {
  if (!('strategies' in state)) return facts([['run', `${state.run_id}, ${state.phase}`]]);
  const strategies = state.strategies as readonly { name: string; use: string; running: boolean; swaps: number }[];
  const open = state.intents.open as readonly { intent_id: string; state: string; route: string }[];
  return [
    facts([
      ['run', `${state.run_id}, ${state.mode}, ${state.phase}, trading is ${state.trading}`],
      ['service', accessText(state)],
      ['decisions', `${state.decisions}, denied: ${formatCounts(state.denials)}`],
      ['swaps', formatCounts(state.intents.counts)],
      ['under way', open.length === 0 ? 'nothing' : open.map((intent) => `${intent.intent_id} (${intent.state})`).join(', ')],
    ]),
    '\n',
    table([['strategy', 'from', 'state', 'swaps'], ...strategies.map(({ name, use, running, swaps }) => [name, use, running ? 'running' : 'stopped', String(swaps)])], { right: [3] }),
    '\n',
    feedTable(state.feeds),
  ].join('');
}

function accessText({ service_access: { state, reason, since }, feeds }: SessionState): string {
  const isSilent = feeds.length > 0 && feeds.every(({ status }) => status !== 'healthy');
  if (state === 'granted') return isSilent ? 'gives no answers now: no feed is healthy, the log says why' : 'lets this run in';
  return `refuses the API key since ${instant(since ?? undefined)} UTC, nothing is traded: ${printable(reason ?? '')}`;
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
