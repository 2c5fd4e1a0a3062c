import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import { wait } from '../../execution/monotonic-time.ts';
import type { Mint } from '../../market/token.ts';

/** How long a start waits for a service that has trouble. */
export interface StartTimeout {
  /** The longest time between the first and the last attempt. */
  readonly withinMs: Millis;
  readonly onWaiting: (message: string) => void;
}

/** Tokens' decimals as an earlier process got them from the service. The decimals of a mint never change. */
export interface TokenRecordStore {
  load(): ReadonlyMap<Mint, number>;
  /** Adds records to the stored ones. */
  save(decimals: ReadonlyMap<Mint, number>): void;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;
/** Temporary statuses besides 5xx: request timeout, and too early. */
const PASSING_STATUSES: readonly unknown[] = [408, 425];
const TOKEN_FILE = 'service-tokens.json';
const MOST_BYTES = 1_048_576;

/** Returns whether a fault of the service is temporary. A refused key or a wrong address is not. */
export function isServiceTrouble({ code, details: { status } }: GannetError): boolean {
  if (code === 'SERVICE_RATE_LIMITED' || code === 'SERVICE_TIMEOUT') return true;
  return code === 'SERVICE_STATUS' && (PASSING_STATUSES.includes(status) || Number(status) >= 500);
}

/**
 * Repeats a request while the service has temporary trouble: after the time that it names, else after a doubled wait.
 * Throws the last error when the time is up, or the signal is aborted.
 */
export async function askWithinTimeout<T>(ask: () => Promise<T>, { clock, timeout, signal }: {
  readonly clock: Clock;
  readonly timeout: StartTimeout | undefined;
  readonly signal: AbortSignal;
}): Promise<T> {
  const startedAt = clock.now();
  for (let tries = 0; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (!isGannetError(error) || !isServiceTrouble(error) || timeout === undefined || signal.aborted) throw error;
      const resetInMs = error.details['resetInMs'];
      const waitMs = Math.max(FIRST_WAIT_MS, typeof resetInMs === 'number' ? resetInMs
        : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries));
      const waitedMs = clock.now() - startedAt;
      if (waitedMs + waitMs > timeout.withinMs) {
        const message =
          `${error.message}; the start waited ${Math.round(waitedMs / 1_000)} s for the service: start again later`;
        throw new GannetError(error.code, message, { details: error.details, cause: error });
      }
      timeout.onWaiting(
        `waiting for the service: ${error.message}; the next attempt is in ${Math.ceil(waitMs / 1_000)} s`,
      );
      await wait(clock, waitMs, signal);
      if (signal.aborted) throw error;
    }
  }
}

const FileShape = z.object({
  format: z.literal('gannet-service-tokens-1'),
  scope: z.string(),
  decimals: z.record(z.string(), z.int().min(0).max(255)),
});

/** Returns the store of a state directory for one service and chain. Errors of the disk go to `onFault`. */
export function openTokenRecordStore({ stateDir, scope, onFault }: {
  readonly stateDir: string;
  /** Names the service and the chain. Records of others are not used. */
  readonly scope: string;
  readonly onFault: (message: string) => void;
}): TokenRecordStore {
  const path = join(stateDir, TOKEN_FILE);

  function load(): ReadonlyMap<Mint, number> {
    try {
      const { data } = FileShape.safeParse(statSync(path).size > MOST_BYTES ? undefined
        : JSON.parse(readFileSync(path, 'utf8')));
      if (data === undefined || data.scope !== scope) return new Map();
      return new Map(Object.entries(data.decimals) as [Mint, number][]);
    } catch (error) {
      const isMissing = error instanceof Error && 'code' in error
        && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
      // A damaged file is replaced with the next answer.
      if (!isMissing && !(error instanceof SyntaxError))
        onFault(`cannot read ${path}: ${messageOf(error)}; the service is asked for the tokens instead`);
      return new Map();
    }
  }

  return {
    load,
    save(decimals) {
      const known = load();
      if ([...decimals].every(([mint, places]) => known.get(mint) === places)) return;
      const content =
        { format: 'gannet-service-tokens-1', scope, decimals: Object.fromEntries([...known, ...decimals]) };
      try {
        mkdirSync(stateDir, { recursive: true });
        writeFileSync(`${path}.new`, `${JSON.stringify(content)}\n`, { mode: 0o600 });
        renameSync(`${path}.new`, path);
      } catch (error) {
        onFault(`cannot write ${path}: ${messageOf(error)}; a start while the service has trouble will wait for it`);
      }
    },
  };
}
