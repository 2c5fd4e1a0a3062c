import type { Millis } from '../core/time.ts';
import { feedKey } from '../market/feed.ts';
import type { OwnedToken, PortfolioEvent } from '../market/feeds/portfolio.ts';
import type { EngineState } from '../trading/engine-state.ts';
import { equityOf, holdingOf } from '../trading/positions/holding.ts';
import type { HostedInput } from './host/watched-feeds.ts';
import type { Host } from './strategy-host.ts';

const FEED = feedKey({ kind: 'portfolio', everyMs: 1 });

/** A strategy that watches its own portfolio, and what it saw last. */
interface Watching {
  readonly host: Host;
  readonly inputs: readonly HostedInput[];
  seen: PortfolioEvent | undefined;
}

/**
 * Tells strategies what they own and what it is worth, after each input that changed it. The events follow from the
 * state, so nothing is recorded, and a replay makes the same ones.
 */
export class PortfolioInputs {
  readonly #state: EngineState;
  readonly #watching: Watching[] = [];

  constructor(state: EngineState) {
    this.#state = state;
  }

  /** Whether a strategy watches its portfolio. */
  get isWatched(): boolean {
    return this.#watching.length > 0;
  }

  /** Adds a strategy, where it watches its portfolio. */
  connect(host: Host): void {
    const inputs = host.inputs.filter(({ origin }) => origin === 'engine');
    if (inputs.length > 0) this.#watching.push({ host, inputs, seen: undefined });
  }

  /** Puts another version of a strategy into its place, which is shown the whole, as at a start. */
  replace(host: Host): void {
    const place = this.#watching.findIndex(({ host: { name } }) => name === host.name);
    const inputs = host.inputs.filter(({ origin }) => origin === 'engine');
    const watching = inputs.length === 0 ? [] : [{ host, inputs, seen: undefined }];
    this.#watching.splice(place < 0 ? this.#watching.length : place, place < 0 ? 0 : 1, ...watching);
  }

  /** Shows a strategy that starts again the whole, as at its first start. */
  forget(strategy: string): void {
    for (const watching of this.#watching) if (watching.host.name === strategy) watching.seen = undefined;
  }

  /** Emits where something has changed since the last call; to a strategy that has just started, the whole. */
  publish(at: Millis): void {
    for (const watching of this.#watching) {
      const { host: { name, running }, inputs, seen } = watching;
      if (!running) continue;
      const event = this.#eventOf(name, at);
      if (seen !== undefined && isSame(seen, event)) continue;
      watching.seen = event;
      for (const { source, adapt, fail } of inputs) {
        try {
          source.emit(adapt(event));
        } catch (error) {
          fail(error);
        }
      }
    }
  }

  #eventOf(strategy: string, at: Millis): PortfolioEvent {
    const holdings: OwnedToken[] = [];
    for (const [mint, balance] of this.#state.portfolio.book(strategy).balances) {
      if (balance === 0n) continue;
      const { amount, cost, value } = holdingOf(this.#state, strategy, mint, at);
      holdings.push({ mint, amount, cost, value });
    }
    holdings.sort((a, b) => (a.mint < b.mint ? -1 : 1));
    return { kind: 'portfolio', feed: FEED, receivedAt: at, equity: equityOf(this.#state, strategy, at), holdings };
  }
}

function isSame(a: PortfolioEvent, b: PortfolioEvent): boolean {
  return a.equity === b.equity && a.holdings.length === b.holdings.length && a.holdings.every((held, index) => {
    const { mint, amount, cost, value } = b.holdings[index]!;
    return held.mint === mint && held.amount === amount && held.cost === cost && held.value === value;
  });
}
