import { GannetError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Clock } from '../core/time.ts';
import type { Dialect } from './dialect.ts';
import type { CallOptions } from './priority.ts';
import type { GovernorStats, RateGovernor } from './rate-governor.ts';
import { createRateGovernor } from './rate-governor.ts';
import type { Bucket, RatePlan } from './rate-plan.ts';
import { bucketLimits } from './rate-plan.ts';
import type { HttpRequest, Transport } from './transport.ts';
import { MAX_CONNECTIONS } from './transport.ts';

/** Query parameters in neutral words; what is undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface GetRequest {
  readonly path: string;
  readonly query?: Query | undefined;
  /**
   * Whether identical requests in flight may share one answer. Never where the answer is acted on:
   * two swaps that shared one order would sign the same transaction and both believe it theirs.
   */
  readonly shareable: boolean;
}

/** What every API group speaks through: the rate governors in front, the dialect around, the transport below. */
export interface Gateway {
  get(request: GetRequest, call?: CallOptions): Promise<Json>;
  /** Posts to `/execute`'s own bucket. */
  execute(request: { readonly path: string; readonly body: Json }): Promise<Json>;
  stats(): Readonly<Record<Bucket, GovernorStats>>;
  close(): Promise<void>;
}

/** Returns the gateway of one service and one key. */
export function createGateway(options: {
  readonly transport: Transport;
  readonly dialect: Dialect;
  readonly plan: RatePlan;
  readonly clock: Clock;
}): Gateway {
  const { transport, dialect, plan, clock } = options;
  const governors: Readonly<Record<Bucket, RateGovernor>> = { main: openGovernor('main'), execute: openGovernor('execute') };

  function openGovernor(bucket: Bucket): RateGovernor {
    return createRateGovernor({ limits: bucketLimits(plan, bucket), clock, maxInFlight: MAX_CONNECTIONS[bucket] });
  }

  async function run(request: HttpRequest, turn: CallOptions & { readonly coalesceKey?: string | undefined }): Promise<Json> {
    const json = await governors[request.bucket].run({
      ...turn,
      async send(signal) {
        const { json: value, limits } = await transport.send(request, signal);
        return { value, limits };
      },
    });
    return dialect.answerFromWire(json);
  }

  return {
    get({ path, query, shareable }, call = {}) {
      const parameters = new URLSearchParams();
      for (const [name, value] of Object.entries(query ?? {})) {
        if (value !== undefined) parameters.append(dialect.queryToWire(name), String(value));
      }
      const coalesceKey = shareable ? `${path}?${parameters.toString()}` : undefined;
      return run({ bucket: 'main', method: 'GET', path, query: parameters }, { ...call, coalesceKey });
    },
    execute: ({ path, body }) =>
      run({ bucket: 'execute', method: 'POST', path, body: dialect.bodyToWire(body) }, { priority: 'execute' }),
    stats: () => ({ main: governors.main.stats(), execute: governors.execute.stats() }),
    async close() {
      governors.main.close();
      governors.execute.close();
      await transport.close();
    },
  };
}

/** Returns the refusal of a request that breaks a stated rule; it never leaves. */
export function badRequest(rule: string, found: unknown): GannetError {
  return new GannetError('SERVICE_BAD_REQUEST', `${rule}, got ${JSON.stringify(String(found).slice(0, 80))}`);
}
