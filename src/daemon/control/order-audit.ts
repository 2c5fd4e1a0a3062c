import {
  closeSync, constants, existsSync, fchmodSync, fstatSync, fsyncSync, lstatSync, openSync, readSync, renameSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import { printableJson } from '../../core/text.ts';
import type { Clock } from '../../core/time.ts';
import type { Resolution } from '../../execution/operator-resolution.ts';
import { appendCompletely, syncFolder } from '../../recording/files/durable-write.ts';
import type { Log } from '../reporting/log.ts';
import type { OrderOrigin } from './order-origin.ts';

/** An order of a person to the daemon, or to its state. */
export interface Order {
  /** The name of the order: `halt`, `resume`, `resolve`, `stop`, `accept-new-journal` and others. */
  readonly action: string;
  readonly origin: OrderOrigin;
  /** What may be lost after it and could not be lost before, for people; undefined for an order that only narrows. */
  readonly widens?: string | undefined;
  /** The code of the refusal, for an order that was not carried out. */
  readonly refused?: string | undefined;
  readonly strategy?: string | undefined;
  readonly reason?: string | undefined;
  readonly intentId?: string | undefined;
  /** What else belongs to the order: the outcome that an operator states for a swap. */
  readonly facts?: Readonly<Record<string, string | number | null>> | undefined;
}

/** An order after which more may be lost than before. */
export type WideningOrder = Order & { readonly widens: string };

/** Returns the order to close a swap on an operator's word. What landed is booked from the chain, which shows it. */
export function resolveOrder(intentId: string, word: Resolution, origin: OrderOrigin): Order {
  const facts = word.as === 'landed' ? { as: word.as, signature: word.signature }
    : { as: word.as, despite: word.despite ?? null };
  return {
    action: 'resolve', origin, intentId, reason: word.reason, facts,
    widens: word.as === 'landed' ? undefined
      : `${intentId} counts as ${word.as}, so what it would have spent may be spent again`,
  };
}

/** The file of orders: one JSON object a line, oldest first. It outlives runs. */
export interface OrderAudit {
  /** Writes an order to the disk. Throws AUDIT_FAILED where it cannot be written. */
  write(order: Order): void;
  /** Writes an order that is carried out in any case: a fault is only logged. */
  note(order: Order): void;
  /** Returns orders that allow more and were given without a daemon since the last one wrote an order, oldest first. */
  givenSince(): WideningOrder[];
}

const FILE = 'orders.ndjson';
const VERSION = 1;
const BYTES_MAX = 1_048_576;
/** With the current file, the audit holds at most this many plus one. */
const EARLIER_FILES = 4;

/** The names of the file of orders and of those before it. */
export const ORDER_FILES: readonly string[] =
  Array.from({ length: EARLIER_FILES + 1 }, (_, earlier) => basename(orderAuditPath('', earlier)));

/** Returns the path of a state directory's file of orders; `earlier` counts the files before the current one. */
function orderAuditPath(stateDir: string, earlier = 0): string {
  return join(stateDir, earlier === 0 ? FILE : FILE.replace('.', `.${earlier}.`));
}

/** Returns the file of orders of a state directory. It is opened for each order, so no child process inherits it. */
export function openOrderAudit({ stateDir, runId, clock, log }: {
  readonly stateDir: string;
  /** Null for a command that works without a daemon. */
  readonly runId: string | null;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}): OrderAudit {
  const write = (order: Order): void => {
    try {
      append(stateDir, `${printableJson(stringifyJson(lineOf(order, { runId, at: clock.now() })))}\n`);
    } catch (cause) {
      throw new GannetError('AUDIT_FAILED', `the order "${order.action}" cannot be written to `
        + `${orderAuditPath(stateDir)}: ${messageOf(cause)}; an order that allows more is carried out only when it is `
        + 'written', { cause });
    }
  };
  return {
    write,
    note: (order) => {
      try {
        write(order);
      } catch (error) {
        log('error', 'an order is missing from the file of orders', { error, action: order.action });
      }
    },
    givenSince: () => {
      try {
        return givenWithoutDaemon(lastLines(stateDir));
      } catch (error) {
        log('error', 'the file of orders cannot be read, so orders without a daemon raise no alert', { error });
        return [];
      }
    },
  };
}

/** A line of a command that worked without a daemon. */
const WITHOUT_DAEMON = z.object({
  run_id: z.null(), action: z.string(), widens: z.string().nullable(), refused: z.string().nullable(),
  reason: z.string().nullable(),
  origin: z.object({
    role: z.literal('command'), command: z.string(), pid: z.int(), uid: z.int().nullable(), user: z.string(),
  }),
});
const LAST_BYTES = 65_536;

function givenWithoutDaemon(texts: readonly string[]): WideningOrder[] {
  const lines = texts.map((text) => WITHOUT_DAEMON.safeParse(parsed(text)));
  const given: WideningOrder[] = [];
  for (const { data } of lines.slice(lines.findLastIndex(({ success }) => !success) + 1)) {
    if (data === undefined || data.widens === null) continue;
    const { action, origin, widens, reason, refused } = data;
    // A refused order has two lines: before it was tried, and after.
    if (refused !== null) given.pop();
    else given.push({ action, origin, widens, reason: reason ?? undefined });
  }
  return given;
}

function lastLines(stateDir: string): string[] {
  const path = orderAuditPath(stateDir);
  if (!existsSync(path)) return [];
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, LAST_BYTES));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8').split('\n').filter((line) => line !== '');
  } finally {
    closeSync(file);
  }
}

