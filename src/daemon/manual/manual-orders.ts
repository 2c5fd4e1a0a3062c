import type { Amount, Bps } from '../../core/amount.ts';
import { ZERO, parseRaw } from '../../core/amount.ts';
import { isGannetError, messageOf } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { LoggedDecision } from '../../engine/decision-log.ts';
import type { Engine } from '../../engine/engine.ts';
import { wait } from '../../execution/monotonic-time.ts';
import { showAmount, withTokenNames } from '../../market/market-text.ts';
import { configuredToken } from '../../market/named-token.ts';
import type { Mint } from '../../market/token.ts';
import type { SwapV2 } from '../../service/endpoints/swap-v2.ts';
import type { Priority } from '../../service/rate/rate-plan.ts';
import type { JournalStore } from '../../store/journal.ts';
import type { IntentStory } from '../../store/journal-listing.ts';
import type { OrderSwap } from '../../trading/engine-command.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { IntentState } from '../../trading/intent.ts';
import type { Denial } from '../../trading/limits.ts';
import { isManualBook } from '../../trading/manual/manual-book.ts';
import { currentValue } from '../../trading/valuation.ts';
import type { Ruling } from '../../trading/step.ts';
import type { OrderKeeper } from '../control/order-audit.ts';
import type { OrderOrigin } from '../control/order-origin.ts';
import type { EngineLoop } from '../run/engine-loop.ts';
import type { Log } from '../reporting/log.ts';
import type { SwapRequest } from './order-requests.ts';
import { readOr400, readSwap } from './order-requests.ts';
import type { Money, Sale, SaleRequest, SalesPreview } from './sale-preview.ts';
import { adviceOn, findSale, money, previewFlatten, previewSale, refusal } from './sale-preview.ts';
import type { AskedSwap } from './swap-preview.ts';
import { networkFee, previewJson, previewSwap, quoteOf } from './swap-preview.ts';

/** A confirmed swap. */
interface SwapOrderRequest extends SwapRequest {
  /** The least output in smallest units: the worst case of the preview. */
  readonly at_least?: string | undefined;
  readonly key: string;
}

/** What became of an order: the answer to it, and to its key later. */
export interface OrderView {
  readonly key: string;
  readonly strategy: string;
  /** `working`: a swap is under way. `waiting`: the next part waits for a cap, or for its turn. */
  readonly state: 'denied' | 'working' | 'waiting' | IntentState;
  readonly over: boolean;
  readonly code: string | null;
  readonly reason: string | null;
  /** What was paid and got so far, for people: "190 USDC → 1.04 SOL"; null before a swap has landed. */
  readonly text: string | null;
  /** What is still to be sold, of a sale in parts. */
  readonly left: Money | null;
  readonly intents: readonly IntentStory[];
}

/** The orders of a person that the running daemon carries out. Its methods throw ORDER_REFUSED with what to do. */
export interface ManualOrders {
  /** Gives an order once for its key; the same key again returns what became of it. */
  swap(request: SwapOrderRequest, origin: OrderOrigin): Promise<OrderView>;
  sell(request: SaleRequest & { readonly key: string }, origin: OrderOrigin): Promise<OrderView>;
  /** Returns an order by its key, also of an earlier run; undefined where the daemon never approved one. */
  order(key: string): OrderView | undefined;
  /** Returns the preview of a swap by a fresh quote, as plain data. */
  previewSwap(request: SwapRequest): Promise<object>;
  previewSale(request: SaleRequest): SalesPreview;
  previewFlatten(strategy: string | undefined): SalesPreview;
  /** Notes the ruling on an order, and the swaps that follow it. */
  ruled(decision: LoggedDecision, ruling: Ruling): void;
}

/** The parts of a run that manual orders need. */
interface ManualOrdersOptions {
  readonly state: EngineState;
  readonly engine: Engine;
  readonly loop: Pick<EngineLoop, 'accept'>;
  readonly clock: Clock;
  readonly phase: () => string;
  readonly orders: OrderKeeper;
  readonly log: Log;
  readonly journal: Pick<JournalStore, 'showIntent' | 'intentsOfKey'>;
  /** Prices a swap that no strategy watches; undefined without a service. */
  readonly quotes?: Pick<SwapV2, 'order'> | undefined;
  readonly serviceText?: string | undefined;
  /** The wallet that signs; undefined on paper. */
  readonly wallet?: string | undefined;
  readonly isRealMoney: boolean;
}

