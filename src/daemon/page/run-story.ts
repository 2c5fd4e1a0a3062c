import { pluralize } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import type { PageAlert, PageDecision, PageLevel, PageSwap, Story, StoryPage } from '../../dashboard/page-state.ts';
import type { LoggedDecision } from '../../engine/decision-log.ts';
import { describeFeedKey, withTokenNames } from '../../market/market-text.ts';
import type { TokenTable } from '../../market/token.ts';
import type { Intent } from '../../trading/intent.ts';
import { dayOf } from '../../trading/protections/memory.ts';
import type { AlertProposal } from '../../trading/proposal.ts';
import type { Denial } from '../../trading/limits.ts';
import type { IntentRecord } from '../reporting/counters.ts';
import type { Reporter, Stamp } from '../reporting/reporter.ts';
import { describeSwap } from '../reporting/swap-text.ts';
import { describeProtectionChange, describeTradingChange, raisesAlert } from '../reporting/trading-text.ts';
import { nextSwap, openedSwap, swapLevel, swapSentence } from './swap-steps.ts';

/** How many stories are kept; the run's files have everything. */
const STORIES_MAX = 1_000;
const ALERTS_MAX = 20;
const TEXT_MAX = 600;
/** Equal denials of a strategy are one story for so long, and change it no more often than this. */
const SAME_DENIAL_MS: Millis = 600_000;
const REPEAT_EVERY_MS: Millis = 10_000;

/** A story with the number of its last change. */
interface Entry {
  readonly story: Story;
  /** Its place among all stories, by their first appearance. */
  readonly place: number;
  readonly version: number;
}

interface LastDenial {
  readonly key: string;
  readonly id: string;
  readonly since: Millis;
  readonly sentence: string;
  shownAt: Millis;
  repeats: number;
}

/** The levels of the page for those of alerts. */
const LEVELS: Readonly<Record<AlertProposal['level'], PageLevel>> = { info: 'good', warning: 'check', critical: 'act' };

/**
 * What has happened in a run, in sentences: the newest thousand stories, the swaps under way, the newest alerts, and
 * the last decision of each strategy. It is filled as a reporter and decides nothing.
 */
export class RunStory {
  readonly #tokens: TokenTable;
  readonly #isPaper: boolean;
  readonly #prefix: string;
  /** The least recently changed first. */
  readonly #entries = new Map<string, Entry>();
  readonly #swaps = new Map<string, PageSwap>();
  readonly #denials = new Map<string, LastDenial>();
  readonly #decisions = new Map<string, PageDecision>();
  #fees = { day: -Infinity, lamports: 0n };
  #alerts: readonly PageAlert[] = [];
  #places = 0;
  #version = 0;
  #forgotten = 0;

  constructor({ tokens, mode, runId }: {
    readonly tokens: TokenTable; readonly mode: 'live' | 'paper'; readonly runId: string;
  }) {
    this.#tokens = tokens;
    this.#isPaper = mode === 'paper';
    this.#prefix = runId;
  }

  /** The number of the newest change. */
  get version(): number {
    return this.#version;
  }

  /** Changes up to this number may be missing, because they are too old. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** The newest first. */
  get alerts(): readonly PageAlert[] {
    return this.#alerts;
  }

  /** Returns the network fees of this run's swaps that have ended on the UTC day of an instant, in lamports. */
  feesOfDay(at: Millis): bigint {
    return this.#fees.day === dayOf(at) ? this.#fees.lamports : 0n;
  }

  /** Returns the last decision of a strategy. */
  lastDecision(strategy: string): PageDecision | undefined {
    return this.#decisions.get(strategy);
  }

