import type { SchedulerAction, Subscription } from 'rxjs';
import { from, interval, map, NEVER, Subject, tap } from 'rxjs';
import { onTestFinished } from 'vitest';
import type { Clock, Millis } from '../../src/core/time.ts';
import { openOrderAudit } from '../../src/daemon/control/order-audit.ts';
import { createDiskGuard } from '../../src/daemon/watch/disk-guard.ts';
import { RunStory } from '../../src/daemon/page/run-story.ts';
import type { Reporter } from '../../src/daemon/reporting/reporter.ts';
import { reportToAll } from '../../src/daemon/reporting/reporter.ts';
import type { SessionOptions } from '../../src/daemon/run/run-options.ts';
import { Session } from '../../src/daemon/run/session.ts';
import { monotonicNow } from '../../src/daemon/watch/system-clock.ts';
import { watchTokens } from '../../src/daemon/watch/token-watch.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import type { MarketEvent } from '../../src/market/event.ts';
import type { HistoryStore } from '../../src/store/history.ts';
import type { OpenIntent } from '../../src/trading/executor.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import { DEFAULT_PROTECTIONS } from '../../src/trading/protections/catalogue.ts';
import type { TokenFacts } from '../../src/trading/token-safety.ts';
import type { StateSnapshot } from '../../src/trading/engine-state.ts';
import { createState, freshSnapshot } from '../../src/trading/engine-state.ts';
import type { Input } from '../../src/trading/step.ts';
import { strategy } from '../engine/runs.ts';
import { buyingSol, PURCHASE, sellingSol } from '../market/events.ts';
import { SOL, SOL_USDC, TOKENS, USDC } from '../market/tokens.ts';
import { temporaryFolder, temporaryHistory, temporaryJournal } from '../store/fixtures.ts';
import { fillOf, outcome, strategySetup, WALLET, WIDE } from '../trading/states.ts';

export const START = 1_790_000_000_000;
const SAFE: TokenFacts = {
  record: {
    mintAuthorityDisabled: true, freezeAuthorityDisabled: true, topHoldersPct: 1, liquidityUsd: 1e9, organicScore: 90,
    holders: 1e6,
  },
  account: { mintAuthority: undefined, freezeAuthority: undefined, extensions: [] } as unknown as TokenFacts['account'],
  canBeSold: true,
};

const silent = (): void => undefined;

/** Buys every ten seconds by its own timer. */
const TICKER = strategy('ticker', (_streams, context) => interval(10_000, context.clock).pipe(
  map((count) => context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, `tick ${count}`))));

/** A session in true time that a test makes pass; the machine's own clock may be wrong. */
export interface Daemon {
  readonly session: Session;
  readonly history: HistoryStore;
  readonly state: ReturnType<typeof createState>;
  readonly stamps: { readonly at: Millis; readonly input: Input }[];
  readonly alerts: string[];
  readonly said: string[];
  /** The messages of the log. */
  readonly logged: string[];
  /** What the machine's clock is ahead of the true time. */
  readonly wall: { aheadMs: Millis };
  /** Lets the true time pass, with a price every five seconds. */
  pass(ms: Millis): Promise<void>;
  /** Tells what became of the swap under way. */
  land(): void;
  /** Tells that the swap under way was given up. */
  giveUp(code: string, reason: string): void;
  readonly executed: string[];
  readonly story: RunStory;
  /** What a process that dies now leaves behind. */
  readonly kept: () => StateSnapshot | undefined;
}

/**
 * Starts a session of one strategy that buys every ten seconds; with what an earlier run left open, which ends as
 * `leftover` says.
 */
