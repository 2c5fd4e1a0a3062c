import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { watchedMarket, watchedSpecs } from '../../../src/cli/commands/recording/generate-watched.ts';
import { formatIssue } from '../../../src/config/config-issue.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import type { RunConfig, StrategyConfig } from '../../../src/config/run-config.ts';
import { PROJECT_DIR } from '../../../src/core/code-files.ts';
import type { Millis } from '../../../src/core/time.ts';
import type { MarketEvent } from '../../../src/market/event.ts';
import type { FeedSpec } from '../../../src/market/feed.ts';
import { feedKey } from '../../../src/market/feed.ts';
import type { PriceMotion } from '../../../src/sandbox/market/price-process.ts';
import { GENESIS } from '../../config/load-text.ts';

/** Strategies of the project that are no part of the catalogue, each with its reason. */
const APART: ReadonlyMap<string, string> = new Map([
  ['swap-once', 'the strategy of `gannet swap`, which has no configuration of its own'],
]);

/** A strategy of the catalogue with the configuration that shows it. */
export interface CatalogueEntry {
  readonly name: string;
  /** The strategy's file from the project's folder. */
  readonly file: string;
  /** The configuration's file from the project's folder. */
  readonly yaml: string;
  readonly config: RunConfig;
  /** The first strategy of the configuration. */
  readonly own: StrategyConfig;
}

/** Returns the names of the strategies in the catalogue, which are the files of `strategies/`. */
export function catalogueNames(): string[] {
  return readdirSync(join(PROJECT_DIR, 'strategies')).filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length)).filter((name) => !APART.has(name)).sort();
}

/** Returns the configuration that shows a strategy: its own of the catalogue, or the one of the same name above. */
export function yamlOf(name: string): string {
  const own = `config/strategies/${name}.yaml`;
  return existsSync(join(PROJECT_DIR, own)) ? own : `config/${name}.yaml`;
}

/** Returns the entry of a strategy. Throws where its configuration is missing or has a fault. */
export async function catalogueEntry(name: string): Promise<CatalogueEntry> {
  const yaml = yamlOf(name);
  const loaded = await loadConfig({
    file: yaml, workingDir: PROJECT_DIR, environment: {}, purpose: 'research', ...GENESIS,
  });
  if (!loaded.ok) throw new Error(loaded.issues.map(formatIssue).join('\n'));
  const own = loaded.config.strategies[0];
  if (own?.use !== name) throw new Error(`${yaml}: expected the strategy ${name} first, got ${own?.use}`);
  return { name, file: `strategies/${name}.ts`, yaml, config: loaded.config, own };
}

/** A market of the sandbox. */
export interface GeneratedMarket {
  readonly market: PriceMotion;
  readonly seed: number;
  readonly days: number;
}

/** The begin of generated markets. */
export const GENERATED_START: Millis = Date.UTC(2026, 0, 1);

/** Returns what configurations watch in a generated market, in the order of time. */
export async function generatedEvents(
  configs: readonly RunConfig[], { market, seed, days }: GeneratedMarket,
): Promise<readonly MarketEvent[]> {
  const specs = new Map<string, FeedSpec>();
  for (const spec of configs.flatMap(watchedSpecs)) {
    const key = feedKey(spec);
    const known = specs.get(key);
    if (known === undefined || spec.everyMs < known.everyMs) specs.set(key, spec);
  }
  const events: MarketEvent[] = [];
  for await (const event of watchedMarket({
    specs: [...specs.values()], seed, startAt: GENERATED_START, days, motion: market, unanswered: new Set(),
    interrupt: new AbortController().signal,
  })) events.push(event);
  return events;
}
