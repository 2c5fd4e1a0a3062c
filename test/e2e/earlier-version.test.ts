import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededKey } from '../../src/sandbox/genesis.ts';
import type { JsonLine, Playground } from './gannet.ts';
import { createPlayground, document, PROJECT } from './gannet.ts';

const FIXTURE = join(PROJECT, 'test', 'fixtures', 'earlier-state');
const ENDED_RUN = '20261124T014643-38ae09';
const KILLED_RUN = '20261124T014653-75976e';
/** The swap that was submitted when its daemon was killed. */
const OPEN_SWAP = 'dca-pearl-5';

let playground: Playground;
let state: string;
/** The embedded chain has the wallet of its seed. */
const { address, privateKey } = seededKey({ seed: 17, purpose: 'wallet' });
const environment = {
  GANNET_SERVICE: 'embedded', GANNET_NODE: 'embedded', GANNET_WALLET: address, GANNET_WALLET_KEY: privateKey,
  GANNET_API_KEY: 'fixture-key',
};

beforeAll(() => {
  playground = createPlayground();
  state = playground.path('state');
  cpSync(join(FIXTURE, 'state'), state, { recursive: true });
  cpSync(join(FIXTURE, 'fixture.yaml'), playground.path('fixture.yaml'));
});
afterAll(() => playground.close());

async function answer(...args: string[]): Promise<JsonLine> {
  const ended = await playground.ask([...args, '--json', '--state-dir', state]);
  expect(ended.code, ended.stdout + ended.stderr).toBe(0);
  return document(ended);
}

describe('a state directory of version 0.1.0 is read', () => {
  it('with its configuration, which the present version accepts', async () => {
    const ended = await playground.ask(['config', 'check', '--config', 'fixture.yaml', '--json'], { environment });
    expect(ended.code, ended.stdout + ended.stderr).toBe(0);
    expect(document(ended)).toMatchObject({ valid: true, issues: [] });
  });

  it('lists the swaps of its journal, one of them open', async () => {
    const intents = await answer('journal', 'list') as unknown as readonly JsonLine[];
    expect(intents.map(({ intent_id: id, state: intentState }) => `${String(id)} ${String(intentState)}`))
      .toStrictEqual([
        `${OPEN_SWAP} submitted`, 'dca-sol-7 confirmed', 'dca-pearl-4 confirmed', 'dca-sol-6 confirmed',
        'dca-sol-5 confirmed', 'dca-sol-4 confirmed', 'dca-pearl-3 confirmed', 'dca-sol-3 confirmed',
        'dca-pearl-2 confirmed', 'dca-sol-2 confirmed', 'dca-pearl-1 confirmed', 'dca-sol-1 confirmed',
      ]);
  });

  it.each([
    [ENDED_RUN, '1a9c61420eda49aa3db50addfb1e62a04eb659202f516d80f73c0d5f6ecb7623', 13, undefined],
    [KILLED_RUN, 'a255be683355f3cda9eff7aff046c2419f77312f9cf6adb8d091061badd863d9', 13, 43],
  ])('replays the run %s to its decision hash', async (run, hash, decisions, truncatedAt) => {
    const replay = await answer('replay', run);
    expect(replay).toMatchObject({ match: true, decision_hash: hash, recorded_hash: hash, decisions });
    expect(replay['truncated_at']).toBe(truncatedAt);
  });

  it('verifies its recordings', async () => {
    for (const run of [ENDED_RUN, KILLED_RUN])
      expect(await answer('recording', 'verify', run)).toMatchObject({ valid: true, issues: [] });
  });

  it('is not taken over by an embedded chain, where its positions and its open swap do not exist', async () => {
    const ended = await playground.ask(['run', '--config', 'fixture.yaml', '--state-dir', state], { environment });
    expect([ended.code, ended.stderr])
      .toEqual([2, expect.stringMatching(/belongs to another chain.*Name another folder/)]);
    expect(await answer('journal', 'show', OPEN_SWAP)).toMatchObject({ state: 'submitted' });
  });
});
