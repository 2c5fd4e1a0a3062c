import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { TelegramConfig } from '../../config/notifications/channel-config.ts';
import { messageOf } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import { pluralize, printable } from '../../core/text.ts';
import type { Clock, Millis } from '../../core/time.ts';
import { shortDuration, timeOfDay } from '../../core/time.ts';
import { wait } from '../../execution/monotonic-time.ts';
import { replaceFile } from '../../recording/files/durable-write.ts';
import type { ControlPort } from '../control/control-port.ts';
import type { OrderOrigin } from '../control/order-origin.ts';
import type { Log } from '../reporting/log.ts';
import { profitLines } from './daily-report.ts';
import type { TelegramApi } from './telegram-api.ts';
import { escapeForTelegram } from './telegram-api.ts';

type CommandedRun = Pick<ControlPort, 'state' | 'profit' | 'request'>;

interface TelegramCommandOptions {
  readonly channel: Pick<TelegramConfig, 'name' | 'chat' | 'commands'>;
  readonly api: TelegramApi;
  readonly stateDir: string;
  readonly clock: Clock;
  readonly log: Log;
}

const POLL_S = 50;
/** Above the time that the Bot API holds a poll. */
const POLL_TIMEOUT_MS: Millis = 65_000;
const UPDATES_AT_ONCE = 10;
/** Ten updates of the longest texts, each answering another of the longest. */
const ANSWER_BYTES = 2_097_152;
const BACK_OFF_MS: Millis = 2_000;
const BACK_OFF_MAX_MS: Millis = 300_000;
/** An older command may be about a state that has passed. */
const AGE_MAX_MS: Millis = 120_000;
/** After a week without updates the Bot API goes on with any number, and it keeps updates for a day. */
const NUMBER_VALID_MS: Millis = 6 * 86_400_000;
const CODE_VALID_MS: Millis = 60_000;
const COMMANDS_A_MINUTE = 20;
const STRANGERS_MAX = 50;
const REPLIES_MAX = 10;
const LAST_REPLY_MS: Millis = 3_000;
const REPLY_MAX = 3_500;
const TEXT_MAX = 500;
const REASON_MAX = 100;

const HELP = [
  '/status: what the run does, and why', '/profit: results after fees', '/positions: what each strategy holds',
  '/halt REASON: stops all trading, exits too', '/resume: lets trading go on, after a code', '/help: this list',
].join('\n');

/** What is read of an update; everything else in it is ignored. */
const updateId = z.object({ update_id: z.int().min(0) });
const commandMessage = z.object({
  message: z.object({
    date: z.int().min(0),
    text: z.string(),
    chat: z.object({ id: z.int() }),
    from: z.object({ id: z.int(), is_bot: z.boolean().optional() }),
    forward_origin: z.undefined().optional(), forward_date: z.undefined().optional(), via_bot: z.undefined().optional(),
  }),
});
const offsets = z.object({ version: z.literal(1), next: z.int().min(0), at: z.int().min(0).optional() });

/** A command of a listed person. */
interface Command {
  readonly name: string;
  readonly rest: string;
  readonly sentAt: Millis;
  readonly chat: number;
  readonly user: number;
}

/** Takes the commands of listed people from one bot, each at most once, and answers them. */
export class TelegramCommands {
  readonly #options: TelegramCommandOptions;
  readonly #ended = new AbortController();
  readonly #startedAt: Millis;
  readonly #strangers = new Set<string>();
  #run: CommandedRun | undefined;
  #next: { readonly id: number; readonly at: Millis } | undefined;
  #bot: string | undefined;
  #fault: string | undefined;
  #isFlooded = false;
  #commandTimes: Millis[] = [];
  #code: { readonly code: string; readonly user: number; readonly chat: number; readonly until: Millis } | undefined;
  #replies = 0;
  #lastReply: Promise<void> = Promise.resolve();

  constructor(options: TelegramCommandOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
  }

