import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backtestCommand } from '../../../../src/cli/commands/research/research-commands.ts';
import { lookaheadCommand } from '../../../../src/cli/commands/research/research-commands.ts';
import { sweepCommand } from '../../../../src/cli/commands/research/research-commands.ts';
import { createRecordingWriter } from '../../../../src/recording/writer.ts';
import { bothSides } from '../../../backtest/measured.ts';
import type { Answer } from '../../in-process.ts';
import { runCommand } from '../../in-process.ts';
import { SOL, USDC } from '../../../market/tokens.ts';
import { stillClock } from '../../../recording/temporary.ts';

const folder = mkdtempSync(join(tmpdir(), 'gannet-sampled-'));
afterAll(() => { rmSync(folder, { recursive: true }); });

const [SECOND, MINUTE] = [1_000, 60_000];
const HOURS = 6;
let recording = '';

beforeAll(async () => {
  // A quote of each direction every 10 s, 3 s after the minute begins.
  const writer = createRecordingWriter({
    dir: folder, clock: stillClock(), tokens: [SOL, USDC], name: 'fine', onError: (error) => { throw error; },
  });
  bothSides(Array.from({ length: HOURS * 360 }, (_, n) => {
    const price = 150 + 4 * Math.sin(n / 9) + 2 * Math.sin(n / 41) + Math.sin(n * n);
    return [price + 0.05, price - 0.05] as const;
  }), 10 * SECOND).forEach((event, i) => {
    writer.append(i + 1, event.receivedAt + 3 * SECOND, { ...event, receivedAt: event.receivedAt + 3 * SECOND });
  });
  await writer.close();
  recording = writer.directory;
  writeFileSync(join(folder, 'teller.ts'), `import { map } from '${import.meta.resolve('rxjs')}';
    import { z } from '${import.meta.resolve('zod')}';
    import { amount, defineStrategy, duration, pair, quotes }
      from '${new URL('../../../../src/strategy/index.ts', import.meta.url).href}';
    export default defineStrategy({ name: 'teller', summary: 'Tells each price.',
      params: z.strictObject({ pair: pair(), size: amount(), every: duration() }),
      inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: p.every }) }),
      run: ({ price }, p, ctx) => price.pipe(map(({ at }, n) => ctx.alert('info', 'price ' + n + ' of ' + at))) });`);
});

function config(name: string, ...strategies: readonly string[]): string {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, `mode: paper\ntokens: { SOL: ${SOL.mint}, USDC: ${USDC.mint} }\n`
    + `risk: { max_slippage_bps: 50, max_trade: "500 USDC" }\n`
    + `strategies:\n${strategies.map((text) => `  - ${text}\n`).join('')}`);
  return file;
}

const teller = (name: string, every: string, more = ''): string =>
  `{ use: ./teller.ts, name: ${name}, budget: "100 USDC", ${more}`
    + `params: { pair: SOL/USDC, size: "25 USDC", every: ${every} } }`;

interface DecisionLine {
  readonly at: number; readonly strategy: string; readonly proposal: { readonly message?: string };
}

async function decided(
  file: string, state: string,
): Promise<{ readonly answer: Answer; readonly of: (strategy: string) => readonly DecisionLine[] }> {
  const stateDir = join(folder, state);
  const answer =
    await runCommand(backtestCommand, ['backtest', file, '--recording', recording, '--no-grid'], { stateDir });
  const [run] = readdirSync(join(stateDir, 'runs'));
  const lines = readFileSync(join(stateDir, 'runs', run!, 'decisions.ndjson'), 'utf8').trimEnd().split('\n')
    .map((line) => JSON.parse(line) as DecisionLine);
  return { answer, of: (strategy) => lines.filter((line) => line.strategy === strategy) };
}

