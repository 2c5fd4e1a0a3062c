import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withRecordedRun } from '../../src/backtest/models/recorded-model.ts';
import { recordedRun } from '../../src/backtest/models/recorded-run.ts';
import { replayRun } from '../../src/backtest/replay.ts';
import { createSimulatedExecutor } from '../../src/backtest/simulated-executor.ts';
import { openReplayInput } from '../../src/daemon/files/replay-input.ts';
import { recordingOfRun } from '../../src/daemon/files/find-run.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import type { Recording } from '../../src/recording/reader.ts';
import { openRecording } from '../../src/recording/reader.ts';
import { MARKET_KINDS } from '../../src/recording/format.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import type { Fill, Intent } from '../../src/trading/intent.ts';
import { MarketCache } from '../../src/trading/market-cache.ts';
import type { SimulationModel } from '../../src/trading/simulation-model.ts';
import { BASE_MODEL } from '../../src/trading/simulation-model.ts';
import type { Playground, Running } from '../e2e/gannet.ts';
import { createPlayground, document, jsonLines } from '../e2e/gannet.ts';

/** A calm market: it moves every 20 s, while slots and the swaps of others go on. */
const CALM = 0.02;
const LIVE_FILLS = 36;
/** The swaps: two sizes of two pools, in both directions. */
const KINDS = 8;
const PAPER_FILLS = 24;

let playground: Playground;
let sandbox: Sandbox;
const runs: Record<'live' | 'paper', { runDir: string; recording: Recording }> = {} as typeof runs;

const mintOf = (symbol: string): string => sandbox.addresses.tokens.find((token) => token.symbol === symbol)!.mint;
const confirmed = (stdout: string): number => stdout.split('"state":"confirmed"').length - 1;
/** The number of strategies with a fill: on a slow machine one swap often blocks another that spends the same token. */
const filledStrategies = (stdout: string): number => new Set(
  stdout.split('\n').filter((line) => line.includes('"state":"confirmed"'))
    .map((line) => /"intent_id":"(?<name>[^"]+)-\d+"/.exec(line)?.groups?.['name']),
).size;

/** The same strategies, file and parameters, in every mode: two sizes of two pools, in and out. */
function configText(mode: string, backtest: string): string {
  const { base_url: baseUrl, rpc_url: rpcUrl, wallet } = sandbox.addresses;
  // A swap that is composed locally and sent through the RPC takes half a second, and blocks others that spend the same
  // token.
  const trades = [['USDC', 'SOL', '20', 50, 'order'], ['USDC', 'SOL', '100', 500, 'build'],
    ['SOL', 'USDC', '0.1', 175, 'order'], ['SOL', 'USDC', '0.5', 425, 'build'],
      ['USDC', 'ANCHR', '20', 200, 'order'], ['USDC', 'ANCHR', '100', 350, 'order'],
      ['ANCHR', 'USDC', '20', 325, 'order'], ['ANCHR', 'USDC', '100', 575, 'build']] as const;
  // It is never bought, since it exceeds max_trade: a rung above all swaps, as a recording should have one.
  const watched = [
    ['USDC', 'SOL', '1000', 0, 'order'], ['SOL', 'USDC', '5', 0, 'order'], ['USDC', 'ANCHR', '1000', 0, 'order'],
    ['ANCHR', 'USDC', '1000', 0, 'order'],
  ] as const;
  const entries = [...trades, ...watched].map(([spend, buy, size, offset, route]) => `  - use: dca
    name: ${`${spend}-${buy}-${size.replace('.', '')}`.toLowerCase()}
    budget: "${Number(size) * 20} ${spend}"
    params:
      { buy: ${buy}, spend: "${size} ${spend}", watch: 500ms, route: ${route}, ${
    offset === 0 ? 'every: 1d' : `every: 1s, offset: ${offset}ms`} }
`);
  return `mode: ${mode}
service: { base_url: "${baseUrl}", api_key: "\${GANNET_API_KEY}", plan: pro }
chain: { rpc_url: "${rpcUrl}" }
wallet: { key_from: env:GANNET_WALLET_KEY, address: ${wallet.address} }
tokens: { SOL: ${mintOf('SOL')}, USDC: ${mintOf('USDC')}, ANCHR: ${mintOf('ANCHR')} }
backtest: { balances: { USDC: "10000", SOL: "100", ANCHR: "5000" }${backtest} }
risk:
  max_trade: "200 USDC"
  max_open_intents: 8
  max_swaps: { per_minute: 600, per_hour: 6000, per_day: 6000 }
  protections: [{ kind: daily_loss, limit: "500 USDC", action: halt }]
  token_safety: { trusted: [SOL, USDC, ANCHR] }
signer:
  caps:
    USDC: { per_trade: "200", per_hour: "9000", per_day: "9000" }
    SOL: { per_trade: "1", per_hour: "90", per_day: "90" }
    ANCHR: { per_trade: "200", per_hour: "9000", per_day: "9000" }
control: { port: 0 }
strategies:
${entries.join('')}`;
}

