import { randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { Subject } from 'rxjs';
import { signalsTokenFaults } from '../../config/resolve-connections.ts';
import type { SignalsConfig } from '../../config/run-config.ts';
import { documentOf } from '../../core/document.ts';
import { GannetError, isNoRoom, messageOf } from '../../core/errors.ts';
import { SIGNALS_TOKEN, weaknessOf } from '../../core/secret-strength.ts';
import type { Clock, Millis } from '../../core/time.ts';
import { feedKey } from '../../market/feed.ts';
import type { SignalBody, SignalEvent } from '../../market/signal.ts';
import { signalBodyFault } from '../../market/signal.ts';
import { appendCompletely } from '../../recording/files/durable-write.ts';
import type { RefuseToken } from './control-guard.ts';
import { fault, isSignalsHeader, SIGNALS_ROUTE, stillStarting } from './control-guard.ts';
import { digestOf } from './control-tokens.ts';

/** The largest body of a signal. */
const BODY_MAX_BYTES = 8 * 1024;
/** So many signals may come at once, and so many a second after that. */
const BURST = 20;
const PER_SECOND = 10;
const MS_PER_SECOND = 1_000;

const TOKEN_BYTES = 32;
const TOKEN_FILE_BYTES_MAX = 4_096;
const OTHERS = 0o077;

/** Returns where a state directory keeps the token for signals. */
function signalsTokenPath(stateDir: string): string {
  return join(stateDir, 'signals-token');
}

/**
 * Returns the token for signals: that of the environment, else that of the configured file, else that of the state
 * directory. It stays the same over runs, because the programs that send signals know it. Throws CONFIG_INVALID for a
 * weak one and for a file that others can read.
 */
export function signalsTokenOf({ signals: { tokenFile }, environment, stateDir }: {
  readonly signals: SignalsConfig; readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
}): string {
  const [weak] = signalsTokenFaults(environment);
  if (weak !== undefined) throw new GannetError('CONFIG_INVALID', weak);
  const given = environment[SIGNALS_TOKEN] ?? '';
  if (given !== '') return given;
  if (tokenFile !== undefined) return readToken(tokenFile);
  const path = signalsTokenPath(stateDir);
  return existsSync(path) ? readToken(path) : placeToken(path);
}

function readToken(path: string): string {
  try {
    // Without O_NONBLOCK a named pipe would block the start.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const facts = fstatSync(file);
      if (!facts.isFile() || facts.size > TOKEN_FILE_BYTES_MAX)
        throw new Error(`expected a file of at most ${TOKEN_FILE_BYTES_MAX} bytes`);
      if ((facts.mode & OTHERS) !== 0)
        throw new Error('expected a file of mode 0600 or 0400, others can read this one');
      const token = readFileSync(file, 'utf8').trim();
      const weakness = token === '' ? 'it is empty' : weaknessOf(token);
      if (weakness !== undefined)
        throw new Error(`expected a token of 128 random bits, but ${weakness}; "openssl rand -hex 32" makes one`);
      return token;
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw new GannetError('CONFIG_INVALID', `the token for signals cannot be read from ${path}: ${messageOf(cause)}`,
      { cause });
  }
}

/** On a full disk the token is that of this run alone: exits must go on. */
function placeToken(path: string): string {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  try {
    const file = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      appendCompletely(file, `${token}\n`);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (!isNoRoom(error)) throw error;
  }
  return token;
}

/** Takes signals from requests and hands them to the run. */
export interface SignalIntake {
  readonly names: readonly string[];
  /** Returns whether a text is the token; its time does not depend on how much of it is right. */
  isToken(text: string): boolean;
  /** Counts a signal; returns how long to wait where too many came. */
  waitMs(): Millis;
  /** Hands a signal to the run; returns false where no run takes it yet, or any longer. */
  deliver(name: string, body: SignalBody): boolean;
  readonly events$: Observable<SignalEvent>;
}

/** Returns the intake of a run's signals. */
export function createSignalIntake(
  { names, token, clock }: { readonly names: readonly string[]; readonly token: string; readonly clock: Clock },
): SignalIntake {
  const right = digestOf(token);
  const events$ = new Subject<SignalEvent>();
  let room = BURST;
  let countedAt = clock.now();
  return {
    names, events$,
    isToken: (text) => timingSafeEqual(digestOf(text), right),
    waitMs: () => {
      const now = clock.now();
      // A clock that was set back gives no room.
      room = Math.min(BURST, room + Math.max(0, now - countedAt) * PER_SECOND / MS_PER_SECOND);
      countedAt = now;
      if (room < 1) return (1 - room) * MS_PER_SECOND / PER_SECOND;
      room -= 1;
      return 0;
    },
    deliver: (name, body) => {
      if (!events$.observed) return false;
      events$.next(documentOf({
        kind: 'signal', feed: feedKey({ kind: 'signal', name }), receivedAt: clock.now(), name, body,
      }));
      return true;
    },
  };
}

/** Adds the path that takes signals. Its token is in the header, or in the body's member "token". */
export function addSignals(app: FastifyInstance, intake: SignalIntake, refuse: RefuseToken): void {
  app.post<{ Params: { name: string } }>(SIGNALS_ROUTE, { bodyLimit: BODY_MAX_BYTES },
    async (request, reply) => {
      const { body, isAllowed } = withoutToken(intake, request);
      if (!isAllowed) return refuse(request, reply);
      const { name } = request.params;
      if (!intake.names.includes(name)) {
        return reply.code(404)
          .send(fault('SIGNAL_UNKNOWN', `no such signal: signals.names are ${intake.names.join(', ')}`));
      }
      const wrong = signalBodyFault(body);
      if (wrong !== undefined) return reply.code(400).send(fault('BAD_REQUEST', wrong));
      const waitMs = intake.waitMs();
      if (waitMs > 0) {
        return reply.code(429).header('retry-after', String(Math.ceil(waitMs / MS_PER_SECOND)))
          .send(fault('TOO_MANY_SIGNALS', `expected at most ${PER_SECOND} signals a second`));
      }
      return intake.deliver(name, body as SignalBody) ? { ok: true } : stillStarting(reply);
    });
}

/** Returns the body without its token, and whether the request has a right one. */
function withoutToken(
  intake: SignalIntake, { body, headers: { authorization } }: FastifyRequest,
): { readonly body: unknown; readonly isAllowed: boolean } {
  const isMapping = typeof body === 'object' && body !== null && !Array.isArray(body);
  const { token, ...rest }: { readonly token?: unknown } = isMapping ? body : {};
  return {
    body: isMapping ? rest : body,
    isAllowed: authorization === undefined ? typeof token === 'string' && intake.isToken(token)
      : isSignalsHeader(authorization, intake),
  };
}