describe('issue 13.1: a recording that is finer than `every` is sampled as live polls it', { timeout: 60_000 }, () => {
  it('shows a strategy the first quote of each interval, beside a faster strategy on the same feed', async () => {
    const { of } =
      await decided(config('both', teller('slow', '15m'), teller('fast', '10s'), teller('middle', '1m')), 'both');
    const slow = of('slow').map(({ at }) => at);
    expect(slow)
      .toStrictEqual([13 * SECOND, ...Array.from({ length: HOURS * 4 }, (_, n) => (n + 1) * 15 * MINUTE + 3 * SECOND)]
        .slice(0, HOURS * 4 + 1));
    expect(of('fast')).toHaveLength(HOURS * 360);
    expect(of('middle')).toHaveLength(HOURS * 60 + 1);
    // Alone it is shown the same.
    const alone = await decided(config('alone', teller('slow', '15m')), 'alone');
    expect(alone.of('slow').map(({ at }) => at)).toStrictEqual(slow);
    expect(alone.answer.document).toMatchObject({
      events: 2 * HOURS * 360,
      sampled: [{ strategy: 'slow', input: 'the price of 25 USDC in SOL', recorded: '10s', every: '15m' }],
    });
    expect(alone.answer.text)
      .toContain('  sampled    slow: the price of 25 USDC in SOL is recorded every 10s, shown every 15m\n');
  });

  it('warms a strategy up with the samples of the interval', async () => {
    const { of } = await decided(config('warm', teller('slow', '15m', 'warmup: 1h, ')), 'warm');
    // Those of 00:15, 00:30, 00:45 and 01:00 come before trading begins, at 01:00:13.
    expect(of('slow')[0]).toMatchObject({
      at: 60 * MINUTE + 13 * SECOND, proposal: { message: `price 4 of ${60 * MINUTE + 13 * SECOND}` },
    });
    expect(of('slow')).toHaveLength((HOURS - 1) * 4 + 1);
  });

  it('gives different rows of a sweep over the interval, and has no look-ahead leak', async () => {
    const file = config('dip', '{ use: mean-reversion, name: dip, budget: "500 USDC", '
      + 'params: { pair: SOL/USDC, size: "25 USDC", every: 1m, window: 10, k: 1 } }');
    const grid = join(folder, 'grid.yaml');
    writeFileSync(grid, 'params: { dip.every: [1s, 1m, 5m, 15m] }\n');
    const swept = await runCommand(
      sweepCommand, ['sweep', file, '--recording', recording, '--grid', grid, '--workers', '1'],
      { stateDir: join(folder, 'sweep') },
    );
    const table = swept.document['table'] as readonly { readonly decision_hash: string }[];
    expect(new Set(table.map(({ decision_hash: hash }) => hash)).size).toBe(4);
    const checked = await runCommand(lookaheadCommand, ['lookahead', file, '--recording', recording, '--times', '2'], {
      stateDir: join(folder, 'lookahead'),
    });
    expect(checked.document).toMatchObject({ clean: true, strategies: [{ clean: true }] });
  });
});

describe('issue 13.3: a swap is filled only from a quote that is recent for its feed', {
  timeout: 60_000,
}, () => {
  const dca =
    '{ use: dca, name: dca, budget: "500 USDC", params: { buy: SOL, spend: "25 USDC", every: 10m, watch: 10s } }';
  let gap = '';
  beforeAll(async () => {
    // Three hours, each 10 s, but for 110 minutes from 00:30 on.
    const writer = createRecordingWriter({
      dir: folder, clock: stillClock(), tokens: [SOL, USDC], name: 'gap', onError: (error) => { throw error; },
    });
    bothSides(Array.from({ length: 1_080 }, (_, n) => [150 + n / 1_000, 149.9] as const), 10 * SECOND)
      .filter(({ receivedAt }) => receivedAt <= 30 * MINUTE || receivedAt >= 140 * MINUTE)
      .forEach((event, i) => { writer.append(i + 1, event.receivedAt, event); });
    await writer.close();
    gap = writer.directory;
  });

  it('gives up swaps in a gap of 110 minutes without a price, and reports their number', async () => {
    const { document, text } = await runCommand(
      backtestCommand, ['backtest', config('dca', dca), '--recording', gap, '--no-grid'],
      { stateDir: join(folder, 'dca') },
    );
    // Purchases of 00:00, 00:10, 00:20 and 00:30; the one of 02:10 is made when prices come again, at 02:20 the next,
    // and so on.
    expect(document)
      .toMatchObject({ fills: 9, max_quote_age: '3 times the recorded interval (at least 2s)', max_price_age: '2h' });
    expect((document['intents'] as { readonly abandoned: number }).abandoned).toBeGreaterThan(10);
    expect(document['warnings'])
      .toContainEqual(expect.stringMatching(/^\d+ swaps could not be simulated and were abandoned \(QUOTE_STALE\)/));
    expect(text).toContain('prices     of swaps: quotes at most 3 times the recorded interval (at least 2s) old; of '
      + 'equity: the last one, with a warning where it is over 2h old at the end');
  });

  it('fills from older quotes when the configuration allows it', async () => {
    const file = config('older', dca);
    writeFileSync(file, `${readFileSync(file, 'utf8')}backtest: { max_quote_age: 3h }\n`);
    const { document } = await runCommand(
      backtestCommand, ['backtest', file, '--recording', gap, '--no-grid'], { stateDir: join(folder, 'older') },
    );
    expect(document).toMatchObject({ fills: 19, max_quote_age: '3h' });
    expect(document['intents']).not.toHaveProperty('abandoned');
  });
});

