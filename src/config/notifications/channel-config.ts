import { z } from 'zod';
import type { Millis } from '../../core/time.ts';
import { parseDuration } from '../../core/time.ts';
import type { ProblemList } from '../config-issue.ts';
import type { ConfigNode, ConfigPath } from '../config-tree.ts';
import { nodeAt } from '../config-tree.ts';
import type { TelegramCommandsConfig } from './telegram-commands-config.ts';
import { resolveTelegramCommands, telegramCommandKeys } from './telegram-commands-config.ts';
import { duration, isLoopback } from '../schema-fields.ts';

/** The levels of messages, the least urgent first. */
export const LEVELS = ['info', 'warning', 'critical'] as const;
export type NotificationLevel = (typeof LEVELS)[number];

/** What messages are about. Alerts and states go by their level; fills and reports are sent where they are named. */
const TOPICS = ['alerts', 'state', 'fills', 'reports'] as const;
export type NotificationTopic = (typeof TOPICS)[number];

const NAME = /^[a-z][a-z0-9-]{0,31}$/;
const TIME_OF_DAY = /^([01]\d|2[0-3]):([0-5]\d)$/;
const BOT_TOKEN = /^\d{3,20}:[A-Za-z0-9_-]{20,100}$/;
const CHAT = /^(?:-?\d{1,20}|@[A-Za-z]\w{3,40})$/;
const MAIL_ADDRESS = /^[^\s@<>,;:"'\\]{1,64}@[^\s@<>,;:"'\\]{1,190}$/;
/** Header lines end at a line break. */
const ONE_LINE = /^[\x20-\x7e]+$/;

const timeOfDay = (example: string) => z.string()
  .regex(TIME_OF_DAY, { message: 'expected a time of day such as "22:00"' }).meta({ examples: [example] });
const webAddress = (example: string) => z.string()
  .refine((text) => /^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : ''), {
    message: 'expected an http(s) address',
  })
  .meta({ examples: [example] });
const mailAddress = (example: string) => z.string()
  .regex(MAIL_ADDRESS, { message: 'expected an e-mail address' }).meta({ examples: [example] });

const shared = {
  name: z.string().regex(NAME, { message: 'expected lower-case letters, digits and dashes' }).optional()
    .meta({ description: 'How commands and logs name the channel; its kind unless given.', examples: ['ops'] }),
  level: z.enum(LEVELS).default('warning')
    .meta({ description: 'The least urgent alerts and states that are sent.' }),
  events: z.array(z.enum(TOPICS)).min(1).default(['alerts', 'state', 'reports']).meta({
    description: 'What is sent. "alerts" and "state" go by the level; "fills" and "reports" are sent at any level.',
  }),
  repeat_after: duration('10m').default('10m').meta({
    description: 'Within this time, further messages with the same subject become one message with their number.',
  }),
  per_hour: z.int().min(1).max(1_000).default(20).meta({
    description: 'The most messages an hour, after ten at once. What is above becomes one message with a list. '
      + 'Critical messages of the run itself always pass.',
  }),
  quiet_hours: z.strictObject({
    from: timeOfDay('22:00'),
    to: timeOfDay('07:00'),
    zone: z.string().min(1).max(64).meta({ description: 'An IANA time zone.', examples: ['Europe/Berlin'] }),
    level: z.enum(['warning', 'critical', 'none']).default('critical')
      .meta({ description: 'The least urgent messages that pass at this time; "none" holds all back.' }),
  }).optional().meta({ description: 'Messages of this time wait until its end, and then come as one.' }),
};

