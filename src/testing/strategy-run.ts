import type { Millis } from '../core/time.ts';
import type { MarketEvent } from '../market/event.ts';
import type { FeedSpec } from '../market/feed.ts';
import { sharedFeeds } from '../market/feed.ts';
import type { Pair, Token } from '../market/token.ts';
import { formatTokenAmount } from '../market/token.ts';
import type { Strategy } from '../strategy/define.ts';
import type { Input } from '../strategy/input.ts';
import { specsOf } from '../strategy/input.ts';
import type { TradingState } from '../trading/engine-command.ts';
import { equityOf } from '../trading/positions/holding.ts';
import type { MarketValue, QuoteSpec } from './market-values.ts';
import { eventsOf, isQuoteSpec } from './market-values.ts';
import type { AlertRecord, DenialRecord, OutcomeRecord, RunRecord, SwapRecord } from './run-records.ts';
import type { SwapAnswer, SwapAnswers } from './swap-answers.ts';
import { TestEngine } from './test-engine.ts';
import type { TestEntry, TestOptions, TestSetup } from './test-setup.ts';
import { pairNamed, pairOfMints, setUp } from './test-setup.ts';
import type { TimedValue, TimelineEntry } from './timeline.ts';
import { diagramTicks, instantOf, merged, readEntries, readMarbles, readSeries, spanOf } from './timeline.ts';

/** A feed: the name of an input, a pair such as "SOL/USDC" for all its prices, or an input that is watched. */
export type FeedName = string | Input<unknown>;

/** A run of a strategy, alone or beside others, in virtual time, on the engine of live runs and backtests. */
export class StrategyRun {
  /** Everything that happened, in order. */
  readonly records: readonly RunRecord[];
  /** The lines that the strategy logged, each with its time. */
  readonly logs: readonly string[];
  readonly #setup: TestSetup;
  readonly #engine: TestEngine;
  readonly #inputs: Readonly<Record<string, readonly FeedSpec[]>>;
  #hasEvents = false;