  /** Begins to take commands. */
  attach(run: CommandedRun): void {
    this.#run = run;
    this.#next = this.#readOffset();
    void this.#poll().catch((error: unknown) => {
      this.#options.log('error', `${this.#name} takes no more commands: ${messageOf(error)}`, { error });
    });
  }

  /** Takes no more commands, and gives the last answers a short time. */
  async close(): Promise<void> {
    this.#run = undefined;
    this.#ended.abort();
    await Promise.race([this.#lastReply, wait(this.#options.clock, LAST_REPLY_MS)]);
  }

  get #name(): string {
    return `the Telegram channel "${this.#options.channel.name}"`;
  }

  async #poll(): Promise<void> {
    const { api, clock } = this.#options;
    const { signal } = this.#ended;
    for (let failures = 0; !signal.aborted;) {
      const me = this.#bot === undefined ? await api.call('getMe', {}, { signal }) : undefined;
      if (me?.kind === 'done') this.#bot = z.object({ username: z.string() }).safeParse(me.result).data?.username ?? '';
      const answer = me !== undefined && me.kind !== 'done' ? me : await api.call('getUpdates', {
        offset: this.#expected(), timeout: POLL_S, limit: UPDATES_AT_ONCE, allowed_updates: ['message'],
      }, { timeoutMs: POLL_TIMEOUT_MS, signal, answerBytes: ANSWER_BYTES });
      if (signal.aborted) return;
      const isRead = answer.kind === 'done' && this.#take(answer.result);
      if (isRead) {
        if (this.#fault !== undefined) this.#options.log('info', `${this.#name} takes commands again`);
        this.#fault = undefined;
        failures = 0;
        continue;
      }
      this.#report(answer.kind === 'done' ? 'its answer is no list of updates'
        : answer.kind === 'failed' ? answer.fault : `${answer.code} ${answer.fault}${remedyOf(answer.code)}`);
      const backOff = Math.min(BACK_OFF_MAX_MS, BACK_OFF_MS * 2 ** Math.min(failures, 20));
      failures += 1;
      await wait(clock, Math.max(backOff, answer.kind === 'refused' ? answer.retryAfterMs ?? 0 : 0), signal);
    }
  }

  #report(fault: string): void {
    if (this.#fault === undefined) {
      this.#options.log('warn', `${this.#name} takes no commands now: ${fault}. It is tried again; trading is not `
        + 'affected');
    }
    this.#fault = fault;
  }

  /** Carries out the commands of an answer. Returns false for one that is no list of updates. */
  #take(result: unknown): boolean {
    if (!Array.isArray(result)) return false;
    for (const update of result.slice(0, UPDATES_AT_ONCE) as unknown[]) {
      const id = updateId.safeParse(update).data?.update_id;
      if (id === undefined) return false;
      // Told again: its acknowledgement was lost.
      if (id < (this.#expected() ?? 0)) continue;
      const isKept = this.#keepOffset(id + 1);
      try {
        const command = this.#commandOf(update);
        if (command !== undefined) this.#carryOut(command, isKept);
      } catch (error) {
        this.#options.log('error', `${this.#name}: a command failed: ${messageOf(error)}`, { error });
      }
    }
    return true;
  }

  /** Returns the command in an update; undefined for other messages, and for those of strangers. */
  #commandOf(update: unknown): Command | undefined {
    const { message } = commandMessage.safeParse(update).data ?? {};
    if (message === undefined || message.from.is_bot === true) return undefined;
    const { chat, commands } = this.#options.channel;
    if (String(message.chat.id) !== chat || commands?.users.includes(String(message.from.id)) !== true) {
      this.#stranger(message.from.id, message.chat.id);
      return undefined;
    }
    const [, name = '', bot, rest = ''] =
      /^\/([a-z_]{1,32})(?:@(\w{1,40}))?(?:\s+([^]*))?$/i.exec(message.text.slice(0, TEXT_MAX)) ?? [];
    if (name === '' || (bot !== undefined && bot.toLowerCase() !== this.#bot?.toLowerCase())) return undefined;
    return {
      name: name.toLowerCase(), rest: rest.trim(), sentAt: message.date * 1_000, chat: message.chat.id,
      user: message.from.id,
    };
  }

  /** Strangers get no answer, so that they learn nothing. */
  #stranger(user: number, chat: number): void {
    const key = `${user} ${chat}`;
    if (this.#strangers.has(key) || this.#strangers.size > STRANGERS_MAX) return;
    this.#strangers.add(key);
    const isLast = this.#strangers.size > STRANGERS_MAX;
    this.#options.log('warn', isLast ? `${this.#name}: further strangers are not logged`
      : `${this.#name}: a message of the user ${user} in the chat ${chat} is not answered; only listed users of the `
        + 'channel’s chat may give commands');
  }

  #carryOut(command: Command, isKept: boolean): void {
    const { clock } = this.#options;
    const run = this.#run;
    if (run === undefined || this.#isFlood(clock.now())) return;
    const refusal = this.#refusalOf(command, isKept);
    if (refusal !== undefined) {
      this.#reply(command.chat, async () => refusal);
      return;
    }
    switch (command.name) {
      case 'status': this.#reply(command.chat, async () => statusText(run)); break;
      case 'positions': this.#reply(command.chat, async () => positionsText(run)); break;
      case 'profit': this.#reply(command.chat, async () => profitLines(await run.profit()).join('\n')); break;
      case 'halt': this.#order(run, command, 'halt'); break;
      case 'resume': this.#resume(run, command); break;
      case 'help':
      case 'start': this.#reply(command.chat, async () => HELP); break;
      default: this.#reply(command.chat, async () => `There is no command /${command.name}.\n${HELP}`);
    }
  }

  /** Returns why a command is not carried out, for people. */
  #refusalOf({ name, sentAt }: Command, isKept: boolean): string | undefined {
    const ageMs = this.#options.clock.now() - sentAt;
    // Telegram gives whole seconds.
    if (sentAt + 999 < this.#startedAt) {
      return `/${name} was sent before this run started (${timeOfDay(sentAt)}), so it was not carried out. Send it `
        + 'again.';
    }
    if (ageMs > AGE_MAX_MS)
      return `/${name} is ${shortDuration(ageMs)} old, so it was not carried out. Send it again.`;
    if (ageMs < -AGE_MAX_MS) {
      return `/${name} was not carried out: the clock of the daemon is ${shortDuration(-ageMs)} behind Telegram’s. `
        + 'Set it, or use the command line.';
    }
    // It would be carried out again after a restart.
    if (!isKept && name === 'resume')
      return '/resume was not carried out, because the state directory cannot be written. Use the command line.';
    return undefined;
  }

  #isFlood(now: Millis): boolean {
    this.#commandTimes = this.#commandTimes.filter((at) => at > now - 60_000);
    const isFlood = this.#commandTimes.length >= COMMANDS_A_MINUTE;
    if (!isFlood) this.#commandTimes.push(now);
    if (isFlood && !this.#isFlooded) {
      this.#options.log('warn', `${this.#name}: more than ${COMMANDS_A_MINUTE} commands a minute; further ones are `
        + 'ignored');
    }
    this.#isFlooded = isFlood;
    return isFlood;
  }

  #order(run: CommandedRun, { chat, user, rest, name }: Command, action: 'halt' | 'resume'): void {
    const origin: OrderOrigin = { role: 'telegram', channel: this.#options.channel.name, chat, user };
    const reason = action === 'halt' && rest !== '' ? printable(rest, REASON_MAX) : `/${name} of Telegram`;
    const result = run.request({ action, reason }, origin);
    const done = action === 'halt' ? 'Trading is halted: no entries, no exits. /resume ends that.' : 'Trading goes on.';
    this.#reply(chat, async () =>
      ('code' in result ? `Refused (${result.code}): ${result.message}` : `${done}\n${statusText(run)}`));
  }

  /** It widens what may be lost, so a second message confirms it. */
  #resume(run: CommandedRun, command: Command): void {
    const { chat, user, rest } = command;
    const now = this.#options.clock.now();
    const given = this.#code;
    this.#code = undefined;
    if (rest === '') {
      const code = String(randomInt(1_000, 10_000));
      this.#code = { code, user, chat, until: now + CODE_VALID_MS };
      this.#reply(chat, async () => `This lets every strategy trade again. Send /resume ${code} within `
        + `${CODE_VALID_MS / 1_000} s to confirm.\n${statusText(run)}`);
      return;
    }
    const isConfirmed = given?.code === rest && given.user === user && given.chat === chat && now <= given.until;
    if (isConfirmed) this.#order(run, command, 'resume');
    else this.#reply(chat, async () => 'Nothing was changed: the code is wrong or older than 60 s. Send /resume for a '
      + 'new one.');
  }

  /** Answers in their order; a slow Bot API delays no command. */
  #reply(chat: number, text: () => Promise<string>): void {
    if (this.#replies >= REPLIES_MAX) return;
    this.#replies += 1;
    this.#lastReply = this.#lastReply.then(async () => {
      try {
        const answer = await this.#options.api.call('sendMessage', {
          chat_id: chat, text: cut(await text()), link_preview_options: { is_disabled: true },
        });
        if (answer.kind !== 'done') this.#options.log('warn', `${this.#name} could not answer: ${answer.fault}`);
      } catch (error) {
        this.#options.log('error', `${this.#name} could not answer: ${messageOf(error)}`, { error });
      } finally {
        this.#replies -= 1;
      }
    });
  }

  get #file(): string {
    return `telegram-${this.#options.channel.name}.json`;
  }

  /** Returns the number of the next update; undefined where it may be any. */
  #expected(): number | undefined {
    if (this.#next !== undefined && this.#options.clock.now() - this.#next.at > NUMBER_VALID_MS) this.#next = undefined;
    return this.#next?.id;
  }

  #readOffset(): { readonly id: number; readonly at: Millis } | undefined {
    try {
      const { next, at = this.#startedAt } =
        offsets.parse(JSON.parse(readFileSync(join(this.#options.stateDir, this.#file), 'utf8')));
      return { id: next, at };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) {
        this.#options.log('warn', `${this.#file} cannot be read; commands from before this start are not carried out`,
          { error });
      }
      return undefined;
    }
  }

  /** Kept before the command is carried out, so that no command is carried out twice. Returns whether it is kept. */
  #keepOffset(next: number): boolean {
    const { stateDir, log, clock } = this.#options;
    const at = clock.now();
    this.#next = { id: next, at };
    try {
      replaceFile(stateDir, this.#file, `${stringifyJson({ version: 1, next, at })}\n`);
      return true;
    } catch (error) {
      log('error', `${this.#file} cannot be written`, { error });
      return false;
    }
  }
}

/** Returns what to do about a refusal of the Bot API. */
function remedyOf(code: number): string {
  if (code === 401 || code === 404) return ' (the token is wrong or was revoked)';
  return code === 409 ? ' (another program takes the messages of this bot: use a bot for this daemon alone)' : '';
}

function cut(text: string): string {
  return text.length > REPLY_MAX ? `${text.slice(0, REPLY_MAX)}…` : text;
}

/** A text that may hold words of the service or of a token's issuer: one line, in which nothing is a link. */
function fromOutside(text: string): string {
  return Array.from(printable(text, TEXT_MAX), escapeForTelegram).join('');
}

function statusText(run: CommandedRun): string {
  const {
    standing, standing_reasons: reasons, mode, real_money: isReal, uptime_ms: uptime, equity, intents, last_swap: swap,
    last_error: fault, feeds,
  } = run.state();
  const bad = feeds.filter(({ status }) => status !== 'healthy').length;
  return [
    `${standing} · ${mode === 'paper' ? 'on paper' : isReal ? 'live' : 'live without real money'} · up `
      + shortDuration(uptime),
    ...reasons.map(fromOutside),
    ...(equity === null ? [] : [`equity ${equity.text.value}, today ${equity.text.today}`]),
    `${pluralize(feeds.length, 'feed')}${bad === 0 ? '' : `, ${bad} not healthy`} · `
      + pluralize(intents.open.length, 'open swap'),
    ...(swap === null ? [] : [`last swap at ${timeOfDay(swap.at)}: ${fromOutside(swap.text)} (${swap.state})`]),
    ...(fault === null ? [] : [`last error at ${timeOfDay(fault.at)}: ${fromOutside(fault.message)}`]),
  ].join('\n');
}

function positionsText(run: CommandedRun): string {
  const { strategies, manual } = run.state();
  return [...strategies.map(({ name, standing, holds }) =>
    `${name} (${standing}): ${holds.length === 0 ? 'nothing' : fromOutside(holds.join(', '))}`),
  ...manual.map(({ name, holds }) => `${name}: ${fromOutside(holds.join(', '))}`)].join('\n');
}
