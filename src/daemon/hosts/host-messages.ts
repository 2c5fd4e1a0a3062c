import type { StrategyQuestion } from '../../config/strategies/strategy-reader.ts';
import type { Json } from '../../core/json.ts';
import type { Ending, PortfolioView, StrategyCall } from '../../engine/host/strategy-call.ts';
import type { Proposal } from '../../trading/proposal.ts';

// What passes between the daemon and a process that runs strategies. Each message is a frame: its length, four bytes,
// little end first, then the message. The daemon's are written by `v8.serialize`, because it is trusted. The other
// side's are JSON, because a reader of hostile JSON has fewer ways to fail.

/** The descriptor of the channel in a process that runs strategies. */
export const CHANNEL_FD = 3;
export const HEAD_BYTES = 4;
/** A longer message of a strategy's process is refused before it is read. */
export const FRAME_BYTES_MAX = 1_048_576;

/** The longest texts that a strategy's process hands over, in characters; the process itself cuts them. */
export const TEXT_MAX = { log: 2_000, failure: 1_000, place: 160 } as const;

/** Asks what a strategy says about itself, and keeps it in the process under a number. */
export interface AskRequest {
  readonly kind: 'ask';
  readonly n: number;
  readonly id: number;
  /** Absolute. */
  readonly file: string;
  readonly question: StrategyQuestion;
}

/** A message of the daemon. `n` counts the messages that are answered; `id` is the number of an instance. */
export type HostRequest = AskRequest
  | { readonly kind: 'call'; readonly n: number; readonly id: number; readonly call: StrategyCall }
  /** What the process asked in the middle of a call. */
  | { readonly kind: 'told'; readonly value: Told };

/** The answer to a question about the portfolio. */
export type Told = ReturnType<PortfolioView[keyof PortfolioView]>;

/** What a strategy's process may ask about its portfolio; the first two name a token. */
export const QUESTIONS = ['available', 'holding', 'open-intents', 'equity', 'budget'] as const;

/** The codes of endings that a process reports itself. */
export const REPORTED_CODES = ['STRATEGY_ASYNC', 'STRATEGY_ENDED'] as const;

/** An ending that a process reports itself: a strategy acted outside a call, or called process.exit(). */
export interface ReportedFault extends Ending {
  /** The number of the instance. */
  readonly id: number;
  readonly code: typeof REPORTED_CODES[number];
}

/** Returns a proposal in a form that JSON can hold: a bigint becomes `{"bigint":"…"}`. */
export function proposalJson(proposal: Proposal): Json {
  if (proposal.kind === 'swap') return {
    ...proposal, amount: bigintJson(proposal.amount), limit: bigintJson(proposal.limit),
  } as unknown as Json;
  const { data } = proposal;
  return (data === undefined ? proposal : {
    ...proposal, data: Object.fromEntries(Object.entries(data).map(([name, value]) => [name, bigintJson(value)])),
  }) as unknown as Json;
}

function bigintJson(value: unknown): unknown {
  return typeof value === 'bigint' ? { bigint: value.toString() } : value;
}

/** Returns the value that `proposalJson` has written, whatever else it may hold. */
export function fromProposalJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Readonly<Record<string, unknown>>;
  const { data } = members;
  return {
    ...members, amount: fromBigintJson(members['amount']), limit: fromBigintJson(members['limit']),
    ...(typeof data === 'object' && data !== null
      ? { data: Object.fromEntries(Object.entries(data).map(([name, item]) => [name, fromBigintJson(item)])) } : {}),
  };
}

/** No bigint of a proposal is longer. */
const BIGINT = /^-?\d{1,40}$/;

function fromBigintJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { bigint } = value as { readonly bigint?: unknown };
  return typeof bigint === 'string' && BIGINT.test(bigint) ? BigInt(bigint) : value;
}
