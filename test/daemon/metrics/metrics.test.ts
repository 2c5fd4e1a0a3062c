import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import type { NodeStats } from '../../../src/chain/node-health.ts';
import type { Amount } from '../../../src/core/amount.ts';
import { METRICS } from '../../../src/daemon/metrics/exposition.ts';
import type { RunMetrics } from '../../../src/daemon/metrics/run-metrics.ts';
import type { FeedStats } from '../../../src/service/feeds/feed-stats.ts';
import { quotes } from '../../../src/strategy/index.ts';
import { strategy } from '../../engine/runs.ts';
import { buyingSol, sellingSol } from '../../market/events.ts';
import { SOL_USDC, USDC } from '../../market/tokens.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { fillOf } from '../../trading/states.ts';
import { intentOf } from '../../store/sample-intents.ts';
import { startControl, testMetrics, TOKENS } from '../control-fixture.ts';
import { readFamilies, valueOf } from './exposition-text.ts';

const VIEWER = { authorization: `Bearer ${TOKENS.viewer}` };

/** The statistics of a feed that was answered a second ago. */
function feedStats(feed: string, change: Partial<FeedStats> = {}): FeedStats {
  return {
    feed: feed, status: 'healthy', polls: 1, answers: 1, failures: 0, consecutiveFailures: 0,
    lastAnswerAt: 500, everyMs: 5_000, weight: 1, ageMs: 1_000, meanAgeMs: 1_000, maxAgeMs: 1_000, ...change,
  };
}

/** Returns the inputs of one of many strategies: 25 feeds of its own. */
function inputs(owner: number) {
  return () => Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`price${n}`,
    quotes(SOL_USDC, { amount: { token: USDC, amount: BigInt(1_000_000 * (owner * 25 + n + 1)) }, every: '5s' })]));
}

async function startMetrics(options: Parameters<typeof startControl>[0] = {}) {
  const metrics: RunMetrics = options.metrics ?? testMetrics(temporaryFolder());
  const control = await startControl({ ...options, metrics, reporters: [metrics.reporter] });
  metrics.attach(control.controlPort);
  const scrape = async (headers: Record<string, string> = VIEWER, method: 'GET' | 'HEAD' = 'GET') => {
    const answer = await request(`${control.url}/metrics`, { method, headers });
    return { status: answer.statusCode, type: String(answer.headers['content-type']), text: await answer.body.text() };
  };
  return { ...control, metrics, scrape };
}

