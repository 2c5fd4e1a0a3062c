import { createHmac } from 'node:crypto';
import type { ChannelConfig, TelegramConfig, WebhookConfig } from '../../config/notifications/channel-config.ts';
import { createEmailChannel } from './email.ts';
import type { HttpSender } from './http-request.ts';
import { createHttpSender, deliveryOf } from './http-request.ts';
import { messageText } from './message-text.ts';
import type { Channel, Delivery, Message } from './notification.ts';
import { createTelegramApi, escapeForTelegram } from './telegram-api.ts';

/** Telegram counts UTF-16 units after its entities, Discord characters; Slack shows about this much at once. */
const TELEGRAM_MAX = 4_096;
const DISCORD_MAX = 2_000;
const SLACK_MAX = 3_000;

/** Returns the channel of a configuration entry. */
export function createChannel(config: ChannelConfig): Channel {
  if (config.kind === 'email') return createEmailChannel(config);
  const http = createHttpSender();
  return { send: sendBy(config, http), close: () => http.close() };
}

function sendBy(config: Exclude<ChannelConfig, { kind: 'email' }>, http: HttpSender): Channel['send'] {
  switch (config.kind) {
    case 'webhook': return webhookSend(config, http);
    case 'telegram': return telegramSend(config, http);
    case 'discord': return async (message, signal) => deliveryOf(await http.send(config.url, {
      signal,
      body: JSON.stringify({
        content: messageText(message, { limit: DISCORD_MAX, escape: escapeForDiscord }),
        // No mention calls a person; no preview of an address is loaded.
        allowed_mentions: { parse: [] }, flags: 4,
      }),
    }), 'make a new webhook in the settings of the channel, and give its address');
    case 'slack': return async (message, signal) => deliveryOf(await http.send(config.url, {
      signal,
      body: JSON.stringify({
        text: messageText(message, { limit: SLACK_MAX, escape: escapeForSlack }),
        mrkdwn: false, parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false,
      }),
    }), 'make a new incoming webhook, and give its address');
  }
}

function webhookSend({ url, secret }: WebhookConfig, http: HttpSender): Channel['send'] {
  return async (message, signal) => {
    const body = JSON.stringify(payloadOf(message));
    const time = Math.floor(message.sentAt / 1_000);
    return deliveryOf(await http.send(url, {
      signal, body,
      headers: {
        'user-agent': 'gannet',
        'idempotency-key': message.id,
        ...(secret === undefined ? {} : {
          'gannet-signature':
            `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`,
        }),
      },
    }), 'check the address, and what its receiver accepts');
  };
}

/** Returns the document of a webhook; docs/operations/notifications.md describes it. */
function payloadOf({
  id, topic, level, title, text, strategy, key, count, at, lastAt, sentAt, runId, facts, uncertain, dropped,
}: Message): object {
  return {
    version: 1, id, topic, level, title, text: text ?? null, strategy: strategy ?? null, key, count,
    at: new Date(at).toISOString(), last_at: new Date(lastAt).toISOString(), sent_at: new Date(sentAt).toISOString(),
    run_id: runId, facts: facts ?? {}, may_have_arrived: uncertain > 0, dropped_before: dropped,
  };
}

function telegramSend(config: TelegramConfig, http: HttpSender): Channel['send'] {
  const api = createTelegramApi(config, http);
  return async (message, signal): Promise<Delivery> => {
    // Without a parse mode the text is plain.
    const answer = await api.call('sendMessage', {
      chat_id: config.chat, text: messageText(message, { limit: TELEGRAM_MAX, escape: escapeForTelegram }),
      link_preview_options: { is_disabled: true }, disable_notification: message.level === 'info',
    }, { signal });
    if (answer.kind === 'done') return { kind: 'sent' };
    if (answer.kind === 'failed') return { kind: 'failed', fault: answer.fault, mayHaveArrived: answer.wasSent };
    const { code, fault, retryAfterMs } = answer;
    if (code === 429 || code >= 500) return { kind: 'failed', fault, retryAfterMs, mayHaveArrived: false };
    const isOfChat = /chat|group|channel|user|peer/i.test(fault);
    return {
      kind: 'refused', of: code === 400 && !isOfChat ? 'message' : 'channel', fault: `${code}: ${fault}`,
      remedy: code === 401 || code === 404 ? 'check the token: @BotFather shows it'
        : 'check "chat", and that the bot is in it: send it /start there, or add it to the group',
    };
  };
}

function escapeForDiscord(char: string): string {
  if (/[@/]/.test(char)) return `${char}\u2060`;
  return /[\\*_~`|<>#[\]()-]/.test(char) ? `\\${char}` : char;
}

const SLACK_ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function escapeForSlack(char: string): string {
  return SLACK_ENTITIES[char] ?? (char === '@' ? `${char}\u2060` : char);
}
