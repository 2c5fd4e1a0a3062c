import { createServer as createPlainServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server as TlsServer } from 'node:https';
import type { FastifyInstance } from 'fastify';
import { fastify } from 'fastify';
import type { ControlConfig } from '../../config/run-config.ts';
import { AssertionError } from '../../core/assert.ts';
import { GannetError, isNoRoom, messageOf } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import type { Clock } from '../../core/time.ts';
import type { PageStarting } from '../../dashboard/page-state.ts';
import { pageAssets } from '../../dashboard/page-assets.ts';
import { EventStreams } from '../page/event-streams.ts';
import { addAssets } from '../page/page-assets.ts';
import { addPage } from '../page/page-routes.ts';
import type { RunStory } from '../page/run-story.ts';
import { addSessions } from '../page/session-routes.ts';
import { PageSessions } from '../page/sessions.ts';
import type { ControlFile } from './control-file.ts';
import { loginLink, removeControlFiles, writeControlFiles } from './control-file.ts';
import { ownNames } from './own-names.ts';
import { readTls, reloadTls, TLS_VERSION_MIN } from './tls-files.ts';
import { Connections } from './connections.ts';
import { guard } from './control-guard.ts';
import { addViews } from './read-routes.ts';
import { addManualOrders } from '../manual/manual-routes.ts';
import { addCommands } from './command-routes.ts';
import type { SignalIntake } from './signals.ts';
import { addSignals } from './signals.ts';
import { addMetrics } from '../metrics/metrics-routes.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import type { ControlledRun } from './control-port.ts';
import type { ControlTokens } from './control-tokens.ts';
import type { Log } from '../reporting/log.ts';
import { logPath } from '../reporting/log.ts';

/** More than any command needs. */
const BODY_MAX_BYTES = 16 * 1024;
/** Enough for a token, a content type and the usual headers of clients. */
const HEADERS_MAX_BYTES = 8 * 1024;
const HEADERS_MAX_MS = 5_000;
const REQUEST_MAX_MS = 10_000;
const CHECK_EVERY_MS = 1_000;
/** A connection without a request keeps its place no longer than this. */
const IDLE_MAX_MS = 5_000;

/** Of every answer: the page may load nothing but its own files, and no other page may use an answer. */
const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    + "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'cache-control': 'no-store',
} as const;

/** The running control API. */
export interface ControlApi {
  readonly url: string;
  /** The configured port where it was in use and another one was taken. */
  readonly portTaken: number | undefined;
  /** Returns a link that opens the page and logs an operator in, once. */
  readonly loginLink: () => string;
  readonly close: () => Promise<void>;
}

/**
 * Serves the page and the daemon's state on the loopback address, and takes the operator's commands. Every path but
 * those for health, the files of the page and its login needs a token or a session; that of a viewer only reads.
 * Requests that a foreign web page could make (by Host or Origin) are refused first. Throws CONTROL_PORT_TAKEN.
 */
export async function startControlApi(options: ControlledRun & Omit<ControlConfig, 'enabled'> & {
  readonly stateDir: string;
  readonly tokens: ControlTokens;
  /** Undefined where other programs may send no signals. */
  readonly signals?: SignalIntake | undefined;
  /** What has happened, for the page. */
  readonly story: RunStory;
  readonly metrics: RunMetrics;
  readonly clock: Clock;
  readonly log: Log;
}): Promise<ControlApi> {
  const { clock, story, runId, controlPort, stateDir, tls, log } = options;
  const material = tls === undefined ? undefined : readTls(tls);
  const app = fastify({
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    bodyLimit: BODY_MAX_BYTES, logger: false,
    trustProxy: options.trustedProxies.length === 0 ? false : [...options.trustedProxies],
    serverFactory: (handler) => createServer(handler, material),
  });
  const connections = new Connections(app.server);
  app.addHook('onResponse', async ({ socket }) => { connections.answered(socket); });
  app.addHook('onRequest', async (_request, reply) => { reply.headers(SECURITY_HEADERS); });
  const sessions = new PageSessions(options);
  const assets = pageAssets();
  const guarded = guard(app, {
    ...options, sessions,
    names: ownNames({ ...options, isTls: tls !== undefined }),
    isPageFile: (path) => assets.has(path),
    onAdmitted: ({ socket }, role) => { connections.admit(socket, role); },
    onOperator: (origin) => { controlPort()?.reportPresence(origin); },
    onFlood: () => { reportFlood(options); },
  });
  app.setReplySerializer((payload) => stringifyJson(payload));
  const starting: Omit<PageStarting, 'role' | 'at'> = { run_id: runId, phase: 'starting' };
  const streams = new EventStreams({
    clock, runId, story, read: () => controlPort()?.page.state() ?? starting, keep: (login) => sessions.keep(login),
    onFault: (error) => { options.log('error', 'the state for the page cannot be read', { error }); },
  });
  addAssets(app, assets);
  addSessions(app, { ...options, sessions, guard: guarded, onEnd: (login) => { streams.endOf(login); } });
  addMetrics(app, options);
  addViews(app, options);
  addPage(app, { controlPort, story, streams, guard: guarded, logFile: logPath({ stateDir, name: runId }) });
  addCommands(app, options);
  addManualOrders(app, options);
  if (options.signals !== undefined) addSignals(app, options.signals, guarded.refuse);
  const { url: listening, portTaken } = await listen(app, options);
  const url = tls === undefined ? listening : listening.replace('http:', 'https:');
  logFaults(app, log);
  let placing = placeControlFiles(options, { url, fingerprint: material?.fingerprint });
  const renewing = tls === undefined ? undefined : reloadTls(app.server as TlsServer, tls, {
    clock, log, onRenewed: (fingerprint) => {
      clearInterval(placing);
      placing = placeControlFiles(options, { url, fingerprint });
    },
  });
  const pageUrl = options.publicUrl ?? url;
  return {
    url,
    portTaken,
    loginLink: () => loginLink(pageUrl, sessions.makeCode('operator')),
    close: async () => {
      renewing?.unsubscribe();
      clearInterval(placing);
      removeControlFiles(stateDir);
      streams.close();
      await app.close();
    },
  };
}