const webhook = z.strictObject({
  kind: z.literal('webhook'), ...shared,
  url: webAddress('https://hooks.example.org/gannet'),
  secret: z.string().min(16).optional().meta({
    description: 'Signs each request with HMAC-SHA256. Only as ${NAME}.', examples: ['${GANNET_WEBHOOK_SECRET}'],
  }),
});
const telegram = z.strictObject({
  kind: z.literal('telegram'), ...shared,
  token: z.string().regex(BOT_TOKEN, { message: 'expected a bot token of the form 123456:ABC…' })
    .meta({ description: 'The bot’s token. Only as ${NAME}.', examples: ['${GANNET_TELEGRAM_TOKEN}'] }),
  chat: z.string().regex(CHAT, { message: 'expected the number of a chat in quotes, or the @name of a channel' })
    .meta({ description: 'The chat that gets the messages.', examples: ['-1001234567890'] }),
  ...telegramCommandKeys,
  api_url: webAddress('https://api.telegram.org').default('https://api.telegram.org')
    .meta({ description: 'A Bot API server of your own.' }),
});
const discord = z.strictObject({
  kind: z.literal('discord'), ...shared,
  url: webAddress('${GANNET_DISCORD_URL}').meta({ description: 'The address of the webhook. Only as ${NAME}.' }),
});
const slack = z.strictObject({
  kind: z.literal('slack'), ...shared,
  url: webAddress('${GANNET_SLACK_URL}').meta({ description: 'The address of the webhook. Only as ${NAME}.' }),
});
const email = z.strictObject({
  kind: z.literal('email'), ...shared,
  host: z.string().min(1).max(253).meta({ examples: ['smtp.example.org'] }),
  port: z.int().min(1).max(65_535).optional()
    .meta({ description: 'Left out: 465 for tls, 587 for starttls, 25 for none.' }),
  security: z.enum(['starttls', 'tls', 'none']).default('starttls')
    .meta({ description: 'starttls: refused where the server has none. none: unencrypted, on this machine only.' }),
  user: z.string().min(1).optional().meta({ examples: ['gannet@example.org'] }),
  password: z.string().min(1).optional()
    .meta({ description: 'Only as ${NAME}.', examples: ['${GANNET_SMTP_PASSWORD}'] }),
  from: mailAddress('gannet@example.org'),
  to: z.union([mailAddress('you@example.org'), z.array(mailAddress('you@example.org')).min(1).max(20)]),
});

export const notificationsSchema = z.array(z.discriminatedUnion('kind', [webhook, telegram, discord, slack, email]))
  .max(20).meta({ description: 'Where messages about the run go: docs/operations/notifications.md.' });
type ChannelEntry = z.output<typeof notificationsSchema>[number];

/** A time of day in which messages wait. */
export interface QuietHours {
  /** Minutes since midnight. */
  readonly from: number;
  readonly to: number;
  readonly zone: string;
  readonly level: Exclude<NotificationLevel, 'info'> | 'none';
}

interface SharedChannelConfig {
  /** Unique within the configuration. */
  readonly name: string;
  readonly level: NotificationLevel;
  readonly events: readonly NotificationTopic[];
  readonly repeatAfterMs: Millis;
  readonly perHour: number;
  readonly quietHours?: QuietHours | undefined;
}

export interface TelegramConfig extends SharedChannelConfig {
  readonly kind: 'telegram';
  /** Secret. */
  readonly token: string;
  readonly chat: string;
  /** Undefined where no commands are taken. */
  readonly commands?: TelegramCommandsConfig | undefined;
  /** Without a slash at its end. */
  readonly apiUrl: string;
}

export interface WebhookConfig extends SharedChannelConfig {
  readonly kind: 'webhook';
  /** May hold a secret. */
  readonly url: string;
  /** Secret. */
  readonly secret?: string | undefined;
}

export interface EmailConfig extends SharedChannelConfig {
  readonly kind: 'email';
  readonly host: string;
  readonly port: number;
  readonly security: 'starttls' | 'tls' | 'none';
  /** The password is secret. */
  readonly login?: { readonly user: string; readonly password: string } | undefined;
  readonly from: string;
  readonly to: readonly string[];
}

/** A receiver of messages. */
export type ChannelConfig = WebhookConfig | TelegramConfig | EmailConfig
  | SharedChannelConfig & { readonly kind: 'discord' | 'slack'; readonly url: string };

