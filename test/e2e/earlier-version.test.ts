import { chmodSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonLine, Playground } from './gannet.ts';
import { createPlayground, document, jsonLines, PROJECT } from './gannet.ts';

const FIXTURE = join(PROJECT, 'test', 'fixtures', 'earlier-state');
const ENDED_RUN = '20261122T230724-3dd0ab';
const KILLED_RUN = '20261122T230736-40fea8';
/** The swap that was submitted when its daemon was killed. */
const OPEN_SWAP = 'dca-pearl-4';

let playground: Playground;
let state: string;

beforeAll(() => {
  playground = createPlayground();
  state = playground.path('state');
  cpSync(join(FIXTURE, 'state'), state, { recursive: true });
  // A repository keeps no modes.
  chmodSync(join(state, 'locks'), 0o700);
  cpSync(join(FIXTURE, 'fixture.yaml'), playground.path('fixture.yaml'));
});
afterAll(() => playground.close());

async function answer(...args: string[]): Promise<JsonLine> {
  const ended = await playground.ask([...args, '--json', '--state-dir', state]);
  expect(ended.code, ended.stdout + ended.stderr).toBe(0);
  return document(ended);
}

describe('a state directory of version 0.1.0 before the reorganisation is read', () => {
  it('lists the swaps of its journal, one of them open', async () => {
    const intents = await answer('journal', 'list') as unknown as readonly JsonLine[];
    expect(intents.map(({ intent_id: id, state: intentState }) => `${String(id)} ${String(intentState)}`))
      .toStrictEqual([
        `${OPEN_SWAP} submitted`, 'dca-sol-4 confirmed', 'dca-pearl-3 confirmed', 'dca-sol-3 confirmed',
        'dca-pearl-2 confirmed', 'dca-sol-2 confirmed', 'dca-pearl-1 confirmed', 'dca-sol-1 confirmed',
      ]);
  });

  it.each([
    [ENDED_RUN, 'fb65ff0e50407c4674f1ce6c65e2b724513ee9a4fb9cfcb530d376aa984d5408', 13, undefined],
    [KILLED_RUN, 'e3077468b257ac9c06dcf901f7b6296dfcfd39741a054981c98e318098ff3b56', 5, 14],
  ])('replays the run %s to its decision hash', async (run, hash, decisions, truncatedAt) => {
    const replay = await answer('replay', run);
    expect(replay).toMatchObject({ match: true, decision_hash: hash, recorded_hash: hash, decisions });
    expect(replay['truncated_at']).toBe(truncatedAt);
  });

  it('verifies its recordings', async () => {
    for (const run of [ENDED_RUN, KILLED_RUN])
      expect(await answer('recording', 'verify', run)).toMatchObject({ valid: true, issues: [] });
  });

  it('takes up its open swap at the next start, and continues its numbers', async () => {
    const ended = await playground.run([
      'run', '--config', 'fixture.yaml', '--state-dir', state, '--duration', '7s', '--json',
    ]);
    expect(ended.code, ended.stdout + ended.stderr).toBe(0);
    const { state: ending } = await answer('journal', 'show', OPEN_SWAP);
    expect(ending, 'the embedded chain is new: it never saw the transaction').toBe('expired');
    const names = jsonLines(ended.stdout).flatMap(({ intent_id: id }) => (typeof id === 'string' ? [id] : []));
    expect(names).toContain('dca-sol-5');
    expect(names).not.toContain('dca-sol-4');
  }, 120_000);
});
