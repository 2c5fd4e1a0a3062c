import { Dispatcher } from 'undici';
import type { CommandContext } from '../../command.ts';
import { configError } from '../../../config/config-issue.ts';
import type { ConfigFailure, LoadedConfig } from '../../../config/load-config.ts';
import { loadConfig } from '../../../config/load-config.ts';
import type { RunConfig } from '../../../config/run-config.ts';
import { GannetError, isGannetError } from '../../../core/errors.ts';
import { seededRandom } from '../../../core/random.ts';
import type { Millis } from '../../../core/time.ts';
import { openHosts } from '../../../daemon/hosts/strategy-hosts.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';
import { Engine } from '../../../engine/engine.ts';
import { VirtualClock } from '../../../engine/virtual-clock.ts';
import type { FeedKey, MarketEvent } from '../../../market/event.ts';
import type { FeedSpec } from '../../../market/feed.ts';
import { feedKey, sharedFeeds } from '../../../market/feed.ts';
import { yieldToInterrupt } from '../../../recording/interrupt.ts';
import { GENESIS_TOKENS } from '../../../sandbox/genesis.ts';
import type { PriceMotion } from '../../../sandbox/market/price-process.ts';
import { createWalletTrades } from '../../../sandbox/market/wallet-trades.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { startSandbox } from '../../../sandbox/sandbox.ts';
import { SLOT_MS } from '../../../sandbox/synthetic-market.ts';
import type { NodeSource } from '../../../service/feeds/feed-request.ts';
import { createFeedRecord } from '../../../service/feeds/feed-stats.ts';
import type { Poll } from '../../../service/feeds/polls.ts';
import { pollsFor } from '../../../service/feeds/polls.ts';
import { createService } from '../../../service/service.ts';
import { loadDialect } from '../../../service/wire/dialect.ts';

/** Far more than one request after another can be. */
const REQUESTS_PER_SECOND = 10_000;
const API_KEY = 'generated-recording';
/** The embedded service answers without a connection, and a machine that stands still for a while changes nothing. */
const UNHURRIED = { totalMs: 86_400_000 };

/**
 * Loads a configuration for its inputs alone: without its service, its chain and its secrets. Rejects with
 * CONFIG_INVALID.
 */
export async function watchedConfig(context: CommandContext): Promise<RunConfig> {
  const loaded = await readWatched(context, context.options.config);
  if (!loaded.ok) throw configError(loaded);
  return loaded.config;
}

/** Returns a configuration that is loaded for its inputs alone, or its faults. */
export async function readWatched(
  { options, environment, withheld }: CommandContext, file: string | undefined,
): Promise<LoadedConfig | ConfigFailure> {
  const hosts = openHosts({ clock: systemClock });
  try {
    return await loadConfig({
      file, purpose: 'research', workingDir: process.cwd(), environment, withheld,
      stateDir: options.stateDir, strategyReader: hosts,
      decimalsOf: async (mints) => new Map(mints.flatMap((mint) => {
        const token = GENESIS_TOKENS.find((known) => known.mint === mint);
        return token === undefined ? [] : [[mint, token.decimals] as const];
      })),
      absence: () => 'expected a token of the sandbox, whose market is generated',
    });
  } finally {
    await hosts.close();
  }
}

interface WatchedMarketOptions {
  readonly specs: readonly FeedSpec[];
  readonly seed: number;
  readonly startAt: Millis;
  readonly days: number;
  readonly motion: PriceMotion;
  /** The time in which prices move one step, as a slot of the chain unless given. */
  readonly slotMs?: Millis | undefined;
  /** Holds all feeds at the beginning; a feed is removed when it has an event. */
  readonly unanswered: Set<FeedKey>;
  readonly interrupt: AbortSignal;
}

/** Returns what the strategies of a configuration watch. Throws CONFIG_INVALID where that is nothing. */
export function watchedSpecs({ file, strategies }: RunConfig): readonly FeedSpec[] {
  const specs = sharedFeeds(Engine.feedsOf(strategies));
  if (specs.length > 0) return specs;
  throw new GannetError(
    'CONFIG_INVALID', `${file}: expected strategies with inputs to generate, found none: add a strategy`,
  );
}

/**
 * Yields the events of feeds that poll the embedded service in virtual time, each at its interval, in the order of
 * time. Equal options give equal events. Throws INTERRUPTED.
 */