it('issue 13.12: research reads a live configuration without its key, files and addresses', async () => {
  const file = config('live', teller('slow', '15m'));
  writeFileSync(file, readFileSync(file, 'utf8').replace('mode: paper', 'mode: live')
    + `service: { base_url: "\${SERVICE_URL}", api_key: "\${GANNET_API_KEY}", dialect: neutral, plan: free }
chain: { rpc_url: "\${RPC_URL}" }
wallet: { key_from: file:/no/such/key.json, address: "\${WALLET_ADDRESS}", sol_reserve: "0.02 SOL" }
signer: { caps: { USDC: { per_trade: "50", per_hour: "200", per_day: "500" } } }
control: { host: 0.0.0.0 }
notifications: [{ kind: webhook, url: "\${GANNET_WEBHOOK_URL}" }]
`);
  const paper = await decided(config('paper', teller('slow', '15m')), 'as-paper');
  const { document } = await runCommand(
    backtestCommand, ['backtest', file, '--recording', recording, '--no-grid'], { stateDir: join(folder, 'live') },
  );
  expect(document['decision_hash']).toBe(paper.answer.document['decision_hash']);
  const checked = await runCommand(lookaheadCommand, ['lookahead', file, '--recording', recording, '--times', '1'], {
    stateDir: join(folder, 'lookahead-live'),
  });
  expect(checked.document).toMatchObject({ clean: true });
  // What decides must be there.
  writeFileSync(file, readFileSync(file, 'utf8').replace('"500 USDC"', '"${LARGEST_TRADE}"'));
  await expect(
    runCommand(backtestCommand, ['backtest', file, '--recording', recording], { stateDir: join(folder, 'unset') }),
  ).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('LARGEST_TRADE') as string });
}, 60_000);

it('issue 13.9: each setting of a backtest runs strategies in modules of its own', async () => {
  const text = readFileSync(join(folder, 'teller.ts'), 'utf8');
  writeFileSync(join(folder, 'counter.ts'), text.replace('export default', 'let runs = 0;\nexport default')
    .replace('=> price.pipe', '=> ++runs && price.pipe').replace("'price '", "'run ' + runs + ' price '"));
  const file = config('counter', teller('slow', '15m').replace('./teller.ts', './counter.ts'));
  const { answer, of } = await decided(file, 'counter');
  expect(of('slow')[0]?.proposal.message).toMatch(/^run 1 price 0 /);
  const settings =
    answer.document['sensitivity'] as Readonly<Record<string, { readonly decision_hash?: string } | null>>;
  // It trades nothing: what differs between the settings would be its count of runs.
  expect(['optimistic', 'pessimistic'].map((setting) => settings[setting]?.decision_hash))
    .toStrictEqual([answer.document['decision_hash'], answer.document['decision_hash']]);
}, 60_000);
