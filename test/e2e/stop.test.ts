import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ended, JsonLine, Playground, Running } from './gannet.ts';
import { createPlayground, document } from './gannet.ts';

/** Two daemons whose configuration names no port. */
const CONFIG = `mode: paper
service: { base_url: embedded }
chain: { rpc_url: embedded }
strategies: [{ use: dca, name: one, budget: "300 USDC", params: { buy: SOL, spend: "1 USDC", every: 1h, watch: 2s } }]
`;

let playground: Playground;
let first: Running;
let second: Running;
const started: JsonLine[] = [];
const gannet = (state: string, ...args: readonly string[]): Promise<Ended> =>
  playground.ask([...args, '--state-dir', playground.path(state)]);

beforeAll(async () => {
  playground = createPlayground();
  const config = playground.write('gannet.yaml', CONFIG);
  const start = async (state: string): Promise<Running> => {
    const daemon = playground.start(['run', '--json', '--config', config, '--state-dir', playground.path(state)]);
    await daemon.until((stdout) => stdout.includes('\n'));
    started.push(daemon.lines()[0]!);
    return daemon;
  };
  first = await start('first');
  second = await start('second');
});
afterAll(async () => { await playground.close(); });

describe('issue 13.29: a control port in use', () => {
  it('is replaced by the next free one, and commands find each daemon by its state directory', async () => {
    const [one, two] = started as [JsonLine, JsonLine];
    expect(two['control_url']).not.toBe(one['control_url']);
    expect(two['control_port_taken']).toBe(7070);
    expect(Number(new URL(String(two['control_url'])).port)).toBeGreaterThan(7070);
    const states = await Promise.all([gannet('first', 'status', '--json'), gannet('second', 'status', '--json')]);
    expect(states.map((state) => document(state)['run_id'])).toEqual([one['run_id'], two['run_id']]);
  });
});

describe('issue 13.22: gannet stop', () => {
  it('waits until the daemon of its state directory has ended, without effect on others', async () => {
    const stopped = await gannet('first', 'stop', '--json');
    expect(stopped.code, stopped.stderr).toBe(0);
    expect(document(stopped)).toMatchObject({
      run_id: started[0]!['run_id'], stopped: true, open: expect.any(Array), waited_ms: expect.any(Number),
    });
    expect(existsSync(playground.path('first', 'control.json'))).toBe(false);
    expect((await first.ended).code).toBe(0);
    expect(first.lines().at(-1)).toMatchObject({ type: 'summary', run_id: started[0]!['run_id'] });
    expect(document(await gannet('second', 'status', '--json')))
      .toMatchObject({ run_id: started[1]!['run_id'], phase: 'trading' });
  });

  it('reports that none runs, also after a crash where another daemon has the port', async () => {
    const none = await gannet('first', 'stop', '--json');
    expect(none.code).toBe(1);
    expect(document(none)).toMatchObject({ error: { code: 'CONTROL_UNREACHABLE', message: expect.stringMatching(
      /no daemon runs with the state directory .*first: there is nothing to stop$/,
    ) as string } });
    // As a daemon leaves it that was killed; both share the operator's token.
    const { token, ...control } =
      JSON.parse(readFileSync(playground.path('second', 'control.json'), 'utf8')) as { readonly token: string };
    writeFileSync(playground.path('first', 'control.json'), JSON.stringify({
      ...control, token, run_id: String(started[0]!['run_id']),
    }), { mode: 0o600 });
    for (const order of ['stop', 'halt']) {
      const answer = await gannet('first', order, '--json');
      expect([answer.code, document(answer)], order).toMatchObject([
        1, { error: { code: 'CONTROL_UNREACHABLE', message: expect.stringContaining('no daemon runs') as string } },
      ]);
    }
    expect(document(await gannet('second', 'status', '--json'))).toMatchObject({ phase: 'trading', trading: 'active' });
  });

  it('prints what it waits for, and how the daemon ended', async () => {
    const stopped = await gannet('second', 'stop');
    expect(stopped.stderr)
      .toMatch(/^stopping run \S+ \(process \d+\); (no swap is open|it completes \S+ first) …\n$/);
    expect(stopped.stdout).toMatch(/^ {2}run \S+ has ended \(process \d+\), after \d/);
    expect((await second.ended).code).toBe(0);
  });
});
