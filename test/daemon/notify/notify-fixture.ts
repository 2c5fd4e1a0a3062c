import type { ChannelConfig } from '../../../src/config/notifications/channel-config.ts';
import type { Notification } from '../../../src/daemon/notify/notification.ts';
import type { OutboxContent } from '../../../src/daemon/notify/outbox.ts';
import { Outbox } from '../../../src/daemon/notify/outbox.ts';

export const NOON = Date.UTC(2026, 5, 1, 12);
export const MINUTE = 60_000;
export const HOUR = 3_600_000;

export function channelConfig(more: Partial<ChannelConfig> = {}): ChannelConfig {
  return {
    kind: 'webhook', name: 'ops', level: 'info', events: ['alerts', 'state', 'reports'], repeatAfterMs: 10 * MINUTE,
    perHour: 20, url: 'http://127.0.0.1:1/hook', ...more,
  } as ChannelConfig;
}

export function alert(title: string, more: Partial<Notification> = {}): Notification {
  return { topic: 'alerts', level: 'warning', title, at: NOON, key: title, ...more };
}

export const NOTHING: OutboxContent = { messages: [], channels: new Map() };

export function outboxOf(configs: readonly ChannelConfig[], { content = NOTHING, now = NOON } = {}): Outbox {
  return new Outbox({ configs, runId: 'run-1', content, now });
}

/** What an outbox would load after a crash now. */
export function contentOf(outbox: Outbox, ...channels: readonly string[]): OutboxContent {
  return structuredClone({
    messages: outbox.messages, channels: new Map(channels.map((name) => [name, outbox.channel(name)])),
  });
}
