import type { Subscription } from 'rxjs';
import { LEVELS } from '../../config/notifications/channel-config.ts';
import { formatCounts, pluralize } from '../../core/text.ts';
import type { Clock, Millis } from '../../core/time.ts';
import { roughDuration, timeOfDay } from '../../core/time.ts';
import type { TokenTable } from '../../market/token.ts';
import { showAmount } from '../../market/market-text.ts';
import type { IntentRecord, RunSummary } from '../reporting/counters.ts';
import type { Reporter, RunStart } from '../reporting/reporter.ts';
import { describeProtectionChange, describeTradingChange, endOfTrading } from '../reporting/trading-text.ts';
import type { Notification, Notifier } from './notification.ts';
import type { LastRun } from './outbox-store.ts';

const CHECK_EVERY_MS: Millis = 30_000;
/** Ends that an operator has ordered, or that follow from the command line. */
const ORDERED_END = /^(?:stopped by the operator|the time is up|\d+ intents are finished)/;

/** Tells people of a run as one of its reporters, and keeps when it was last seen. */
export class RunNotifications {
  readonly #notifier: Notifier;
  readonly #tokens: TokenTable;
  readonly #clock: Clock;
  readonly #saveRun: (run: LastRun) => void;
  readonly #runId: string;
  readonly #startedAt: Millis;
  #checking: Subscription | undefined;
  #start: RunStart | undefined;
  #trading = 'trading is active';
  #endReason = '';
  #hasEnded = false;

  constructor(parts: {
    readonly notifier: Notifier; readonly tokens: TokenTable; readonly clock: Clock; readonly runId: string;
    readonly lastRun: LastRun | undefined; readonly saveRun: (run: LastRun) => void;
  }) {
    this.#notifier = parts.notifier;
    this.#tokens = parts.tokens;
    this.#clock = parts.clock;
    this.#saveRun = parts.saveRun;
    this.#runId = parts.runId;
    this.#startedAt = parts.clock.now();
    if (parts.lastRun !== undefined && parts.lastRun.endedAt === null) this.#tellCrash(parts.lastRun);
    this.#noteRun(null);
  }

  /** Keeps from time to time when the run was last seen. */
  attach(): void {
    const check = (): void => {
      this.#noteRun(null);
      this.#checking = this.#clock.schedule(check, CHECK_EVERY_MS);
    };
    this.#checking = this.#clock.schedule(check, CHECK_EVERY_MS);
  }

