import { messageOf } from '../core/errors.ts';
import type { Millis } from '../core/time.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import type { AdjustWallet, Command } from '../trading/command.ts';
import { showAmount, symbolOf } from '../market/market-text.ts';
import type { Outcome } from '../trading/intent.ts';
import { needsOperator } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import type { ProtectionChange } from '../trading/protections/protection-change.ts';
import type { AlertProposal } from '../trading/proposal.ts';
import type { EngineState, StateSnapshot } from '../trading/state.ts';
import { snapshotState } from '../trading/state.ts';
import type { Input, Ruling } from '../trading/step.ts';
import type { WalletAdjustment } from '../store/adjustments.ts';
import { accessAlert } from './access-text.ts';
import { adjustmentAlerts } from './adjustment-text.ts';
import type { DecisionRecord } from './decision-record.ts';
import { recordDecision } from './decision-record.ts';
import type { Log } from './log.ts';
import { protectionAlert, raisesAlert } from './protection-change-text.ts';
import type { Reporter, Stamp } from './reporter.ts';
import type { RunFiles } from './run-files.ts';
import type { AccessState, LastError, LastSwap } from './session-state.ts';
import type { IntentRecord } from './tally.ts';
import { Tally } from './tally.ts';
import { TokenNews } from './token-looks.ts';
import { TradingBoard, isHeld, tradingChange } from './trading-board.ts';
import { givenUpAlert, unknownAlert } from './unknown-text.ts';

/** Where every stamped input goes. */
export interface Recorder {
  append(seq: number, at: Millis, input: Input): void;
}

export interface ChronicleOptions {
  readonly state: EngineState;
  readonly recorder: Recorder | undefined;
  /** Keeps the state for the next start; called when it changed in a way that must outlive the process. */
  readonly saveSnapshot: (snapshot: StateSnapshot, settledIntentIds: readonly string[]) => void;
  /** Keeps what others moved in the wallet, with the state that holds it. */
  readonly keepAdjustment: (adjustment: WalletAdjustment, snapshot: StateSnapshot) => void;
  readonly reporter: Reporter;
  readonly log: Log;
  readonly files: Pick<RunFiles, 'decision'>;
  /** Told after each intent that is finished for good. */
  readonly onFinished: () => void;
}

/** So many swaps in a row that were given up for one cause are told of; then again at each doubling. */
const GIVEN_UP_MIN = 5;
/** How many decisions are kept at hand; the run's file has them all. */
const RECENT_DECISIONS_MAX = 500;

/** Keeps and tells all that happens in a run, in its order: the recording, the decisions, what must outlive the process, the words for people. */
export class Chronicle {
  readonly #options: ChronicleOptions;
  readonly tally = new Tally();
  readonly board = new TradingBoard();
  readonly #decisions: DecisionRecord[] = [];
  /** Intents that somebody was told to look after, with the code that was told. */
  readonly #unknown = new Map<string, string | undefined>();
  readonly #tokens = new TokenNews();
  #givenUp: { readonly code: string | undefined; readonly count: number } = { code: undefined, count: 0 };
  events = 0;
  /** How often the wallet was booked to. */
  bookings = 0;
  access: AccessState = { state: 'granted', reason: null, since: null };
  /** The newest swap that ended. */
  lastSwap: LastSwap | undefined;
  /** The newest warning, critical alert or failed swap. */
  lastError: LastError | undefined;

  constructor(options: ChronicleOptions) {
    this.#options = options;
  }

