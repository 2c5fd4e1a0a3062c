import { Option } from 'commander';
import type { CommandContext, CommandModule } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { facts, table } from '../../output/table.ts';
import type { ChannelConfig, NotificationLevel } from '../../../config/notifications/channel-config.ts';
import { LEVELS, channelSecrets, channelTarget } from '../../../config/notifications/channel-config.ts';
import { configError } from '../../../config/config-issue.ts';
import { loadConfig } from '../../../config/load-config.ts';
import { GUESSED_DECIMALS } from '../../../config/resolve-tokens.ts';
import { GannetError } from '../../../core/errors.ts';
import { createRedaction } from '../../../core/redaction.ts';
import { nearest, pluralize, printable } from '../../../core/text.ts';
import type { Millis } from '../../../core/time.ts';
import { roughDuration } from '../../../core/time.ts';
import { createChannel } from '../../../daemon/notify/channels.ts';
import { testMessage } from '../../../daemon/notify/message-text.ts';
import type { OutboxContent } from '../../../daemon/notify/outbox.ts';
import { waitingOf } from '../../../daemon/notify/outbox.ts';
import { outboxPath, readOutbox } from '../../../daemon/notify/outbox-store.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';

interface TestFlags {
  readonly channel?: string;
  readonly level: NotificationLevel;
}

/** The result of a test message. */
interface TestResult {
  readonly name: string;
  readonly kind: ChannelConfig['kind'];
  readonly target: string;
  readonly ok: boolean;
  readonly fault: string | null;
  readonly remedy: string | null;
  readonly took_ms: Millis;
}

export const notifyCommand: CommandModule = (program, run) => {
  const notify = program.command('notify').description('the channels that messages about the run go to');
  notify.command('test')
    .description('sends a test message at once, past rates and quiet hours')
    .option('--channel <name>', 'to this channel only')
    .addOption(new Option('--level <level>', 'the level it has').choices([...LEVELS]).default('info'))
    .action(run(async (context: CommandContext, flags: TestFlags) => {
      const results = await testChannels(context, flags);
      context.terminal.result(results, () => results.map(resultText).join('\n'));
      return results.every(({ ok }) => ok) ? EXIT.done : EXIT.failed;
    }));
  notify.command('list')
    .description('the channels with what waits for them and their last success and fault')
    .action(run(async (context: CommandContext) => {
      const channels = await channelsOf(context);
      const content = readOutbox(outboxPath(context.options.stateDir));
      const states = channels.map((channel) => stateOf(channel, content));
      context.terminal.result(states, () => listText(states, systemClock.now()));
      return EXIT.done;
    }));
};

/** Reads the channels of the configuration; no service is asked, and no strategy read. */
async function channelsOf(context: CommandContext): Promise<readonly ChannelConfig[]> {
  const { options, environment, withheld } = context;
  const loaded = await loadConfig({
    file: options.config, purpose: 'read', workingDir: process.cwd(), environment, withheld, stateDir: options.stateDir,
    strategyReader: undefined,
    decimalsOf: (mints) => Promise.resolve(new Map(mints.map((mint) => [mint, GUESSED_DECIMALS]))),
  });
  if (!loaded.ok) throw configError(loaded);
  const { config } = loaded;
  if (config.notifications === undefined || config.notifications.length === 0) {
    throw new GannetError('USAGE', `${config.file} has no channel: add one under "notifications", as `
      + 'docs/operations/notifications.md shows');
  }
  return config.notifications;
}

async function testChannels(context: CommandContext, { channel, level }: TestFlags): Promise<TestResult[]> {
  const all = await channelsOf(context);
  const chosen = all.filter(({ name }) => channel === undefined || name === channel);
  if (chosen.length === 0) {
    const names = all.map(({ name }) => name);
    const close = nearest(channel!, names);
    throw new GannetError('USAGE', `there is no channel "${printable(channel!, 60)}"`
      + (close === undefined ? `; there are ${names.join(', ')}` : ` (did you mean "${close}"?)`));
  }
  const hide = createRedaction(channelSecrets(all), '[redacted]');
  return Promise.all(chosen.map(async (config): Promise<TestResult> => {
    const sender = createChannel(config);
    const startedAt = systemClock.now();
    const delivery = await sender.send(testMessage(level, startedAt), context.interrupt);
    await sender.close();
    const fault = delivery.kind === 'sent' ? null : hide(delivery.fault);
    const remedy = delivery.kind === 'sent' ? null : delivery.kind === 'refused' ? delivery.remedy
      : 'check the address and the network, and try again; a run tries again by itself';
    return {
      name: config.name, kind: config.kind, target: channelTarget(config), ok: fault === null, fault, remedy,
      took_ms: systemClock.now() - startedAt,
    };
  }));
}

function resultText({ name, kind, target, ok, fault, remedy, took_ms: took }: TestResult): string {
  return facts([
    [name, `${ok ? 'ok' : 'FAILED'}: ${kind} to ${target}, ${roughDuration(took)}`],
    ['fault', fault ?? undefined],
    ['what to do', remedy ?? undefined],
  ]);
}

interface ChannelState {
  readonly name: string;
  readonly kind: ChannelConfig['kind'];
  readonly target: string;
  readonly level: NotificationLevel;
  readonly events: readonly string[];
  readonly waiting: number;
  /** Of those that wait, the ones that the channel has refused. */
  readonly refused: number;
  readonly sent: number;
  readonly last_success_at: string | null;
  readonly last_fault: { readonly at: string; readonly message: string } | null;
  readonly next_attempt_at: string | null;
}

function stateOf(channel: ChannelConfig, content: OutboxContent | undefined): ChannelState {
  const { name, kind, level, events } = channel;
  const record = content?.channels.get(name);
  const { waiting, refused } = waitingOf(content?.messages ?? [], name);
  return {
    name, kind, level, events, target: channelTarget(channel), waiting, refused, sent: record?.sent ?? 0,
    last_success_at: isoOf(record?.lastSentAt),
    last_fault: record?.lastFault ? { at: isoOf(record.lastFault.at)!, message: record.lastFault.text } : null,
    next_attempt_at: waiting > 0 && record !== undefined && record.notBefore > 0 ? isoOf(record.notBefore) : null,
  };
}

function isoOf(at: Millis | null | undefined): string | null {
  return at === null || at === undefined ? null : new Date(at).toISOString();
}

function listText(states: readonly ChannelState[], now: Millis): string {
  const ago = (at: string | null): string =>
    (at === null ? 'never' : `${roughDuration(Math.max(0, now - Date.parse(at)))} ago`);
  const rows = states.map(({ name, target, level, waiting, refused, sent, last_success_at: success }) =>
    [name, target, level, String(waiting), String(refused), String(sent), ago(success)]);
  const faults = states.flatMap(({ name, last_fault: fault, last_success_at: success }) => (fault === null ? [] : [[
    name, `${ago(fault.at)}${success !== null && success > fault.at ? ' (it has worked since)' : ''}: ${fault.message}`,
  ] as const]));
  const head = ['channel', 'to', 'level', 'waiting', 'refused', 'sent', 'last success'];
  return table([head, ...rows], { right: [3, 4, 5], below: [1] })
    + (faults.length === 0 ? '' : `\n  last faults:\n${facts(faults)}`)
    + `\n  ${pluralize(states.reduce((sum, { waiting }) => sum + waiting, 0), 'message')} waiting\n`;
}
