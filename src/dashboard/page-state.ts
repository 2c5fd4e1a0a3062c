import type { Millis } from '../core/time.ts';

// What the daemon sends the page. All texts are plain text: those that come from outside (token names, reasons) may
// hold markup, and the page shows them as text. All times are absolute, so that a state only changes when something
// has happened; the page shows the age of a time against `PageState.at`, which is the daemon's own time.

/** An amount of one token, negative for a loss. */
export interface PageAmount {
  /** For people and exact: "412.5"; in smallest units where the decimals of the token are not known. */
  readonly text: string;
  /** Smallest units. */
  readonly units: string;
  readonly mint: string;
  readonly symbol: string;
  /** Null where they are not known. */
  readonly decimals: number | null;
}

/** How urgent something is. `good`: all is well. `check`: worth a check. `act`: a person is needed. */
export type PageLevel = 'good' | 'check' | 'act';

/** A figure that explains itself. */
export interface PageFigure {
  readonly amount: PageAmount;
  /** How it is computed, and from what, in one or two sentences. */
  readonly explanation: string;
  /** When the newest of its inputs came. */
  readonly as_of: Millis;
  /** Whether every input had a price; else it is the last known figure. */
  readonly is_known: boolean;
}

/** The action that ends a state in which a person is needed, as the page calls it. */
type PageRemedy =
  /** `POST /api/resume`; of one strategy where it names one. */
  | { readonly kind: 'resume'; readonly strategy: string | null }
  /** `POST /api/intents/:id/resolve`. */
  | { readonly kind: 'resolve'; readonly intent_id: string }
  /** `POST /api/flatten` of a stopped strategy that still holds something. */
  | { readonly kind: 'flatten'; readonly strategy: string }
  /** Something outside of the page, such as removing the file STOP; `what` says it. */
  | { readonly kind: 'outside' };

/** Something that needs a person. */
export interface PageNeed {
  /** What has happened and what to do, in a sentence. */
  readonly what: string;
  /** Null where it is not known. */
  readonly since: Millis | null;
  readonly remedy: PageRemedy;
}

/** The one sentence of state: `Trading on paper · 4 strategies · all feeds fresh · +12.40 USDC today`. */
export interface PageSentence {
  readonly text: string;
  readonly level: PageLevel;
  /** Its first part in one word: `trading`, `halted`, … the same as `standing` of `/api/state`. */
  readonly standing: string;
  /** Why the status is not plain trading, one sentence each; empty while it is. */
  readonly reasons: readonly string[];
  /** What needs a person, the most urgent first; empty while nothing does. */
  readonly needs: readonly PageNeed[];
}

/** The key figures. A figure is null before its first value. */
export interface PageFigures {
  readonly equity: PageFigure | null;
  /** Since midnight UTC. */
  readonly today: PageFigure | null;
  /** Since the first instant of this run at which everything had a price. */
  readonly since_start: PageFigure | null;
  readonly drawdown: {
    /** Under the highest equity: 0.05 is 5 %. */
    readonly now: number;
    /** Of the tightest max-drawdown protection over everything; null without one. */
    readonly limit: number | null;
    readonly explanation: string;
  } | null;
  readonly open_swaps: number;
  /** Network fees and tips since midnight UTC, failed swaps included. */
  readonly fees_today: PageFigure;
}

/** A price level of a position: output tokens for one input token, as a decimal. */
export interface PageLevelLine {
  readonly strategy: string;
  readonly kind: 'stop' | 'target' | 'entry';
  readonly price: string;
}

/** What a strategy holds of one token beside its budget's token. */
export interface PagePosition {
  readonly strategy: string;
  readonly amount: PageAmount;
  /** In the token of the strategy's budget; null without a fresh price. */
  readonly value: PageAmount | null;
  /** What it cost; null where a part's cost is unknown. */
  readonly cost: PageAmount | null;
  /** Value less cost. */
  readonly profit: PageAmount | null;
  /** Since when exit rules guard it; null without rules. */
  readonly since: Millis | null;
  /** The pair of its price chart, "SOL/USDC", as `/api/prices` takes it. */
  readonly pair: string;
  /** Whether an open swap sells it now. */
  readonly is_moving: boolean;
  /** Why a flatten has not sold it yet; null without one. */
  readonly unsold: string | null;
}

/** A decision in words. */
export interface PageDecision {
  readonly seq: number;
  readonly at: Millis;
  readonly verdict: 'approved' | 'denied';
  /** "wanted to buy SOL for 100 USDC: dip of 2 %; denied, BUDGET_EXCEEDED: …". */
  readonly sentence: string;
  /** The code of a denial. */
  readonly code: string | null;
  readonly intent_id: string | null;
}