/** Keeps the keys of manual orders apart from those that strategies choose. */
const KEY_PREFIX = 'order.';
/** Older orders are read from the journal. */
const KEPT_MAX = 200;

/** Strategies swap the same token too, and each swap of theirs takes a second or two. */
const TURN_MAX_MS: Millis = 10_000;
const TURN_POLL_MS: Millis = 20;

/** What is known of an order in this run. */
interface Entry {
  readonly strategy: string;
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  /** What was asked for, as text; undefined for an order of an earlier run. */
  readonly asked: string | undefined;
  readonly intents: string[];
  denial: Denial | undefined;
}

/** Returns the manual orders of a run. Each order is one command through the inbox, so a replay repeats it. */
export function createManualOrders(options: ManualOrdersOptions): ManualOrders {
  const { state, loop, clock, orders, journal, quotes, log } = options;
  const entries = new Map<string, Entry>();
  /** Orders whose price is being asked for. */
  const pending = new Map<string, { readonly asked: string; readonly work: Promise<OrderView> }>();

  const entryOf = (key: string): Entry | undefined => {
    const known = entries.get(key);
    if (known !== undefined) return known;
    const stories = journal.intentsOfKey(KEY_PREFIX + key);
    const [first] = stories;
    return first === undefined ? undefined : keep(key, {
      strategy: first.strategy, inputMint: first.input_mint as Mint, outputMint: first.output_mint as Mint,
      asked: undefined, intents: stories.map(({ intent_id: id }) => id), denial: undefined,
    });
  };
  const keep = (key: string, entry: Entry): Entry => {
    entries.set(key, entry);
    const [oldest] = entries.keys();
    if (entries.size > KEPT_MAX && oldest !== undefined) entries.delete(oldest);
    return entry;
  };
  const viewOf = (key: string, entry: Entry): OrderView => {
    const { strategy, inputMint, denial } = entry;
    const intents = entry.intents.map((id) => journal.showIntent(id)).filter((story) => story !== undefined);
    const rest = state.exits.get(strategy, inputMint);
    const order = rest?.key === KEY_PREFIX + key ? rest : undefined;
    const base = {
      key, strategy, intents, text: landedText(entry, intents),
      left: order === undefined ? null : money(state.tokens, inputMint, order.left),
    };
    const named = (text: string | null): string | null => (text === null ? null : withTokenNames(state.tokens, text));
    if (entry.intents.some((id) => state.intents.has(id)))
      return { ...base, state: 'working', over: false, code: null, reason: null };
    if (order !== undefined) {
      return { ...base, state: 'waiting', over: false, code: denial?.code ?? null,
        reason: named(denial?.reason ?? 'the sale goes on in parts') };
    }
    const last = intents.at(-1);
    if (last === undefined && entry.intents.length > 0) {
      return { ...base, state: 'abandoned', over: true, code: 'JOURNAL_FAILED',
        reason: 'the journal could not take it, so nothing was signed' };
    }
    if (last === undefined) {
      return { ...base, state: 'denied', over: true, code: denial?.code ?? null,
        reason: denial === undefined ? null : named(adviceOn(denial)) };
    }
    const { code = null, reason = null } = last.transitions.at(-1) ?? {};
    return { ...base, state: last.state, over: true, code, reason: named(reason) };
  };

  const landedText = ({ inputMint, outputMint }: Entry, intents: readonly IntentStory[]): string | null => {
    const landed = intents.filter(({ state: reached }) => reached === 'confirmed');
    const total = (of: 'amount_in' | 'amount_out'): bigint =>
      landed.reduce((sum, intent) => sum + BigInt(intent[of] ?? 0), 0n);
    return landed.length === 0 ? null : `${showAmount(state.tokens, inputMint, total('amount_in'))} → `
      + showAmount(state.tokens, outputMint, total('amount_out'));
  };

  /** Throws where the run gives no orders at present. */
  const expectTrading = (): void => {
    const phase = options.phase();
    if (phase === 'trading') return;
    const advice = phase === 'draining' || phase === 'ended' ? 'start it again, then ask again with the same command'
      : 'ask again in a moment';
    throw refusal(503, 'NOT_TRADING', `the daemon is ${phase}, and takes no orders: ${advice}`);
  };

  /** Waits for the swaps that a manual one would have to wait for; the limits refuse it where they take longer. */
  const turnOf = async (inputMint: Mint): Promise<void> => {
    const giveUpAt = clock.now() + TURN_MAX_MS;
    const isTaken = (): boolean => state.intents.values().some(({ intent, state: reached }) =>
      intent.inputMint === inputMint && reached !== 'unknown');
    while (isTaken() && clock.now() < giveUpAt) await wait(clock, TURN_POLL_MS);
  };

  /**
   * Returns what became of the order that was given under a key before; undefined for a new key. Of an order of an
   * earlier run only its swaps are known, so `isSame` compares these. Synchronous, so that no other request with the
   * key comes between this and `give`.
   */
  const given = (
    key: string, asked: string, isSame: (entry: Entry) => boolean,
  ): OrderView | Promise<OrderView> | undefined => {
    const running = pending.get(key);
    if (running?.asked === asked) return running.work;
    const known = running === undefined ? entryOf(key) : undefined;
    if (known !== undefined && (known.asked === undefined ? isSame(known) : known.asked === asked))
      return viewOf(key, known);
    if (running === undefined && known === undefined) return undefined;
    throw refusal(409, 'ORDER_KEY_USED', `the key ${key} is of another order`
      + `${known === undefined ? '' : `, by ${known.strategy}`}: use a new one`);
  };

  /** Gives an order that is new. */
  const give = async (key: string, origin: OrderOrigin, action: string, asked: {
    readonly strategy: string; readonly inputMint: Mint; readonly outputMint: Mint;
    readonly text: string;
    readonly prepare: () => Promise<OrderSwap>;
  }): Promise<OrderView> => {
    const { strategy, inputMint, outputMint } = asked;
    const work = (async (): Promise<OrderView> => {
      const command = await asked.prepare();
      await turnOf(inputMint);
      expectTrading();
      const entry = keep(key, { strategy, inputMint, outputMint, asked: asked.text, intents: [], denial: undefined });
      const { reason, amount, limit = null } = command;
      const facts = { key, input_mint: inputMint, output_mint: outputMint, amount, at_least: limit };
      orders.carryOut({ action, origin, strategy, reason, facts }, () => { loop.accept(command); });
      return viewOf(key, entry);
    })();
    pending.set(key, { asked: asked.text, work });
    try {
      return await work;
    } finally {
      pending.delete(key);
    }
  };

  /** Puts the present price of a pair before the engine, as the event of a feed that nothing else asks for. */
  const price = async (from: Mint, to: Mint, amount: Amount, priority: Priority = 'entry'): Promise<void> => {
    const answer = await quotes?.order({ inputMint: from, outputMint: to, amount }, { priority });
    if (answer !== undefined) loop.accept(quoteOf({ order: answer, inputMint: from, outputMint: to }, clock.now()));
  };

  /** Prices an entry for the limits on value too. */
  const priceEntry = async ({ spend, to }: AskedSwap): Promise<void> => {
    const { maxTrade, maxExposure, maxPosition } = state.limits;
    const from = spend.token.mint;
    await price(from, to.mint, spend.amount as Amount);
    for (const currency of new Set([maxTrade?.mint, maxExposure?.mint, maxPosition.get(to.mint)?.mint])) {
      if (currency === undefined || currency === from) continue;
      const spent = { mint: from, amount: spend.amount };
      if (currentValue(state, spent, currency, clock.now()) === undefined)
        await price(from, currency, spend.amount as Amount);
    }
  };

  return {
    swap: async ({ key, at_least: least, ...request }, origin) => {
      const asked = readSwap(options, request);
      const { spend, to, strategy, route, slippageBps } = asked;
      const [inputMint, outputMint] = [spend.token.mint, to.mint];
      // The worst case is that of the last preview, so it differs where the same order is asked for again.
      const text = stringifyJson(['swap', strategy, inputMint, outputMint, spend.amount, route, slippageBps]);
      return given(key, text, (known) => known.strategy === strategy && known.inputMint === inputMint
        && known.outputMint === outputMint) ?? give(key, origin, 'swap', {
        strategy, inputMint, outputMint, text,
        prepare: async () => {
          expectTrading();
          await priced(() => priceEntry(asked));
          return {
            kind: 'command', name: 'order-swap', strategy, inputMint, outputMint, amount: spend.amount.toString(),
            key: KEY_PREFIX + key, route, reason: 'asked for by the operator',
            ...(least === undefined ? {} : { limit: readOr400(() => parseRaw(least)).toString() }),
            ...(slippageBps === undefined ? {} : { slippageBps: slippageBps as Bps }),
          };
        },
      });
    },
    sell: async ({ key, ...request }, origin) => {
      // A position that is sold cannot be found again, so the key comes first.
      const wanted = configuredToken(request.token, state.tokens)?.mint ?? request.token;
      const text = stringifyJson(['sell', request.strategy, wanted, request.part, request.amount]);
      const known = given(key, text, (earlier) => earlier.inputMint === wanted
        && (request.strategy ?? earlier.strategy) === earlier.strategy);
      if (known !== undefined) return known;
      const sale = findSale(state, request);
      const { strategy, mint: inputMint, into: outputMint, amount } = sale;
      return give(key, origin, 'sell', {
        strategy, inputMint, outputMint, text,
        prepare: async () => {
          expectTrading();
          await priceSale(sale);
          return {
            kind: 'command', name: 'order-swap', strategy, inputMint, outputMint, amount: String(amount),
            key: KEY_PREFIX + key, reason: 'sold by the operator',
          };
        },
      });
    },
    order: (key) => {
      const entry = entryOf(key);
      return entry === undefined ? undefined : viewOf(key, entry);
    },
    previewSwap: async (request) => {
      const asked = readSwap(options, request);
      const { limits, portfolio, tokens } = state;
      if (quotes === undefined) throw refusal(409, 'PRICE_UNAVAILABLE', 'this run has no service that quotes');
      const preview = await priced(() => previewSwap({
        limits, quotes, description: options.serviceText ?? '', isRealMoney: options.isRealMoney,
        wallet: options.wallet, balances: undefined,
      }, asked));
      const { order } = preview;
      const held = portfolio.wallet.get(asked.spend.token.mint) ?? ZERO;
      return {
        ...previewJson({ ...preview, held }), strategy: asked.strategy, service: preview.service,
        in: asked.spend.token, out: asked.to, in_usd: order.inUsdValue ?? null, out_usd: order.outUsdValue ?? null,
        free: money(tokens, asked.spend.token.mint, isManualBook(asked.strategy)
          ? portfolio.unowned(asked.spend.token.mint)
          : portfolio.available(asked.strategy, asked.spend.token.mint)),
        network_fee_lamports: networkFee(order) ?? null,
      };
    },
    previewSale: (request) => previewSale(state, findSale(state, request), clock.now()),
    previewFlatten: (strategy) => previewFlatten(state, strategy, clock.now()),
    ruled: ({ strategy, proposal }, { effect, denial }) => {
      if (proposal.kind !== 'swap') return;
      const key = effect?.kind === 'execute' ? effect.intent.key : proposal.key;
      if (key?.startsWith(KEY_PREFIX) !== true) return;
      // A strategy may choose such a key too: only the orders themselves are followed. Others are read when asked for.
      const entry = entries.get(key.slice(KEY_PREFIX.length));
      if (entry?.strategy !== strategy) return;
      if (denial !== undefined) entry.denial = denial;
      if (effect?.kind === 'execute') {
        entry.denial = undefined;
        entry.intents.push(effect.intent.id);
      }
    },
  };

  /** A sale is tried without a price too, as every exit is. */
  async function priceSale({ mint, into, amount, strategy }: Sale): Promise<void> {
    try {
      const size = amount === 'all' ? state.portfolio.available(strategy, mint) : amount;
      await price(mint, into, size, 'exit');
    } catch (error) {
      if (!isGannetError(error)) throw error;
      log('warn', 'a manual sale goes on without a price of its own', { error });
    }
  }
}

async function priced<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isGannetError(error)) throw error;
    throw refusal(502, 'PRICE_UNAVAILABLE', `the service gives no price for it (${error.code}: ${messageOf(error)}), `
      + 'so nothing was ordered; ask again');
  }
}
