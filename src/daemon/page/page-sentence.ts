import { pluralize } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import type { PageLevel, PageNeed, PageSentence } from '../../dashboard/page-state.ts';
import { originOfKey } from '../../market/feed.ts';
import type { Mint } from '../../market/token.ts';
import { firedProtections } from '../../trading/risk/trading-state-rules.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { needsOperator } from '../../trading/intent.ts';
import { isManualBook } from '../../trading/manual/manual-book.ts';
import type { RunEquity } from '../control/run-equity.ts';
import type { AccessState, RunStatus } from '../control/session-state.ts';
import type { FeedStats } from '../../service/feeds/feed-stats.ts';
import type { TradingView } from '../control/trading-view.ts';
import type { IntentRecord } from '../reporting/counters.ts';
import { describeSource } from '../reporting/trading-text.ts';
import type { StoppedStrategy } from '../../engine/host/host-port.ts';
import { roughAmount } from './page-amount.ts';
import { isLate } from './page-markets.ts';

/** What the sentence is made of. */
interface SentenceParts {
  readonly state: EngineState;
  readonly now: Millis;
  readonly mode: 'live' | 'paper';
  readonly isRealMoney: boolean;
  readonly standing: RunStatus;
  readonly reasons: readonly string[];
  readonly trading: TradingView;
  readonly access: AccessState;
  readonly feeds: readonly FeedStats[];
  readonly open: readonly IntentRecord[];
  readonly stopped: readonly StoppedStrategy[];
  readonly equity: RunEquity | null;
}

const WORDS: Readonly<Record<RunStatus, string>> = {
  'starting': 'Starting', 'recovering': 'Recovering what the last run left', 'trading': 'Trading',
  'exits-only': 'Exits only', 'flattening': 'Selling everything', 'halted': 'Halted',
  'stopped': 'Every strategy has stopped', 'waiting-for-service': 'Waiting for the service',
  'draining': 'Ending, open swaps are completed', 'ended': 'Ended',
};

/** Returns the sentence of state. */
export function pageSentence(parts: SentenceParts): PageSentence {
  const { standing, reasons, trading, feeds, equity, now, state } = parts;
  const money = parts.mode === 'paper' ? 'on paper' : parts.isRealMoney ? 'live' : 'live without real money';
  const word = standing === 'trading' ? `Trading ${money}`
    : `${WORDS[standing]}${parts.isRealMoney ? '' : ` (${money})`}`;
  const found = needsOf(parts);
  const bad = feeds.filter((feed) => isPolledFeed(feed) && (feed.status !== 'healthy' || isLate(feed, now))).length;
  const strategies = trading.strategies.filter(({ name }) => !isManualBook(name)).length;
  const text = [
    word, pluralize(strategies, 'strategy', 'strategies'), feedText(feeds, bad),
    ...(equity === null ? [] : [`${roughAmount(state.tokens, equity.mint as Mint, BigInt(equity.day_change))} today`]),
  ].join(' · ');
  const level: PageLevel = found.some(({ isUrgent }) => isUrgent) ? 'act'
    : standing !== 'trading' || found.length > 0 || bad > 0 || reasons.length > 0 ? 'check' : 'good';
  return { text, level, standing, reasons, needs: found.map(({ need }) => need) };
}

function isPolledFeed({ feed }: FeedStats): boolean {
  const origin = originOfKey(feed);
  return origin === 'service' || origin === 'node';
}

function feedText(feeds: readonly FeedStats[], bad: number): string {
  const polled = feeds.filter(isPolledFeed);
  if (polled.length === 0) return 'no feeds';
  if (polled.every(({ lastAnswerAt }) => lastAnswerAt === undefined)) return 'waiting for the first prices';
  return bad === 0 ? 'all feeds fresh' : `${bad} of ${pluralize(polled.length, 'feed')} late or failing`;
}

interface FoundNeed {
  readonly need: PageNeed;
  /** Whether it is more than an order that the operator gave. */
  readonly isUrgent: boolean;
}

function urgent(need: PageNeed): FoundNeed {
  return { need, isUrgent: true };
}

/** What only a person can end, the most urgent first. */
function needsOf({ state, trading, access, open, stopped }: SentenceParts): FoundNeed[] {
  const { trading_word: word, stop_file: stopFile } = trading;
  return [
    ...open.filter(({ state: reached, code }) => reached === 'unknown' && needsOperator(code))
      .map(({ intent: { id } }) => urgent({
        what: `The outcome of ${id} is unknown, and its input stays locked: find it on the chain, then resolve it`,
        since: state.protections.unknownSince.get(id)?.at ?? null, remedy: { kind: 'resolve', intent_id: id },
      })),
    ...(access.state !== 'refused' && access.state !== 'forbidden' ? [] : [urgent({
      what: `The service refuses ${access.state === 'refused' ? 'the API key' : 'your region, address or key'}: `
        + `${access.reason ?? ''}. A new key needs a restart`,
      since: access.since, remedy: { kind: 'outside' },
    })]),
    ...(stopFile === null ? [] : [urgent({
      what: 'The file STOP halts everything: remove it, then resume', since: word?.since ?? null,
      remedy: { kind: 'outside' },
    })]),
    ...firedProtections(state).filter(({ rule }) => rule.protection.release.kind === 'operator')
      .map(({ rule: { protection: { scope } }, subject, fired }) => urgent({
        what: `A protection has stopped ${scope === 'strategy' ? subject : 'trading'}: ${fired?.reason ?? ''}`,
        since: fired?.since ?? null, remedy: { kind: 'resume', strategy: scope === 'strategy' ? subject : null },
      })),
    ...(trading.trading === 'active' || stopFile !== null ? [] : [{
      isUrgent: word?.by !== 'operator',
      need: {
        what: `${trading.trading === 'halted' ? 'Trading is halted' : 'Only exits are allowed'} by `
          + (word === null ? 'an earlier run' : describeSource(word.by))
          + `${word === null || word.reason === '' ? '' : ` (${word.reason})`}: resume when you are ready`,
        since: word?.since ?? null, remedy: { kind: 'resume', strategy: null },
      },
    } as const]),
    ...stopped.map(({ name, at, reason, code }) => {
      const { budget, balances } = state.portfolio.book(name);
      const isHolding = [...balances].some(([mint, amount]) => mint !== budget?.mint && amount > 0n);
      return urgent({
        what: `${name} was stopped: ${reason} (${code})${isHolding ? '; it still holds a position' : ''}`, since: at,
        remedy: isHolding ? { kind: 'flatten', strategy: name } : { kind: 'outside' },
      });
    }),
  ];
}