/** One strategy. */
export interface PageStrategy {
  readonly name: string;
  /** The strategy that it is an instance of. */
  readonly use: string;
  /** `trading`, `exits-only`, `flattening`, `halted`, `stopped` or `waiting`. */
  readonly standing: string;
  readonly level: PageLevel;
  /** Why it no longer runs; null while it runs. */
  readonly stopped: string | null;
  readonly budget: PageAmount | null;
  /** What is free of its budget's token. */
  readonly cash: PageAmount | null;
  /** Cash and positions at their values less network fees; null without a budget or a price. */
  readonly equity: PageFigure | null;
  /** Equity less budget. */
  readonly profit: PageFigure | null;
  readonly positions: readonly PagePosition[];
  readonly swaps: number;
  readonly fees: PageAmount;
  /** Null before the first. */
  readonly last_decision: PageDecision | null;
  /** When the next of its inputs is due; null where that is not known. */
  readonly next_due: Millis | null;
  /** The pairs that it watches, as `/api/prices` takes them. */
  readonly pairs: readonly string[];
}

/** A market that strategies watch: a pair with a price. */
export interface PageMarket {
  /** "SOL/USDC": the price is in the second token for one of the first. `/api/prices` takes it. */
  readonly pair: string;
  readonly strategies: readonly string[];
  /** Null before the first price. */
  readonly price: string | null;
  readonly at: Millis | null;
  /** How often it is read. */
  readonly every_ms: Millis;
  /** `waiting`: no answer yet. `late`: older than three intervals. `failing`: the last requests failed. */
  readonly health: 'fresh' | 'late' | 'failing' | 'waiting';
  /** Prices of the last hour at most, oldest first, four significant digits; empty for markets beyond the first 40. */
  readonly spark: readonly number[];
}

/** A step of a swap. */
export interface PageStep {
  readonly name: 'approved' | 'quoted' | 'signed' | 'sent' | 'landed';
  /** Null where it has not happened yet. */
  readonly at: Millis | null;
  /** "0.0054 SOL by router-a", a signature, the code of a failure; null where there is nothing to add. */
  readonly detail: string | null;
}

/** A swap and how far it has come. */
export interface PageSwap {
  readonly intent_id: string;
  readonly strategy: string;
  readonly purpose: 'entry' | 'exit';
  readonly reason: string;
  readonly created_at: Millis;
  /** The state of the intent: approved, building, signed, submitted, unknown, confirmed, failed, expired, abandoned. */
  readonly state: string;
  readonly is_open: boolean;
  /** Whether its outcome is unknown and only a person can end that. */
  readonly needs_operator: boolean;
  readonly pays: PageAmount;
  readonly quoted: PageAmount | null;
  readonly received: PageAmount | null;
  /** Network fee and tips of all attempts; null before it has ended. */
  readonly fee: PageAmount | null;
  /** The symbol of what it buys. */
  readonly buys: string;
  readonly router: string | null;
  readonly signature: string | null;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly code: string | null;
  readonly cause: string | null;
  /** All in their order: those to come have no time yet. A swap on paper is neither signed nor sent. */
  readonly steps: readonly PageStep[];
}

/** A limit and how much of it is used. */
export interface PageLimit {
  readonly group: 'swaps' | 'exposure' | 'position' | 'trade' | 'drawdown' | 'day' | 'cap';
  /** "swaps in the last hour", "position in SOL", "USDC signed in the last day". */
  readonly name: string;
  /** For people with its unit; null where it cannot be computed or does not apply (the size of one trade). */
  readonly used: string | null;
  readonly limit: string;
  /** Used of limit: 1 is all of it; null where `used` is. */
  readonly share: number | null;
  /** What happens at the limit. */
  readonly effect: string;
}

/** A protection that has stopped something. */
export interface PageProtection {
  readonly text: string;
  readonly since: Millis;
  /** When time alone ends it; null otherwise. */
  readonly until: Millis | null;
  /** The name of a strategy or the symbol of a token; null where it concerns everything. */
  readonly subject: string | null;
}

/** The request budget of one bucket of the service. */
export interface PageBucket {
  readonly name: string;
  /** Requests a second that are allowed now, below the plan after refusals. */
  readonly allowed_per_second: number;
  /** Requests a second that were sent over the last minute. */
  readonly used_per_second: number;
  readonly sent: number;
  /** Answers of 429. */
  readonly refused: number;
  readonly queued: number;
  readonly in_flight: number;
  /** Null where nothing was refused lately. */
  readonly cool_down_until: Millis | null;
}

/** Profit in a span: the change of equity less what was paid in or out. */
export interface PagePeriod {
  readonly period: 'today' | '7d' | '30d' | 'all';
  /** Null where the history does not cover any of it. */
  readonly profit: PageFigure | null;
  /** When the known part of the span begins: later than the span's own start where the history is shorter. */
  readonly from: Millis | null;
}

