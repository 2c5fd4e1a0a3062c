import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonLine, Playground, Running } from './gannet.ts';
import { createPlayground, daemonOf, document, jsonLines } from './gannet.ts';

const config = (mode: 'live' | 'paper', exits: string): string => `
mode: ${mode}
service: { base_url: embedded }
control: { port: 0 }
backtest: { balances: { USDC: "10000", SOL: "1" }, setting: optimistic }
risk: { max_trade: "200 USDC" }
strategies:
  - use: dca
    budget: "100 USDC"
    params: { buy: SOL, spend: "20 USDC", every: 12h, watch: 1s, purchases: 1 }
    exits: { ${exits} }
`;

const confirmed = (stdout: string, output: string): JsonLine[] => jsonLines(stdout).filter((line) =>
  line.type === 'intent' && line['state'] === 'confirmed' && String(line['output_mint']).startsWith(output));
const SOLD = 'EPjF';
const BOUGHT = 'So11';

let playground: Playground;
beforeAll(() => { playground = createPlayground(); });
afterAll(() => playground.close());

function begin(name: string, text: string): Running {
  const file = playground.write(`${name}.yaml`, text);
  return playground.start(
    ['run', '--json', '--config', file, '--state-dir', playground.path(name), '--duration', '5m']);
}

async function stopped(running: Running): Promise<string> {
  running.signal('SIGINT');
  const { code, stdout, stderr } = await running.ended;
  expect(code, stderr).toBe(0);
  return stdout;
}

async function expectReplays(name: string, stdout: string): Promise<void> {
  const runId = String(jsonLines(stdout)[0]!['run_id']);
  expect(document(await playground.ask(['replay', runId, '--json', '--state-dir', join(playground.dir, name)])))
    .toMatchObject({ match: true });
}

describe('exit rules of the configuration in a run on the embedded service', () => {
  it('a stop loss sells what was bought, live, and the run is replayed to the same hash', async () => {
    // Fees and spread of the purchase make a loss of more than that at once.
    const running = begin('live', config('live', 'watch: ["0.13 SOL"], every: 1s, stop_loss_pct: 0.01'));
    await running.until((stdout) => confirmed(stdout, SOLD).length > 0);
    const stdout = await stopped(running);
    expect(confirmed(stdout, BOUGHT)).toHaveLength(1);
    expect(jsonLines(stdout).filter(({ type }) => type === 'decision').map((line) => JSON.stringify(line)))
      .toContainEqual(expect.stringMatching(/stop loss: 0\.\d+ SOL sell for 1?\d\.\d+ USDC, the stop is at 19\.99/));
    await expectReplays('live', stdout);
  });

  it('a time limit counts from the purchase over a kill, and sells once', async () => {
    const text = config('paper', 'time_limit: 15s');
    const killed = begin('paper', text);
    await killed.until((stdout) => confirmed(stdout, BOUGHT).length > 0);
    process.kill(await daemonOf(killed), 'SIGKILL');
    const first = (await killed.ended).stdout;
    expect(confirmed(first, SOLD)).toEqual([]);
    const boughtAt = Number(confirmed(first, BOUGHT)[0]!['at']);
    const last = begin('paper', text);
    await last.until((stdout) => confirmed(stdout, SOLD).length > 0);
    const second = await stopped(last);
    const [sold, ...more] = confirmed(second, SOLD);
    expect(more).toEqual([]);
    expect(confirmed(second, BOUGHT)).toEqual([]);
    expect(Number(sold!['at']) - boughtAt).toBeGreaterThanOrEqual(14_000);
    await expectReplays('paper', second);
  });
});
