import type { Millis } from '../core/time.ts';
import { roughDuration } from '../core/time.ts';
import { feedKey } from '../market/feed.ts';
import type { ProblemList } from './problem.ts';
import type { RequestRate } from './request-rate.ts';
import { expectedIntervals } from './request-rate.ts';
import type { RunConfig, ServiceConfig, StrategyConfig } from './run-config.ts';
import type { WatchedInput } from './watched-by.ts';
import { watchedBy } from './watched-by.ts';

/** An input with how often it will really be polled. */
interface Expected extends WatchedInput {
  readonly expectedMs: Millis;
}

/**
 * Adds what cannot work at this rate: a strategy one of whose inputs cannot be kept as young as its max_age, and one
 * without a max_age whose inputs cannot be polled as often as it says, since nothing else was promised of them.
 * `strategies` stand at their place in the file; undefined where one could not be read.
 */
export function refuseExcess(
  rate: RequestRate, { service, strategies }: Pick<RunConfig, 'service'> & {
    readonly strategies: readonly (StrategyConfig | undefined)[];
  }, problems: ProblemList,
): void {
  const expected = expectedIntervals(rate);
  const late: string[] = [];
  for (const [index, strategy] of strategies.entries()) {
    if (strategy === undefined) continue;
    const { name, maxAgeMs } = strategy;
    const inputs = watchedBy(strategy)
      .map((input): Expected => ({ ...input, expectedMs: expected.get(feedKey(input.spec))! }));
    if (maxAgeMs === undefined) {
      late.push(...inputs.filter(({ spec, expectedMs }) => expectedMs > spec.everyMs).map((input) =>
        `"${input.name}" of ${name} ${comesLate(input)}`));
      continue;
    }
    const oldest = inputs.filter(({ expectedMs }) => expectedMs > maxAgeMs)
      .sort((a, b) => b.expectedMs - a.expectedMs)[0];
    if (oldest !== undefined)
      problems.add(['strategies', index, 'max_age'], tooOld(oldest, maxAgeMs, { rate, service }));
  }
  if (late.length === 0) return;
  const path = ['service', typeof service.plan === 'string' ? 'plan' : 'requests_per_second'];
  problems.add(path,
    `${budgetText(rate, service)}, so ${listed(late)}: watch fewer things or less often ("every"), name a larger plan, `
      + 'or give the strategy a max_age that it can work with');
}

function tooOld(
  input: Expected, maxAgeMs: Millis, { rate, service }: { readonly rate: RequestRate; readonly service: ServiceConfig },
): string {
  const found = `expected at least ${roughDuration(input.expectedMs)}, got ${roughDuration(maxAgeMs)}`;
  if (input.expectedMs <= input.spec.everyMs) {
    return `${found}: its input "${input.name}" is polled every ${roughDuration(input.spec.everyMs)}, so it would be `
      + 'too old before the next poll; raise max_age, or poll more often ("every")';
  }
  return `${found}: ${budgetText(rate, service)}, so its input "${input.name}" ${comesLate(input)}; raise max_age, `
    + 'watch fewer things or less often ("every"), or name a larger plan';
}

function comesLate({ spec, expectedMs }: Expected): string {
  return `would be polled every ${roughDuration(expectedMs)} instead of every ${roughDuration(spec.everyMs)}`;
}

function budgetText(
  { requestsPerSecond, allowedPerSecond, watchPerSecond }: RequestRate, { plan }: ServiceConfig,
): string {
  const limit = typeof plan === 'string' ? `the plan "${plan}"` : 'service.requests_per_second';
  return `what the strategies watch takes ${requestsPerSecond} requests a second, ${limit} allows ${allowedPerSecond} `
    + `and leaves ${watchPerSecond} of them for watching`;
}

const LISTED_MAX = 3;

function listed(texts: readonly string[]): string {
  const rest = texts.length - LISTED_MAX;
  return `${texts.slice(0, LISTED_MAX).join(', ')}${rest > 0 ? `, and ${rest} more` : ''}`;
}
