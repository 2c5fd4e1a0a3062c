import type { Millis } from '../../core/time.ts';
import type { PageAmount, PageLevel, PageStep, PageSwap } from '../../dashboard/page-state.ts';
import { symbolOf, withTokenNames } from '../../market/market-text.ts';
import type { Mint, TokenTable } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { Intent } from '../../trading/intent.ts';
import { isTerminal, needsOperator } from '../../trading/intent.ts';
import { causeText } from '../reporting/alert-text.ts';
import type { IntentRecord } from '../reporting/counters.ts';
import { pageAmount } from './page-amount.ts';

type StepName = PageStep['name'];

const LIVE_STEPS: readonly StepName[] = ['approved', 'quoted', 'signed', 'sent', 'landed'];
/** Nothing is signed or sent on paper. */
const PAPER_STEPS: readonly StepName[] = ['approved', 'quoted', 'landed'];
/** What a further attempt repeats. */
const OF_ATTEMPT: ReadonlySet<StepName> = new Set(['quoted', 'signed', 'sent']);

const REASON_MAX = 400;

/** Returns a swap that was approved and has made no step since. */
export function openedSwap(
  tokens: TokenTable, { id, strategy, purpose, reason, createdAt, inputMint, outputMint, amountIn }: Intent,
  { isPaper }: { readonly isPaper: boolean },
): PageSwap {
  return {
    intent_id: id, strategy, purpose, reason: withTokenNames(tokens, reason.slice(0, REASON_MAX)),
    created_at: createdAt, state: 'approved', is_open: true, needs_operator: false,
    pays: pageAmount(tokens, inputMint, amountIn), quoted: null, received: null, fee: null,
    buys: symbolOf(tokens, outputMint), router: null, signature: null, attempt: 1, code: null, cause: null,
    steps: (isPaper ? PAPER_STEPS : LIVE_STEPS)
      .map((name) => ({ name, at: name === 'approved' ? createdAt : null, detail: null })),
  };
}

/** Returns a swap after a transition. Without a time, no step is added. */
export function nextSwap(before: PageSwap, record: IntentRecord, { tokens, at }: {
  readonly tokens: TokenTable; readonly at: Millis | undefined;
}): PageSwap {
  const {
    intent: { inputMint, outputMint, amountIn }, state, router, quotedOut, signature, code, reason, fill, feeLamports,
  } = record;
  const amount = (mint: Mint, units: bigint | undefined): PageAmount | null =>
    (units === undefined ? null : pageAmount(tokens, mint, units));
  const isAgain = state === 'building' && (before.state !== 'approved' && before.state !== 'building');
  const quoted = isAgain ? null : amount(outputMint, quotedOut);
  const received = amount(outputMint, fill?.amountOut);
  const reached: Partial<Record<StepName, string | null>> = {
    ...(quoted === null ? {} : { quoted: quoteText(quoted, router ?? null) }),
    ...(state === 'signed' ? { signed: signature ?? null } : {}),
    ...(state === 'submitted' ? { sent: null } : {}),
    ...(state === 'confirmed' ? { landed: received === null ? null : `${received.text} ${received.symbol}` } : {}),
  };
  return {
    ...before, state, is_open: !isTerminal(state), needs_operator: state === 'unknown' && needsOperator(code),
    pays: pageAmount(tokens, inputMint, fill?.amountIn ?? amountIn), quoted, received,
    fee: amount(SOL_MINT, feeLamports),
    router: router ?? before.router, signature: signature ?? before.signature,
    attempt: before.attempt + (isAgain ? 1 : 0), code: code ?? null,
    cause: reason === undefined ? null : withTokenNames(tokens, reason.slice(0, REASON_MAX)),
    steps: before.steps.map((step) => {
      const kept = isAgain && OF_ATTEMPT.has(step.name) ? { name: step.name, at: null, detail: null } : step;
      const detail = reached[step.name];
      return detail === undefined || at === undefined || kept.at !== null ? kept : { ...kept, at, detail };
    }),
  };
}

/** Returns how urgent a swap is. */
export function swapLevel({ state, needs_operator: needs }: PageSwap): PageLevel {
  if (needs) return 'act';
  return state === 'unknown' || state === 'failed' || state === 'expired' || state === 'abandoned' ? 'check' : 'good';
}

/** Returns where a swap stands, in a sentence. */
export function swapSentence(swap: PageSwap): string {
  const { purpose, pays, buys, state, quoted, received, fee, router, code, cause, reason } = swap;
  const isEntry = purpose === 'entry';
  const paid = `${pays.text} ${pays.symbol}`;
  const what = isEntry ? `${buys} for ${paid}` : `${paid} for ${buys}`;
  const going = `${isEntry ? 'Buying' : 'Selling'} ${what}`;
  const not = `Did not ${isEntry ? 'buy' : 'sell'} ${what}`;
  const why = causeText(code, cause);
  switch (state) {
    case 'signed':
    case 'submitted': {
      const price = quoted === null ? '' : `, quoted ${quoteText(quoted, router)}`;
      return `${going}: ${state === 'signed' ? 'signed' : 'sent'}${price}`;
    }
    case 'unknown': return `${going}: no answer yet, the outcome is unknown${why === '' ? '' : ` (${why})`}`;
    case 'confirmed': {
      if (received === null) return `${isEntry ? 'Bought' : 'Sold'} ${what}`;
      const got = `${received.text} ${received.symbol}`;
      return (isEntry ? `Bought ${got} for ${paid}` : `Sold ${paid} for ${got}`)
        + (fee === null ? '' : `, fee ${fee.text} SOL`);
    }
    case 'failed': return `${not}: it failed on the chain, and the fee is paid (${why})`;
    case 'expired': return `${not}: the transaction never landed and never can (${why})`;
    case 'abandoned': return `${not}: given up before signing (${why})`;
    default: return `${going}: ${reason}`;
  }
}

function quoteText({ text, symbol }: PageAmount, router: string | null): string {
  return `${text} ${symbol}${router === null ? '' : ` by ${router}`}`;
}
