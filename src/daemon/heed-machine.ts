import { Subscription } from 'rxjs';
import type { Command } from '../trading/command.ts';
import type { AlertProposal } from '../trading/proposal.ts';
import { watchClock } from './clock-watch.ts';
import type { SessionOptions } from './session-options.ts';

/** Watches what no strategy asks for but every run needs: room on the disk, files that stay, a clock that is right, tokens that may be bought. */
export function heedMachine({ state, recorder, diskGuard, stateWatch, tokenLooks$, files, clock, clockAheadMs }: SessionOptions, { accept, alert, onError }: {
  readonly accept: (command: Command) => void;
  readonly alert: (alert: AlertProposal) => void;
  readonly onError: (error: unknown) => void;
}): Subscription {
  const watching = new Subscription();
  watching.add(diskGuard.watch({
    state, accept,
    alert: (level, message) => { alert({ kind: 'alert', level, message }); },
    stopRecording: () => recorder?.stop() ?? false,
    retry: () => { files.retry(); },
  }));
  watching.add(stateWatch?.watch((fault) => {
    alert({ kind: 'alert', level: 'critical', message: `${fault}: nothing is signed any more, and this run ends; swaps under way are followed as long as it lasts`, data: { code: 'STATE_LOST' } });
  }));
  watching.add(watchClock({ clock, aheadMs: clockAheadMs, alert }));
  watching.add(tokenLooks$.subscribe({ next: accept, error: onError }));
  return watching;
}
