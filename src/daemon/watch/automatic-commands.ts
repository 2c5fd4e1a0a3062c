import type { Observable } from 'rxjs';
import { Subscription } from 'rxjs';
import type { Clock } from '../../core/time.ts';
import type { ServiceAccess } from '../../service/access.ts';
import type { Command, ServiceAccessState } from '../../trading/engine-command.ts';
import type { AlertProposal } from '../../trading/proposal.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { SessionOptions } from '../run/run-options.ts';
import type { StopFile } from './stop-file.ts';
import { watchStopFile } from './stop-file.ts';
import { watchClock } from './system-clock.ts';

/** What ended, in words, where the service lets everything through again. */
const ANSWERS_AGAIN: { readonly [State in ServiceAccessState]: string } = {
  granted: 'the service answers', silent: 'the service answers again',
  refused: 'the service takes the API key again', forbidden: 'the service takes your region, address and key again',
};

interface ExternalCommandOptions {
  readonly state: EngineState;
  readonly clock: Clock;
  /** Each change of access to the service. */
  readonly access$: Observable<ServiceAccess>;
  readonly stopFile: StopFile;
  /** Not called after the run has ended. */
  readonly accept: (command: Command) => void;
  readonly hasEnded: () => boolean;
  /** Called when the file STOP was removed. */
  readonly onStopFileGone: () => void;
  readonly onError: (error: unknown) => void;
}

/** The watch over sources of commands beside the operator: access to the service, and the file STOP. */
export interface ExternalCommands {
  readonly subscription: Subscription;
  /** Checks the file STOP at once. */
  checkStopFile(): void;
}

/** Starts the watch. While the file STOP exists, trading stays halted. */
export function watchExternalCommands(options: ExternalCommandOptions): ExternalCommands {
  const { state, clock, stopFile, accept, hasEnded } = options;
  let sawStopFile = false;
  const onStopFile = (content: string | undefined): void => {
    if (hasEnded()) return;
    if (content === undefined) {
      if (sawStopFile) options.onStopFileGone();
    } else if (!sawStopFile || state.trading !== 'halted') {
      const reason = content === '' ? stopFile.path : content;
      accept({ kind: 'command', name: 'set-trading-state', state: 'halted', by: 'stop-file', reason });
    }
    sawStopFile = content !== undefined;
  };
  const subscription = new Subscription();
  subscription.add(options.access$.subscribe({
    next: (access) => {
      if (hasEnded() || access.state === state.serviceAccess) return;
      const reason = access.state === 'granted' ? ANSWERS_AGAIN[state.serviceAccess] : access.message;
      accept({ kind: 'command', name: 'set-service-access', access: access.state, reason });
    },
    error: options.onError,
  }));
  subscription.add(watchStopFile(stopFile, clock, onStopFile));
  return { subscription, checkStopFile: () => { onStopFile(stopFile.read()); } };
}

/** Watches the machine and the tokens for a run: disk space, state files, the clock, and which tokens may be bought. */
export function watchMachine({
  state, recorder, diskGuard, stateWatch, tokenChecks$, files, clock, clockAheadMs,
}: SessionOptions, { accept, alert, onError }: {
  readonly accept: (command: Command) => void;
  readonly alert: (alert: AlertProposal) => void;
  readonly onError: (error: unknown) => void;
}): Subscription {
  const watching = new Subscription();
  watching.add(diskGuard.watch({
    state, accept,
    alert: (level, message) => { alert({ kind: 'alert', level, message, data: { code: 'DISK_SPACE' } }); },
    stopRecording: () => recorder?.stop() ?? false,
    retry: () => { files.retry(); },
  }));
  watching.add(stateWatch?.watch((fault) => {
    alert({
      kind: 'alert', level: 'critical',
      message: `${fault}: signing has stopped, and this run ends; it follows open swaps until then`,
      data: { code: 'STATE_LOST' },
    });
  }));
  watching.add(watchClock({ clock, aheadMs: clockAheadMs, alert }));
  watching.add(tokenChecks$.subscribe({ next: accept, error: onError }));
  return watching;
}