async function ended(running: Running, mode: 'live' | 'paper'): Promise<void> {
  running.signal('SIGINT');
  const { code, stderr } = await running.ended;
  expect(code, stderr).toBe(0);
  const state = playground.path(mode);
  const runDir = join(state, 'runs', readdirSync(join(state, 'runs'))[0]!);
  runs[mode] = { runDir, recording: openRecording(recordingOfRun(runDir)) };
}

beforeAll(async () => {
  playground = createPlayground();
  sandbox = await startSandbox({ seed: 5, speed: CALM });
  const { statusCode } = await request(`${sandbox.addresses.base_url}/sandbox/fund`, {
    method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ owner: sandbox.addresses.wallet.address, mint: mintOf('ANCHR'), amount: '5000000000' }),
  });
  expect(statusCode).toBe(200);
  const environment = { GANNET_API_KEY: 'a-key-of-my-own', GANNET_WALLET_KEY: sandbox.addresses.wallet.private_key };
  const [live, paper] = (['live', 'paper'] as const).map((mode) => playground.start(
    ['run', '--live', '--json', '--config', playground.write(
      `${mode}.yaml`, configText(mode, ', latency: { land: 200ms }, landing: { drop_probability: 0 }'),
    ), '--state-dir', playground.path(mode)], { environment },
  ));
  await Promise.all([
    live!.until((stdout) => confirmed(stdout) >= LIVE_FILLS && filledStrategies(stdout) >= KINDS),
    paper!.until((stdout) => confirmed(stdout) >= PAPER_FILLS),
  ]);
  await Promise.all([ended(live!, 'live'), ended(paper!, 'paper')]);
}, 180_000);
afterAll(async () => {
  await playground.close();
  await sandbox.close();
});

interface Compared {
  readonly intent: Intent;
  /** The simulated output less the real one, relative. */
  readonly errorBps: number;
}

/** The latency of a configuration without one. */
const DEFAULT = { ...BASE_MODEL, latency: {
  ...BASE_MODEL.latency, quote: { recordedOr: BASE_MODEL.latency.quote }, land: { recordedOr: BASE_MODEL.latency.land },
} };