/** Undefined for the rest of a line that a power cut left. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Carries out orders that are written first, and reports those that allow more than before. */
export interface OrderKeeper {
  /**
   * Writes an order, carries it out, and returns nothing. Returns AUDIT_FAILED for one that allows more and could not
   * be written: it is not carried out. A flatten sells, so it is carried out in any case.
   */
  carryOut(order: Order, act: () => void): GannetError | undefined;
  /** The same for an order that takes time. Rejects with AUDIT_FAILED, or with the order's own error. */
  carryOutAsync<Result>(order: Order, act: () => Promise<Result>): Promise<Result>;
}

/** Returns the keeper of a run's orders. */
export function createOrderKeeper(audit: OrderAudit, onWidening: (order: WideningOrder) => void): OrderKeeper {
  const writeFirst = (order: Order): void => {
    if (order.widens === undefined || order.action === 'flatten') audit.note(order);
    else audit.write(order);
  };
  const report = (order: Order): void => {
    if (order.widens !== undefined) onWidening({ ...order, widens: order.widens });
  };
  return {
    carryOut: (order, act) => {
      try {
        writeFirst(order);
      } catch (error) {
        if (isGannetError(error)) return error;
        throw error;
      }
      act();
      report(order);
      return undefined;
    },
    carryOutAsync: async (order, act) => {
      writeFirst(order);
      try {
        const result = await act();
        report(order);
        return result;
      } catch (error) {
        audit.note({ ...order, refused: isGannetError(error) ? error.code : 'INTERNAL' });
        throw error;
      }
    },
  };
}

function lineOf(
  { action, origin, widens, refused, strategy, reason, intentId, facts }: Order,
  { runId, at }: { readonly runId: string | null; readonly at: number },
): object {
  return {
    version: VERSION, at, time: new Date(at).toISOString(), run_id: runId, action, strategy: strategy ?? null,
    intent_id: intentId ?? null, reason: reason ?? null, widens: widens ?? null, refused: refused ?? null, ...facts,
    origin,
  };
}

/** Appends a line, and syncs it. A full file is renamed first, and the oldest one is replaced. */
function append(stateDir: string, line: string): void {
  const { size = 0 } = lstatSync(orderAuditPath(stateDir), { throwIfNoEntry: false }) ?? {};
  if (size + Buffer.byteLength(line) > BYTES_MAX) {
    for (let earlier = EARLIER_FILES; earlier > 0; earlier--) moveTo(stateDir, earlier);
  }
  const file = openAudit(stateDir);
  try {
    appendCompletely(file, endsALine(file) ? line : `\n${line}`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  syncFolder(stateDir);
}

/** A link of this name is refused, and the file is private whatever made it. */
function openAudit(stateDir: string): number {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const path = orderAuditPath(stateDir);
  const file = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  if (fstatSync(file).isFile()) fchmodSync(file, 0o600);
  else {
    closeSync(file);
    throw new Error(`${path} is not a regular file`);
  }
  return file;
}

function moveTo(stateDir: string, earlier: number): void {
  try {
    renameSync(orderAuditPath(stateDir, earlier - 1), orderAuditPath(stateDir, earlier));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

/** A power cut can leave a part of a line. */
function endsALine(file: number): boolean {
  const { size } = fstatSync(file);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] === 0x0a;
}
