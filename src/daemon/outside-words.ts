import type { Observable } from 'rxjs';
import { Subscription } from 'rxjs';
import type { Clock } from '../core/time.ts';
import type { ServiceAccess } from '../service/access.ts';
import type { Command } from '../trading/command.ts';
import type { EngineState } from '../trading/state.ts';
import type { StopFile } from './stop-file.ts';
import { watchStopFile } from './stop-file.ts';

/** Who speaks to a run beside the market and the operator, and who hears it. */
export interface OutsideOptions {
  readonly state: EngineState;
  readonly clock: Clock;
  /** Whether the service lets this run in, and answers: each change. */
  readonly access$: Observable<ServiceAccess>;
  readonly stopFile: StopFile;
  /** Takes a command; not called any more once the run has ended. */
  readonly accept: (command: Command) => void;
  readonly hasEnded: () => boolean;
  /** The file STOP was there and is gone. */
  readonly onStopFileGone: () => void;
  readonly onError: (error: unknown) => void;
}

/** What is heard from outside: the service's word on the API key, and the file STOP. */
export interface OutsideWords {
  readonly subscription: Subscription;
  /** Looks whether the file STOP is there, at once. */
  lookAtStopFile(): void;
}

/** Listens from now on. While the file STOP lies there, nothing else lets anything trade. */
export function heedOutside(options: OutsideOptions): OutsideWords {
  const { state, clock, stopFile, accept, hasEnded } = options;
  let sawStopFile = false;
  const heedStopFile = (content: string | undefined): void => {
    if (hasEnded()) return;
    if (content === undefined) {
      if (sawStopFile) options.onStopFileGone();
    } else if (!sawStopFile || state.trading !== 'halted') {
      accept({ kind: 'command', name: 'set-trading-state', state: 'halted', by: 'stop-file', reason: content === '' ? stopFile.path : content });
    }
    sawStopFile = content !== undefined;
  };
  const subscription = new Subscription();
  subscription.add(options.access$.subscribe({
    next: (access) => {
      if (hasEnded() || access.state === state.serviceAccess) return;
      const again = state.serviceAccess === 'silent' ? 'the service answers again' : 'the service takes the API key again';
      const reason = access.state === 'granted' ? again : access.message;
      accept({ kind: 'command', name: 'set-service-access', access: access.state, reason });
    },
    error: options.onError,
  }));
  subscription.add(watchStopFile(stopFile, clock, heedStopFile));
  return { subscription, lookAtStopFile: () => { heedStopFile(stopFile.read()); } };
}
