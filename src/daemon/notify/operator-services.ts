import { requestRate } from '../../config/request-rate.ts';
import { feedKey } from '../../market/feed.ts';
import type { ControlPort } from '../control/control-port.ts';
import type { Reporter } from '../reporting/reporter.ts';
import type { DaemonOptions } from '../run/run-options.ts';
import { AbsenceWatch } from '../watch/absence.ts';
import { DailyReport } from './daily-report.ts';
import { Heartbeat } from './heartbeat.ts';
import { createHttpSender } from './http-request.ts';
import type { Notifier } from './notification.ts';
import { createTelegramApi } from './telegram-api.ts';
import { TelegramCommands } from './telegram-commands.ts';

/** A service beside trading. */
interface OperatorService {
  readonly name: string;
  readonly reporter?: Reporter;
  readonly attach: (port: ControlPort) => void;
  readonly close: () => Promise<void> | void;
}

type WatchedOptions = Pick<DaemonOptions, 'config' | 'stateDir' | 'clock' | 'log' | 'signer'>;

/**
 * Returns what tells the operator that something does not happen, and what takes commands by Telegram. A single manual
 * swap has the watch over absent events alone.
 */
export function operatorServices(options: WatchedOptions, notifier: Notifier): OperatorService[] {
  const { config: { alerts, strategies, notifications = [] }, clock, log } = options;
  const expectedMs = new Map(requestRate(options.config).feeds.map(({ spec, expectedMs: each }) =>
    [feedKey(spec), each]));
  const absence = new AbsenceWatch({ alerts, clock, log, expectedMs });
  const watch: OperatorService = {
    name: 'the watch over absent events', reporter: absence.reporter,
    attach: (port) => { absence.attach(port); }, close: () => { absence.close(); },
  };
  if (strategies.some(({ isManual }) => isManual === true)) return [watch];
  return [
    watch,
    ...heartbeatServices(options, absence),
    ...(alerts.dailyReport === undefined ? []
      : [reportService(new DailyReport({ ...options, config: alerts.dailyReport, notifier }))]),
    ...notifications.flatMap((channel) =>
      (channel.kind === 'telegram' && channel.commands !== undefined ? [commandService(options, channel)] : [])),
  ];
}

function heartbeatServices(
  { config: { alerts: { heartbeat } }, clock, log, signer }: WatchedOptions, absence: AbsenceWatch,
): OperatorService[] {
  if (heartbeat === undefined) return [];
  let signerFault: string | undefined;
  void signer?.closed.then(() => { signerFault = 'the signer process is gone'; });
  const http = createHttpSender();
  const calls = new Heartbeat({ config: heartbeat, clock, log, http, fault: () => signerFault ?? absence.fault() });
  return [{
    name: 'the heartbeat', attach: () => { calls.start(); },
    close: async () => {
      calls.close();
      await http.close();
    },
  }];
}

function reportService(report: DailyReport): OperatorService {
  return {
    name: 'the daily report', reporter: report.reporter,
    attach: (port) => { report.attach(port); }, close: () => { report.close(); },
  };
}

function commandService(
  options: WatchedOptions, channel: Parameters<typeof createTelegramApi>[0]
    & ConstructorParameters<typeof TelegramCommands>[0]['channel'],
): OperatorService {
  const http = createHttpSender();
  const commands = new TelegramCommands({ ...options, channel, api: createTelegramApi(channel, http) });
  return {
    name: `the commands of the Telegram channel "${channel.name}"`, attach: (port) => { commands.attach(port); },
    close: async () => {
      await commands.close();
      await http.close();
    },
  };
}