export async function* watchedMarket(options: WatchedMarketOptions): AsyncGenerator<MarketEvent> {
  const { specs, seed, startAt, days, motion, unanswered, interrupt, slotMs = SLOT_MS } = options;
  const owners = specs.flatMap((spec) =>
    (spec.kind === 'prediction-positions' || spec.kind === 'prediction-history' ? [spec.owner] : []));
  const sandbox = await startSandbox({ seed, motion, virtualStartMs: startAt, slotMs, episodes: { owners } });
  const service = createService({
    baseUrl: sandbox.addresses.base_url, apiKey: API_KEY, clock: systemClock, timeouts: UNHURRIED,
    dispatcher: new DirectDispatcher(sandbox),
    plan: { requestsPerSecond: REQUESTS_PER_SECOND }, dialect: loadDialect('neutral'),
  });
  try {
    const clock = new VirtualClock(startAt);
    const latency = seededRandom(`${seed}:latency`);
    const records = new Map(specs.map((spec) => [feedKey(spec), createFeedRecord(spec)]));
    let slotsPassed = 0;
    const node = walletNode({
      seed, unixSeconds: (slot) => Math.floor((startAt + slot * slotMs) / 1_000),
      usdPrice: (mint) => sandbox.usdPrice(mint), now: () => slotsPassed,
    });
    const polls = pollsFor(specs, { ...service, node }, clock);
    for (const { poll, at } of pollTimes(polls, startAt, startAt + days * 86_400_000)) {
      // Without a connection nothing else waits for a turn of the event loop.
      await yieldToInterrupt(interrupt);
      const slots = Math.floor((at - startAt) / slotMs);
      sandbox.advance(slots - slotsPassed);
      slotsPassed = slots;
      clock.advanceTo(Math.max(at, clock.now()) + 5 + Math.floor(latency() * 30));
      for (const [feed, result] of await answered(poll)) {
        const record = records.get(feed)!;
        const isFault = isGannetError(result);
        const health = isFault ? record.failed(result, clock.now()) : record.succeeded(clock.now());
        if (health !== undefined) yield health;
        if (isFault) continue;
        unanswered.delete(feed);
        yield result;
      }
    }
  } finally {
    await service.close();
    await sandbox.close();
  }
}

/** Hands requests to the embedded service without a connection, which would take most of the time of generating. */
class DirectDispatcher extends Dispatcher {
  readonly #sandbox: Pick<Sandbox, 'answer'>;

  constructor(sandbox: Pick<Sandbox, 'answer'>) {
    super();
    this.#sandbox = sandbox;
  }

  override dispatch(
    { method, path, headers, body }: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler,
  ): boolean {
    const control = new DirectControl();
    handler.onRequestStart?.(control, {});
    this.#sandbox.answer({
      method: method as 'GET' | 'POST', url: path, headers: headers as Record<string, string>,
      body: typeof body === 'string' ? body : undefined,
    }).then((answer) => {
      handler.onResponseStart?.(control, answer.status, answer.headers);
      handler.onResponseData?.(control, answer.body);
      handler.onResponseEnd?.(control, {});
    }).catch((error: unknown) => { handler.onResponseError?.(control, error as Error); });
    return true;
  }
}

/** An answer that is complete at once: there is nothing to pause. */
class DirectControl implements Dispatcher.DispatchController {
  readonly paused = false;
  readonly rawHeaders = null;
  aborted = false;
  reason: Error | null = null;

  abort(reason: Error): void {
    this.aborted = true;
    this.reason = reason;
  }

  pause(): void {
    // Its one chunk is there already.
  }

  resume(): void {
    // Nothing was paused.
  }
}

/** Returns a node that knows what wallets do since they were first asked about. */
function walletNode({ now, ...market }: Parameters<typeof createWalletTrades>[0] & {
  readonly now: () => number;
}): NodeSource {
  const trades = createWalletTrades(market);
  const seen = new Map<string, number>();
  return {
    walletActivity: (owner) => {
      const to = now();
      const from = seen.get(owner) ?? to;
      seen.set(owner, to);
      return Promise.resolve({ owner, transactions: trades(owner, { from, to }) });
    },
  };
}

/** Yields each poll at each of its times, the earliest first; both ends of the span are included. */
function* pollTimes(
  polls: readonly Poll[], startAt: Millis, endAt: Millis,
): Generator<{ readonly poll: Poll; readonly at: Millis }> {
  const due = polls.map(() => startAt);
  for (;;) {
    const at = Math.min(...due);
    if (at > endAt) return;
    for (const [index, poll] of polls.entries()) {
      if (due[index] !== at) continue;
      due[index] = at + poll.everyMs;
      yield { poll, at };
    }
  }
}

async function answered(poll: Poll): Promise<ReadonlyMap<FeedKey, MarketEvent | GannetError>> {
  try {
    return await poll.request({ priority: 'watch' });
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return new Map(poll.feeds.map((feed) => [feed, error]));
  }
}
