import { messageOf } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import { wait } from '../../execution/monotonic-time.ts';
import type { ControlPort } from '../control/control-port.ts';
import { writeStateReadme } from '../files/state-readme.ts';
import { RunMetrics } from '../metrics/run-metrics.ts';
import { openNotifications } from '../notify/notifications.ts';
import { operatorServices } from '../notify/operator-services.ts';
import type { Log } from '../reporting/log.ts';
import type { Reporter } from '../reporting/reporter.ts';
import { RetentionService } from '../retention/retention-service.ts';
import { superviseRun } from '../watch/supervision.ts';
import type { DaemonOptions } from './run-options.ts';

/** Above what each service allows itself. */
const CLOSE_MAX_MS: Millis = 6_000;

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
  /** Served by the control API. */
  readonly metrics: RunMetrics;
  attach(port: ControlPort): void;
  close(): Promise<void>;
}

/** Opens what the configuration asks for beside trading. A fault of one is logged; trading and the others go on. */
export function openSideServices(options: DaemonOptions): SideServices {
  const { log, clock, serviceManager: manager } = options;
  logged('the README of the state directory', log, () => { writeStateReadme(options.stateDir); });
  const { config: { mode, recording }, connections: { service, chain } } = options;
  const notifications = openNotifications(options);
  const metrics = new RunMetrics({
    ...options, mode, recordingDir: recording.dir, requests: () => service.stats(),
    nodes: () => chain?.nodes.stats() ?? [], channels: notifications.stats,
  });
  const services: readonly SideService[] = [
    ...operatorServices(options, notifications.notifier),
    ...nodeAlerts(options),
    { name: 'metrics', reporter: metrics.reporter, attach: (port) => { metrics.attach(port); },
      close: () => { metrics.close(); } },
    ...(manager === undefined ? [] : [{ name: 'supervision', ...superviseRun({ manager, clock, log }) }]),
    ...(options.config.retention.enabled ? [retentionOf(options)] : []),
    notifications,
  ];
  return {
    metrics,
    reporters: services.flatMap(({ name, reporter }) => (reporter === undefined ? [] : [guarded(name, reporter, log)])),
    attach: (port) => { for (const { name, attach } of services) logged(name, log, () => attach?.(port)); },
    // All at once, so that the bounds of several do not add up. The notifications are last: they hold what the others
    // say before they first wait.
    close: async () => { await Promise.all(services.map((each) => closeOne(each, options))); },
  };
}

/** Closes a service, or goes on without it where it takes too long. */
async function closeOne(
  { name, close }: SideService, { log, clock }: Pick<DaemonOptions, 'log' | 'clock'>,
): Promise<void> {
  const closed = new AbortController();
  const closing = (async () => { await close?.(); })()
    .catch((error: unknown) => { log('error', `${name} did not close: ${messageOf(error)}`, { error }); })
    .finally(() => { closed.abort(); });
  const late = wait(clock, CLOSE_MAX_MS, closed.signal).then(() => {
    if (!closed.signal.aborted) log('warn', `${name} did not close within ${CLOSE_MAX_MS / 1_000} s`);
  });
  await Promise.race([closing, late]);
}

function retentionOf(options: DaemonOptions): SideService {
  const retention = new RetentionService(options);
  return {
    name: 'the retention', attach: (port) => { retention.attach(port); }, close: () => retention.close(),
  };
}

/** Alerts on nodes of the chain that are lost, back, behind, of another network, or contradict each other. */
function nodeAlerts({ connections: { chain } }: DaemonOptions): readonly SideService[] {
  if (chain === undefined) return [];
  let unsubscribe: (() => void) | undefined;
  return [{
    name: 'the watch over the nodes of the chain',
    attach: (port) => {
      unsubscribe = chain.nodes.onEvent(({ level, code, message }) => {
        port.alert({ kind: 'alert', level, message, data: { code } });
      });
    },
    close: () => unsubscribe?.(),
  }];
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
