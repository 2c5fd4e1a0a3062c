import type { Amount, Bps, Lamports } from '../../src/core/amount.ts';
import { stringifyJson } from '../../src/core/json.ts';
import type { Random } from '../../src/core/random.ts';
import { seededRandom } from '../../src/core/random.ts';
import type { Millis } from '../../src/core/time.ts';
import type { Mint, Token } from '../../src/market/token.ts';
import type { Command, TradingState } from '../../src/trading/engine-command.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import type { Protection } from '../../src/trading/limits.ts';
import { DENIALS } from '../../src/trading/limits.ts';
import { canTransition, isTerminal, OPEN_STATES, TERMINAL_STATES } from '../../src/trading/intent.ts';
import { takeChanges } from '../../src/trading/protections/check-protections.ts';
import { retryDenial } from '../../src/trading/risk/rules.ts';
import type { EngineState, StateSnapshot } from '../../src/trading/engine-state.ts';
import { createState, freshSnapshot, snapshotState } from '../../src/trading/engine-state.ts';
import type { Input } from '../../src/trading/step.ts';
import { step } from '../../src/trading/step.ts';
import { quote } from '../market/events.ts';
import { FISH, SOL, TOKENS, USDC } from '../market/tokens.ts';
import type { ModelSwap, Name, Resume } from './risk-model.ts';
import { LIMITS, NAMES, RiskModel } from './risk-model.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WALLET = new Map<Mint, Amount>([
  [SOL.mint, 4_000_000_000n as Amount], [USDC.mint, 800_000_000n as Amount], [FISH.mint, 1_000_000n as Amount],
]);
const usdc = (amount: bigint): { mint: Mint; amount: Amount } => ({ mint: USDC.mint, amount: amount as Amount });

const PROTECTIONS: readonly Protection[] = [
  {
    trigger: { kind: 'cooldown', after: 'loss' }, scope: 'strategy', action: 'deny',
    release: { kind: 'elapsed', afterMs: 2 * MINUTE },
  },
  {
    trigger: { kind: 'loss-streak', losses: 2, withinMs: HOUR }, scope: 'token', action: 'deny',
    release: { kind: 'elapsed', afterMs: 5 * MINUTE },
  },
  {
    trigger: { kind: 'low-profit', trades: 2, withinMs: HOUR, leastBps: -500 }, scope: 'global', action: 'halt',
    release: { kind: 'operator' },
  },
  {
    trigger: { kind: 'max-drawdown', limitPct: 10 }, scope: 'strategy', action: 'reduce-only',
    release: { kind: 'operator' },
  },
  {
    trigger: { kind: 'daily-loss', limit: usdc(60_000_000n) }, scope: 'global', action: 'deny',
    release: { kind: 'next-day' },
  },
  {
    trigger: { kind: 'fee-budget', limitLamports: 30_000n as Lamports }, scope: 'global', action: 'reduce-only',
    release: { kind: 'next-day' },
  },
  {
    trigger: { kind: 'blind-execution', unknowns: 2 }, scope: 'global', action: 'reduce-only',
    release: { kind: 'cleared' },
  },
  {
    trigger: { kind: 'unresolved-intent', afterMs: 5 * MINUTE }, scope: 'strategy', action: 'deny',
    release: { kind: 'cleared' },
  },
  {
    trigger: { kind: 'error-rate', failures: 2, withinMs: 10 * MINUTE }, scope: 'strategy', action: 'deny',
    release: { kind: 'elapsed', afterMs: 5 * MINUTE },
  },
  {
    trigger: { kind: 'reconciliation-mismatch' }, scope: 'global', action: 'reduce-only', release: { kind: 'operator' },
  },
  { trigger: { kind: 'dead-man', afterMs: 12 * HOUR }, scope: 'global', action: 'deny', release: { kind: 'cleared' } },
];

const PAIRS: readonly { from: Token; to: Token; inAmount: bigint; outAmount: bigint }[] = [
  { from: SOL, to: USDC, inAmount: 1_000_000_000n, outAmount: 150_000_000n },
  { from: FISH, to: USDC, inAmount: 100_000n, outAmount: 2_000_000n },
  { from: FISH, to: SOL, inAmount: 100_000n, outAmount: 13_333_333n },
];
const MINTS = [SOL.mint, USDC.mint, FISH.mint];
const STEPS_MS = [1, 500, 5_000, 5_000, 20_000, 30_000, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR];
const LEAPS_MS = [3 * HOUR, 13 * HOUR, DAY];

