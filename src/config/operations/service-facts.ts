import { assertNever } from '../../core/assert.ts';
import type { Millis } from '../../core/time.ts';
import type { FeedSpec } from '../../market/feed.ts';
import { originOf } from '../../market/feed.ts';
import { pollGroups } from '../../market/poll-plan.ts';
import type { Dialect } from '../../service/wire/dialect.ts';
import { loadDialect } from '../../service/wire/dialect.ts';
import type { RequestRate } from '../request-rate.ts';
import type { ServiceConfig } from '../run-config.ts';

/** What a configuration uses of a plan that counts credits. */
export interface CreditUse {
  /** For watching alone, without the requests of swaps; whole credits, rounded up. */
  readonly perMonth: number;
  /** What the plan includes; undefined where it has no limit, or the host's dialect does not know the plan. */
  readonly included: number | undefined;
}

const MONTH_MS: Millis = 30 * 86_400_000;

/** Returns the credits that watching takes in 30 days; undefined where the dialect does not say what requests cost. */
export function creditUse(
  { baseUrl, dialect: name, plan }: Pick<ServiceConfig, 'baseUrl' | 'dialect' | 'plan'>, { feeds }: RequestRate,
  dialect: Dialect = loadDialect(name),
): CreditUse | undefined {
  const { credits, toWire } = dialect;
  if (credits === undefined || baseUrl === 'embedded') return undefined;
  const costs = [...credits.costs].toSorted(([one], [other]) => other.length - one.length);
  const costOf = (neutral: string): number => {
    const path = toWire.path(neutral);
    return costs.find(([beginning]) => path === beginning || path.startsWith(`${beginning}/`))?.[1] ?? 1;
  };
  const intervals = new Map(feeds.map(({ spec, expectedMs }) => [spec, expectedMs]));
  const groups = pollGroups(feeds.map(({ spec }) => spec).filter((spec) => originOf(spec) === 'service'));
  const perMonth = groups.reduce((sum, { specs: [spec], everyMs }) =>
    sum + (costOf(pathOf(spec!)) * MONTH_MS) / (intervals.get(spec!) ?? everyMs), 0);
  return {
    perMonth: Math.ceil(perMonth), included: typeof plan === 'string' ? credits.plans.get(plan) : undefined,
  };
}

/** Returns the path that a feed asks, from the root of the service, in neutral words; its beginning decides. */
function pathOf(spec: FeedSpec): string {
  switch (spec.kind) {
    case 'quote': case 'quote-detail': return '/swap/v2/order';
    case 'token-stats': case 'token-record': return '/ultra/v1/search';
    case 'token-list':
      if (spec.list === 'search') return '/ultra/v1/search';
      return spec.list === 'tag' || spec.list === 'recent' ? `/tokens/v2/${spec.list}`
        : `/tokens/v2/${spec.list}/${spec.interval}`;
    case 'lend-earnings': return '/lend/v1/earn/earnings';
    case 'order-book': case 'prediction-market': case 'event-markets': case 'prediction-events':
    case 'prediction-positions': case 'prediction-history': return '/prediction/v1';
    case 'signal': case 'wallet-activity': case 'portfolio':
      throw new Error(`${spec.kind} is not asked of the service`);
    default: return assertNever(spec, 'feed');
  }
}

/** Returns what is to be known of a service's host that goes or has gone; undefined of any other host. */
export function retiredHost(
  { baseUrl, dialect: name }: Pick<ServiceConfig, 'baseUrl' | 'dialect'>, dialect: Dialect = loadDialect(name),
): string | undefined {
  return baseUrl === 'embedded' ? undefined
    : dialect.retiredHosts.get(new URL(baseUrl).hostname.replace(/\.$/, ''));
}
