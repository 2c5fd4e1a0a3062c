import { isGannetError } from '../../core/errors.ts';
import { parseDuration } from '../../core/time.ts';
import type { PriceGuardLimits } from './price-guard.ts';
import { QUOTE_PATH, type QuoteWords } from './quote-client.ts';
import { inside, invalid, memberOf, membersOf, textOf, wholeOf, yamlRoot, type YamlPlace } from '../yaml-reading.ts';

/** The configuration of the price guard, by the signer's own reading. */
export interface PriceGuardSettings extends PriceGuardLimits {
  /** The swap service; undefined where it is the embedded one. May hold a secret: never shown. */
  readonly serviceUrl: string | undefined;
  /** Secret. */
  readonly apiKey: string | undefined;
  readonly words: QuoteWords;
}

/** The usual limits of the section "risk", from which those of the guard follow. */
const USUAL_SLIPPAGE_BPS = 50;
const USUAL_IMPACT_BPS = 100;
const MAX_DEVIATION_BPS = 5_000;
const USUAL_TTL_MS = 5_000;
const MAX_TTL_MS = 60_000;
const USUAL_QUOTES_PER_MINUTE = 60;
/** The embedded service accepts any key, and has no plan. */
const EMBEDDED_KEY = 'embedded-service';
const EMBEDDED_QUOTES_PER_MINUTE = 60_000;
const KEYS = ['max_deviation_bps', 'quote_ttl', 'max_quotes_per_minute'];
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * Returns the settings of the guard. Without settings of its own, a swap may be as much worse than the quote as
 * slippage and price impact together may make it. Throws CONFIG_INVALID.
 */
export function readPriceGuard(
  { service, risk, guard }: {
    readonly service: YamlPlace | undefined; readonly risk: YamlPlace | undefined;
    readonly guard: YamlPlace | undefined;
  },
  { environment, dialect }: {
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly dialect: { readonly file: string; readonly text: string };
  },
): PriceGuardSettings {
  membersOf(guard, KEYS);
  const serviceUrl = readServiceUrl(inside(service, 'base_url'));
  const usual = wholeIn(risk, 'max_slippage_bps', { min: 0, max: 10_000, usual: USUAL_SLIPPAGE_BPS })
    + wholeIn(risk, 'max_price_impact_bps', { min: 0, max: 10_000, usual: USUAL_IMPACT_BPS });
  return {
    serviceUrl, apiKey: readApiKey(service, { environment, isEmbedded: serviceUrl === undefined }),
    words: readWords(dialect),
    maxDeviationBps: wholeIn(guard, 'max_deviation_bps', {
      min: 1, max: MAX_DEVIATION_BPS, usual: Math.min(Math.max(usual, 1), MAX_DEVIATION_BPS),
    }),
    quoteTtlMs: readTtl(inside(guard, 'quote_ttl')),
    maxQuotesPerMinute: wholeIn(guard, 'max_quotes_per_minute', {
      min: 1, max: EMBEDDED_QUOTES_PER_MINUTE,
      usual: serviceUrl === undefined ? EMBEDDED_QUOTES_PER_MINUTE : USUAL_QUOTES_PER_MINUTE,
    }),
  };
}

/** Without the address in its messages: its path may hold a key. */
function readServiceUrl(place: YamlPlace | undefined): string | undefined {
  const text = textOf(place);
  if (place === undefined || text === undefined || text === 'embedded') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPrivate = url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url.hostname));
  if (url === undefined || !isPrivate || url.username !== '' || url.password !== '' || url.search !== '')
    throw invalid(place, 'expected "embedded" or an https:// address without credentials or query (http:// on this '
      + 'machine only)');
  return text;
}

function isThisMachine(host: string): boolean {
  return LOOPBACK.has(host) || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** As the daemon finds it: the named one, else that of the environment, unless the plan has none. */
function readApiKey(
  service: YamlPlace | undefined,
  { environment, isEmbedded }: {
    readonly environment: Readonly<Record<string, string | undefined>>; readonly isEmbedded: boolean;
  },
): string | undefined {
  if (isEmbedded) return EMBEDDED_KEY;
  const named = inside(service, 'api_key');
  if (named !== undefined) return textOf(named) || undefined;
  if (textOf(inside(service, 'plan')) === 'keyless') return undefined;
  return environment['GANNET_API_KEY'] || undefined;
}

function readTtl(place: YamlPlace | undefined): number {
  const text = textOf(place);
  if (place === undefined || text === undefined) return USUAL_TTL_MS;
  const expected = `expected a duration of at most ${MAX_TTL_MS / 1_000}s, such as "5s"`;
  try {
    const ttlMs = parseDuration(text);
    if (ttlMs > MAX_TTL_MS) throw invalid(place, expected);
    return ttlMs;
  } catch (error) {
    if (isGannetError(error) && error.code === 'DURATION_INVALID') throw invalid(place, expected);
    throw error;
  }
}

function wholeIn(place: YamlPlace | undefined, key: string, { min, max, usual }: {
  readonly min: number; readonly max: number; readonly usual: number;
}): number {
  const found = inside(place, key);
  return found === undefined ? usual : wholeOf(found, { min, max });
}

/** The words of a dialect that a quote needs. */
function readWords({ file, text }: { readonly file: string; readonly text: string }): QuoteWords {
  const root = yamlRoot(file, text);
  const section = (name: string): ReadonlyMap<string, string> =>
    new Map(membersOf(memberOf(root, name)).map(([neutral, word]) => [neutral, textOf(word) ?? neutral]));
  const beginning = [...section('paths')]
    .filter(([neutral]) => QUOTE_PATH === neutral || QUOTE_PATH.startsWith(`${neutral}/`))
    .sort(([one], [other]) => other.length - one.length)[0];
  const path = beginning === undefined ? QUOTE_PATH : `${beginning[1]}${QUOTE_PATH.slice(beginning[0].length)}`;
  return {
    path, query: section('query'), fields: section('fields'),
    requestIdHeader: textOf(memberOf(root, 'request_id_header')),
  };
}
