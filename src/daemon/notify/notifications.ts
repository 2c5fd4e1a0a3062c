import type { ChannelConfig } from '../../config/notifications/channel-config.ts';
import { channelSecrets } from '../../config/notifications/channel-config.ts';
import { alertSecrets } from '../../config/operations/alerts-config.ts';
import { addressSecrets } from '../../core/redaction.ts';
import { seededRandom } from '../../core/random.ts';
import { pluralize } from '../../core/text.ts';
import type { ControlPort } from '../control/control-port.ts';
import { createRedactor } from '../reporting/log.ts';
import type { Reporter } from '../reporting/reporter.ts';
import type { DaemonOptions } from '../run/run-options.ts';
import { createChannel } from './channels.ts';
import { Dispatcher } from './dispatcher.ts';
import type { Channel, Notification, Notifier } from './notification.ts';
import type { ChannelStats } from './outbox.ts';
import { Outbox, waitingOf } from './outbox.ts';
import { OutboxStore, outboxPath } from './outbox-store.ts';
import { RunNotifications } from './run-notifications.ts';

/** The notifications of a run: what it tells by itself, and what other side services tell through it. */
interface Notifications {
  readonly name: string;
  readonly reporter?: Reporter;
  readonly attach?: (port: ControlPort) => void;
  readonly close?: () => Promise<void>;
  readonly notifier: Notifier;
  /** What waits for each channel. */
  readonly stats: () => readonly ChannelStats[];
}

type NotifyingRun = Pick<DaemonOptions,
  'config' | 'stateDir' | 'clock' | 'log' | 'runId' | 'controlTokens' | 'signalsToken'>;

/** Opens the channels of the configuration. Without any, and for a single manual swap, nothing is sent. */
export function openNotifications(
  options: NotifyingRun, createWith: (config: ChannelConfig) => Channel = createChannel,
): Notifications {
  const { config: { notifications: configs = [], strategies, tokens }, stateDir, clock, log, runId } = options;
  if (configs.length === 0 || strategies.some(({ isManual }) => isManual === true))
    return { name: 'notifications', notifier: { notify: () => undefined }, stats: () => [] };
  const store = new OutboxStore(outboxPath(stateDir), (message) => { log('warn', message); });
  const { lastRun, ...content } = store.load();
  const outbox = new Outbox({ configs, runId, content, now: clock.now() });
  const lost = content.messages.length - outbox.messages.length;
  if (lost > 0) {
    log('warn', `notifications: ${pluralize(lost, 'message')} of an earlier run for channels that are no longer `
      + 'configured will not be sent');
  }
  const dispatcher = new Dispatcher({
    outbox, store, clock, log, random: seededRandom(`${runId}:notifications`),
    channels: new Map(configs.map((config) => [config.name, createWith(config)])),
  });
  const redact = createRedactor(secretsOf(options, configs));
  const notifier: Notifier = {
    notify: (notification) => { dispatcher.notify(redact(notification) as Notification); },
  };
  const run = new RunNotifications({
    notifier, tokens, clock, runId, lastRun, saveRun: (record) => { store.saveRun(record); },
  });
  return {
    name: 'notifications', notifier, reporter: run.reporter,
    attach: () => { run.attach(); },
    stats: () => {
      const { messages } = outbox;
      return configs.map(({ name }) =>
        ({ name, ...waitingOf(messages, name), failures: outbox.channel(name).failures }));
    },
    close: async () => {
      run.close();
      await dispatcher.close();
    },
  };
}

/** What no message may say, whatever a fault's text repeats. */
function secretsOf(
  { config: { service, chain, alerts }, controlTokens, signalsToken }: NotifyingRun, configs: readonly ChannelConfig[],
): string[] {
  return [
    service.apiKey, ...[chain.rpcUrl, ...chain.furtherRpcUrls, chain.wsUrl ?? ''].flatMap(addressSecrets),
    ...Object.values(controlTokens), signalsToken, ...channelSecrets(configs), ...alertSecrets(alerts),
  ].flatMap((secret) => (secret === undefined || secret === '' ? [] : [secret]));
}