/** An alert. */
export interface PageAlert {
  readonly id: string;
  readonly at: Millis;
  readonly level: 'info' | 'warning' | 'critical';
  readonly message: string;
  readonly strategy: string | null;
  readonly code: string | null;
}

/** What the first screen of the page shows, and more: event `state` of `/api/events`. */
export interface PageState {
  /** Of the login of this page. */
  readonly role: 'operator' | 'viewer';
  /** The daemon's time when this was read. */
  readonly at: Millis;
  readonly run_id: string;
  readonly mode: 'live' | 'paper';
  readonly is_real_money: boolean;
  readonly started_at: Millis;
  /** `starting`, `recovering`, `trading`, `draining` or `ended`. */
  readonly phase: string;
  readonly sentence: PageSentence;
  readonly figures: PageFigures;
  readonly profit: readonly PagePeriod[];
  readonly strategies: readonly PageStrategy[];
  readonly markets: readonly PageMarket[];
  /** Feeds by status; `markets` are the pairs among them. */
  readonly feeds: { readonly total: number; readonly healthy: number; readonly failing: readonly string[] };
  /** Open swaps, oldest first. */
  readonly swaps: readonly PageSwap[];
  readonly limits: readonly PageLimit[];
  readonly protections: readonly PageProtection[];
  readonly requests: readonly PageBucket[];
  /** The newest first, at most 20. */
  readonly alerts: readonly PageAlert[];
  /** Denials of this run by their code. */
  readonly denials: Readonly<Record<string, number>>;
  /** How long until a dead man's switch stops trading; null without one. */
  readonly dead_man: { readonly after_ms: Millis; readonly fires_at: Millis } | null;
}

/** The state of a daemon that is not ready yet: event `state` until there is a whole one. */
export interface PageStarting extends Pick<PageState, 'role' | 'at' | 'run_id' | 'phase'> {
  readonly phase: 'starting';
}

/** Something that happened, in a sentence: event `story` of `/api/events`. The same id again replaces the earlier. */
export interface Story {
  readonly id: string;
  readonly at: Millis;
  readonly kind: 'swap' | 'denial' | 'alert' | 'trading' | 'protection' | 'feed' | 'run';
  readonly level: PageLevel;
  readonly sentence: string;
  /** Null where it concerns everything. */
  readonly strategy: string | null;
  /** Of kind `swap`. */
  readonly swap: PageSwap | null;
  /** How often the same happened again since: equal denials are one story. */
  readonly repeats: number;
}

/** The answer of `POST /session` and `GET /session`. */
export interface PageSession {
  readonly role: 'operator' | 'viewer';
  /** The value of the header `x-gannet-csrf` of every request that is not a GET. */
  readonly csrf: string;
}

/** The ranges of the charts. */
export type PageRange = '1h' | '1d' | '7d' | '30d' | 'all';

/** The answer of `GET /api/equity`, oldest first, at most 500 points. */
export interface EquityCurve {
  readonly currency: string;
  readonly points: readonly {
    readonly at: Millis;
    readonly equity: string;
    /** What was paid in, less what was paid out, until then. */
    readonly deposits: string;
    /** What just holding the start would be worth; null where it is not known. */
    readonly holding: string | null;
  }[];
}

/** The answer of `GET /api/prices`, oldest first, at most 500 points. */
export interface PriceCurve {
  readonly pair: string;
  readonly points: readonly {
    readonly at: Millis;
    /** What one of the first token costs in the second; null where only the other side was quoted. */
    readonly buy: string | null;
    /** What one of the first token brings. */
    readonly sell: string | null;
  }[];
  readonly fills: readonly {
    readonly at: Millis;
    readonly strategy: string;
    readonly side: 'buy' | 'sell';
    readonly price: string;
    /** Of the first token. */
    readonly amount: string;
    readonly intent_id: string;
    readonly reason: string;
  }[];
  readonly levels: readonly PageLevelLine[];
}

/** The answer of `GET /api/story`: the newest first; `before` of the next page is the last id. */
export interface StoryPage {
  readonly stories: readonly Story[];
  readonly has_more: boolean;
}

/** The answer of `GET /api/log`: the newest lines first, as they are on disk, with secrets hidden. */
export interface LogPage {
  readonly lines: readonly {
    readonly at: string | null;
    readonly level: string;
    readonly message: string;
    /** The other members of the line, as JSON. */
    readonly details: string;
  }[];
}

/** The answer of `GET /api/preview?action=flatten|sell&strategy=&token=`: what the action would do, in a sentence. */
export interface ActionPreview {
  readonly sentence: string;
  readonly sales: readonly {
    readonly strategy: string;
    readonly amount: Pick<PageAmount, 'text' | 'units' | 'symbol'>;
    /** Null without a price. */
    readonly value: Pick<PageAmount, 'text' | 'units' | 'symbol'> | null;
  }[];
}
