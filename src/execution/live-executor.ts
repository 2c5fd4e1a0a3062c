import type { Subscriber } from 'rxjs';
import { EMPTY, Observable, merge } from 'rxjs';
import type { Attempt } from '../trading/attempt.ts';
import type { Executor } from '../trading/executor.ts';
import type { Intent, Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import { landAttempt } from './landing.ts';
import type { LiveWorld, Progress } from './journey.ts';
import type { Journal, JournalledIntent } from './ports.ts';
import { prepareAttempt } from './prepare.ts';

/**
 * Returns the executor that trades: quote, check, sign, write down, send, and then ask until it is known what became of
 * it. Every transition is on disk before anybody hears of it; the signed bytes are on disk before the first one leaves.
 */
export function createLiveExecutor(world: LiveWorld): Executor {
  return {
    execute: (intent) => journey((report) => {
      world.journal.intentApproved(intent);
      return carryOut(world, intent, report(intent, 1));
    }, world.journal),
    reconcile: (open) => {
      const known = new Map(world.journal.openIntents().map((entry) => [entry.intent.id, entry]));
      return merge(EMPTY, ...open.map(({ intent, state }) => journey(
        (report) => resolveOpen(world, known.get(intent.id) ?? { intent, state, attempts: [] }, report), world.journal,
      )));
    },
  };
}

type Reporter = (intent: Intent, attempt: number) => (progress: Progress) => void;

/** Wraps one journey: each step is journalled, then told. A bug in it surfaces as an error, which nobody may swallow. */
function journey(run: (report: Reporter) => Promise<void>, journal: Journal): Observable<Outcome> {
  return new Observable((subscriber) => {
    run(reporter(subscriber, journal)).then(() => { subscriber.complete(); }, (error: unknown) => { subscriber.error(error); });
  });
}

function reporter(subscriber: Subscriber<Outcome>, journal: Journal): Reporter {
  return (intent, attempt) => (progress) => {
    const outcome: Outcome = { kind: 'outcome', intentId: intent.id, attempt, ...progress };
    journal.transition(outcome);
    subscriber.next(outcome);
  };
}

async function carryOut(world: LiveWorld, intent: Intent, tell: (progress: Progress) => void): Promise<void> {
  tell({ state: 'building' });
  const prepared = await prepareAttempt(world, intent, 1);
  if (prepared.kind === 'refused') {
    tell({ state: 'abandoned', router: prepared.router, code: prepared.code, reason: prepared.reason });
    return;
  }
  const { attempt } = prepared;
  world.journal.attemptSigned(attempt);
  tell({ state: 'signed', ...attemptFacts(attempt) });
  await landAttempt(world, intent, attempt, tell);
}

/** Resolves what a process that is gone left open: nothing signed is nothing done; what was signed is sent again, the same bytes. */
async function resolveOpen(world: LiveWorld, { intent, state, attempts }: JournalledIntent, report: Reporter): Promise<void> {
  if (isTerminal(state)) return;
  const attempt = attempts.at(-1);
  const tell = report(intent, attempt?.number ?? 1);
  if (attempt === undefined) {
    tell({ state: 'abandoned', code: 'RESTARTED', reason: 'the process ended before anything was signed' });
    return;
  }
  // Written down as signed, but the process ended before it could say so.
  if (state === 'approved') tell({ state: 'building' });
  if (state === 'approved' || state === 'building') tell({ state: 'signed', ...attemptFacts(attempt) });
  await landAttempt(world, intent, attempt, tell);
}

function attemptFacts(attempt: Attempt): Omit<Progress, 'state'> {
  return {
    router: attempt.router,
    quotedOut: attempt.quotedOut,
    signature: attempt.transactionId,
    messageHash: attempt.messageHash,
    lastValidBlockHeight: attempt.lastValidBlockHeight,
    feePayer: attempt.feePayer,
  };
}
