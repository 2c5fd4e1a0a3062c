import { messageOf } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import type { LoggedDecision } from '../../engine/decision-log.ts';
import { showAmount, symbolOf } from '../../market/market-text.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { FillValues } from '../../store/fill-records.ts';
import type { WalletAdjustment } from '../../store/journal-records.ts';
import type { AdjustWallet, Command } from '../../trading/engine-command.ts';
import type { Intent, Outcome } from '../../trading/intent.ts';
import { isTerminal, needsOperator } from '../../trading/intent.ts';
import type { AlertProposal } from '../../trading/proposal.ts';
import type { ProtectionChange } from '../../trading/protections/memory.ts';
import type { EngineState, StateSnapshot } from '../../trading/engine-state.ts';
import { snapshotState } from '../../trading/engine-state.ts';
import { pauseText } from '../../trading/risk/trading-state-rules.ts';
import type { Input, Ruling } from '../../trading/step.ts';
import { currentValue, usdValueOf } from '../../trading/valuation.ts';
import type { WideningOrder } from '../control/order-audit.ts';
import { originText } from '../control/order-origin.ts';
import type { AccessState, LastError, LastSwap, LastWidening } from '../control/session-state.ts';
import { TradingChanges, isInEffect, tradingChangeOf } from '../control/trading-view.ts';
import type { DecisionRecord } from '../files/decision-record.ts';
import { recordDecision } from '../files/decision-record.ts';
import type { RunFiles } from '../files/run-files.ts';
import {
  TokenAlerts, accessAlert, adjustmentAlerts, givenUpAlert, unknownAlert, wideningAlert,
} from '../reporting/alert-text.ts';
import type { IntentRecord } from '../reporting/counters.ts';
import { Counters } from '../reporting/counters.ts';
import type { Log } from '../reporting/log.ts';
import type { Reporter, Stamp } from '../reporting/reporter.ts';
import { protectionAlert, raisesAlert } from '../reporting/trading-text.ts';

/** Records every stamped input. */
export interface InputRecorder {
  append(seq: number, at: Millis, input: Input): void;
}

interface RunRecorderOptions {
  readonly state: EngineState;
  readonly recorder: InputRecorder | undefined;
  /** Saves the state for the next start; called on changes that must outlive the process. */
  readonly saveSnapshot: (snapshot: StateSnapshot, settledIntentIds: readonly string[]) => void;
  /** Saves what others moved in the wallet, with the state that includes it. */
  readonly saveAdjustment: (adjustment: WalletAdjustment, snapshot: StateSnapshot) => void;
  /** Keeps what a landed swap was worth. */
  readonly saveFillValues: (intentId: string, values: FillValues) => void;
  readonly reporter: Reporter;
  readonly log: Log;
  readonly files: Pick<RunFiles, 'decision'>;
  /** Called after each finished intent. */
  readonly onFinished: () => void;
}

/** After so many swaps of a strategy in a row given up for the same cause there is an alert; again at each doubling. */
const GIVEN_UP_MIN = 5;
/** How many decisions stay in memory; the run's file has all of them. */
const RECENT_DECISIONS_MAX = 500;

/**
 * Records and reports all events of a run in their order: inputs, decisions, state that must outlive the process, and
 * messages for people.
 */
export class RunRecorder {
  readonly #options: RunRecorderOptions;
  readonly counters = new Counters();
  readonly tradingChanges = new TradingChanges();
  readonly #decisions: DecisionRecord[] = [];
  /** Intents with an alert for an unknown outcome, and the code in that alert. */
  readonly #unknown = new Map<string, string | undefined>();
  readonly #tokens = new TokenAlerts();
  /** By strategy: how many of its newest swaps were given up for the same cause. */
  readonly #givenUp = new Map<string, { readonly code: string | undefined; readonly count: number }>();
  events = 0;
  /** The number of bookings to the wallet. */
  bookings = 0;
  access: AccessState = { state: 'granted', reason: null, since: null };
  /** The newest finished swap. */
  lastSwap: LastSwap | undefined;
  /** The newest warning, critical alert or failed swap. */
  lastError: LastError | undefined;
  /** The newest order after which more may be lost than before. */
  lastWidening: LastWidening | undefined;