export async function start({
  open = [], crashes, leftover = 'expired', approvals = [], swaps = 4, ticker = TICKER, passedMs = 12_000,
}: {
  /** The one strategy, named "ticker". */
  readonly ticker?: SessionOptions['strategies'][number];
  /** How many an hour are allowed. */
  readonly swaps?: number;
  readonly open?: readonly OpenIntent[];
  /** When an earlier run approved swaps, by its own clock. */
  readonly approvals?: readonly Millis[];
  readonly crashes?: number;
  readonly leftover?: 'expired' | 'nothing yet';
  /** How much time passes before the test begins. */
  readonly passedMs?: Millis;
} = {}): Promise<Daemon> {
  const truth = new VirtualClock(START);
  const wall = { aheadMs: 0 };
  const clock: Clock = {
    now: monotonicNow(() => truth.now() + wall.aheadMs, () => truth.now()),
    // Timers of a process count spans; no clock that is set changes them.
    schedule: <T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: Millis, state?: T): Subscription =>
      truth.schedule(work, delay, state),
  };
  const limits = {
    ...WIDE, protections: DEFAULT_PROTECTIONS, maxSwaps: { perHour: swaps },
    tokenSafety: {
      trusted: new Set([USDC.mint]), minLiquidityUsd: 0, minOrganicScore: 0, minHolders: 0, maxTopHoldersPct: 100,
      maxTransferFeeBps: 0 as never, allowedExtensions: new Set<string>(), validForMs: 600_000,
    },
  };
  const setup = { tokens: TOKENS, limits, strategies: [strategySetup('ticker')] };
  const snapshot = { ...freshSnapshot(WALLET), approvals };
  const state = createState({ ...setup, snapshot, open });
  const events$ = new Subject<MarketEvent>();
  let last: { readonly intent: Intent; readonly outcomes$: Subject<Outcome> } | undefined;
  const stamps: Daemon['stamps'] = [];
  const alerts: string[] = [];
  const said: string[] = [];
  const logged: string[] = [];
  const executed: string[] = [];
  const reporter: Reporter = {
    started: silent, decided: silent, denied: silent, intent: silent, feed: silent,
    state: (_stamp, word, message) => { said.push(`${word}: ${message}`); }, trading: silent, protection: silent,
    summary: silent,
    alert: (_stamp, _strategy, { level, message }) => { alerts.push(`${level}: ${message}`); },
  };
  const dir = temporaryFolder();
  const story = new RunStory({ tokens: TOKENS, mode: 'live', runId: 'run' });
  const journal = temporaryJournal(undefined, clock);
  for (const { intent } of open) {
    journal.intentApproved(intent);
    for (const reached of ['building', 'signed', 'submitted'] as const) journal.transition(outcome(intent, reached));
  }
  const { history } = temporaryHistory();
  const session = new Session({
    runId: 'run', mode: 'live', isRealMoney: false, clock, state, strategies: [ticker], seed: 7, startAt: START, open,
    restored: { states: {}, unseen: [] },
    prepareWarmup: () => undefined,
    executor: {
      execute: (intent) => {
        executed.push(intent.id);
        last = { intent, outcomes$: new Subject() };
        return last.outcomes$;
      },
      reconcile: (intents) => (leftover === 'nothing yet' ? NEVER
        : from(intents.map(({ intent }) => outcome(intent, 'expired', { code: 'EXPIRED' })))
          .pipe(tap((ended) => { journal.transition(ended); }))),
    },
    createFeed: () => ({ events$, watch: () => undefined, replace: () => undefined, stats: () => [] }),
    access$: NEVER,
    tokenChecks$: watchTokens({
      mints: [SOL.mint], limits: limits.tokenSafety, facts: async () => SAFE, clock, onFault: silent,
    }),
    walletKeeper: undefined,
    diskGuard: createDiskGuard({
      stateDir: dir, recordingDir: dir, clock, log: silent,
      marks: { recordingBytes: 0, entriesBytes: 0, ballastBytes: 0 },
    }),
    clockAheadMs: () => truth.now() - clock.now(),
    page: { story, requests: () => ({}) },
    crashes,
    recorder: { append: (_seq, at, input) => { stamps.push({ at, input }); }, stop: () => false },
    journal, history, isNewLedger: false,
    stopFile: { path: `${dir}/STOP`, read: () => undefined },
    audit: openOrderAudit({ stateDir: dir, runId: 'run', clock, log: silent }),
    reporter: reportToAll([reporter, story.reporter]), log: (_level, message) => { logged.push(message); },
    files: { dir, decision: silent, manifest: silent, code: silent, retry: silent, close: silent },
    manifest: {} as never, recording: undefined, maxIntents: undefined,
  });
  onTestFinished(() => { session.close(); });
  const recovered = session.recover().then(() => { session.start(); });
  if (leftover === 'expired') await recovered;
  const daemon: Daemon = {
    session, story, history, state, stamps, alerts, said, logged, wall, executed,
    kept: () => journal.loadSnapshot(),
    async pass(ms) {
      for (const end = truth.now() + ms; truth.now() < end;) {
        truth.advanceTo(Math.min(end, truth.now() + 5_000));
        await new Promise((resolve) => { setImmediate(resolve); });
        events$.next(buyingSol(150_000, clock.now()));
        events$.next(sellingSol(150_000, clock.now()));
      }
    },
    giveUp(code, reason) {
      if (last === undefined) return;
      const { intent, outcomes$ } = last;
      last = undefined;
      journal.intentApproved(intent);
      for (const told of [outcome(intent, 'building'), outcome(intent, 'abandoned', { code, reason })]) {
        journal.transition(told);
        outcomes$.next(told);
      }
    },
    land() {
      if (last === undefined) return;
      const { intent, outcomes$ } = last;
      last = undefined;
      journal.intentApproved(intent);
      const ended = [
        outcome(intent, 'building'), outcome(intent, 'signed'),
        outcome(intent, 'confirmed', { fill: fillOf(intent, 166_000_000n) }),
      ];
      for (const told of ended) {
        journal.transition(told);
        outcomes$.next(told);
      }
    },
  };
  await daemon.pass(passedMs);
  return daemon;
}
