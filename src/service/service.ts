import { createGateway } from './gateway.ts';
import type { Prediction } from './prediction.ts';
import { createPrediction } from './prediction.ts';
import type { GovernorStats } from './rate-governor.ts';
import type { Bucket, RatePlan } from './rate-plan.ts';
import type { SwapV2 } from './swap-v2.ts';
import { createSwapV2 } from './swap-v2.ts';
import type { TokenSearch } from './token-search.ts';
import { createTokenSearch } from './token-search.ts';
import type { TransportOptions } from './transport.ts';
import { createTransport } from './transport.ts';
import type { Dialect } from './wire/dialect.ts';

export interface ServiceOptions extends TransportOptions {
  readonly plan: RatePlan;
  readonly dialect: Dialect;
}

/** The whole service, one member per API group, behind one rate governor per bucket. */
export interface Service {
  readonly swap: SwapV2;
  readonly tokens: TokenSearch;
  readonly prediction: Prediction;
  /** What went out and what waits, by bucket. */
  stats(): Readonly<Record<Bucket, GovernorStats>>;
  /** Rejects what is in flight; drain first what must not be lost. */
  close(): Promise<void>;
}

/** Returns a client of the service. Opens no connection before the first request. Throws CONFIG_INVALID. */
export function createService(options: ServiceOptions): Service {
  const { plan, dialect, clock } = options;
  const gateway = createGateway({ transport: createTransport(options), dialect, plan, clock });
  return {
    swap: createSwapV2(gateway, dialect),
    tokens: createTokenSearch(gateway),
    prediction: createPrediction(gateway),
    stats: () => gateway.stats(),
    close: () => gateway.close(),
  };
}
