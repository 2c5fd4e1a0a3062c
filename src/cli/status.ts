import { request } from 'undici';
import { GannetError, messageOf } from '../core/errors.ts';
import { parseJson } from '../core/json.ts';
import { printable } from '../core/text.ts';
import { formatDuration } from '../core/time.ts';
import { readControlFile } from '../daemon/control-api.ts';
import { formatCounts } from '../daemon/counts-text.ts';
import type { SessionState } from '../daemon/session.ts';
import type { CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { table } from './table.ts';

const TIMEOUT_MS = 5_000;

export const statusCommand: CommandModule = (program, run) => {
  program.command('status')
    .description('what the running daemon is doing')
    .action(run(async ({ terminal, options, environment }) => {
      const { url, token } = readControlFile(options.stateDir);
      const state = await askState(url, environment['GANNET_CONTROL_TOKEN'] ?? token);
      terminal.result(state, () => describe(state));
      return EXIT.done;
    }));
};

async function askState(url: string, token: string): Promise<SessionState> {
  const timeouts = { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS };
  const answer = await request(new URL('/api/state', url), { headers: { authorization: `Bearer ${token}` }, ...timeouts })
    .catch((cause: unknown) => {
      throw new GannetError('CONTROL_UNREACHABLE', `the daemon at ${url} does not answer: ${messageOf(cause)}; is it still running?`, { cause });
    });
  const text = await answer.body.text();
  if (answer.statusCode === 401) throw new GannetError('CONTROL_UNAUTHORIZED', `the daemon at ${url} refused the token`);
  if (answer.statusCode !== 200) throw new GannetError('CONTROL_UNREACHABLE', `the daemon at ${url} answered ${answer.statusCode}: ${printable(text)}`);
  return parseJson(text) as unknown as SessionState;
}

function describe(state: SessionState): string {
  const strategies = state.strategies as readonly { name: string; use: string; running: boolean; swaps: number }[];
  const feeds = state.feeds as readonly { watches: string; status: string; events: number; age_ms: number }[];
  const open = state.intents.open as readonly { intent_id: string; state: string; route: string }[];
  return [
    `  run        ${state.run_id}, ${state.mode}, ${state.phase}, trading is ${state.trading}\n`,
    `  decisions  ${state.decisions}, denied: ${formatCounts(state.denials)}\n`,
    `  swaps      ${formatCounts(state.intents.counts)}\n`,
    `  under way  ${open.length === 0 ? 'nothing' : open.map((intent) => `${intent.intent_id} (${intent.state})`).join(', ')}\n\n`,
    table([['strategy', 'from', 'state', 'swaps'], ...strategies.map(({ name, use, running, swaps }) => [name, use, running ? 'running' : 'stopped', String(swaps)])], { right: [3] }),
    '\n',
    table([['watched', 'state', 'events', 'age'], ...feeds.map(({ watches, status, events, age_ms: age }) => [printable(watches), status, String(events), formatDuration(age)])], { right: [2, 3] }),
  ].join('');
}
