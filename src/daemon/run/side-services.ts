import { messageOf } from '../../core/errors.ts';
import type { ControlPort } from '../control/control-port.ts';
import { openNotifications } from '../notify/notifications.ts';
import { operatorServices } from '../notify/operator-services.ts';
import type { Log } from '../reporting/log.ts';
import type { Reporter } from '../reporting/reporter.ts';
import type { DaemonOptions } from './run-options.ts';

/** A part of a run that watches it and takes no part in its decisions. */
interface SideService {
  /** For the log. */
  readonly name: string;
  /** Hears the events of the run. */
  readonly reporter?: Reporter | undefined;
  /** Called once, before recovery begins. */
  readonly attach?: ((port: ControlPort) => void) | undefined;
  readonly close?: (() => Promise<void> | void) | undefined;
}

/** All side services of a run. */
interface SideServices {
  readonly reporters: readonly Reporter[];
  attach(port: ControlPort): void;
  close(): Promise<void>;
}

/** Opens what the configuration asks for beside trading. A fault of one is logged; trading and the others go on. */
export function openSideServices(options: DaemonOptions): SideServices {
  const { log } = options;
  const notifications = openNotifications(options);
  const services: readonly SideService[] = [notifications, ...operatorServices(options, notifications.notifier)];
  return {
    reporters: services.flatMap(({ name, reporter }) => (reporter === undefined ? [] : [guarded(name, reporter, log)])),
    attach: (port) => { for (const { name, attach } of services) logged(name, log, () => attach?.(port)); },
    close: async () => {
      await Promise.all(services.map(async ({ name, close }) => {
        try {
          await close?.();
        } catch (error) {
          log('error', `${name} did not close: ${messageOf(error)}`, { error });
        }
      }));
    },
  };
}

/** Returns the reporter with its faults logged instead of thrown into the run. */
function guarded(name: string, reporter: Reporter, log: Log): Reporter {
  return {
    started: (...args) => { logged(name, log, () => { reporter.started(...args); }); },
    decided: (...args) => { logged(name, log, () => { reporter.decided(...args); }); },
    denied: (...args) => { logged(name, log, () => { reporter.denied(...args); }); },
    intent: (...args) => { logged(name, log, () => { reporter.intent(...args); }); },
    alert: (...args) => { logged(name, log, () => { reporter.alert(...args); }); },
    feed: (...args) => { logged(name, log, () => { reporter.feed(...args); }); },
    state: (...args) => { logged(name, log, () => { reporter.state(...args); }); },
    trading: (...args) => { logged(name, log, () => { reporter.trading(...args); }); },
    protection: (...args) => { logged(name, log, () => { reporter.protection(...args); }); },
    summary: (...args) => { logged(name, log, () => { reporter.summary(...args); }); },
  };
}

function logged(name: string, log: Log, act: () => void): void {
  try {
    act();
  } catch (error) {
    log('error', `${name} failed: ${messageOf(error)}`, { error });
  }
}