  constructor(options: RunRecorderOptions) {
    this.#options = options;
  }

  /** Returns the last decisions with their inputs, newest first. */
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
    this.counters.decisions += 1;
    this.#decisions.push(recordDecision(state, ruling, logged));
    if (this.#decisions.length > RECENT_DECISIONS_MAX) this.#decisions.shift();
    if (ruling.denial === undefined) {
      reporter.decided(logged, ruling.effect?.kind === 'execute' ? ruling.effect.intent : undefined);
      return;
    }
    this.counters.denied(ruling.denial.code);
    reporter.denied(logged, ruling.denial);
  }

  alert(stamp: Stamp, strategy: string | undefined, alert: AlertProposal): void {
    this.counters.alerts += 1;
    if (alert.level !== 'info') {
      this.lastError = { at: stamp.at, message: `${strategy === undefined ? '' : `${strategy}: `}${alert.message}` };
    }
    this.#options.reporter.alert(stamp, strategy, alert);
  }

  /** Alerts on an order after which more may be lost than before. It is no error, so it leaves the last one. */
  widened(stamp: Stamp, order: WideningOrder): void {
    const { action, widens, reason = null, origin } = order;
    this.lastWidening = { at: stamp.at, action, widens, origin: originText(origin), reason };
    this.counters.alerts += 1;
    this.#options.reporter.alert(stamp, undefined, wideningAlert(order));
  }