  /** Ends the checks, and tells an end that is not told yet. */
  close(): void {
    this.#checking?.unsubscribe();
    if (this.#hasEnded) return;
    this.#tell({
      topic: 'state', level: 'critical', key: this.#start === undefined ? 'not started' : 'ended in error',
      title: this.#start === undefined ? 'the daemon could not start' : 'the run has ended in an error',
      text: `Nothing is traded. Its last words and "gannet logs" tell the reason${
        this.#start === undefined ? '.' : '; the next start follows open swaps first.'}`,
    });
    this.#noteRun(this.#clock.now());
  }

  readonly reporter: Reporter = {
    started: (_, start) => {
      this.#start = start;
      const { mode, isRealMoney, service, strategies, runId, balances } = start;
      const money = mode === 'paper' ? 'on paper' : isRealMoney ? 'with real money' : 'on the embedded chain';
      this.#tell({
        topic: 'state', level: 'info', key: `started:${runId}`,
        title: `started ${money}: ${pluralize(strategies.length, 'strategy', 'strategies')}`,
        text: `Service: ${service}. Strategies: ${strategies.map(({ name }) => name).join(', ')}. Wallet: ${
          balances.join(', ')}.`,
        facts: { run_id: runId, mode, real_money: isRealMoney },
      });
    },
    decided: () => undefined,
    denied: () => undefined,
    intent: (_, record) => { this.#fill(record); },
    alert: ({ at }, strategy, { level, message, data = {} }) => {
      const code = 'code' in data && typeof data['code'] === 'string' ? data['code'] : undefined;
      const facts = Object.fromEntries(Object.entries(data).map(([name, value]) =>
        [name, typeof value === 'bigint' ? value.toString() : value]));
      const subject = ['intent_id', 'mint', 'strategy', 'subject'].map((name) => facts[name])
        .filter((value) => value !== undefined).join(' ');
      // The end of an alert reaches the channels that its beginning has reached.
      const was = strategy === undefined && data['over'] === true
        ? LEVELS.find((each) => each === data['was']) : undefined;
      this.#tell({
        topic: 'alerts', level: was ?? level, at, strategy, facts, title: message,
        text: this.#stateText(level),
        // Without a code, two alerts are about the same where they differ in figures alone.
        key: `alert:${strategy ?? ''}:${code ?? message.replaceAll(/\d+/g, '#')}:${subject}`
          + (was === undefined ? '' : ':over'),
      });
    },
    feed: () => undefined,
    state: ({ at }, state, message) => {
      if (state === 'draining') {
        this.#endReason = message;
        return;
      }
      // An alert follows.
      if (state === 'safe-mode') return;
      const isRestriction = state === 'halted' || state === 'reduce-only' || state === 'flattening';
      if (isRestriction) this.#trading = message;
      this.#tell({
        topic: 'state', level: state === 'notice' || state === 'active' ? 'info' : 'warning', at, title: message,
        key: `state:${state}:${message.replaceAll(/\d+/g, '#')}`,
      });
    },
    trading: ({ at }, change) => {
      const message = describeTradingChange(change);
      if (change.strategy === undefined) this.#trading = change.state === 'active' ? 'trading is active' : message;
      this.#tell({
        topic: 'state', level: change.state === 'active' ? 'info' : 'warning', at, title: message,
        text: change.state === 'active' ? undefined
          : `"gannet status" shows the reasons; "gannet resume${change.strategy === undefined ? ''
            : ` ${change.strategy}`}" lets it trade again.`,
        key: `trading:${change.strategy ?? ''}:${change.state}`, strategy: change.strategy,
        facts: { state: change.state, by: change.by },
      });
    },
    protection: ({ at }, change) => {
      // What it does when it fires is an alert, or a pause between two swaps.
      if (change.change !== 'released' || change.protection.action === 'deny') return;
      this.#tell({
        topic: 'state', level: 'info', at, title: describeProtectionChange(this.#tokens, change),
        key: `protection:${change.code}:${change.subject}`,
      });
    },
    summary: ({ at }, summary) => { this.#ended(at, summary); },
  };

  #fill({ intent, state, fill, reason }: IntentRecord): void {
    if (state !== 'confirmed' || fill === undefined) return;
    const { inputMint, outputMint, strategy, id } = intent;
    this.#tell({
      topic: 'fills', level: 'info', strategy, key: `fill:${id}`,
      title: `swapped ${showAmount(this.#tokens, inputMint, fill.amountIn)} for `
        + showAmount(this.#tokens, outputMint, fill.amountOut),
      text: reason,
      facts: {
        intent_id: id, input_mint: inputMint, output_mint: outputMint, amount_in: fill.amountIn.toString(),
        amount_out: fill.amountOut.toString(),
      },
    });
  }

  #ended(at: Millis, { durationMs, intents, open, alerts, trading }: RunSummary): void {
    this.#hasEnded = true;
    const isOrdered = ORDERED_END.test(this.#endReason);
    this.#tell({
      topic: 'state', level: isOrdered && open.length === 0 ? 'info' : isOrdered ? 'warning' : 'critical', at,
      key: isOrdered ? `ended:${this.#runId}` : 'ended by itself',
      title: `the run has ended: ${this.#endReason === '' ? 'reason unknown' : this.#endReason}`,
      text: `It ran ${roughDuration(durationMs)}. Swaps: ${formatCounts(intents)}. Alerts: ${alerts}.`
        + (open.length === 0 ? '' : ` Still open: ${open.join(', ')}; the next start follows them.`)
        + (trading === 'active' ? '' : ` Trading is ${endOfTrading(trading)}.`),
      facts: { run_id: this.#runId, open: open.length },
    });
    this.#noteRun(this.#clock.now());
  }

  #tellCrash({ runId, seenAt }: LastRun): void {
    this.#tell({
      topic: 'state', level: 'warning', key: 'crashed',
      title: `the last run (${runId}) ended without a word; it was last seen at ${timeOfDay(seenAt)} on `
        + new Date(seenAt).toISOString().slice(0, 10),
      text: 'It was killed, or its machine stopped. This run starts where its journal ends, and follows its open swaps '
        + 'first.',
      facts: { run_id: runId, last_seen: new Date(seenAt).toISOString() },
    });
  }

  #stateText(level: Notification['level']): string {
    return `State: ${this.#trading}.`
      + (level === 'info' ? '' : ' "gannet status" shows more, and "gannet halt" stops trading at once.');
  }

  #noteRun(endedAt: Millis | null): void {
    this.#saveRun({ runId: this.#runId, startedAt: this.#startedAt, seenAt: this.#clock.now(), endedAt });
  }

  #tell(notification: Omit<Notification, 'at'> & { readonly at?: Millis }): void {
    this.#notifier.notify({ at: this.#clock.now(), ...notification });
  }
}
