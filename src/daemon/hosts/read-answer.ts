import type { StrategyEffect } from '../../engine/host/strategy-call.ts';
import { readProposal } from '../../trading/proposal.ts';
import { printable } from '../../core/text.ts';
import type { FeedSpec } from '../../market/feed.ts';
import { readFeedSpec } from '../../market/feed.ts';
import { isAddress } from '../../solana/addresses.ts';
import type { ReportedFault } from './host-messages.ts';
import { FRAME_BYTES_MAX, fromProposalJson, QUESTIONS, REPORTED_CODES, TEXT_MAX } from './host-messages.ts';

/** The bounds of an answer. */
export const ANSWER_MAX = {
  effects: 5_000, stateCharacters: 200_000, questions: 2_000, pendingTimers: 10_000, warningCharacters: 100_000,
} as const;

/** What a strategy's process says in answer to a call. */
type HostAnswer =
  | { readonly kind: 'effects'; readonly effects: readonly StrategyEffect[]; readonly faults: readonly ReportedFault[] }
  | PortfolioQuestion
  /** It passed a bound, which the message names. */
  | { readonly kind: 'bound'; readonly reason: string }
  /** It is not an answer to this call. */
  | { readonly kind: 'invalid'; readonly reason: string };

/** A question about the portfolio in the middle of a call. */
export interface PortfolioQuestion {
  readonly kind: 'question';
  readonly asks: (typeof QUESTIONS)[number];
  /** Empty where the question is about no token. */
  readonly mint: string;
}

type Members = Readonly<Record<string, unknown>>;

const MINT_MAX = 64;

/**
 * Returns what an answer to call `n` says, as new plain data. The text is hostile: every member is checked for type,
 * range and size, and what the daemon does not know is dropped.
 */
export function readAnswer(text: string, n: number): HostAnswer {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return invalid('it is not JSON');
  }
  if (!isMembers(answer)) return invalid('it is not an object');
  if (answer['n'] !== n) return invalid('it answers another call');
  const asks = QUESTIONS.find((known) => known === answer['asks']);
  if (asks === 'available' || asks === 'holding') {
    const { mint } = answer;
    return isText(mint, MINT_MAX) ? { kind: 'question', asks, mint } : invalid('it asks for the balance of no token');
  }
  if (asks !== undefined) return { kind: 'question', asks, mint: '' };
  if (answer['tooLong'] !== undefined)
    return { kind: 'bound', reason: `its answer to one call is larger than ${FRAME_BYTES_MAX} bytes` };
  return readEffects(answer);
}

function readEffects({ effects: given, faults: reported }: Members): HostAnswer {
  if (!Array.isArray(given) || !Array.isArray(reported)) return invalid('it has no list of effects');
  if (given.length > ANSWER_MAX.effects)
    return { kind: 'bound', reason: `it did ${given.length} things in one call, and may do ${ANSWER_MAX.effects}` };
  const effects: StrategyEffect[] = [];
  for (const item of given) {
    const effect = isMembers(item) ? readEffect(item) : 'an effect is not an object';
    if (typeof effect === 'string') return invalid(effect);
    if (effect.kind === 'state' && effect.text.length > ANSWER_MAX.stateCharacters) {
      return { kind: 'bound', reason: `its state has ${effect.text.length} characters, and may have `
        + String(ANSWER_MAX.stateCharacters) };
    }
    effects.push(effect);
  }
  const faults: ReportedFault[] = [];
  for (const item of reported) {
    const fault = isMembers(item) ? readFault(item) : undefined;
    if (fault === undefined) return invalid('it reports a fault of no strategy');
    faults.push(fault);
  }
  return { kind: 'effects', effects, faults };
}

function readEffect(effect: Members): StrategyEffect | string {
  const { kind, id, delay, message, text, place, proposal: given } = effect;
  switch (kind) {
    case 'propose': {
      const proposal = readProposal(fromProposalJson(given));
      return typeof proposal === 'string' ? `a proposal: ${proposal}` : { kind, proposal };
    }
    case 'schedule':
      return isId(id) && (delay === null || (typeof delay === 'number' && delay >= 0 && Number.isFinite(delay)))
        ? { kind, id, delay } : 'a timer without an id or a delay';
    case 'cancel': return isId(id) ? { kind, id } : 'the end of a timer without an id';
    case 'watch': {
      const specs = readSpecs(effect['specs']);
      if (typeof specs === 'string') return `a watch ${specs}`;
      return isId(id) && isPlace(place) ? { kind, id, specs, ...(place === undefined ? {} : { place }) }
        : 'a watch without an id';
    }
    case 'unwatch': return isId(id) ? { kind, id } : 'the end of a watch without an id';
    case 'log': return isText(message, TEXT_MAX.log) ? { kind, message } : 'a line of the log that is no text';
    case 'warn': return isText(message, ANSWER_MAX.warningCharacters) ? { kind, message } : 'a warning that is no text';
    case 'state': return typeof text === 'string' ? { kind, text } : 'a state that is no text';
    case 'fail': return isText(message, TEXT_MAX.failure) && isPlace(place)
      ? { kind, message, ...(place === undefined ? {} : { place }) } : 'a failure without a message';
    case 'complete': return { kind };
    default: return 'an effect of no known kind';
  }
}

/** The most feeds of one watch: a ladder's sizes. */
const SPECS_MAX = 32;

function readSpecs(given: unknown): readonly FeedSpec[] | string {
  if (!Array.isArray(given) || given.length < 1 || given.length > SPECS_MAX) return `not of 1 to ${SPECS_MAX} feeds`;
  const specs: FeedSpec[] = [];
  for (const item of given) {
    const spec = isMembers(item) ? readFeedSpec(item, { isAddress, shown }) : 'of a feed that is not an object';
    if (typeof spec === 'string') return spec;
    specs.push(spec);
  }
  return specs;
}

function shown(value: unknown): string {
  return value === undefined ? 'undefined' : printable(JSON.stringify(value), 60);
}

function readFault({ id, code: given, reason, place }: Members): ReportedFault | undefined {
  const code = REPORTED_CODES.find((known) => known === given);
  return code !== undefined && isId(id) && isText(reason, TEXT_MAX.failure) && isPlace(place)
    ? { id, code, reason, ...(place === undefined ? {} : { place }) } : undefined;
}

function invalid(reason: string): HostAnswer {
  return { kind: 'invalid', reason };
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.length <= most;
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

const PLACE = /^[^\p{C}:]{1,120}:\d{1,9}:\d{1,9}$/u;

function isPlace(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && PLACE.test(value));
}
