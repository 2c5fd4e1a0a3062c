/**
 * Stable codes of the faults at an edge. The prefix names the edge; scripts and tests match on the code,
 * never on the message.
 */
export type ErrorCode =
  | 'AMOUNT_INVALID'
  | 'AUDIT_FAILED'
  | 'BACKUP_INVALID'
  | 'BOOK_MISSING'
  | 'CHAIN_RESPONSE_INVALID'
  | 'CHAIN_RPC_ERROR'
  | 'CHAIN_SIMULATION_FAILED'
  | 'CHAIN_TRANSACTION_INVALID'
  | 'CHAIN_UNAGREED'
  | 'CHAIN_UNREACHABLE'
  | 'CONFIG_INVALID'
  | 'CONFIG_NOT_FOUND'
  | 'CONTROL_PORT_TAKEN'
  | 'CONTROL_REFUSED'
  | 'CONTROL_UNREACHABLE'
  | 'CONTROL_UNAUTHORIZED'
  | 'COUNTERS_ALTERED'
  | 'COUNTERS_LOST'
  | 'CSV_INVALID'
  | 'DAEMON_RUNNING'
  | 'DECISION_UNKNOWN'
  | 'DISK_FULL'
  | 'DURATION_INVALID'
  | 'EXECUTE_REFUSED'
  | 'FEATURE_UNAVAILABLE'
  | 'HISTORY_FAILED'
  | 'HISTORY_INVALID'
  | 'INTENT_UNKNOWN'
  | 'INTERRUPTED'
  | 'JOURNAL_FAILED'
  | 'JOURNAL_INVALID'
  | 'JOURNAL_LOST'
  | 'JSON_INVALID'
  | 'KEY_INVALID'
  | 'LIVE_REFUSED'
  | 'MARKET_MISSING'
  | 'MINT_INVALID'
  | 'NOTIFICATIONS_FAILED'
  | 'NOTIFICATIONS_INVALID'
  | 'ORDER_REFUSED'
  | 'PACKAGES_OUTDATED'
  | 'PLATFORM_UNSUPPORTED'
  | 'PROCESS_ENDED'
  | 'QUOTE_STALE'
  | 'RECORDING_CORRUPT'
  | 'RECORDING_INCOMPLETE'
  | 'RECORDING_NOT_FOUND'
  | 'RECORDING_PRUNED'
  | 'RECORDING_VERSION'
  | 'RECORDING_WRITE_FAILED'
  | 'RELOAD_REFUSED'
  | 'RESOLVE_REFUSED'
  | 'RESTORE_UNFINISHED'
  | 'RUN_NOT_FOUND'
  | 'SANDBOX_FAILED'
  | 'SERVICE_BAD_REQUEST'
  | 'SERVICE_FORBIDDEN'
  | 'SERVICE_LIST_MOVING'
  | 'SERVICE_MALFORMED'
  | 'SERVICE_RATE_LIMITED'
  | 'SERVICE_STATUS'
  | 'SERVICE_TIMEOUT'
  | 'SERVICE_UNAUTHORIZED'
  | 'SERVICE_UNREACHABLE'
  | 'SIGNER_LOST'
  | 'SIGN_REFUSED'
  | 'STATE_LOCKED'
  | 'STATE_LOST'
  | 'STATE_NEWER'
  | 'STATE_OF_OTHER_CHAIN'
  | 'STRATEGY_ASYNC'
  | 'STRATEGY_ENDED'
  | 'STRATEGY_INVALID'
  | 'STRATEGY_MEMORY'
  | 'STRATEGY_NOT_FOUND'
  | 'STRATEGY_TIMEOUT'
  | 'TOKEN_UNKNOWN'
  | 'TRIALS_FAILED'
  | 'TRIALS_INVALID'
  | 'USAGE';

/** Typed facts of a fault, by name. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | bigint | null | undefined>>;

/**
 * A fault at an edge: a stable code, a message a person can act on, and typed details.
 * Handled inside the adapter that met it; it crosses a port only as an event or as a refusal to start.
 */
export class GannetError extends Error {
  override readonly name = 'GannetError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** Returns whether a value is a GannetError; by name, so that two copies of this module understand each other. */
export function isGannetError(value: unknown): value is GannetError {
  return value instanceof Error && value.name === 'GannetError' && 'code' in value;
}

/** Returns the message of any thrown value. Never throws: reporting a fault must not cause another. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return 'something without a text';
  }
}

const NO_ROOM: ReadonlySet<string> = new Set(['EDQUOT', 'ENOSPC']);

/** Returns whether an error of the operating system means that the disk, or the user's quota on it, is full. */
export function isNoRoom(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && NO_ROOM.has(error.code);
}