  constructor(strategy: Strategy, options: TestOptions) {
    const setup = setUp(strategy, options);
    this.#setup = setup;
    this.#engine = new TestEngine(setup, options.swaps);
    this.records = this.#engine.records;
    this.logs = this.#engine.logs;
    this.#inputs = Object.fromEntries(setup.entries.flatMap(({ name: of, strategy: own, params, exits }, place) => [
      ...Object.entries(own.inputs(params)).map(([name, input]) => [name, specsOf(input)] as const),
      ...(exits === undefined || exits.feeds.length === 0 ? [] : [['exits', exits.feeds] as const]),
    ].map(([name, specs]) => [place === 0 ? name : `${of}.${name}`, specs])));
    const known = Object.entries(options.prices ?? {}).flatMap(([feed, value]) =>
      this.#eventsAt(setup.startAt, feed, value));
    this.#engine.start(known);
  }

  /** The present, as a duration since the start. */
  get now(): string {
    return this.#engine.text(this.#engine.now);
  }

  /** Shows one event of a feed at the present instant. */
  emit(feed: FeedName, value: MarketValue): this {
    return this.#play([{ at: this.#engine.now, target: feed, value }]);
  }

  /** Shows the lines of one feed, "5s 149.5". */
  feed(feed: FeedName, ...lines: readonly TimelineEntry[]): this {
    return this.#play(readEntries(feed, lines, this.#setup.startAt));
  }

  /** Shows the lines of several feeds, in order of time; at one instant, in the order in which they are named. */
  feeds(feeds: Readonly<Record<string, readonly TimelineEntry[]>>): this {
    return this.#play(merged(Object.entries(feeds).map(([feed, lines]) =>
      readEntries(feed, lines, this.#setup.startAt))));
  }

  /**
   * Shows values of feeds at equal intervals: the first at once where nothing was shown before, else one interval from
   * now. Undefined is an interval without an event.
   */
  series(every: string, feeds: Readonly<Record<string, readonly (MarketValue | undefined)[]>>): this {
    const everyMs = spanOf(every);
    const from = this.#nextAt(everyMs);
    return this.#play(merged(Object.entries(feeds).map(([feed, values]) => readSeries(feed, values, from, everyMs))));
  }

  /**
   * Shows marble diagrams: one character is one tick, "-" is none, a letter is one of `values`. They begin as `series`
   * does, and time goes on to their last character.
   */
  marbles(
    diagrams: Readonly<Record<string, string>>, values: Readonly<Record<string, MarketValue>>, tick = '1s',
  ): this {
    const tickMs = spanOf(tick);
    const from = this.#nextAt(tickMs);
    const texts = Object.entries(diagrams);
    this.#play(merged(texts.map(([feed, diagram]) => readMarbles(feed, diagram, values, from, tickMs))));
    const last = Math.max(0, ...texts.map(([, diagram]) => diagramTicks(diagram) - 1));
    this.#engine.moveTo(from + last * tickMs);
    return this;
  }

  /** Lets time go on by a duration: timers fire, and swaps land. */
  advance(span: string): this {
    this.#engine.moveTo(this.#engine.now + spanOf(span));
    return this;
  }

  /** Lets time go on until a time since the start, or an instant. */
  advanceTo(time: string): this {
    this.#engine.moveTo(instantOf(time, this.#setup.startAt));
    return this;
  }

  /** Lets the machine sleep: time jumps, and timers that are overdue then fire once each. */
  sleep(span: string): this {
    const from = this.#engine.now;
    this.#engine.command({ kind: 'command', name: 'leap-time', from, reason: 'it slept' }, from + spanOf(span));
    return this;
  }

  /** Says what becomes of swaps from now on. */
  swaps(answers: SwapAnswers): this {
    this.#engine.executor.answer(answers);
    return this;
  }

  /** Ends all swaps under way; they are filled where no other end is named. */
  settle(answer: SwapAnswer = 'fill'): this {
    if (this.#engine.executor.settle(answer) === 0) throw new Error('no swap is under way, so none can be settled');
    this.#engine.check();
    return this;
  }

  /** Gives an operator's order: `halted` refuses every swap, `reduce-only` every entry, `active` none. */
  trading(state: TradingState): this {
    this.#engine.command({ kind: 'command', name: 'set-trading-state', state, reason: 'an order of the test' });
    return this;
  }

  /**
   * Ends the run and starts it again after a time: with the strategy's saved state, its portfolio, the swaps under way,
   * and the `warmup` of the options. With `isKilled` it ends as by a crash: what the strategy keeps was last saved with
   * a swap, or up to a minute before.
   */
  restart({ after = '1s', isKilled = false }: { readonly after?: string; readonly isKilled?: boolean } = {}): this {
    this.#engine.restart(spanOf(after), isKilled);
    return this;
  }

  /** Returns the lines of everything that happened, or of the named kinds. */
  lines(...kinds: readonly RunRecord['kind'][]): string[] {
    return this.records.filter(({ kind }) => kinds.length === 0 || kinds.includes(kind)).map(({ line }) => line);
  }

  /** The approved swaps. */
  get approved(): SwapRecord[] {
    return this.records.filter((record) => record.kind === 'swap');
  }

  /** The refused swaps. */
  get denials(): DenialRecord[] {
    return this.records.filter((record) => record.kind === 'denial');
  }

  /** How swaps ended, and that one became unknown. */
  get outcomes(): OutcomeRecord[] {
    return this.records.filter((record) => record.kind === 'outcome');
  }

  get alerts(): AlertRecord[] {
    return this.records.filter((record) => record.kind === 'alert');
  }

  /** Returns what the strategy can spend of a token, "0.5 SOL"; that of another strategy where it is named. */
  balance(symbol: string, strategy?: string): string {
    const { mint } = this.#token(symbol);
    const { name } = this.#entry(strategy);
    return this.#engine.writer.amount(mint, this.#engine.state.portfolio.available(name, mint));
  }

  /** Returns all that the strategy can spend, one text for each token, in the order of the tokens of the test. */
  portfolio(strategy?: string): string[] {
    return this.#setup.tokens.all.map(({ symbol }) => this.balance(symbol, strategy))
      .filter((text) => !text.startsWith('0 '));
  }

  /** Returns the value of all holdings, "1000 USDC"; undefined without a budget, and where a price is missing. */
  equity(strategy?: string): string | undefined {
    const { budget, name } = this.#entry(strategy);
    const equity = equityOf(this.#engine.state, name, this.#engine.now);
    return equity === undefined || budget === undefined ? undefined
      : formatTokenAmount({ token: budget.token, amount: equity });
  }

  /** Returns what `stateful` would save now, by name; undefined where the strategy keeps no state. */
  savedState(strategy?: string): unknown {
    const text = this.#engine.savedState(this.#entry(strategy).name);
    return text === undefined ? undefined : JSON.parse(text);
  }

  #play(values: readonly TimedValue<FeedName>[]): this {
    // One value after the other, because what a strategy watches may depend on what it saw.
    for (const { at, target, value } of values) {
      this.#hasEvents = true;
      this.#engine.moveTo(at);
      for (const event of this.#eventsAt(at, target, value)) this.#engine.show(event);
    }
    return this;
  }

  #nextAt(everyMs: Millis): Millis {
    return this.#hasEvents ? this.#engine.now + everyMs : this.#engine.now;
  }

  #eventsAt(at: Millis, feed: FeedName, value: MarketValue): MarketEvent[] {
    const pair = typeof feed === 'string' ? pairNamed(feed, this.#setup.tokens) : undefined;
    const specs = typeof feed !== 'string' ? specsOf(feed) : pair !== undefined ? this.#pricesOf(pair)
      : this.#inputs[feed] ?? this.#unknown(feed);
    const { tokens } = this.#setup;
    try {
      return eventsOf(specs, value, { tokens, at, pairOf: (spec) => pair ?? this.#pairOf(spec) });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      const name = typeof feed === 'string' ? feed : specs[0]!.kind;
      throw new TypeError(`${name} at ${this.#engine.text(at)}: ${error.message}`, { cause: error });
    }
  }

  /** Returns the feeds of a pair's prices that the strategy has; without any, that of the sale of one whole token. */
  #pricesOf({ base, quote }: Pair): FeedSpec[] {
    const own = [...Object.values(this.#inputs).flat(), ...this.#engine.watched].filter((spec) =>
      isQuoteSpec(spec) && [base.mint, quote.mint].includes(spec.inputMint)
      && [base.mint, quote.mint].includes(spec.outputMint));
    if (own.length > 0) return sharedFeeds(own);
    const amount = 10n ** BigInt(base.decimals) as QuoteSpec['amount'];
    return [{ kind: 'quote', inputMint: base.mint, outputMint: quote.mint, amount, everyMs: 1_000 }];
  }

  #pairOf({ inputMint, outputMint }: QuoteSpec): Pair {
    const [one, other] = [inputMint, outputMint].map((mint) => this.#setup.tokens.byMint(mint));
    if (one === undefined || other === undefined) {
      throw new TypeError(`a price between ${inputMint} and ${outputMint}, of which one is no token of the test: name `
        + 'it under "tokens" with its mint');
    }
    return pairOfMints([one, other], this.#setup.entries);
  }

  #entry(name: string | undefined): TestEntry {
    const { entries } = this.#setup;
    if (name === undefined) return entries[0];
    const entry = entries.find((one) => one.name === name);
    if (entry !== undefined) return entry;
    throw new TypeError(`unknown strategy "${name}": the test runs ${entries.map((one) => one.name).join(', ')}`);
  }

  #token(symbol: string): Token {
    const token = this.#setup.tokens.bySymbol(symbol);
    if (token !== undefined) return token;
    throw new TypeError(`unknown token "${symbol}": the test knows `
      + this.#setup.tokens.all.map((known) => known.symbol).join(', '));
  }

  #unknown(feed: string): never {
    const names = Object.keys(this.#inputs);
    throw new TypeError(`unknown feed "${feed}": the strategy ${this.#setup.entries[0].name} has `
      + (names.length === 0 ? 'no input' : `the inputs ${names.join(', ')}`)
      + '; a pair of known tokens names its prices');
  }
}

/** Starts a strategy in virtual time, on the engine of live runs and backtests. Throws TypeError on invalid options. */
export function testStrategy(strategy: Strategy, options: TestOptions = {}): StrategyRun {
  return new StrategyRun(strategy, options);
}