/** Executes the intents of a run in the simulation, at the instants of their decisions, over the market of the run. */
async function compare(
  { runDir, recording }: (typeof runs)['live'], model: Partial<SimulationModel> = {},
): Promise<{ readonly compared: readonly Compared[]; readonly others: Readonly<Record<string, string>> }> {
  const run = await openReplayInput(runDir);
  const intents: { at: number; intent: Intent }[] = [];
  const { match } = replayRun({
    ...run.replay(),
    onRuling: ({ effect }, { at }) => { if (effect?.kind === 'execute') intents.push({ at, intent: effect.intent }); },
  });
  expect(match).toBe(true);
  const real = new Map<string, Fill>();
  const outcomes = recording.cursor({ kinds: ['outcome'] });
  while (outcomes.next()) if (outcomes.input.kind === 'outcome' && outcomes.input.fill !== undefined)
    real.set(outcomes.input.intentId, outcomes.input.fill);

  const clock = new VirtualClock(recording.firstAt!);
  const market = new MarketCache();
  const executor = createSimulatedExecutor({
    clock, market, seed: 7, tokenAccounts: run.manifest.config.tokens.map(({ mint }) => mint),
    model: { ...withRecordedRun(DEFAULT, recording, runDir), ...model },
  });
  const compared: Compared[] = [];
  const others: Record<string, string> = {};
  const execute = ({ at, intent }: (typeof intents)[number]): void => {
    clock.advanceTo(at);
    const fill = real.get(intent.id);
    executor.execute(intent).subscribe(({ state, code, fill: simulated }) => {
      if (simulated !== undefined && fill !== undefined)
        compared.push({ intent, errorBps: (Number(simulated.amountOut) / Number(fill.amountOut) - 1) * 10_000 });
      else if (code !== undefined) others[intent.id] = `${state} ${code}`;
    });
  };
  const rows = recording.cursor({ kinds: MARKET_KINDS });
  while (rows.next()) {
    while (intents[0] !== undefined && intents[0].at < rows.at) execute(intents.shift()!);
    clock.advanceTo(rows.at);
    if (rows.input.kind !== 'outcome' && rows.input.kind !== 'command') market.observe(rows.input);
  }
  intents.forEach(execute);
  clock.advanceTo(clock.now() + 200_000);
  return { compared, others };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The error of a simulation in basis points of the output. */
function distribution(compared: readonly Compared[]): {
  readonly count: number; readonly bias: number; readonly mean: number; readonly p95: number; readonly worst: number;
} {
  const sizes = compared.map(({ errorBps }) => Math.abs(errorBps)).toSorted((a, b) => a - b);
  return {
    count: sizes.length, bias: mean(compared.map(({ errorBps }) => errorBps)), mean: mean(sizes),
    p95: sizes[Math.floor(0.95 * (sizes.length - 1))]!, worst: sizes.at(-1)!,
  };
}

describe('issue 13.5: the simulated fills of intents of a sandbox run, with default settings and a calm market', () => {
  it('are within 5 bps of the landed ones, on average per strategy, in all directions, sizes and routes', async () => {
    const { compared, others } = await compare(runs.live);
    const found = distribution(compared);
    expect(found.count).toBeGreaterThanOrEqual(30);
    const byStrategy = Map.groupBy(compared, ({ intent }) => intent.strategy);
    expect(byStrategy.size).toBe(KINDS);
    expect(new Set(compared.map(({ intent }) => intent.route))).toEqual(new Set(['order', 'build']));
    for (const [name, own] of byStrategy)
      expect(distribution(own).mean, JSON.stringify([name, distribution(own), others])).toBeLessThan(5);
    expect(found.mean, JSON.stringify([found, others])).toBeLessThan(1);
    expect(found.worst, JSON.stringify([found, others])).toBeLessThan(10);
    // The simulation is not more favourable than the chain.
    expect(found.bias).toBeLessThan(0.5);
  });

  it('are the same without own impact, since recorded prices contain the run’s swaps', async () => {
    const [whole, without] =
      [await compare(runs.live), await compare(runs.live, { ownImpact: { share: 0, decayMs: 60_000 } })];
    expect(Math.abs(distribution(whole.compared).bias - distribution(without.compared).bias)).toBeLessThan(0.5);
    // With the impact of recorded swaps counted again, the error would be larger.
    const twice = await compare(runs.live, { recordedSwaps: undefined });
    expect(distribution(twice.compared).bias).toBeLessThan(distribution(whole.compared).bias - 0.2);
  });

  it('are within 5 bps of the paper fills of the same strategies at the same time', async () => {
    const { compared } = await compare(runs.paper);
    const found = distribution(compared);
    expect(found.count).toBeGreaterThanOrEqual(20);
    expect(found.mean, JSON.stringify(found)).toBeLessThan(5);
  });
});

describe('issue 13.5: the same strategies in a backtest of the live run’s recording, with default settings', () => {
  it('make the purchases of the same time slots', async () => {
    const config = playground.write('backtest.yaml', configText('paper', ''));
    const recording = runs.live.recording.directory;
    const answer = await playground.ask(
      ['backtest', config, '--recording', recording, '--json', '--state-dir', playground.path('backtest')],
      { environment: { GANNET_API_KEY: 'a-key-of-my-own' } },
    );
    expect(answer.code, answer.stderr + answer.stdout).toBe(0);
    const result = document(answer);
    const landed = recordedRun(runs.live.recording).swaps.length;
    expect(result['recorded_own_swaps']).toBe(landed);
    // Over 75 s it is within 5 %; in so few seconds, on a busy machine, one swap that waits keeps many from spending
    // the same token.
    expect((result['intents'] as Record<string, number>)['confirmed'], JSON.stringify([
      result['intents'], result['denials'], landed,
    ])).toBeGreaterThanOrEqual(0.65 * landed);
    const prices = runs.live.recording.cursor({ kinds: MARKET_KINDS });
    while (prices.next());
    const pricesEndAt = prices.at;
    const rulings = (file: string): { readonly approved: ReadonlySet<string>; readonly kept: ReadonlySet<string> } => {
      // The live run decided until it was stopped, a backtest until the last recorded price.
      const purchases = jsonLines(playground.read(file)).filter(({ at }) => Number(at) <= pricesEndAt).map((
        { strategy, proposal, verdict, code },
      ) => ({ slot: `${String(strategy)} ${String((proposal as { key?: string }).key)}`, verdict, code }));
      return {
        approved: new Set(purchases.flatMap(({ slot, verdict }) => (verdict === 'approved' ? [slot] : []))),
        kept: new Set(purchases.flatMap(({ slot, code }) =>
          (code === 'INTENT_OPEN_FOR_MINT' || code === 'INTENTS_OPEN_LIMIT' ? [slot] : []))),
      };
    };
    const live = rulings(join('live', 'runs', readdirSync(playground.path('live', 'runs'))[0]!, 'decisions.ndjson'));
    const simulated = rulings(join('backtest', 'runs', String(result['run_id']), 'decisions.ndjson'));
    const common = [...live.approved].filter((slot) => simulated.approved.has(slot));
    expect(common.length).toBeGreaterThan(10);
    // Some slots differ: where one swap blocks another that spends the same token, its latency decides.
    const unexplained = [[live, simulated], [simulated, live]].flatMap(([here, there]) =>
      [...here!.approved].filter((slot) => !there!.approved.has(slot) && !there!.kept.has(slot)));
    expect(unexplained.length, unexplained.join(', ')).toBeLessThan(2);
  });
});
