import { isGannetError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { stringifyJson } from '../core/json.ts';
import type { Clock } from '../core/time.ts';
import type { Access, AccessCaller } from './access.ts';
import { groupOf } from './access.ts';
import { withRequestId } from './http-error.ts';
import type { GovernorStats } from './rate/rate-governor.ts';
import { RateGovernor } from './rate/rate-governor.ts';
import type { WatchPace } from './rate/back-off.ts';
import type { StoredBucket } from './rate/rate-memory.ts';
import type { Bucket, CallOptions, Priority, RatePlan } from './rate/rate-plan.ts';
import { bucketLimits } from './rate/rate-plan.ts';
import type { LimitedAnswer } from './rate/request-queue.ts';
import type { HttpAnswer, HttpRequest, Transport } from './transport.ts';
import { MAX_CONNECTIONS } from './transport.ts';
import type { Dialect, Vocabulary } from './wire/dialect.ts';
import type { ReportUnread } from './wire/read.ts';

/** Query parameters in neutral words; what is undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** What came with an answer, for the reader of its JSON. */
interface AnswerContext {
  /** The JSON exactly as it came. */
  readonly raw: RawJson;
  /** The id that the host gave to the request, safe to print. */
  readonly requestId: string | undefined;
  readonly unread: ReportUnread;
}

/** Reads the JSON of an answer, in neutral words. */
export type ReadAnswer<T> = (json: Json, context: AnswerContext) => T;

export interface GetRequest<T> {
  /** In neutral words, from the root of the service, already encoded. */
  readonly path: string;
  readonly query?: Query | undefined;
  /**
   * Whether identical requests in flight may share one answer. Never where the answer is acted on:
   * two swaps that shared one order would sign the same transaction and both believe it theirs.
   */
  readonly shareable: boolean;
  /** The most bytes its answer may have; the transport's own limit by default. */
  readonly maxBodyBytes?: number | undefined;
  readonly read: ReadAnswer<T>;
}

/** A JSON document exactly as it came, which can be sent back so. */
export interface RawJson {
  readonly rawJson: string;
}

/**
 * A body: neutral words that the dialect translates, or members that are sent as they are, each a value or a document
 * as it came.
 */
export type Body = Json | { readonly members: Readonly<Record<string, Json | RawJson>> };

interface PostRequest<T, Sent = Body> {
  readonly path: string;
  readonly body: Sent;
  readonly read: ReadAnswer<T>;
}

/**
 * Carries the requests of every API group: within the rate, translated by the dialect, through the transport. Returns
 * what is read in their answers; the fault of each names the request by the host's id.
 */
export interface Gateway {
  get<T>(request: GetRequest<T>, call?: CallOptions): Promise<T>;
  /** Posts within the main bucket. */
  post<T>(request: PostRequest<T>, call?: CallOptions): Promise<T>;
  /** Posts to `/execute`'s own bucket. */
  execute<T>(request: PostRequest<T, Json>, call?: Pick<CallOptions, 'signal'>): Promise<T>;
  /**
   * Takes the turn of a request of the main bucket that another process sends with the same key. Resolves when it may
   * leave, and counts it. Rejects as a request does that waited too long.
   */
  takeTurn(priority: Priority): Promise<void>;
  /** How fast polls may go now. */
  watchPace(): WatchPace;
  stats(): Readonly<Record<Bucket, GovernorStats>>;
  close(): Promise<void>;
}

interface GatewayOptions {
  readonly transport: Transport;
  readonly dialect: Dialect;
  readonly plan: RatePlan;
  readonly clock: Clock;
  readonly access: Access;
  /** The stored state of the rate of each bucket. */
  readonly stored?: ((bucket: Bucket) => StoredBucket) | undefined;
  /** Takes the name of each optional member that could not be read, once: `order, routePlan.percent`. */
  readonly onUnread?: ((member: string) => void) | undefined;
}

/** Returns the gateway of one service and one key. */
export function createGateway(options: GatewayOptions): Gateway {
  const { transport, access, onUnread } = options;
  const { toWire, fromWire } = options.dialect;
  const governors: Readonly<Record<Bucket, RateGovernor>> =
    { main: openGovernor('main', options), execute: openGovernor('execute', options) };

  const known = new Set<string>();
  const unread: ReportUnread = (member, what) => {
    const name = `${what}, ${member}`;
    if (known.has(name)) return;
    known.add(name);
    onUnread?.(name);
  };

  async function run<T>(
    request: HttpRequest, read: ReadAnswer<T>, call: CallOptions & { readonly coalesceKey?: string | undefined },
  ): Promise<T> {
    const { priority = 'entry' } = call;
    const caller = { priority, group: groupOf(request.path) };
    // Before it queues, so that a request that would not be sent takes no turn; and again when it leaves.
    access.check(caller);
    const { json, text, requestId } = await governors[request.bucket].run({
      ...call, send: (signal) => sendThrough(access, caller, () => transport.send(request, signal)),
    });
    try {
      return read(fromWire.json(json), { raw: { rawJson: text }, requestId, unread });
    } catch (thrown) {
      throw isGannetError(thrown) ? withRequestId(thrown, requestId) : thrown;
    }
  }

  function post<T>(bucket: Bucket, { path, body, read }: PostRequest<T>, call: CallOptions): Promise<T> {
    return run({ bucket, method: 'POST', path: toWire.path(path), body: bodyText(body, toWire) }, read, call);
  }

  return {
    get({ path, query, shareable, maxBodyBytes, read }, call = {}) {
      const wirePath = toWire.path(path);
      const parameters = wireQuery(query, toWire);
      const coalesceKey = shareable ? `${wirePath}?${parameters.toString()}` : undefined;
      return run({ bucket: 'main', method: 'GET', path: wirePath, query: parameters, maxBodyBytes }, read,
        { ...call, coalesceKey });
    },
    post: (request, call = {}) => post('main', request, call),
    execute: (request, call = {}) => post('execute', request, { ...call, priority: 'execute' }),
    takeTurn: (priority) =>
      governors.main.run({ priority, isElsewhere: true, send: () => Promise.resolve({ value: undefined }) }),
    watchPace: () => governors.main.watchPace(),
    stats: () => ({ main: governors.main.stats(), execute: governors.execute.stats() }),
    async close() {
      governors.main.close();
      governors.execute.close();
      access.close();
      await transport.close();
    },
  };
}

function openGovernor(bucket: Bucket, { plan, clock, stored }: GatewayOptions): RateGovernor {
  return new RateGovernor({
    limits: bucketLimits(plan, bucket), clock, maxInFlight: MAX_CONNECTIONS[bucket], memory: stored?.(bucket),
  });
}

/** Sends a request, and reports to the gate what its answer says of the key and the service. */
async function sendThrough(
  access: Access, caller: AccessCaller, send: () => Promise<HttpAnswer>,
): Promise<LimitedAnswer<Omit<HttpAnswer, 'limits'>>> {
  const report = access.enter(caller);
  try {
    const { limits, ...value } = await send();
    report.answered();
    return { value, limits };
  } catch (thrown) {
    report.failed(thrown);
    throw thrown;
  }
}

function wireQuery(query: Query = {}, words: Vocabulary): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.append(words.queryName(name), words.queryValue(name, String(value)));
  }
  return parameters;
}

/** Returns a body as JSON; what came from the service and goes back to it passes untouched, digit by digit. */
function bodyText(body: Body, words: Vocabulary): string {
  if (!hasMembers(body)) return stringifyJson(words.json(body));
  const members = Object.entries(body.members).map(([name, value]) =>
    (isRaw(value) ? `${JSON.stringify(name)}:${value.rawJson}`
      : stringifyJson(words.json({ [name]: value })).slice(1, -1)));
  return `{${members.join(',')}}`;
}

function hasMembers(body: Body): body is Extract<Body, { readonly members: unknown }> {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && 'members' in body;
}

function isRaw(value: Json | RawJson): value is RawJson {
  return typeof value === 'object' && value !== null && 'rawJson' in value;
}
