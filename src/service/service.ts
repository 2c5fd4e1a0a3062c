import type { Observable } from 'rxjs';
import type { Millis } from '../core/time.ts';
import type { ServiceAccess } from './access.ts';
import { Access } from './access.ts';
import type { Lend } from './endpoints/lend.ts';
import { createLend } from './endpoints/lend.ts';
import type { Prediction } from './endpoints/prediction.ts';
import { createPrediction } from './endpoints/prediction.ts';
import type { SwapV1 } from './endpoints/swap-v1.ts';
import { createSwapV1 } from './endpoints/swap-v1.ts';
import type { SwapV2 } from './endpoints/swap-v2.ts';
import { createSwapV2 } from './endpoints/swap-v2.ts';
import type { Tokens } from './endpoints/tokens.ts';
import { createTokens } from './endpoints/tokens.ts';
import { createGateway } from './gateway.ts';
import type { GovernorStats } from './rate/rate-governor.ts';
import type { WatchPace } from './rate/back-off.ts';
import type { RateMemory } from './rate/rate-memory.ts';
import { storedBuckets } from './rate/rate-memory.ts';
import type { Bucket, Priority, RatePlan } from './rate/rate-plan.ts';
import type { TransportOptions } from './transport.ts';
import { createTransport } from './transport.ts';
import type { Dialect } from './wire/dialect.ts';

interface ServiceOptions extends TransportOptions {
  readonly plan: RatePlan;
  readonly dialect: Dialect;
  /** Keeps the rate over restarts; without one, each start begins with an unused plan. */
  readonly rateMemory?: RateMemory | undefined;
  /** Takes the name of each optional member of an answer that could not be read, once: `order, routePlan.percent`. */
  readonly onUnread?: ((member: string) => void) | undefined;
}

/** The whole service, one member per API group, behind one rate governor per bucket. */
export interface Service {
  readonly swap: SwapV2;
  readonly swapV1: SwapV1;
  readonly tokens: Tokens;
  readonly prediction: Prediction;
  readonly lend: Lend;
  /**
   * Whether the key is accepted and the service answers: each change as it comes, and to a late subscriber what holds
   * now.
   */
  readonly access$: Observable<ServiceAccess>;
  /**
   * By how much the service's clock is ahead of ours as of its last answer, negative where it is behind; undefined
   * where it did not say.
   */
  clockAheadMs(): Millis | undefined;
  /**
   * Takes the turn of a request that another process sends with the same key: resolves when it may leave, and counts
   * it. Throws SERVICE_RATE_LIMITED where its turn comes too late.
   */
  takeTurn(priority: Priority): Promise<void>;
  /** How fast polls may go now. */
  watchPace(): WatchPace;
  /** What went out and what waits, by bucket. */
  stats(): Readonly<Record<Bucket, GovernorStats>>;
  /** Rejects what is in flight; drain first what must not be lost. */
  close(): Promise<void>;
}

/** Returns a client of the service. Opens no connection before the first request. Throws CONFIG_INVALID. */
export function createService(options: ServiceOptions): Service {
  const { baseUrl, plan, dialect, clock, rateMemory, onUnread } = options;
  const access = new Access(clock);
  let aheadMs: Millis | undefined;
  const transport = createTransport({
    ...options,
    // The middle of the second that it names.
    requestIdHeader: dialect.requestIdHeader,
    onServerTime: (serverAt, receivedAt) => { aheadMs = serverAt + 500 - receivedAt; },
  });
  const stored = rateMemory === undefined ? undefined
    : storedBuckets(rateMemory, { scope: `${baseUrl} ${JSON.stringify(plan)}`, clock });
  const gateway = createGateway({ transport, dialect, plan, clock, access, stored, onUnread });
  return {
    swap: createSwapV2(gateway, dialect),
    swapV1: createSwapV1(gateway, dialect),
    tokens: createTokens(gateway),
    prediction: createPrediction(gateway, dialect),
    lend: createLend(gateway),
    access$: access.changes$,
    clockAheadMs: () => aheadMs,
    takeTurn: (priority) => gateway.takeTurn(priority),
    watchPace: () => gateway.watchPace(),
    stats: () => gateway.stats(),
    close: () => gateway.close(),
  };
}