/** What was met: how often each thing happened. */
export type Met = Map<string, number>;

function engineState(
  snapshot: StateSnapshot, open: readonly { intent: Intent; state: Outcome['state'] | 'approved' }[],
): EngineState {
  return createState({
    tokens: TOKENS,
    limits: {
      maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps,
      maxTrade: usdc(LIMITS.maxTrade), maxPosition: new Map([[SOL.mint, usdc(LIMITS.maxPositionSol)]]),
      maxOpenIntents: LIMITS.maxOpenIntents,
      maxSwaps: { perMinute: LIMITS.perMinute, perHour: LIMITS.perHour }, solReserve: LIMITS.solReserve as Amount,
      maxExposure: usdc(LIMITS.maxExposure), maxQuoteAgeMs: LIMITS.maxQuoteAgeMs, protections: PROTECTIONS,
      tokenSafety: {
        trusted: new Set([SOL.mint, USDC.mint]), minLiquidityUsd: 0, minOrganicScore: 0, minHolders: 0,
        maxTopHoldersPct: 100,
        maxTransferFeeBps: 0 as Bps, allowedExtensions: new Set(), validForMs: LIMITS.checkValidMs,
      },
    },
    strategies: NAMES.map((name) => ({
      name, budget: { mint: LIMITS.budgets[name][0], amount: LIMITS.budgets[name][1] as Amount },
      limits: name === 'a' ? { maxExposure: usdc(LIMITS.strategyExposure.a) } : {},
    })),
    snapshot, open,
  });
}

/** How many commands are a sequence; one begins where the one before ended, for what takes long to come about. */
const COMMANDS_PER_SEQUENCE = 4;

/**
 * Plays random sequences in one simulation, at once against engine and model. Throws with what it did where they
 * differ.
 */
export function simulate(seed: number, sequences: number, met: Met): void {
  const simulation = new Simulation(seed, met);
  try {
    simulation.begin();
    for (let i = 0; i < sequences; i++) simulation.playSequence();
  } catch (error) {
    throw new Error(
      `simulation ${seed}: ${error instanceof Error ? error.message : String(error)}\n${simulation.trace.join('\n')}`,
      { cause: error },
    );
  }
}

class Simulation {
  readonly trace: string[] = [];
  readonly #random: Random;
  readonly #met: Met;
  readonly #model = new RiskModel(WALLET);
  #state = engineState(freshSnapshot(WALLET), []);
  #at: Millis = 20_000 * DAY + 23 * HOUR;
  #seq = 0;

  constructor(seed: number, met: Met) {
    this.#random = seededRandom(seed);
    this.#met = met;
  }

  begin(): void {
    for (const pair of PAIRS) this.#quote(pair, 1);
    this.#judge(false);
  }

  playSequence(): void {
    if (this.#random() < 0.5) this.#calm();
    for (let i = 0; i < COMMANDS_PER_SEQUENCE; i++) {
      this.#act();
      this.#laws();
    }
  }

  #act(): void {
    const roll = this.#random();
    if (roll < 0.34) this.#propose();
    else if (roll < 0.76) this.#outcome();
    else if (roll < 0.84) this.#quote(this.#one(PAIRS), this.#factor());
    else if (roll < 0.92) this.#at += this.#random() < 0.05 ? this.#one(LEAPS_MS) : this.#one(STEPS_MS);
    else if (roll < 0.98) this.#operate();
    else this.#restart();
  }

  /** Most of what can happen only happens where little else does. */
  #calm(): void {
    if (!this.#model.access) this.#setAccess(true);
    for (const strategy of [undefined, ...NAMES]) this.#setTrading('active', strategy);
    for (const pair of PAIRS) this.#quote(pair, this.#factor());
    this.#judge(false);
  }