describe('the metrics', () => {
  it('are read by an independent parser, each with a help text, a type and the declared labels alone', async () => {
    const { scrape, engine } = await startMetrics();
    engine.accept(buyingSol(150_000, 1_000), 1_000);
    const { status, type, text } = await scrape();
    expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    const families = readFamilies(text);
    expect([...families.keys()].sort()).toEqual(METRICS.map(({ name }) => name).sort());
    for (const metric of METRICS) {
      const family = families.get(metric.name)!;
      expect([family.type.toLowerCase(), family.help.length > 10], metric.name).toEqual([metric.type, true]);
      expect(metric.help, metric.name).toMatch(/^[A-Z1].*\.$/);
      expect(metric.name.endsWith('_total'), metric.name).toBe(metric.type === 'counter');
      for (const { labels = {} } of family.metrics)
        expect(metric.labels, metric.name).toEqual(expect.arrayContaining(Object.keys(labels)));
    }
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const series = lines.map((line) => line.slice(0, line.lastIndexOf(' ')));
    expect(new Set(series).size).toBe(series.length);
  });

  it('show state, equity, caps and wallet of the run', async () => {
    const { scrape, engine } = await startMetrics({
      limits: { caps: new Map([[USDC.mint, { perHour: 1_000_000_000n as Amount }]]) },
      feeds: () => [feedStats('quote:a:b:1'), feedStats('quote:c:d:1', { status: 'down', ageMs: undefined })],
    });
    engine.accept(buyingSol(150_000, 1_000), 1_000);
    engine.accept(sellingSol(150_000, 1_000), 1_000);
    const families = readFamilies((await scrape()).text);
    const value = (name: string, labels?: Record<string, string>) => valueOf(families, name, labels);
    expect(value('gannet_info', { mode: 'live', run_id: 'a-run' })).toBe(1);
    expect(['trading', 'recovering'].map((phase) => value('gannet_phase', { phase }))).toEqual([1, 0]);
    expect(value('gannet_trading_state', { state: 'active' })).toBe(1);
    expect([value('gannet_equity', { token: 'USDC' }), value('gannet_equity_usd')]).toEqual([1_000, 1_000]);
    expect(value('gannet_strategy_equity', { strategy: 'diver', token: 'USDC' })).toBe(500);
    expect(value('gannet_strategy_drawdown_ratio', { strategy: 'diver' })).toBe(0);
    expect(value('gannet_cap_use_ratio', { token: 'USDC', span: 'hour' })).toBe(0);
    expect(value('gannet_cap_use_ratio', { token: 'USDC', span: 'day' })).toBeUndefined();
    expect(value('gannet_wallet_sol')).toBe(10);
    expect(['healthy', 'unhealthy'].map((status) => value('gannet_feeds', { status }))).toEqual([1, 1]);
    expect([value('gannet_ready'), value('gannet_not_ready', { reason: 'FEEDS_UNHEALTHY' })]).toEqual([0, 1]);
    expect(value('gannet_last_tick_timestamp_seconds')).toBe(0.5);
    expect(value('gannet_disk_free_bytes', { disk: 'state' })).toBeGreaterThan(0);
    expect(value('gannet_memory_resident_bytes', { process: 'daemon' })).toBeGreaterThan(10_000_000);
  });

  it('are there before the session exists', async () => {
    const metrics = testMetrics(temporaryFolder());
    const families = readFamilies((await metrics.scrape()).text);
    expect(valueOf(families, 'gannet_phase', { phase: 'starting' })).toBe(1);
    expect(valueOf(families, 'gannet_not_ready', { reason: 'STARTING' })).toBe(1);
    expect(families.get('gannet_equity')?.metrics ?? []).toEqual([]);
  });

  it('count requests by bucket and outcome, calls to the node, and alerts by level and code', async () => {
    const requests = {
      main: { sent: 10, coalesced: 2, refused: 3, failed: 1, queued: 4, inFlight: 2, coolDownUntil: undefined,
        requestsPerSecond: 1.5 },
    };
    const calls = { ok: 7, refused: 1, invalid: 0, unreachable: 2 };
    const node = { latencyMs: 4, errorRate: 0, calls };
    const nodes = (): readonly NodeStats[] => [
      { ...node, name: 'one', state: 'healthy', slotsBehind: 0 },
      { ...node, name: 'two', state: 'lagging', slotsBehind: 41 },
    ];
    const metrics = testMetrics(temporaryFolder(), {
      requests: () => requests, nodes, channels: () => [{ name: 'phone', waiting: 3, refused: 1, failures: 5 }],
    });
    const alert = (strategy: string | undefined, code: string | undefined) => {
      metrics.reporter.alert({ seq: 1, at: 1 }, strategy, {
        kind: 'alert', level: 'critical', message: 'x', ...(code === undefined ? {} : { data: { code } }),
      });
    };
    for (let n = 0; n < 500; n++) alert('diver', `MADE_UP_${n}`);
    for (let n = 0; n < 3; n++) alert(undefined, 'SIGNER_LOST');
    alert(undefined, undefined);
    alert(undefined, 'not a code "\n');
    const families = readFamilies((await metrics.scrape()).text);
    const value = (name: string, labels: Record<string, string>) => valueOf(families, name, labels);
    expect(['answered', 'rate_limited', 'failed'].map((outcome) =>
      value('gannet_service_requests_total', { bucket: 'main', outcome }))).toEqual([4, 3, 1]);
    expect(value('gannet_rpc_calls_total', { node: 'one', outcome: 'unreachable' })).toBe(2);
    expect(['one', 'two'].map((node) => value('gannet_rpc_node_healthy', { node }))).toEqual([1, 0]);
    expect(value('gannet_rpc_node_slots_behind', { node: 'two' })).toBe(41);
    expect(['waiting', 'refused', 'failures'].map((what) =>
      value(`gannet_notifications_${what}`, { channel: 'phone' }))).toEqual([3, 1, 5]);
    expect(value('gannet_alerts_total', { level: 'critical', code: 'SIGNER_LOST' })).toBe(3);
    expect(value('gannet_alerts_total', { level: 'critical', code: 'none' })).toBe(1);
    // A rule can only see a first alert where there was a series before it.
    expect(value('gannet_alerts_total', { level: 'warning', code: 'none' })).toBe(0);
    expect(value('gannet_alerts_total', { level: 'critical', code: 'other' })).toBe(500 - 16 + 1);
    expect(families.get('gannet_alerts_total')!.metrics.length).toBe(16 + 3 + 2);
  });

  it('have how long landed swaps took and how far they missed their quote, with every value in a bucket', async () => {
    const metrics = testMetrics(temporaryFolder());
    const intent = intentOf(1, { createdAt: 1_000 });
    const land = (amountOut: bigint): void => {
      const fill = fillOf(intent, amountOut);
      metrics.reporter.intent({ seq: 1, at: 2_000 }, { intent, state: 'submitted' });
      metrics.reporter.intent({ seq: 2, at: 5_000 }, { intent, state: 'confirmed', quotedOut: 1_000_000n, fill });
    };
    // 10 bps less, 1 bps more, and far beyond the last bucket.
    for (const amountOut of [999_000n, 1_000_100n, 900_000n]) land(amountOut);
    metrics.reporter.intent({ seq: 3, at: 9_000 }, { intent, state: 'failed' });
    const families = readFamilies((await metrics.scrape()).text);
    const histogram = (name: string) => families.get(name)!.metrics[0]!;
    expect(histogram('gannet_realised_slippage_bps')).toMatchObject({
      count: '3', sum: '1009', buckets: { '-2': '0', 0: '1', 5: '1', 10: '2', 200: '2', '+Inf': '3' },
    });
    expect(histogram('gannet_fill_error_bps'))
      .toMatchObject({ sum: '1011', buckets: { 1: '1', 10: '2', '+Inf': '3' } });
    expect(histogram('gannet_landing_seconds')).toMatchObject({ sum: '12', buckets: { 3: '0', 5: '3' } });
    expect(histogram('gannet_landing_after_submission_seconds'))
      .toMatchObject({ sum: '9', buckets: { 2: '0', 3: '3' } });
    expect(valueOf(families, 'gannet_last_landed_timestamp_seconds')).toBe(5);
  });

  it('time the writes of the journal, refused ones too, and pass on what they return and throw', async () => {
    const metrics = testMetrics(temporaryFolder());
    const written: unknown[] = [];
    const refused = new Error('no room');
    const journal = metrics.timed({
      intentApproved: (intent: unknown) => { written.push(intent); },
      attemptSigned: () => { throw refused; },
      transition: () => undefined, saveSnapshot: () => undefined, walletAdjusted: () => undefined,
      fillValued: () => undefined, openIntents: () => 'as it was',
    } as never) as unknown as {
      intentApproved(intent: string): void; attemptSigned(): void; openIntents(): string;
    };
    journal.intentApproved('an intent');
    expect(() => { journal.attemptSigned(); }).toThrow(refused);
    expect([written, journal.openIntents()]).toEqual([['an intent'], 'as it was']);
    const families = readFamilies((await metrics.scrape()).text);
    expect(families.get('gannet_journal_write_seconds')!.metrics[0]).toMatchObject({ count: '2' });
    expect(valueOf(families, 'gannet_journal_write_failures_total')).toBe(1);
  });

  it('give declared feeds series of their own, and count those of discovered tokens together', async () => {
    const { scrape } = await startMetrics({ feeds: () => [
      feedStats(`quote:${USDC.mint}:${SOL_USDC.base.mint}:25000000`),
      ...Array.from({ length: 700 }, (_, n) =>
        feedStats(`quote:discovered${n}:b:1`, { ageMs: n * 1_000, status: n % 7 === 0 ? 'down' : 'healthy' })),
    ] });
    const families = readFamilies((await scrape()).text);
    expect(families.get('gannet_feed_healthy')!.metrics)
      .toEqual([{ labels: { feed: 'the price of 25 USDC in SOL' }, value: '1' }]);
    expect(valueOf(families, 'gannet_other_feeds')).toBe(700);
    expect(valueOf(families, 'gannet_other_feeds_oldest_age_seconds')).toBe(699);
    expect(valueOf(families, 'gannet_feeds', { status: 'unhealthy' })).toBe(100);
  });

  it('of 500 feeds and 20 strategies stay small, and scrapes at the same time share one computation', async () => {
    const strategies = Array.from({ length: 20 }, (_, owner) => strategy(`s${owner}`, undefined, inputs(owner)));
    let reads = 0;
    const { scrape, engine, metrics } = await startMetrics({
      strategies,
      feeds: () => {
        reads += 1;
        return engine.declaredFeeds.map((_, n) =>
          feedStats(`quote:${USDC.mint}:${SOL_USDC.base.mint}:${1_000_000 * (n + 1)}`));
      },
    });
    const first = await scrape();
    expect(readFamilies(first.text).get('gannet_feed_age_seconds')!.metrics).toHaveLength(500);
    expect(first.text.length).toBeLessThan(300_000);
    expect(first.text.split('\n').length).toBeLessThan(2_500);
    reads = 0;
    await metrics.scrape();
    const readsOfOne = reads;
    reads = 0;
    const texts = await Promise.all(Array.from({ length: 50 }, () => metrics.scrape()));
    expect(reads).toBe(readsOfOne);
    expect(new Set(texts).size).toBe(1);
  });

  it('need a viewer’s or an operator’s token, and never count as the operator’s presence', async () => {
    const deadMan = {
      trigger: { kind: 'dead-man', afterMs: 60_000 }, scope: 'global', action: 'reduce-only',
      release: { kind: 'cleared' },
    } as const;
    const { scrape, engine, inputs } = await startMetrics({ limits: { protections: [deadMan] } });
    engine.accept({ kind: 'command', name: 'report-presence', reason: 'the start' }, 1_000);
    engine.advanceTo(41_000);
    expect((await scrape({})).status).toBe(401);
    expect((await scrape({ authorization: 'Bearer wrong' })).status).toBe(401);
    const operator = { authorization: `Bearer ${TOKENS.operator}` };
    for (const method of ['GET', 'HEAD'] as const) expect((await scrape(operator, method)).status).toBe(200);
    const families = readFamilies((await scrape(operator)).text);
    expect(valueOf(families, 'gannet_dead_man_left_seconds')).toBe(20);
    expect(inputs).toHaveLength(1);
  });
});
