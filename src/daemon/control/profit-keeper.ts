import type { Clock } from '../../core/time.ts';
import { ProfitLedger } from '../../profit/ledger.ts';
import type { Pricing } from '../../profit/prices.ts';
import { ProfitResults } from '../../profit/results.ts';
import type { ProfitStatement } from '../../profit/statement.ts';
import { profitStatement } from '../../profit/statement.ts';
import type { JournalStore } from '../../store/journal.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { currentValue } from '../../trading/valuation.ts';

interface ProfitView {
  readonly mode: 'live' | 'paper';
  readonly clock: Clock;
  readonly state: EngineState;
  readonly journal: Pick<JournalStore, 'settledSwaps' | 'ledgerStarts' | 'listAdjustments'>;
}

/** Swaps that are read at once: a few milliseconds of work. */
const PART = 500;
const ADJUSTMENTS_MOST = 10_000;

/** Keeps the ledger of a run's journal, and reads only what was added since the last statement. */
export class ProfitKeeper {
  readonly #view: ProfitView;
  #books: { readonly of: string; readonly ledger: ProfitLedger; readonly results: ProfitResults } | undefined;
  #after = 0;
  /** Statements take their turns: each begins where the one before has read to. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(view: ProfitView) {
    this.#view = view;
  }

  /** Returns the statement at the present prices. Other work goes on while a long journal is read. */
  async statement(): Promise<ProfitStatement> {
    const turn = this.#turn.then(() => this.#read());
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #read(): Promise<ProfitStatement> {
    const { mode, clock, state, journal } = this.#view;
    const starts = journal.ledgerStarts();
    const budgets = Object.fromEntries([...state.portfolio.books].flatMap(([name, { budget, owed }]) =>
      (budget === undefined ? [] : [[name, { mint: budget.mint, amount: budget.amount + owed }]])));
    const of = Object.entries(budgets).map(([name, { mint, amount }]) => `${name} ${mint} ${amount}`).join();
    if (this.#books?.of !== of) {
      this.#books = { of, ledger: new ProfitLedger(budgets, starts), results: new ProfitResults() };
      this.#after = 0;
    }
    const { ledger, results } = this.#books;
    for (;;) {
      const { swaps, next } = journal.settledSwaps({ after: this.#after, limit: PART });
      for (const swap of swaps) results.add(ledger.add(swap));
      this.#after = next ?? swaps.at(-1)?.number ?? this.#after;
      if (next === undefined) break;
      await new Promise((resolve) => { setImmediate(resolve); });
    }
    const at = clock.now();
    const pricing: Pricing = {
      source: 'running', usedAt: () => at,
      valueOf: (mint, amount, currency) => currentValue(state, { mint, amount }, currency, at),
    };
    return profitStatement({
      ledger, results, adjustments: journal.listAdjustments({ limit: ADJUSTMENTS_MOST }), mode, at,
      tokens: state.tokens, pricing,
    });
  }
}