/** The members that only the environment may give, by kind. */
const SECRET_KEYS: Readonly<Record<ChannelEntry['kind'], readonly string[]>> =
  { webhook: ['secret'], telegram: ['token'], discord: ['url'], slack: ['url'], email: ['password'] };

/** Returns the channels of a configuration, after adding what the shape of an entry does not tell to the problems. */
export function resolveNotifications(
  entries: readonly ChannelEntry[], { root, problems }: { readonly root: ConfigNode; readonly problems: ProblemList },
): ChannelConfig[] {
  const names = new Map<string, number>();
  const bots = new Map<string, number>();
  return entries.map((entry, index) => {
    const path = ['notifications', index];
    for (const key of SECRET_KEYS[entry.kind]) refuseLiteral(key, [...path, key], root, problems);
    const first = names.get(entry.name ?? entry.kind);
    if (first !== undefined) {
      problems.add(path, `the name "${entry.name ?? entry.kind}" is that of notifications[${first}] already: give each `
        + 'a "name" of its own');
    }
    names.set(entry.name ?? entry.kind, index);
    if (entry.kind === 'telegram' && entry.commands) {
      const other = bots.get(entry.token);
      if (other !== undefined) {
        problems.add([...path, 'commands'], `notifications[${other}] takes the commands of this bot already, and `
          + 'Telegram gives each message to one reader: leave "commands" out, or give the channel a bot of its own');
      }
      bots.set(entry.token, index);
    }
    return resolveChannel(entry, path, problems);
  });
}

/** A secret in a file ends up in copies, backups and questions to others. */
function refuseLiteral(key: string, path: ConfigPath, root: ConfigNode, problems: ProblemList): void {
  const node = nodeAt(root, path);
  if (node?.kind !== 'scalar' || node.fromEnvironment) return;
  problems.add(path, `a secret belongs into the environment: write ${key}: \${NAME}, and NAME=… into .env`);
}

function resolveChannel(entry: ChannelEntry, path: ConfigPath, problems: ProblemList): ChannelConfig {
  const base = {
    name: entry.name ?? entry.kind, level: entry.level, events: entry.events,
    repeatAfterMs: parseDuration(entry.repeat_after), perHour: entry.per_hour,
    quietHours: resolveQuietHours(entry.quiet_hours, path, problems),
  };
  switch (entry.kind) {
    case 'webhook': {
      if (isUnencrypted(entry.url)) {
        const url = new URL(entry.url);
        if (url.username !== '' || url.password !== '')
          problems.add([...path, 'url'], 'a password must not leave this machine unencrypted: use https');
      }
      return { ...base, kind: 'webhook', url: entry.url, secret: entry.secret };
    }
    case 'telegram': {
      if (isUnencrypted(entry.api_url))
        problems.add([...path, 'api_url'], 'the token must not leave this machine unencrypted: use https');
      return {
        ...base, kind: 'telegram', token: entry.token, chat: entry.chat, apiUrl: entry.api_url.replace(/\/+$/, ''),
        commands: resolveTelegramCommands(entry, path, problems),
      };
    }
    case 'discord':
    case 'slack': {
      if (isUnencrypted(entry.url))
        problems.add([...path, 'url'], 'every reader of this address can write to the channel: use https');
      return { ...base, kind: entry.kind, url: entry.url };
    }
    case 'email': return { ...base, ...resolveEmail(entry, path, problems) };
  }
}

const PORTS = { tls: 465, starttls: 587, none: 25 } as const;

