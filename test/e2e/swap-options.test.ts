import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonLine, Playground } from './gannet.ts';
import { createPlayground, jsonLines } from './gannet.ts';

// Each strategy of one run has swap options of its own, and the signer's process reads what they need from the file.

const FRIEND = Keypair.generate().publicKey.toBase58();
const REFERRER = Keypair.generate().publicKey.toBase58();

/** By the strategy's name: its options, and the router that must have filled its swap. */
const STRATEGIES: Readonly<Record<string, readonly [swap: string, router: RegExp]>> = {
  routers: ['{ route: order, exclude_routers: [iris, routerA, rfqz] }', /^routerB$/],
  fees: ['{ route: order, priority_fee: "0.0001 SOL", tip: "0.00002 SOL", broadcast_fee: exact_fee }', /^(?!build)/],
  receiver: [`{ route: order, receiver: ${FRIEND} }`, /^(?!build|rfqz)/],
  composed: ['{ route: build, include_exchanges: [Tidepool], max_accounts: 40, blockhash_slots: 120 }', /^build$/],
  quick: [`{ route: build, fast: true, wrap_sol: true }`, /^build$/],
};

let playground: Playground;
beforeAll(() => { playground = createPlayground(); });
afterAll(() => playground.close());

/** Returns the lines of landed swaps, up to the last whole line. */
function confirmed(stdout: string): string[] {
  return jsonLines(stdout)
    .filter(({ type, state }) => type === 'intent' && state === 'confirmed').map((line) => JSON.stringify(line));
}

it('a run lands a swap of each strategy with its own options', async () => {
  const config = playground.write('options.yaml', `
mode: live
control: { port: 0 }
tokens: { PEARL: Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij }
risk: { max_open_intents: 10, max_swaps: { per_minute: 600, per_hour: 6000, per_day: 60000 }, protections: [],
  token_safety: { trusted: [SOL, USDC, PEARL] } }
signer:
  destinations: [${FRIEND}]
  max_tip: "0.00002 SOL"
  fee_accounts: { ${REFERRER}: 60 }
strategies:
${Object.entries(STRATEGIES).map(([name, [swap]]) => `
  - use: dca
    name: ${name}
    budget: "100 USDC"
    params: { buy: PEARL, spend: "20 USDC", every: 2s, watch: 1s, purchases: 1 }
    swap: ${swap}`).join('\n')}
`);
  const running = playground.start(['run', '--json', '--config', config, '--state-dir', playground.path('state')]);
  const names = Object.keys(STRATEGIES);
  await running.until((stdout) => names.every((name) => confirmed(stdout).some((line) => line.includes(`"${name}-`))));
  running.signal('SIGINT');
  const { code, stdout, stderr } = await running.ended;
  expect(code, stderr).toBe(0);
  for (const [name, [, router]] of Object.entries(STRATEGIES)) {
    const line = JSON.parse(confirmed(stdout).find((text) => text.includes(`"${name}-`))!) as JsonLine;
    expect(line['router'], JSON.stringify(line)).toMatch(router);
    expect(line['receiver']).toBe(name === 'receiver' ? FRIEND : undefined);
  }
  // Routes and receivers stand in the run's own record: a replay decides the same.
  const runId = String(jsonLines(stdout)[0]!['run_id']);
  const replay = await playground.ask(['replay', runId, '--state-dir', playground.path('state')]);
  expect(replay.code, replay.stdout + replay.stderr).toBe(0);
});
