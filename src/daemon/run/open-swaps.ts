import type { Subscription } from 'rxjs';
import { pluralize } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import type { Engine } from '../../engine/engine.ts';
import { wait } from '../../execution/monotonic-time.ts';
import { symbolOf } from '../../market/market-text.ts';
import type { Outcome } from '../../trading/intent.ts';
import type { Effect } from '../../trading/step.ts';
import type { Stamp } from '../reporting/reporter.ts';
import type { SessionOptions } from './run-options.ts';
import type { RunRecorder } from './run-recorder.ts';

/**
 * How long strategies wait for the open swaps of the last run, so that the run trades within ten seconds. After that,
 * only the inputs of unknown swaps stay locked.
 */
const RECOVERY_MAX_MS: Millis = 5_000;

interface FollowOptions extends Pick<SessionOptions, 'open' | 'executor' | 'reporter' | 'clock' | 'state'> {
  readonly engine: Pick<Engine, 'returnStrategyStates'>;
  readonly runRecorder: RunRecorder;
  readonly stamp: () => Stamp;
  readonly onOutcome: (outcome: Outcome) => void;
  /** A bug ends the run also when it shows after the strategies have started. */
  readonly onError: (error: unknown) => void;
  /** What ends with the session, because later outcomes would be written to a closed journal. */
  readonly subscriptions: Subscription;
}

/** Carries out an effect of the engine: hands a swap to the executor and follows it, or raises an alert. */
export function carryOut(effect: Effect, options: FollowOptions): void {
  const { executor, engine, runRecorder, stamp, onOutcome, onError } = options;
  if (effect.kind === 'alert') {
    runRecorder.alert(stamp(), effect.strategy, effect.alert);
    return;
  }
  const { intent, strategyState } = effect;
  // Where the strategy state was not written with the swap, the engine keeps it for the next write.
  const keepState = (): void => { if (strategyState !== undefined) engine.returnStrategyStates([strategyState]); };
  runRecorder.counters.opened(intent);
  options.subscriptions.add(executor.execute(intent, strategyState).subscribe({
    next: (outcome) => {
      if (outcome.code === 'JOURNAL_FAILED') keepState();
      onOutcome(outcome);
    },
    error: (error: unknown) => {
      keepState();
      onError(error);
    },
  }));
}

/** Follows the open intents of the last run, and returns when each is known or the time is up. */
export async function followOpen(options: FollowOptions): Promise<void> {
  const { open, executor, reporter, clock, runRecorder, onOutcome, onError } = options;
  reporter.state(options.stamp(), 'recovering',
    `${pluralize(open.length, 'swap was', 'swaps were')} open when the last run `
      + `ended; no strategy runs until each is known, or for ${formatDuration(RECOVERY_MAX_MS)}`);
  for (const { intent, state } of open) runRecorder.counters.opened(intent, state);
  const known = new AbortController();
  await new Promise<void>((resolve, reject) => {
    options.subscriptions.add(executor.reconcile(open).subscribe({
      next: onOutcome,
      error: (error: unknown) => {
        reject(error);
        onError(error);
      },
      complete: () => { known.abort(); },
    }));
    void wait(clock, RECOVERY_MAX_MS, known.signal).then(resolve);
  });
  reportUnproven(options);
}

/** Alerts on swaps of the last run that stay unknown: their inputs stay locked, everything else trades. */
function reportUnproven({ runRecorder, state: { tokens }, stamp }: FollowOptions): void {
  const { open } = runRecorder.counters;
  if (open.length === 0) return;
  const inputs = [...new Set(open.map(({ intent: { inputMint } }) => symbolOf(tokens, inputMint)))];
  runRecorder.alert(stamp(), undefined, {
    kind: 'alert', level: 'warning',
    message: `${open.map(({ intent: { id } }) => id).join(', ')} of the last run could not be proven within `
      + `${formatDuration(RECOVERY_MAX_MS)}: trading starts, but nothing spends ${inputs.join(', ')} until they are `
      + 'known; "gannet journal list" shows them',
    data: { intent_ids: open.map(({ intent: { id } }) => id).join(' '), code: 'SWAPS_UNPROVEN' },
  });
}