function resolveEmail(
  { host, port, security, user, password, from, to }: Extract<ChannelEntry, { kind: 'email' }>, path: ConfigPath,
  problems: ProblemList,
): Pick<EmailConfig, 'kind' | 'host' | 'port' | 'security' | 'login' | 'from' | 'to'> {
  if ((user === undefined) !== (password === undefined)) {
    const [given, missing] = user === undefined ? ['password', 'user'] : ['user', 'password'];
    problems.add([...path, given], `"${given}" needs "${missing}" too`);
  }
  if (security === 'none' && !isLoopback(host))
    problems.add([...path, 'security'], 'messages must not leave this machine unencrypted: use starttls or tls');
  if (user !== undefined && !ONE_LINE.test(user))
    problems.add([...path, 'user'], 'expected printable ASCII characters');
  return {
    kind: 'email', host, port: port ?? PORTS[security], security, from, to: [to].flat(),
    login: user === undefined || password === undefined ? undefined : { user, password },
  };
}

function resolveQuietHours(
  quiet: ChannelEntry['quiet_hours'], path: ConfigPath, problems: ProblemList,
): QuietHours | undefined {
  if (quiet === undefined) return undefined;
  const place = [...path, 'quiet_hours'];
  if (!isTimeZone(quiet.zone)) {
    problems.add(
      [...place, 'zone'], `expected an IANA time zone such as "Europe/Berlin" or "UTC", got "${quiet.zone}"`,
    );
  }
  if (quiet.from === quiet.to) problems.add([...place, 'to'], '"from" and "to" are the same: leave quiet_hours out');
  return { from: minutesOf(quiet.from), to: minutesOf(quiet.to), zone: quiet.zone, level: quiet.level };
}

function minutesOf(text: string): number {
  const [, hours, minutes] = TIME_OF_DAY.exec(text) ?? [];
  return Number(hours) * 60 + Number(minutes);
}

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    // The only way to ask whether a zone exists.
    return false;
  }
}

function isUnencrypted(address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url?.protocol === 'http:' && !isLoopback(url.hostname);
}

/** Returns where a channel's messages go, without secrets. */
export function channelTarget(channel: ChannelConfig): string {
  switch (channel.kind) {
    case 'webhook': return new URL(channel.url).origin;
    case 'telegram': return `chat ${channel.chat} by ${new URL(channel.apiUrl).host}`;
    case 'discord':
    case 'slack': return new URL(channel.url).host;
    case 'email': return `${channel.to.join(', ')} by ${channel.host}:${channel.port}`;
  }
}

/** Returns a channel in one line for people, without secrets. */
export function describeChannel(channel: ChannelConfig): string {
  const { name, kind, level, events, quietHours } = channel;
  const quiet = quietHours === undefined ? ''
    : `, quiet ${clockText(quietHours.from)} to ${clockText(quietHours.to)} ${quietHours.zone}`;
  return `${name === kind ? name : `${name} (${kind})`}: ${channelTarget(channel)}; ${level} and above of `
    + `${events.join(', ')}${quiet}`
    + (channel.kind === 'telegram' && channel.commands !== undefined
      ? `; takes commands of ${channel.commands.users.join(', ')}` : '');
}

function clockText(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}

/** Returns warnings about channels that are valid but risky. */
export function channelWarnings(channels: readonly ChannelConfig[]): string[] {
  return channels.flatMap((channel) => (channel.kind === 'webhook' && isUnencrypted(channel.url)
    ? [`notifications: ${channel.name} sends over http to another host, so others can read its messages`
      + `${channel.secret === undefined ? '' : ' and send them again with their signature'}: use https`] : []));
}

/** Returns the texts of the channels that no log and no message may show. */
export function channelSecrets(channels: readonly ChannelConfig[]): string[] {
  return channels.flatMap((channel) => {
    switch (channel.kind) {
      case 'telegram': return [channel.token];
      case 'email': return channel.login === undefined ? [] : [channel.login.password];
      case 'webhook': return [...urlSecrets(channel.url), ...(channel.secret === undefined ? [] : [channel.secret])];
      case 'discord':
      case 'slack': return urlSecrets(channel.url);
    }
  });
}

/** All behind the host may be a key. */
function urlSecrets(address: string): string[] {
  const url = new URL(address);
  return [url.pathname + url.search, url.username, url.password].filter((part) => part.length >= 6);
}