  /** Returns an open swap with its steps; one of an earlier run has only those since the start. */
  swapOf(record: IntentRecord): PageSwap {
    const known = this.#swaps.get(record.intent.id);
    return nextSwap(known ?? openedSwap(this.#tokens, record.intent, { isPaper: this.#isPaper }), record,
      { tokens: this.#tokens, at: undefined });
  }

  /** Returns the stories that have changed after a change, oldest first, at most `limit`, each with its number. */
  changedSince(version: number, limit: number): readonly { readonly story: Story; readonly version: number }[] {
    if (version >= this.#version) return [];
    const changed: Entry[] = [];
    for (const entry of [...this.#entries.values()].reverse()) {
      if (entry.version <= version) break;
      changed.push(entry);
    }
    return changed.reverse().slice(0, limit);
  }

  /** Returns the number after which the newest `count` stories have changed. */
  versionBefore(count: number): number {
    return [...this.#entries.values()].at(-count - 1)?.version ?? 0;
  }

  /** Returns stories, the newest first: those before one of them, or the newest of all. */
  page({ before, limit }: { readonly before?: string | undefined; readonly limit: number }): StoryPage {
    const bound = before === undefined ? Infinity : this.#entries.get(before)?.place ?? 0;
    const older = [...this.#entries.values()].filter(({ place }) => place < bound)
      .toSorted((a, b) => b.place - a.place);
    return { stories: older.slice(0, limit).map(({ story }) => story), has_more: older.length > limit };
  }

  /** The receiver of what happens. */
  readonly reporter: Reporter = {
    started: ({ at }, { mode, strategies }) => {
      this.#tell({ at, kind: 'run', sentence: `Started ${mode === 'live' ? 'live' : 'on paper'} with `
        + pluralize(strategies.length, 'strategy', 'strategies') });
    },
    decided: (decision, intent) => { this.#decided(decision, intent); },
    denied: (decision, denial) => { this.#denied(decision, denial); },
    intent: ({ at }, record) => { this.#swap(at, record); },
    alert: (stamp, strategy, alert) => { this.#alert(stamp, strategy, alert); },
    feed: ({ at }, { feed, status, code = '', message = '' }) => {
      const name = describeFeedKey(this.#tokens, feed);
      this.#tell({
        at, kind: 'feed', id: `feed:${feed}`, level: status === 'healthy' ? 'good' : 'check',
        sentence: status === 'healthy' ? `${name} is back` : `${name} is ${status}: ${code} ${message}`.trim(),
      });
    },
    state: ({ at }, state, message) => {
      this.#tell({ at, kind: 'run', sentence: state === 'notice' ? message : `${state}: ${message}` });
    },
    trading: ({ at }, change) => {
      this.#tell({
        at, kind: 'trading', strategy: change.strategy, level: change.state === 'active' ? 'good' : 'check',
        sentence: describeTradingChange(change),
      });
    },
    protection: ({ at }, change) => {
      // An alert already has the same words.
      if (raisesAlert(change)) return;
      this.#tell({
        at, kind: 'protection', strategy: change.protection.scope === 'strategy' ? change.subject : undefined,
        level: change.change === 'fired' ? 'check' : 'good', sentence: describeProtectionChange(this.#tokens, change),
      });
    },
    summary: ({ at }) => { this.#tell({ at, kind: 'run', sentence: 'The run has ended' }); },
  };

  #decided(decision: LoggedDecision, intent: Intent | undefined): void {
    const { seq, at, strategy, proposal } = decision;
    if (proposal.kind === 'alert') return;
    this.#denials.delete(strategy);
    const sentence = this.#text(`${describeSwap(this.#tokens, proposal, intent?.amountIn)}: ${proposal.reason}`);
    this.#decisions.set(strategy, {
      seq, at, verdict: 'approved', sentence, code: null, intent_id: intent?.id ?? null,
    });
    if (intent !== undefined) this.#swap(at, { intent, state: 'approved' });
  }

  #denied({ seq, at, strategy, proposal }: LoggedDecision, { code, reason }: Denial): void {
    const key = proposal.kind === 'swap' ? `${code} ${proposal.inputMint} ${proposal.outputMint}` : code;
    const before = this.#denials.get(strategy);
    // A strategy may repeat a denied proposal with every event.
    if (before?.key === key && at - before.since < SAME_DENIAL_MS) {
      before.repeats += 1;
      if (at - before.shownAt < REPEAT_EVERY_MS) return;
      before.shownAt = at;
      this.#decisions.set(strategy, {
        seq, at, verdict: 'denied', sentence: before.sentence, code, intent_id: null,
      });
      this.#tell({ at, kind: 'denial', id: before.id, strategy, sentence: before.sentence, repeats: before.repeats });
      return;
    }
    const what = proposal.kind === 'swap' ? describeSwap(this.#tokens, proposal, undefined) : proposal.message;
    const sentence = this.#text(`${what}: denied, ${code} (${reason})`);
    this.#decisions.set(strategy, { seq, at, verdict: 'denied', sentence, code, intent_id: null });
    const id = this.#tell({ at, kind: 'denial', strategy, sentence });
    this.#denials.set(strategy, { key, id, since: at, sentence, shownAt: at, repeats: 0 });
  }

  #swap(at: Millis, record: IntentRecord): void {
    const { id, strategy } = record.intent;
    const before = this.#swaps.get(id) ?? openedSwap(this.#tokens, record.intent, { isPaper: this.#isPaper });
    const swap = nextSwap(before, record, { tokens: this.#tokens, at });
    this.#fees = { day: dayOf(at), lamports: this.feesOfDay(at) + (record.feeLamports ?? 0n) };
    if (swap.is_open) this.#swaps.set(id, swap);
    else this.#swaps.delete(id);
    this.#tell({
      at, kind: 'swap', id: `swap:${id}`, strategy, level: swapLevel(swap), sentence: swapSentence(swap), swap,
    });
  }

  #alert({ at }: Stamp, strategy: string | undefined, { level, message, data = {} }: AlertProposal): void {
    const sentence = this.#text(message);
    const id = this.#tell({ at, kind: 'alert', strategy, level: LEVELS[level], sentence });
    const code = typeof data['code'] === 'string' ? data['code'] : null;
    this.#alerts = [
      { id, at, level, message: sentence, strategy: strategy ?? null, code }, ...this.#alerts,
    ].slice(0, ALERTS_MAX);
  }

  /** Adds a story, or changes the one of the same id; returns its id. */
  #tell({
    at, kind, sentence, id = `${this.#prefix}:${this.#places + 1}`, level = 'good', strategy, swap = null, repeats = 0,
  }: Pick<Story, 'at' | 'kind' | 'sentence'> & {
    readonly id?: string; readonly level?: PageLevel; readonly strategy?: string | undefined;
    readonly swap?: PageSwap | null; readonly repeats?: number;
  }): string {
    const known = this.#entries.get(id);
    this.#version += 1;
    if (known === undefined) this.#places += 1;
    this.#entries.delete(id);
    this.#entries.set(id, {
      place: known?.place ?? this.#places, version: this.#version,
      story: { id, at, kind, level, sentence: this.#text(sentence), strategy: strategy ?? null, swap, repeats },
    });
    const [oldest] = this.#entries;
    if (this.#entries.size > STORIES_MAX && oldest !== undefined) {
      this.#forgotten = oldest[1].version;
      this.#entries.delete(oldest[0]);
    }
    return id;
  }

  #text(text: string): string {
    const named = withTokenNames(this.#tokens, text);
    return named.length > TEXT_MAX ? `${named.slice(0, TEXT_MAX)}…` : named;
  }
}
