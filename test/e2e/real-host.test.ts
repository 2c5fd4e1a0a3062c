import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dialectNames } from '../../src/service/wire/dialect.ts';
import type { JsonLine, Playground } from './gannet.ts';
import { createPlayground, document, jsonLines } from './gannet.ts';

// A host as a person with a key of his own meets it: its own words, the answers that the live service was seen to give,
// and the limits of a plan. Everything but signing has to work there.

const KEY = 'a-key-of-my-own-0001';

describe.each(dialectNames().filter((name) => name !== 'neutral'))('a host that speaks %s', (dialect) => {
  let playground: Playground;
  let config: string;
  const environment = { GANNET_API_KEY: KEY };
  const within = (args: readonly string[]): string[] =>
    [...args, '--config', config, '--state-dir', playground.path('state')];

  beforeAll(async () => {
    playground = createPlayground();
    const sandbox =
      playground.start(['sandbox', '--json', '--dialect', dialect, '--profile', 'live', '--plan', 'developer']);
    await sandbox.until((stdout) => stdout.includes('\n'));
    const [line] = jsonLines(sandbox.stdout()) as unknown as readonly {
      readonly base_url: string; readonly rpc_url: string; readonly wallet: { readonly address: string };
    }[];
    config = playground.write('real.yaml', `
mode: paper
service: { base_url: "${line!.base_url}", api_key: "\${GANNET_API_KEY}", dialect: ${dialect}, plan: developer }
wallet: { address: ${line!.wallet.address} }
chain: { rpc_url: "${line!.rpc_url}" }
control: { port: 0 }
strategies:
  - { use: dca, name: dca-sol, budget: "100 USDC", max_age: 15s, params: { buy: SOL, spend: "1 USDC", every: 2s,
      watch: 1s } }
  - { use: book-watch, max_age: 60s, params: { market: SPRINGTIDE-26DEC31, level: 0.9, rearm: 0.8, every: 1s } }
`);
  });

  afterAll(async () => {
    await playground.close();
  });

  it('can be read by every command', async () => {
    const commands: readonly (readonly string[])[] = [
      ['quote', 'SOL', 'USDC', '1.5'], ['order', 'SOL', 'USDC', '1.5', '--exclude-routers', 'rfqz'], ['tokens', 'SOL'],
      ['discover', 'toptraded', '24h'], ['discover', 'recent'], ['discover', 'content', 'cooking'],
      ['events', 'search', 'pearl'], ['order-book', 'SPRINGTIDE-26DEC31'], ['positions'], ['history', '--limit', '30'],
      ['v1', 'quote', 'SOL', 'USDC', '1'], ['v1', 'program-id-to-label'],
    ];
    await Promise.all(commands.map(async (command, index) => {
      const answer = await playground[index === 0 ? 'run' : 'ask'](within([...command, '--json']), { environment });
      expect(answer.code, `${command.join(' ')}\n${answer.stdout}\n${answer.stderr}`).toBe(0);
      expect(answer.stdout + answer.stderr).not.toContain(KEY);
      if (command[0] === 'order') expect(document(answer)['router']).not.toBe('rfqz');
    }));
  });

  it('can be traded on paper, within the plan', async () => {
    const running = playground.start(within(['run', '--json']), { environment });
    await running.until((stdout) => stdout.split('"state":"confirmed"').length > 2);
    running.signal('SIGINT');
    const run = await running.ended;
    expect(run.code, run.stderr).toBe(0);
    const lines: readonly JsonLine[] = jsonLines(run.stdout);
    expect(lines.filter(({ type, state }) => type === 'intent' && state === 'confirmed').length)
      .toBeGreaterThanOrEqual(2);
    expect(run.stdout).not.toContain('SERVICE_RATE_LIMITED');
    expect(run.stdout).not.toContain(KEY);
  });
});
