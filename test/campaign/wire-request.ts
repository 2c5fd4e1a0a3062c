import type { Json } from '../../src/core/json.ts';
import type { Choose } from './choose.ts';
import { garbledJson, HOSTILE_TEXTS, hostileValue, mutateText, mutateValue } from './mutation.ts';
import type { ServiceRequest } from './service-requests.ts';
import type { FuzzFixture } from './fuzz-fixture.ts';

/** A request as an HTTP client sends it. */
export interface WireRequest {
  readonly method: string;
  /** With its query, encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'] as const;
const CONTENT_TYPES = [
  'text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream', 'application/json; charset=latin1',
  'application/json;;', 'x', 'multipart/form-data; boundary=x',
];

/** What any endpoint takes as a parameter, in neutral words. */
const PARAMETERS = [
  'inputMint', 'outputMint', 'amount', 'taker', 'receiver', 'swapMode', 'slippageBps', 'referralAccount', 'referralFee',
  'payer', 'priorityFeeLamports', 'bundleTipLamports', 'broadcastFeeType',
  'excludeRouters', 'excludeDexes', 'mode', 'dexes', 'platformFeeBps', 'feeAccount', 'maxAccounts', 'wrapAndUnwrapSol',
  'destinationTokenAccount', 'nativeDestinationAccount', 'blockhashSlotsToExpiry',
  'restrictIntermediateTokens', 'onlyDirectRoutes', 'asLegacyTransaction', 'instructionVersion', 'dynamicSlippage',
  'forBundle', 'query', 'limit', 'page', 'mints', 'mint', 'start', 'end', 'ownerPubkey',
  'userPubkey', 'id', 'positionPubkey', 'isYes', 'marketId', 'provider', 'includeMarkets', 'user', 'positions',
  'binaryKey', 'userPublicKey',
] as const;

/** Returns a value that some parameter would take; perhaps this one. */
function plausible(choose: Choose, fixture: FuzzFixture): string {
  return choose.pick([
    choose.pick(fixture.mints), choose.pick(fixture.owners), fixture.wallet.address, choose.pick(fixture.labels),
    choose.pick(fixture.positions), choose.pick(fixture.markets), String(choose.integer(0, 300)),
    String(choose.integer(1, 100_000_000)), '18446744073709551615', 'true', 'false', 'ExactIn', 'ExactOut', 'V2',
    'fast', 'maxCap', fixture.dialect.toWire.router('rfqz'), 'provider_a', fixture.labels.join(','),
    fixture.mints.join(','),
  ]);
}

/** Returns a request as it goes over the wire, in the words of the sandbox's dialect. */
export function wireRequest({ method, path, query, body }: ServiceRequest, fixture: FuzzFixture): WireRequest {
  const { toWire } = fixture.dialect;
  const isControl = path.startsWith('/sandbox/');
  const parameters = query.map(([name, value]) =>
    `${encodeURIComponent(toWire.queryName(name))}=${encodeURIComponent(toWire.queryValue(name, value))}`);
  return {
    method,
    target: `${toWire.path(path)}${parameters.length === 0 ? '' : `?${parameters.join('&')}`}`,
    headers: { 'x-api-key': fixture.key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(isControl ? body : toWire.json(body as Json)),
  };
}

/** Returns the same request with one to three things about it spoiled. */
export function spoil(choose: Choose, request: ServiceRequest, fixture: FuzzFixture): WireRequest {
  let wire = wireRequest(request, fixture);
  for (let times = choose.integer(1, 3); times > 0; times--)
    wire = spoilOnce(choose, wire, { body: request.body, fixture });
  return wire;
}

function spoilOnce(
  choose: Choose, wire: WireRequest, { body, fixture }: { body: unknown; fixture: FuzzFixture },
): WireRequest {
  // What there is to spoil decides where most of the effort goes.
  if (body !== undefined && choose.chance(0.7)) {
    return {
      ...wire, body: choose.chance(0.3) ? garbledJson(choose, body) : (JSON.stringify(mutateValue(choose, body)) ?? ''),
    };
  }
  if (body === undefined && choose.chance(0.7)) return { ...wire, target: spoilQuery(choose, wire.target, fixture) };
  switch (choose.integer(0, 5)) {
    case 0: return { ...wire, method: choose.pick(METHODS) };
    case 1: return { ...wire, target: spoilPath(choose, wire.target) };
    case 2: return { ...wire, headers: spoilHeaders(choose, wire.headers) };
    case 3: return {
      ...wire, body: garbledJson(choose, body ?? {}), headers: { ...wire.headers, 'content-type': 'application/json' },
    };
    case 4: return {
      ...wire, headers: { ...wire.headers, 'content-type': choose.pick(CONTENT_TYPES) }, body: wire.body ?? '{}',
    };
    default: return { ...wire, target: spoilQuery(choose, wire.target, fixture) };
  }
}

function spoilQuery(choose: Choose, target: string, fixture: FuzzFixture): string {
  const [path = '', search = ''] = target.split('?', 2);
  const pairs = search === '' ? [] : search.split('&');
  const at = choose.integer(0, Math.max(0, pairs.length - 1));
  const name = pairs[at]?.split('=', 1)[0] ?? 'query';
  const hostile = encodeURIComponent(wellFormed(choose.pick(HOSTILE_TEXTS)));
  const other =
    `${fixture.dialect.toWire.queryName(choose.pick(PARAMETERS))}=${encodeURIComponent(plausible(choose, fixture))}`;
  switch (choose.integer(0, 11)) {
    case 8: case 9: case 10: pairs.push(other); break;
    case 11: pairs[at] = `${name}=${encodeURIComponent(plausible(choose, fixture))}`; break;
    case 0: pairs.splice(at, 1); break;
    case 1: pairs.push(pairs[at] ?? 'query=x'); break;
    case 2: pairs[at] = name; break;
    case 3: pairs[at] = `${name}[]=${hostile}`; break;
    case 4: pairs[at] = `${name}=${choose.pick(['%', '%zz', '%ff', '%00', '%C3%28', '+', '%2b', 'a%0d%0ab'])}`; break;
    case 5: pairs.push(`${hostile}=${hostile}`); break;
    case 6: {
      const value = new URLSearchParams(pairs[at] ?? '').get(decodedName(name)) ?? '';
      pairs[at] = `${name}=${encodeURIComponent(wellFormed(mutateText(choose, value)))}`;
      break;
    }
    default: pairs[at] = `${name}=${hostile}`; break;
  }
  return `${path}?${pairs.join('&')}`;
}

function spoilPath(choose: Choose, target: string): string {
  const [path = '', search] = target.split('?', 2);
  const segments = path.split('/');
  const at = choose.integer(1, segments.length - 1);
  segments[at] = choose.pick([
    '', '..', '%2e%2e', `${segments[at]}%00`, `${segments[at]}/`, segments[at]!.toUpperCase(), '%zz', '%ff',
    encodeURIComponent(wellFormed(choose.pick(HOSTILE_TEXTS))).slice(0, 3_000), `${segments[at]};a=b`, ':x', '*',
  ]);
  return `${segments.join('/') || '/'}${search === undefined ? '' : `?${search}`}`;
}

function spoilHeaders(choose: Choose, headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { 'x-api-key': _key, ...rest } = headers;
  return choose.pick([
    rest, { ...rest, 'x-api-key': '' }, { ...rest, 'x-api-key': 'x'.repeat(4_000) },
    { ...headers, 'accept-encoding': 'br;q=9' }, { ...headers, origin: 'null', cookie: 'a=b' },
    { ...headers, 'x-forwarded-for': '1.2.3.4', 'x-http-method-override': 'DELETE' },
    { ...headers, ...Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`x-${i}`, 'y'])) },
    { ...headers, 'x-binary-key': JSON.stringify(hostileValue(choose)).replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 100) },
  ]);
}

function decodedName(name: string): string {
  return [...new URLSearchParams(name).keys()][0] ?? '';
}

/** URLs hold no half of a surrogate pair. */
function wellFormed(text: string): string {
  return text.toWellFormed();
}