  /** Returns the last decisions with what they were made of, newest first. */
  get decisions(): DecisionRecord[] {
    return [...this.#decisions].reverse();
  }

  input(seq: number, at: Millis, input: Input): void {
    const { recorder, reporter } = this.#options;
    this.events += 1;
    recorder?.append(seq, at, input);
    if (input.kind === 'outcome') this.#outcome({ seq, at }, input);
    else if (input.kind === 'feed-health') reporter.feed({ seq, at }, input);
    else if (input.kind === 'command') this.#command({ seq, at }, input);
  }

  ruling(ruling: Ruling, logged: LoggedDecision): void {
    const { files, reporter, state } = this.#options;
    files.decision(logged);
    this.tally.decisions += 1;
    this.#decisions.push(recordDecision(state, ruling, logged));
    if (this.#decisions.length > RECENT_DECISIONS_MAX) this.#decisions.shift();
    if (ruling.denial === undefined) {
      reporter.decided(logged, ruling.effect?.kind === 'execute' ? ruling.effect.intent : undefined);
      return;
    }
    this.tally.denied(ruling.denial.code);
    reporter.denied(logged, ruling.denial);
  }

  alert(stamp: Stamp, strategy: string | undefined, alert: AlertProposal): void {
    this.tally.alerts += 1;
    if (alert.level !== 'info') this.lastError = { at: stamp.at, message: `${strategy === undefined ? '' : `${strategy}: `}${alert.message}` };
    this.#options.reporter.alert(stamp, strategy, alert);
  }

  #outcome(stamp: Stamp, outcome: Outcome): void {
    const { state, reporter, onFinished } = this.#options;
    const record = this.tally.moved(outcome);
    if (record === undefined) return;
    if (isTerminal(outcome.state)) this.#ended(stamp, record);
    reporter.intent(stamp, record);
    const { intentId, code } = outcome;
    // Once, and once more where it turns out not to pass by itself.
    if (outcome.state === 'unknown' && (!this.#unknown.has(intentId) || (needsOperator(code) && this.#unknown.get(intentId) !== code))) {
      this.#unknown.set(intentId, code);
      this.alert(stamp, record.intent.strategy, unknownAlert(record));
    }
    if (state.intents.has(outcome.intentId)) return;
    this.#countGivenUp(stamp, outcome, record);
    this.bookings += 1;
    this.#unknown.delete(outcome.intentId);
    this.#options.saveSnapshot(snapshotState(state), [outcome.intentId]);
    onFinished();
  }

  #ended({ at }: Stamp, { intent, state, fill, code, reason }: IntentRecord): void {
    const { tokens } = this.#options.state;
    const received = fill === undefined ? symbolOf(tokens, intent.outputMint) : showAmount(tokens, intent.outputMint, fill.amountOut);
    this.lastSwap = { intent_id: intent.id, state, at, text: `${showAmount(tokens, intent.inputMint, fill?.amountIn ?? intent.amountIn)} → ${received}` };
    if (state !== 'confirmed') this.lastError = { at, message: `${intent.id} ${state}${code === undefined ? '' : ` (${code})`}${reason === undefined ? '' : `: ${reason}`}` };
  }

  /** A run whose every swap is given up before it is signed looks alive and trades nothing. */
  #countGivenUp(stamp: Stamp, { state, code }: Outcome, record: IntentRecord): void {
    if (state !== 'abandoned') {
      this.#givenUp = { code: undefined, count: 0 };
      return;
    }
    const count = this.#givenUp.code === code ? this.#givenUp.count + 1 : 1;
    this.#givenUp = { code, count };
    if (count >= GIVEN_UP_MIN && Number.isInteger(Math.log2(count / GIVEN_UP_MIN))) this.alert(stamp, undefined, givenUpAlert(record, count));
  }

  #command(stamp: Stamp, command: Command): void {
    if (command.name === 'set-service-access') {
      this.access = { state: command.access, reason: command.reason, since: stamp.at };
      this.alert(stamp, undefined, accessAlert(command.access, command.reason));
      return;
    }
    const { log, reporter, state } = this.#options;
    if (command.name === 'adjust-wallet') {
      this.#adjusted(stamp, command);
      return;
    }
    if (command.name === 'judge-token') {
      const news = this.#tokens.alert(state.tokens, command);
      if (news !== undefined) this.alert(stamp, undefined, news);
      return;
    }
    const change = tradingChange(command);
    if (change === undefined) return;
    if (!isHeld(state, change)) {
      log('warn', 'a word that trading may go on was not followed: only an operator loosens what somebody else made strict', { ...change });
      return;
    }
    this.board.changed(stamp.at, change, state.strategies.keys());
    log('info', 'what may be traded has changed', { ...change });
    reporter.trading(stamp, change);
    this.#keep(stamp);
  }

  #adjusted(stamp: Stamp, command: AdjustWallet): void {
    const { state, log, keepAdjustment } = this.#options;
    this.bookings += 1;
    log('info', 'others moved money in the wallet, or it is missing', { ...command });
    keepAdjustment(command, snapshotState(state));
    for (const alert of adjustmentAlerts(state, command)) this.alert(stamp, undefined, alert);
  }

  /** What is left of exits in parts must outlive the process. */
  exits(stamp: Stamp): void {
    this.#keep(stamp);
  }

  /** A protection came on or let go: people must see it, and the next run must know of it. */
  protection(stamp: Stamp, change: ProtectionChange): void {
    const { log, reporter, state } = this.#options;
    log('info', 'a protection has changed', { ...change, protection: change.protection.trigger.kind, ...change.protection });
    reporter.protection(stamp, change);
    this.#keep(stamp);
    if (raisesAlert(change)) this.alert(stamp, change.protection.scope === 'strategy' ? change.subject : undefined, protectionAlert(state.tokens, change));
  }

  /** What was said holds in this run whatever the disk does; the next one must know of it. */
  #keep(stamp: Stamp): void {
    const { state, log, saveSnapshot } = this.#options;
    try {
      saveSnapshot(snapshotState(state), []);
    } catch (error) {
      log('error', 'the state could not be kept', { error });
      this.alert(stamp, undefined, {
        kind: 'alert', level: 'critical', message: `this holds for this run, but could not be written down for the next one: ${messageOf(error)}`,
      });
    }
  }
}
