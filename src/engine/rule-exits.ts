import type { Subscription } from 'rxjs';
import type { Millis } from '../core/time.ts';
import type { EngineState } from '../trading/engine-state.ts';
import type { DueExit } from '../trading/positions/exit-rules.ts';
import { dueExit } from '../trading/positions/exit-rules.ts';
import type { Input, ProposalInput } from '../trading/step.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** The part of the engine that the exit rules use. */
interface RuleExitsPort {
  readonly state: EngineState;
  readonly clock: VirtualClock;
  /** Hands in an exit under its strategy's name; it is ruled on in its turn. */
  propose(exit: ProposalInput): void;
}

/**
 * Proposes the exits that the configuration declares for strategies. It checks a position at each quote of its sale,
 * when a swap of the strategy ends, and when its time is over. What the rules remember is in the state; the rest
 * depends on the engine's clock and inputs alone, so a replay repeats it.
 */
export class RuleExits {
  readonly #port: RuleExitsPort;
  #timer: { readonly due: Millis; readonly subscription: Subscription } | undefined;
  #isStarted = false;

  constructor(port: RuleExitsPort) {
    this.#port = port;
  }

  start(): void {
    this.#isStarted = true;
    this.#schedule();
  }

  stop(): void {
    this.#isStarted = false;
    this.#timer?.subscription.unsubscribe();
    this.#timer = undefined;
  }

  /** Takes an input that the state already holds. */
  observe(input: Input): void {
    if (!this.#isStarted || this.#port.state.guarded.size === 0) return;
    if (input.kind === 'quote') this.#check(input.inputMint);
    else if (input.kind === 'outcome' || input.kind === 'command') this.#check(undefined);
    this.#schedule();
  }

  /** Checks all positions, or those of a token. */
  #check(mint: string | undefined): void {
    const { state, clock } = this.#port;
    for (const position of state.guarded.values()) {
      if ((mint !== undefined && position.mint !== mint) || !state.strategies.has(position.strategy)) continue;
      const due = dueExit(state, position, clock.now());
      if (due !== undefined) this.#port.propose(proposalOf(due));
    }
  }

  /** Sets the timer to the end of the first time limit that is ahead. */
  #schedule(): void {
    const { state, clock } = this.#port;
    const now = clock.now();
    let next = Infinity;
    for (const { strategy, since } of state.guarded.values()) {
      const limit = state.strategies.get(strategy)?.limits.exits?.rules.timeLimitMs;
      if (limit !== undefined && since + limit > now && since + limit < next) next = since + limit;
    }
    if (next === (this.#timer?.due ?? Infinity)) return;
    this.#timer?.subscription.unsubscribe();
    this.#timer = next === Infinity ? undefined : {
      due: next,
      subscription: clock.schedule(() => {
        this.#timer = undefined;
        this.#check(undefined);
        this.#schedule();
      }, next - now),
    };
  }
}

function proposalOf(begins: DueExit): ProposalInput {
  const { strategy, mint, into, amount, isAll, reason, rule } = begins;
  const proposal = {
    kind: 'swap', inputMint: mint, outputMint: into, amount: isAll ? 'all' : amount, reason, tag: `exits.${rule}`,
  } as const;
  return { kind: 'proposal', strategy, proposal, continues: true, begins };
}