  #outcome(stamp: Stamp, outcome: Outcome): void {
    const { state, reporter, onFinished } = this.#options;
    const record = this.counters.outcome(outcome);
    if (record === undefined) return;
    if (isTerminal(outcome.state)) this.#ended(stamp, record);
    reporter.intent(stamp, record);
    const { intentId, code } = outcome;
    // One alert, and a second one where an operator must act.
    const isNew = !this.#unknown.has(intentId) || (needsOperator(code) && this.#unknown.get(intentId) !== code);
    if (outcome.state === 'unknown' && isNew) {
      this.#unknown.set(intentId, code);
      this.alert(stamp, record.intent.strategy, unknownAlert(record));
    }
    if (state.intents.has(outcome.intentId)) return;
    this.#countGivenUp(stamp, outcome, record);
    this.bookings += 1;
    this.#unknown.delete(outcome.intentId);
    this.#valueFill(stamp, record.intent, outcome);
    this.#options.saveSnapshot(snapshotState(state), [outcome.intentId]);
    onFinished();
  }

  /** Written before the snapshot that settles the swap, so that it is never lost after that. */
  #valueFill({ at }: Stamp, intent: Intent, { fill, feeLamports }: Outcome): void {
    const { state, saveFillValues } = this.#options;
    const fee = { mint: SOL_MINT, amount: fill?.feeLamports ?? feeLamports ?? 0n };
    if (fill === undefined && fee.amount === 0n) return;
    const { budget, isManual } = state.portfolio.book(intent.strategy);
    saveFillValues(intent.id, {
      isManual, currency: budget?.mint,
      feeValue: budget === undefined ? undefined : currentValue(state, fee, budget.mint, at),
      input: fill === undefined ? undefined : usdValueOf(state, { mint: fill.inputMint, amount: fill.amountIn }, at),
      output: fill === undefined ? undefined : usdValueOf(state, { mint: fill.outputMint, amount: fill.amountOut }, at),
      feeUsd: usdValueOf(state, fee, at)?.microUsd,
    });
  }

  #ended({ at }: Stamp, { intent, state, fill, code, reason }: IntentRecord): void {
    const { tokens } = this.#options.state;
    const received = fill === undefined ? symbolOf(tokens, intent.outputMint)
      : showAmount(tokens, intent.outputMint, fill.amountOut);
    this.lastSwap = {
      intent_id: intent.id, state, at,
      text: `${showAmount(tokens, intent.inputMint, fill?.amountIn ?? intent.amountIn)} → ${received}`,
    };
    if (state === 'confirmed') return;
    const cause = `${code === undefined ? '' : ` (${code})`}${reason === undefined ? '' : `: ${reason}`}`;
    this.lastError = { at, message: `${intent.id} ${state}${cause}` };
  }

  /** A strategy whose swaps are all given up before signing seems to work and does not trade, others beside it may. */
  #countGivenUp(stamp: Stamp, { state, code }: Outcome, record: IntentRecord): void {
    const { strategy } = record.intent;
    if (state !== 'abandoned') {
      this.#givenUp.delete(strategy);
      return;
    }
    const last = this.#givenUp.get(strategy);
    const count = last !== undefined && last.code === code ? last.count + 1 : 1;
    this.#givenUp.set(strategy, { code, count });
    if (count >= GIVEN_UP_MIN && Number.isInteger(Math.log2(count / GIVEN_UP_MIN))) {
      this.alert(stamp, strategy, givenUpAlert(record, count));
    }
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
      const alert = this.#tokens.alert(state.tokens, command);
      if (alert !== undefined) this.alert(stamp, undefined, alert);
      return;
    }
    if (command.name === 'set-pause') {
      const what = pauseText(state.tokens, command);
      const until = command.until === null ? 'until an operator ends it'
        : `until ${new Date(command.until).toISOString()}`;
      log('info', command.isPaused ? 'entries are paused' : 'a pause was ended', { ...command });
      reporter.state(stamp, command.isPaused ? 'paused' : 'unpaused',
        command.isPaused ? `${what} is paused ${until}: no entries, sales go on` : `the pause of ${what} was ended`);
      this.#save(stamp);
      return;
    }
    const change = tradingChangeOf(command);
    if (change === undefined) return;
    if (!isInEffect(state, change)) {
      log('warn', 'a command to resume trading was ignored: only an operator can undo this restriction', { ...change });
      return;
    }
    this.tradingChanges.add(stamp.at, change, state.strategies.keys());
    log('info', 'what may be traded has changed', { ...change });
    reporter.trading(stamp, change);
    this.#save(stamp);
  }

  #adjusted(stamp: Stamp, command: AdjustWallet): void {
    const { state, log, saveAdjustment } = this.#options;
    this.bookings += 1;
    log('info', 'the wallet on the chain differs from the ledger, which is corrected', { ...command });
    saveAdjustment(command, snapshotState(state));
    for (const alert of adjustmentAlerts(state, command)) this.alert(stamp, undefined, alert);
  }

  /** The rest of an exit in parts must outlive the process. */
  exits(stamp: Stamp): void {
    this.#save(stamp);
  }

  /** A triggered or cleared protection is reported, and saved for the next run. */
  protection(stamp: Stamp, change: ProtectionChange): void {
    const { log, reporter, state } = this.#options;
    log('info', 'a protection has changed', {
      ...change, protection: change.protection.trigger.kind, ...change.protection,
    });
    reporter.protection(stamp, change);
    this.#save(stamp);
    if (!raisesAlert(change)) return;
    const strategy = change.protection.scope === 'strategy' ? change.subject : undefined;
    this.alert(stamp, strategy, protectionAlert(state.tokens, change));
  }

  /** Saves the state for the next run. A failure does not change this run. */
  #save(stamp: Stamp): void {
    const { state, log, saveSnapshot } = this.#options;
    try {
      saveSnapshot(snapshotState(state), []);
    } catch (error) {
      log('error', 'the state could not be saved', { error });
      this.alert(stamp, undefined, {
        kind: 'alert', level: 'critical',
        message: `this applies to the current run, but could not be saved for the next one: ${messageOf(error)}`,
        data: { code: 'STATE_NOT_SAVED' },
      });
    }
  }
}