  #factor(): number {
    return this.#random() < 0.15 ? 0.75 + 0.5 * this.#random() : 0.97 + 0.06 * this.#random();
  }

  #one<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)]!;
  }

  #note(what: string): void {
    this.trace.push(`${this.#at} ${what}`);
    const kind = what.split(' ', 2).join(' ');
    this.#met.set(kind, (this.#met.get(kind) ?? 0) + 1);
  }

  #step(input: Parameters<typeof step>[3], resume?: Resume): ReturnType<typeof step> {
    const ruling = step(this.#state, ++this.#seq, this.#at, input);
    for (const change of takeChanges(this.#state.protections)) {
      const { protection: { trigger, scope }, subject } = change;
      this.#note(`${change.change} ${trigger.kind} ${subject}`);
      const fault = this.#model.changed(change, `${trigger.kind}:${scope}:${subject}`, resume);
      if (fault !== undefined) throw new Error(fault);
    }
    return ruling;
  }

  #quote({ from, to, inAmount, outAmount }: (typeof PAIRS)[number], factor: number): void {
    const out = (outAmount * BigInt(Math.round(factor * 1_000))) / 1_000n;
    this.trace.push(`${this.#at} quote ${from.symbol}/${to.symbol} ${out}`);
    this.#model.quotes.set(`${from.mint}${to.mint}`, {
      from: from.mint, to: to.mint, inAmount, outAmount: out, at: this.#at,
    });
    this.#step(quote(from, to, { inAmount, outAmount: out, at: this.#at }));
  }

  #propose(): void {
    const strategy = this.#one(NAMES);
    const order = [...this.#model.orders.values()].find((one) => one.strategy === strategy);
    if (order !== undefined && this.#random() < 0.6) {
      const most = this.#model.sellable(strategy, order.mint);
      const amount = order.left < most ? order.left : most;
      this.#rule({ strategy, input: order.mint, output: LIMITS.budgets[strategy][0], amount }, { continues: true });
      return;
    }
    const budget = LIMITS.budgets[strategy][0];
    const held = [...this.#model.books[strategy].keys()].filter((mint) => mint !== budget);
    const isExit = held.length > 0 && this.#random() < 0.6;
    const input = isExit ? this.#one(held) : this.#random() < 0.85 ? budget : this.#one(MINTS);
    const output = isExit ? budget : this.#one(this.#random() < 0.1 ? MINTS : MINTS.filter((mint) => mint !== input));
    const all = isExit && this.#random() < 0.8;
    const scale = input === SOL.mint ? 750_000_000n : input === USDC.mint ? 110_000_000n : 5_000_000n;
    const share = this.#random() < 0.05 ? 5 : this.#random();
    const amount = all ? this.#model.sellable(strategy, input) : (scale * BigInt(Math.floor(share * 1_000))) / 1_000n;
    this.#rule({ strategy, input, output, amount }, { all });
  }

  #rule(
    swap: ModelSwap, { all = false, continues = false }: { readonly all?: boolean; readonly continues?: boolean },
  ): void {
    const { strategy, input, output, amount } = swap;
    const before = this.#fingerprint();
    const ruling = this.#step({
      kind: 'proposal', strategy, continues,
      proposal: {
        kind: 'swap', inputMint: input, outputMint: output, amount: all ? 'all' : amount as Amount, reason: 'a test',
      },
    })!;
    const kind = this.#model.isExit(swap) ? 'exit' : 'entry';
    const [from, to] = [TOKENS.byMint(input)?.symbol, TOKENS.byMint(output)?.symbol];
    const { code = 'approved', reason = '' } = ruling.denial ?? {};
    this.#note(`${kind} ${code} ${strategy} ${from} ${amount} to ${to}: ${reason}`);
    const allows = this.#model.allows(swap, this.#at, continues);
    if (allows !== (ruling.denial === undefined))
      throw new Error(`the model ${allows ? 'allows' : 'refuses'} what the engine does not`);
    if (ruling.effect?.kind === 'execute') {
      const part = kind === 'exit' ? this.#model.part(swap, this.#at) : amount;
      if (ruling.effect.intent.amountIn !== part)
        throw new Error(`${ruling.effect.intent.amountIn} instead of ${part}`);
      this.#model.approve(ruling.effect.intent);
      if (part < amount && !continues && !this.#model.flattening.has(strategy)) this.#model.order(swap);
    } else if (this.#fingerprint() !== before) {
      throw new Error('a denial changed the state');
    } else if (continues && ['size', 'money', 'proposal'].includes(DENIALS[ruling.denial!.code].category)) {
      this.#model.settlePart(strategy, input, undefined);
    }
  }

  #outcome(): void {
    if (this.#model.open.length === 0) return;
    const intent = this.#one(this.#model.open);
    const { state } = this.#state.intents.get(intent.id)!;
    const possible = [...OPEN_STATES, ...TERMINAL_STATES]
      .filter((to): to is Outcome['state'] => to !== 'approved' && canTransition(state, to));
    const usual = possible.filter((to) =>
      to !== state && ['building', 'signed', 'submitted', 'confirmed'].includes(to));
    const next = this.#random() < 0.6 && usual.length > 0 ? usual.at(-1)! : this.#one(possible);
    const feeLamports = (this.#random() < 0.5 ? 5_000n : 0n) as Lamports;
    const fill = next === 'confirmed' ? {
      inputMint: intent.inputMint, outputMint: intent.outputMint, amountIn: intent.amountIn,
      amountOut: this.#output(intent), feeLamports,
      rentLamports: (this.#random() < 0.2 ? 2_039_280n : 0n) as Lamports,
    } : undefined;
    this.#note(`outcome ${next} ${intent.id} ${fill?.amountOut ?? ''}`);
    if (isTerminal(next)) this.#model.close(intent, fill, next === 'failed' ? feeLamports : 0n);
    this.#step({ kind: 'outcome', intentId: intent.id, attempt: 1, state: next, fill, feeLamports: next === 'failed'
      ? feeLamports : undefined });
    if (next === 'building') this.#retry(intent);
  }

  /** A further attempt is refused where a new proposal would be for a reason that has nothing to do with itself. */
  #retry(intent: Intent): void {
    const before = this.#fingerprint();
    const denial = retryDenial(this.#state, intent, this.#at);
    this.#note(`retry ${denial?.code ?? 'allowed'}`);
    if (this.#fingerprint() !== before) throw new Error('asking for a further attempt changed the state');
    const own = [
      'INTENT_OPEN_FOR_MINT', 'INTENTS_OPEN_LIMIT', 'KEY_REPEATED', 'RATE_PER_MINUTE', 'RATE_PER_HOUR', 'RATE_PER_DAY',
    ];
    if (denial !== undefined && own.includes(denial.code))
      throw new Error(`an intent stands in its own way: ${denial.reason}`);
    if (intent.purpose === 'exit' && denial !== undefined
        && !['TRADING_HALTED', 'SERVICE_UNAUTHORIZED', 'BALANCE_INSUFFICIENT', 'SOL_RESERVE'].includes(denial.code)) {
      throw new Error(`an exit may not go on: ${denial.reason}`);
    }
  }

  #output({ inputMint, outputMint, amountIn }: Intent): Amount {
    const factor = BigInt(800 + Math.floor(this.#random() * 350));
    for (const { from, to, inAmount, outAmount } of PAIRS) {
      if (from.mint === inputMint && to.mint === outputMint)
        return (1n + (amountIn * outAmount * factor) / (inAmount * 1_000n)) as Amount;
      if (from.mint === outputMint && to.mint === inputMint)
        return (1n + (amountIn * inAmount * factor) / (outAmount * 1_000n)) as Amount;
    }
    return 1n as Amount;
  }

  #operate(): void {
    const model = this.#model;
    const strategy = this.#random() < 0.4 ? this.#one(NAMES) : undefined;
    const roll = this.#random();
    if (roll < 0.35) {
      this.#setTrading(this.#one<TradingState>(['active', 'active', 'reduce-only', 'halted']), strategy);
    } else if (roll < 0.45) {
      for (const name of strategy === undefined ? NAMES : [strategy]) {
        model.flattening.add(name);
        for (const [key, order] of model.orders) if (order.strategy === name) model.orders.delete(key);
      }
      this.#command({ kind: 'command', name: 'flatten', strategy, reason: '' });
    } else if (roll < 0.7) {
      const mint = this.#one(MINTS);
      const most = 2 * Number(model.wallet.get(mint) ?? 1_000_000_000n);
      const change = BigInt(Math.floor((this.#random() - 0.5) * most));
      model.move(model.wallet, mint, change);
      this.#command({
        kind: 'command', name: 'adjust-wallet', mint, change: change.toString(),
        cause: this.#one(['deposit', 'withdrawal', 'withdrawal', 'mismatch']), reason: '',
      });
    } else if (roll < 0.82) {
      this.#judge(this.#random() < 0.5);
    } else if (roll < 0.9) {
      this.#command({ kind: 'command', name: 'report-presence', reason: '' });
    } else {
      this.#setAccess(!model.access);
    }
  }

  #judge(isBad: boolean): void {
    this.#model.checks.set(FISH.mint, { at: this.#at, bad: isBad });
    this.#command({
      kind: 'command', name: 'judge-token', mint: FISH.mint, findings: isBad ? ['FREEZE_AUTHORITY'] : [], reason: '',
    });
  }

  #setAccess(isGranted: boolean): void {
    this.#model.access = isGranted;
    this.#command({
      kind: 'command', name: 'set-service-access', access: isGranted ? 'granted' : 'refused', reason: '',
    });
  }

  #setTrading(state: TradingState, strategy: Name | undefined): void {
    const model = this.#model;
    if (strategy === undefined) model.trading = state;
    else model.own.set(strategy, state);
    if (state === 'active')
      for (const name of strategy === undefined ? NAMES : [strategy]) model.flattening.delete(name);
    this.#command({ kind: 'command', name: 'set-trading-state', state, strategy, reason: '' }, state === 'active'
      ? { strategy } : undefined);
  }

  #command(command: Command, resume?: Resume): void {
    const [state, strategy] = ['state' in command ? command.state : '', 'strategy' in command ? command.strategy : ''];
    this.#note(`${command.name} ${state} ${strategy ?? ''}`);
    this.#step(command satisfies Input, resume);
  }

  /** What only the process knows is learned again: prices, checks, access. */
  #restart(): void {
    this.#note('restart');
    const before = this.#state;
    const saved = stringifyJson(snapshotState(before));
    const open = [...before.intents.values()].map(({ intent, state }) => ({ intent, state }));
    this.#state = engineState(JSON.parse(saved) as StateSnapshot, open);
    for (const { intent } of open) this.#model.left.add(intent.id);
    if (stringifyJson(snapshotState(this.#state)) !== saved) throw new Error('a restart changed what is kept');
    for (const { from, to, inAmount, outAmount, at } of this.#model.quotes.values()) {
      this.#state.market.observe(quote(TOKENS.byMint(from)!, TOKENS.byMint(to)!, { inAmount, outAmount, at }));
    }
    for (const [mint, check] of before.tokenFindings) this.#state.tokenFindings.set(mint, check);
    this.#state.serviceAccess = before.serviceAccess;
  }

  #laws(): void {
    const { portfolio, intents, protections } = this.#state;
    const model = this.#model;
    if (intents.size !== model.open.length) throw new Error('the engine has other intents open');
    if (protections.on !== model.fired.size) throw new Error('something was triggered or released without a change');
    for (const mint of MINTS) {
      if ((portfolio.wallet.get(mint) ?? 0n) !== (model.wallet.get(mint) ?? 0n))
        throw new Error('the wallet is not the sum of what was booked');
      for (const name of NAMES) {
        const book = portfolio.book(name);
        if ((book.reserved.get(mint) ?? 0n) !== model.reserved(name, mint))
          throw new Error('what is reserved is not what is open');
        if ((book.balances.get(mint) ?? 0n) !== (model.books[name].get(mint) ?? 0n))
          throw new Error('a book is not the sum of what was booked');
        if (model.available(name, mint) < 0n) throw new Error('more is claimed than there is');
      }
    }
  }

  #fingerprint(): string {
    const { portfolio, intents, keys, swapRate, strategies, trading } = this.#state;
    const books = [...portfolio.books.values()]
      .map(({ balances, reserved, costs }) => [...balances, ...reserved, ...costs].join());
    return [
      books.join('|'), [...portfolio.wallet].join(),
      intents.values().map(({ intent, state }) => `${intent.id} ${state}`).join(), [...keys].length,
      swapRate.times.length, [...strategies.values()].map(({ intentCount }) => intentCount).join(), trading,
    ].join('/');
  }
}
