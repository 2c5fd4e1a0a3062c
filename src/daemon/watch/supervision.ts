import type { Subscription } from 'rxjs';
import { interval } from 'rxjs';
import type { ServiceManager } from '../../core/process-supervisor.ts';
import { pluralize } from '../../core/text.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { ControlPort } from '../control/control-port.ts';
import type { Log } from '../reporting/log.ts';

/** The part of a run that the service manager hears of. */
type SupervisedRun = Pick<ControlPort, 'state' | 'health' | 'alert'>;

interface Supervision {
  /** Called before recovery: the run is ready to be commanded, and recovery may take as long as the node needs. */
  attach(run: SupervisedRun): void;
  close(): void;
}

/** How often the state is told without a watchdog. */
const TELL_EVERY_MS: Millis = 20_000;
/** Of the span after which the manager restarts the daemon: one late message must not end it. */
const TELLS_PER_WATCHDOG = 3;

/**
 * Tells the service manager that the run is ready, its state in words, and that it is well. The event loop tells it, so
 * a loop that is stuck tells nothing. While the inbox is stalled, nothing says that the run is well.
 */
export function superviseRun(
  { manager, clock, log }: { readonly manager: ServiceManager; readonly clock: Clock; readonly log: Log },
): Supervision {
  let telling: Subscription | undefined;
  let wasStalled = false;
  const everyMs = manager.watchdogMs === undefined ? TELL_EVERY_MS : manager.watchdogMs / TELLS_PER_WATCHDOG;
  const tell = (run: SupervisedRun): void => {
    const isStalled = run.health.isStalled();
    if (isStalled && !wasStalled) {
      const message = 'events or timers have waited for minutes for work that does not end: the service manager is no '
        + 'longer told that this run is well, and starts it again';
      log('error', message);
      run.alert({ kind: 'alert', level: 'critical', message, data: { code: 'INBOX_STALLED' } });
    }
    wasStalled = isStalled;
    const { phase, standing, standing_reasons: reasons, decisions, intents: { open } } = run.state();
    const words = standing.replaceAll('-', ' ');
    manager.tell({
      well: !isStalled, stopping: phase === 'draining' || phase === 'ended',
      status: phase !== 'trading' && phase !== 'recovering' ? words
        : reasons.length > 0 ? `${words}: ${reasons.join('; ')}`
          : `${words}, ${pluralize(decisions, 'decision')}, ${pluralize(open.length, 'open swap')}`,
    });
  };
  return {
    attach: (run) => {
      manager.tell({ ready: true });
      tell(run);
      telling = interval(everyMs, clock).subscribe(() => { tell(run); });
    },
    close: () => {
      telling?.unsubscribe();
      manager.tell({ stopping: true });
      manager.close();
    },
  };
}
