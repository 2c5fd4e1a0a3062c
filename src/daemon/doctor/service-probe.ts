import type { ConnectionSettings } from '../../config/resolve-config.ts';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import { shortDuration } from '../../core/time.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { TokenRecord } from '../../market/token-record.ts';
import type { Mint } from '../../market/token.ts';
import { createService } from '../../service/service.ts';
import { loadDialect } from '../../service/wire/dialect.ts';
import { GROSS_MS, NOTICEABLE_MS } from '../watch/system-clock.ts';
import type { Check } from './check.ts';
import { checksOf, within } from './check.ts';

/** What the service answered to the one request that the doctor sends. */
export interface ServiceProbe {
  /** Undefined where it did not answer with token records. */
  readonly records: readonly TokenRecord[] | undefined;
  readonly fault: GannetError | undefined;
  /** How far its clock is ahead; undefined while unknown. */
  readonly clockAheadMs: Millis | undefined;
}

const TIMEOUTS = { connectMs: 3_000, headersMs: 5_000, bodyMs: 5_000, totalMs: 6_000 };
const ANSWER_WITHIN_MS = 6_500;

/** Asks a real service for the records of mints, once: a running daemon needs the rest of the request rate. */
export async function probeService(
  { service }: ConnectionSettings, mints: readonly Mint[], clock: Clock,
): Promise<ServiceProbe> {
  const { baseUrl, apiKey, dialect, plan } = service;
  let client: ReturnType<typeof createService> | undefined;
  try {
    client = createService({ baseUrl, apiKey, dialect: loadDialect(dialect), plan, clock, timeouts: TIMEOUTS });
    const { records } = await within(client.tokens.search(mints), ANSWER_WITHIN_MS, () => {
      throw new GannetError('SERVICE_TIMEOUT', 'the service did not answer in time');
    });
    return { records, fault: undefined, clockAheadMs: client.clockAheadMs() };
  } catch (error) {
    const fault = isGannetError(error) ? error : new GannetError('SERVICE_UNREACHABLE', messageOf(error));
    return { records: undefined, fault, clockAheadMs: client?.clockAheadMs() };
  } finally {
    await client?.close();
  }
}

const { ok, warning, fault } = checksOf('service');

/** Returns what is to be said about the service, its key and its clock. */
export function serviceChecks({ service }: ConnectionSettings, probe: ServiceProbe | undefined): Check[] {
  if (service.baseUrl === 'embedded') return [ok('service', 'the embedded service, which each run starts itself')];
  if (probe === undefined) return [ok('service', `${service.baseUrl}, not asked`)];
  return [...answerChecks(service.baseUrl, probe), ...clockChecks(probe.clockAheadMs)];
}

function answerChecks(baseUrl: string, { fault: found }: ServiceProbe): Check[] {
  const reached = ok('service', `${baseUrl} answers`);
  if (found === undefined) return [reached, ok('api-key', 'the service accepts the API key')];
  const { code, message } = found;
  if (code === 'SERVICE_UNAUTHORIZED') {
    return [reached, fault('api-key', `the service refuses the API key: ${message}`,
      'write the key of its portal into .env as GANNET_API_KEY=…, and "chmod 600 .env"')];
  }
  if (code === 'SERVICE_FORBIDDEN') {
    return [reached, fault('api-key', `the service refuses your region, address or key: ${message}`,
      'check the permissions of the key in its portal, and from which address this machine reaches the service')];
  }
  if (code === 'SERVICE_RATE_LIMITED') {
    return [warning('service', `${baseUrl} answers that the request rate is used up`,
      'wait a minute; where it stays so, set service.plan to the plan of the key, or use a key for Gannet alone')];
  }
  return [code === 'SERVICE_UNREACHABLE' || code === 'SERVICE_TIMEOUT'
    ? fault('service', `${baseUrl} does not answer: ${message}`,
      `check service.base_url and the network with "curl -sSI ${baseUrl}"`)
    : fault('service', `${baseUrl} has trouble: ${message}`,
      'check service.base_url and service.dialect; else wait, a running daemon asks again by itself')];
}

function clockChecks(aheadMs: Millis | undefined): Check[] {
  if (aheadMs === undefined) return [];
  const off = Math.abs(aheadMs);
  if (off < NOTICEABLE_MS) return [ok('clock', 'the clock of this machine agrees with the service’s')];
  const side = aheadMs > 0 ? 'behind' : 'ahead of';
  const text = `the clock of this machine is ${shortDuration(off)} ${side} the service’s`;
  const fix = 'set the clock with "timedatectl set-ntp true", then start the daemon again';
  return [off >= GROSS_MS ? fault('clock', text, fix) : warning('clock', text, fix)];
}

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'] as const;

/** Returns what is to be said about a proxy that the environment names: no connection of Gannet uses one. */
export function proxyChecks(
  environment: Readonly<Record<string, string | undefined>>, { isUnreached }: { readonly isUnreached: boolean },
): Check[] {
  const named = PROXIES.find((name) => (environment[name] ?? '') !== '');
  if (named === undefined) return [];
  const text = `${named} is set, and Gannet uses no proxy: it connects directly`;
  return [isUnreached
    ? fault('proxy', `${text}, and that is not possible here`,
      `allow direct connections to service.base_url and chain.rpc_url, or name a tunnel there; unset ${named}`)
    : warning('proxy', text, `unset ${named}, or leave it: it changes nothing`)];
}
