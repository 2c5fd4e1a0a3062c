import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import { wait } from '../execution/wait.ts';
import type { Mint } from '../market/token.ts';

/** How a start deals with a service that has trouble for a while. */
export interface StartPatience {
  /** No attempt begins later than this after the first one. */
  readonly withinMs: Millis;
  readonly onWaiting: (message: string) => void;
}

/** Tokens' decimals as the service gave them to an earlier process; what a mint's decimals are never changes. */
export interface TokenRecordStore {
  load(): ReadonlyMap<Mint, number>;
  /** Keeps these beside those that are kept. */
  save(decimals: ReadonlyMap<Mint, number>): void;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;
/** Statuses besides 5xx that pass by themselves: a timeout and a request that came too early. */
const PASSING_STATUSES: readonly unknown[] = [408, 425];
const TOKEN_FILE = 'service-tokens.json';
const MOST_BYTES = 1_048_576;

/** Whether the service did answer, or may yet, and only not now: a refused key or a wrong address does not pass. */
export function isServiceTrouble({ code, details: { status } }: GannetError): boolean {
  if (code === 'SERVICE_RATE_LIMITED' || code === 'SERVICE_TIMEOUT') return true;
  return code === 'SERVICE_STATUS' && (PASSING_STATUSES.includes(status) || Number(status) >= 500);
}

/**
 * Asks until the service answers, where it has trouble that passes: after the time that it says, else after twice as long
 * each time. Throws what the last attempt threw once the patience is used up, or the signal is aborted.
 */
export async function askPatiently<T>(ask: () => Promise<T>, { clock, patience, signal }: {
  readonly clock: Clock;
  readonly patience: StartPatience | undefined;
  readonly signal: AbortSignal;
}): Promise<T> {
  const startedAt = clock.now();
  for (let tries = 0; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (!isGannetError(error) || !isServiceTrouble(error) || patience === undefined || signal.aborted) throw error;
      const told = error.details['resetInMs'];
      const waitMs = Math.max(FIRST_WAIT_MS, typeof told === 'number' ? told : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries));
      const waitedMs = clock.now() - startedAt;
      if (waitedMs + waitMs > patience.withinMs) {
        const message = `${error.message}; the start waited ${Math.round(waitedMs / 1_000)} s for the service: start again later`;
        throw new GannetError(error.code, message, { details: error.details, cause: error });
      }
      patience.onWaiting(`waiting for the service: ${error.message}; the next attempt is in ${Math.ceil(waitMs / 1_000)} s`);
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

/** Returns the store in a state directory, for one service and chain. Faults of the disk are told; a start needs no store. */
export function openTokenRecords({ stateDir, scope, onFault }: {
  readonly stateDir: string;
  /** What the records were learnt of; those of another service or chain are not used. */
  readonly scope: string;
  readonly onFault: (message: string) => void;
}): TokenRecordStore {
  const path = join(stateDir, TOKEN_FILE);

  function load(): ReadonlyMap<Mint, number> {
    try {
      const { data } = FileShape.safeParse(statSync(path).size > MOST_BYTES ? undefined : JSON.parse(readFileSync(path, 'utf8')));
      if (data === undefined || data.scope !== scope) return new Map();
      return new Map(Object.entries(data.decimals) as [Mint, number][]);
    } catch (error) {
      const isMissing = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
      // A file that is torn is written anew with the next answer.
      if (!isMissing && !(error instanceof SyntaxError)) onFault(`cannot read ${path}: ${messageOf(error)}; the tokens are asked for instead`);
      return new Map();
    }
  }

  return {
    load,
    save(decimals) {
      const known = load();
      if ([...decimals].every(([mint, places]) => known.get(mint) === places)) return;
      const content = { format: 'gannet-service-tokens-1', scope, decimals: Object.fromEntries([...known, ...decimals]) };
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
