import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ended, JsonLine, Playground } from './gannet.ts';
import { childrenOf, configText, createPlayground, daemonOf, document, isRunning, jsonLines } from './gannet.ts';

let playground: Playground;
let state: string;
let config: string;
let killed: JsonLine[];
/** The processes that the daemon had started: its sandbox, and that of its strategies. */
let started: number[];
let replayed: Ended;
let restarted: JsonLine[];
/** What the webhook got, over both runs. */
const messages: JsonLine[] = [];
const receiver = createServer((request, response) => {
  void text(request).then((body) => {
    messages.push(JSON.parse(body) as JsonLine);
    response.writeHead(204).end();
  });
});

const countConfirmed = (stdout: string): number => stdout.split('"state":"confirmed"').length - 1;

beforeAll(async () => {
  playground = createPlayground();
  state = playground.path('state');
  // Swaps close together: whenever the kill comes, something has just been decided.
  config = playground.write('gannet.yaml', configText('gannet.yaml', [
    ['every: 10s, route: order', 'every: 2s, route: order'], ['offset: 5s', 'offset: 1s'], ['every: 10s', 'every: 2s'],
  ]) + `\nnotifications: [{ kind: webhook, level: info, url: "${await addressOf(receiver)}" }]\n`);
  const daemon = playground.start(['run', '--json', '--config', config, '--state-dir', state]);
  await daemon.until((stdout) => stdout.includes('"type":"started"'));
  const trading = await daemonOf(daemon);
  await daemon.until((stdout) => countConfirmed(stdout) >= 4);
  started = childrenOf(trading);
  process.kill(trading, 'SIGKILL');
  const { stdout } = await daemon.ended;
  killed = jsonLines(stdout);
  replayed = await playground.run(['replay', String(killed[0]!['run_id']), '--json', '--state-dir', state]);
}, 180_000);
afterAll(async () => {
  receiver.close();
  await playground.close();
});

async function addressOf(server: Server): Promise<string> {
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** The names of all intents that were decided on. */
function intentsOf(list: readonly JsonLine[]): Set<unknown> {
  return new Set(list.filter(({ type }) => type === 'decision').map((line) => line['intent_id']).filter((id) =>
    id !== undefined));
}

describe('a daemon that was killed during a run', () => {
  it('ends together with its embedded chain and the process of its strategies', async () => {
    expect(started).toHaveLength(2);
    await expect.poll(() => started.filter(isRunning)).toStrictEqual([]);
  });

  it('can be replayed as far as its files go: the replay names that point, and matches', () => {
    expect(replayed.code, replayed.stderr + replayed.stdout).toBe(0);
    const replay = document(replayed);
    expect(replay).toMatchObject({ match: true, truncated_at: expect.any(Number), first_divergence: null });
    expect(Number(replay['truncated_at'])).toBeGreaterThan(0);
    expect(replay['decision_hash']).toBe(replay['recorded_hash']);
    expect(Number(replay['decisions'])).toBeGreaterThan(0);
  });

  it('names the point in words', async () => {
    const answer = await playground.ask(['replay', String(killed[0]!['run_id']), '--state-dir', state]);
    expect(answer.stdout).toContain(`up to seq ${String(document(replayed)['truncated_at'])}`);
  });

  it('starts again on the same state directory, uses no intent id twice and trades on', async () => {
    const again = playground.start(['run', '--json', '--config', config, '--state-dir', state, '--duration', '5m']);
    await again.until((stdout) => countConfirmed(stdout) >= 2);
    again.signal('SIGTERM');
    const ended = await again.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const lines = restarted = jsonLines(ended.stdout);
    const before = intentsOf(killed);
    expect([...intentsOf(lines)].filter((id) => before.has(id))).toStrictEqual([]);
    const second = await playground.ask(['replay', String(lines[0]!['run_id']), '--json', '--state-dir', state]);
    expect(document(second)).toMatchObject({ match: true, decision_hash: lines.at(-1)!['decision_hash'] });
  });

  it('issue 13.20: reports the new embedded chain in one line, and denies nothing as a repetition', () => {
    const notices = restarted.filter(({ type, state: word }) => type === 'state' && word === 'notice');
    expect(notices)
      .toMatchObject([{ message: expect.stringMatching(/^the embedded chain is new: it has new balances/) }]);
    expect(killed.filter(({ type, state: word }) => type === 'state' && word === 'notice')).toEqual([]);
    expect(restarted.filter(({ type, code }) => type === 'denial' && code === 'KEY_REPEATED')).toEqual([]);
  });

  it('issue 19: tells a webhook of the start, the kill and the end, each once', async () => {
    const titles = messages.map(({ title }) => String(title));
    const runs = [killed, restarted].map(([first]) => first!['run_id']);
    expect(titles.filter((title) => title.startsWith('started '))).toHaveLength(2);
    expect(titles.filter((title) => title.startsWith(`the last run (${String(runs[0])}) ended without a word`)))
      .toHaveLength(1);
    expect(titles.at(-1)).toBe('the run has ended: stopped by the operator');
    const ids = messages.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const command = ['--json', '--config', config, '--state-dir', state];
    const list = await playground.ask(['notify', 'list', ...command]);
    expect(JSON.parse(list.stdout)).toMatchObject([{ name: 'webhook', waiting: 0, sent: messages.length }]);
    const good = await playground.ask(['notify', 'test', ...command]);
    expect([good.code, JSON.parse(good.stdout)]).toMatchObject([0, [{ name: 'webhook', ok: true }]]);
    expect(messages.at(-1)).toMatchObject({ title: expect.stringContaining('this is a test') });
  });
});
