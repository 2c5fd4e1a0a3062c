import { GannetError, isGannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration, parseDuration } from '../../core/time.ts';
import type { Engine } from '../../engine/engine.ts';
import { configuredToken, readAmount, unknownToken } from '../../market/named-token.ts';
import type { Token, TokenAmount } from '../../market/token.ts';
import type { SetPause } from '../../trading/engine-command.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { isManualBook, manualBookOf } from '../../trading/manual/manual-book.ts';
import { pauseAt } from '../../trading/manual/pauses.ts';
import type { Route } from '../../trading/proposal.ts';
import { pauseText } from '../../trading/risk/trading-state-rules.ts';
import { refusal, unknownStrategy } from './sale-preview.ts';
import type { AskedSwap } from './swap-preview.ts';

/** A swap that a person asks for: tokens by alias, the amount in whole tokens. */
export interface SwapRequest {
  readonly in: string;
  readonly out: string;
  readonly amount: string;
  /** Whose budget it spends; without one, what no strategy has of the wallet. */
  readonly strategy?: string | undefined;
  readonly route?: Route | undefined;
  readonly slippage_bps?: number | undefined;
}

/** A pause that a person asks for, or ends. */
export interface PauseRequest {
  /** A pair, "SOL/USDC", or the name of a strategy. */
  readonly what: string;
  readonly for?: string | undefined;
  readonly reason?: string | undefined;
}

/** Returns a swap that a person asks for, and the book that it moves. Throws ORDER_REFUSED with what to do. */
export function readSwap({ state, engine }: {
  readonly state: EngineState; readonly engine: Pick<Engine, 'stopped'>;
}, request: SwapRequest): AskedSwap & { readonly strategy: string } {
  const from = tokenOf(state, request.in);
  const to = tokenOf(state, request.out);
  if (from.mint === to.mint)
    throw refusal(400, 'USAGE', `expected two different tokens, got ${from.symbol} twice`);
  const spend: TokenAmount = { token: from, amount: readOr400(() => readAmount(request.amount, from)) };
  const { strategy, route = 'order', slippage_bps: slippageBps } = request;
  const asked = { spend, to, route, slippageBps };
  if (strategy === undefined || isManualBook(strategy)) return { ...asked, strategy: manualBookOf(from) };
  if (!state.strategies.has(strategy)) throw unknownStrategy(state, strategy);
  const stopped = engine.stopped.find(({ name }) => name === strategy);
  const into = state.portfolio.book(strategy).budget?.mint;
  if (stopped !== undefined && to.mint !== into) {
    throw refusal(409, 'STRATEGY_STOPPED', `${strategy} was stopped (${stopped.reason}), so it would not watch what `
      + 'you buy: leave --strategy out to buy for the book of manual swaps');
  }
  return { ...asked, strategy };
}

/** Returns the command of a pause, or of its end. Throws ORDER_REFUSED with what to do. */
export function readPause(
  state: EngineState, { what, for: span, reason = '' }: PauseRequest, isPaused: boolean, now: Millis,
): SetPause {
  const until = span === undefined ? null : now + readOr400(() => readPauseSpan(span));
  const base = { kind: 'command', name: 'set-pause', isPaused, until, reason } as const;
  const command = { ...base, ...subjectOf(state, what) };
  if (isPaused || pauseAt(state.pauses, command, now) !== undefined) return command;
  throw refusal(409, 'NOT_PAUSED', `${pauseText(state.tokens, command)} is not paused`);
}

/** The end of a longer one may be a time that no date can name. */
const PAUSE_MAX_MS: Millis = 366 * 86_400_000;

function readPauseSpan(text: string): Millis {
  const span = parseDuration(text);
  if (span <= PAUSE_MAX_MS) return span;
  throw new GannetError('DURATION_INVALID', `expected a pause of at most ${formatDuration(PAUSE_MAX_MS)}, got `
    + `"${printable(text, 60)}"; without an end it holds until "gannet resume" ends it`);
}

function subjectOf(state: EngineState, what: string): Pick<SetPause, 'pair' | 'strategy'> {
  if (!what.includes('/')) {
    if (!state.strategies.has(what)) throw unknownStrategy(state, what);
    return { strategy: what };
  }
  const [one = '', other = '', ...more] = what.split('/');
  const pair = [tokenOf(state, one).mint, tokenOf(state, other).mint] as const;
  if (more.length === 0 && pair[0] !== pair[1]) return { pair };
  throw refusal(400, 'USAGE', `expected a pair of two tokens such as SOL/USDC, got "${printable(what, 60)}"`);
}

function tokenOf({ tokens }: EngineState, text: string): Token {
  const token = configuredToken(text, tokens);
  if (token !== undefined) return token;
  throw refusal(404, 'TOKEN_UNKNOWN', unknownToken(text, tokens, { orMint: false }).message);
}

/** Returns what `read` returns; its errors become refusals of the request. */
export function readOr400<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isGannetError(error)) throw refusal(400, error.code, error.message);
    throw error;
  }
}

/** Returns what a pause allows that is not allowed now, for people; undefined where it only restricts. */
export function wideningOfPause(state: EngineState, command: SetPause, at: Millis): string | undefined {
  const present = pauseAt(state.pauses, command, at);
  if (present === undefined) return undefined;
  const what = pauseText(state.tokens, command);
  if (!command.isPaused) return `${what} may be entered again`;
  const isShorter = command.until !== null && (present.until === null || command.until < present.until);
  return isShorter ? `the pause of ${what} ends sooner` : undefined;
}