/** No route has a schema. Without this, fastify loads a hundred modules to compile them. */
function noSchemas(): never {
  throw new AssertionError('a route of the control API has a schema');
}

/**
 * Returns the server, with TLS where there is a certificate. What a client says about the host that a proxy was asked
 * for is removed: the Host that the proxy sends decides.
 */
function createServer(handler: RequestListener, material: Parameters<typeof createTlsServer>[0] | undefined): Server {
  const options = {
    maxHeaderSize: HEADERS_MAX_BYTES, headersTimeout: HEADERS_MAX_MS, connectionsCheckingInterval: CHECK_EVERY_MS,
    requestTimeout: REQUEST_MAX_MS, keepAliveTimeout: IDLE_MAX_MS,
  };
  const listener: RequestListener = (request, response) => {
    delete request.headers['x-forwarded-host'];
    delete request.headers['x-forwarded-proto'];
    handler(request, response);
  };
  if (material === undefined) return createPlainServer(options, listener);
  return createTlsServer({
    ...options, ...material, minVersion: TLS_VERSION_MIN, handshakeTimeout: HEADERS_MAX_MS,
  }, listener);
}

/** Once it listens, a fault of its socket, such as a connection that cannot be taken, must not end the run. */
function logFaults(app: FastifyInstance, log: Log): void {
  let isKnown = false;
  app.server.on('error', (error) => {
    if (!isKnown) log('error', `the control API could not take a connection: ${messageOf(error)}`, { error });
    isKnown = true;
  });
}

const PLACE_AGAIN_MS = 5_000;

const FLOOD = 'the control API got many requests with a wrong or missing token. It answers them slowly now, and serves '
  + 'right tokens as before';

function reportFlood({ log, controlPort }: Pick<ControlledRun, 'controlPort'> & { readonly log: Log }): void {
  log('warn', FLOOD);
  controlPort()?.alert({ kind: 'alert', level: 'warning', message: FLOOD, data: { code: 'CONTROL_UNAUTHORIZED' } });
}

/**
 * Writes the control files. A daemon must start on a full disk too, so the returned timer tries again until there is
 * room.
 */
function placeControlFiles(
  { stateDir, log, tokens, runId }: {
    readonly stateDir: string; readonly log: Log; readonly tokens: ControlTokens; readonly runId: string;
  }, place: Pick<ControlFile, 'url' | 'fingerprint'>,
): ReturnType<typeof setInterval> | undefined {
  const placed = (): boolean => {
    try {
      writeControlFiles(stateDir, { ...place, tokens, pid: process.pid, run_id: runId });
      return true;
    } catch (error) {
      if (!isNoRoom(error)) throw error;
      // Those of an earlier run lead nowhere.
      removeControlFiles(stateDir);
      return false;
    }
  };
  if (placed()) return undefined;
  log('error', 'the disk has no room for the control file: commands do not find this daemon until it does');
  const again = setInterval(() => { if (placed()) clearInterval(again); }, PLACE_AGAIN_MS);
  again.unref();
  return again;
}

/** How many ports are tried after the one that is in use. */
const FURTHER_PORTS = 100;
const LAST_PORT = 65_535;

async function listen(
  app: FastifyInstance,
  { host, port, isPortGiven }: { readonly host: string; readonly port: number; readonly isPortGiven: boolean },
): Promise<{ readonly url: string; readonly portTaken: number | undefined }> {
  const last = isPortGiven || port === 0 ? port : Math.min(LAST_PORT, port + FURTHER_PORTS);
  for (let tried = port; ; tried++) {
    try {
      return { url: await app.listen({ host, port: tried }), portTaken: tried === port ? undefined : port };
    } catch (cause) {
      if (isInUse(cause) && tried < last) continue;
      const ports = tried === port ? `${host}:${port}` : `${host}, ports ${port} to ${tried}`;
      throw new GannetError(
        'CONTROL_PORT_TAKEN',
        `the control API cannot listen on ${ports}: ${messageOf(cause)}; set control.port to a free port`, { cause },
      );
    }
  }
}

function isInUse(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
}
