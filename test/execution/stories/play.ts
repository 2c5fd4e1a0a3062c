import { createAgreement } from '../../../src/chain/agreement.ts';
import type { Amount } from '../../../src/core/amount.ts';
import { isGannetError } from '../../../src/core/errors.ts';
import { seededRandom } from '../../../src/core/random.ts';
import type { StateSetup } from '../../../src/daemon/run/recover.ts';
import { recoverState } from '../../../src/daemon/run/recover.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import type { LiveExecutor } from '../../../src/execution/live-executor.ts';
import type { Chain } from '../../../src/execution/ports.ts';
import { createLiveExecutor } from '../../../src/execution/live-executor.ts';
import { resolveIntent } from '../../../src/execution/operator-resolution.ts';
import type { Mint } from '../../../src/market/token.ts';
import type { JournalStore } from '../../../src/store/journal.ts';
import type { Outcome } from '../../../src/trading/intent.ts';
import { isTerminal } from '../../../src/trading/intent.ts';
import type { SwapProposal } from '../../../src/trading/proposal.ts';
import { retryDenial } from '../../../src/trading/risk/rules.ts';
import type { EngineState } from '../../../src/trading/engine-state.ts';
import { createState, freshSnapshot, snapshotState } from '../../../src/trading/engine-state.ts';
import { step } from '../../../src/trading/step.ts';
import { Killed, Life } from './life.ts';
import type { ModelMessage } from './model-chain.ts';
import { ModelChain, SLOT_MS, idOf } from './model-chain.ts';
import { createModelNode } from './model-node.ts';
import type { AskedNode } from './lying-node.ts';
import { lyingNode } from './lying-node.ts';
import { ModelService, modelSigner } from './model-service.ts';
import { BUDGETS, MINTS, PRICES, WALLET, setupOf } from './setting.ts';
import type { Crash, Story, SwapPlan, Word } from './story.ts';
import { Wire } from './weather.ts';
import type { Attempt } from '../../../src/trading/attempt.ts';

const BEGINNING = 1_800_000_000_000;
/** After the story, all is well for so long: whatever can be proven is proven by then. */
const CALM_MS = 900_000;
const LOCK_RETRY_MS = 500;
/** Calls at one instant that no correct execution needs. */
const CALLS_AT_ONCE_MAX = 400;

let plays = 0;

/** What a story came to. */
export interface Played {
  readonly chain: ModelChain;
  /** Intent of each message that was signed. */
  readonly signed: ReadonlyMap<string, string>;
  /** What broke a law on the way. */
  readonly breaches: readonly string[];
  /** The ledger's wallet in memory, and as the next start would find it. */
  readonly ledger: ReadonlyMap<Mint, bigint>;
  readonly restarted: ReadonlyMap<Mint, bigint>;
  readonly deposits: ReadonlyMap<Mint, bigint>;
  readonly intents: ReturnType<JournalStore['listIntents']>;
  readonly story: (intentId: string) => ReturnType<JournalStore['showIntent']>;
  /** How many processes there were. */
  readonly lives: number;
}

/** Plays a story on a journal that has nothing open. */
export function play(story: Story, openStore: (clock: VirtualClock) => JournalStore): Promise<Played> {
  return new Play(story, openStore).run();
}

class Play {
  readonly #story: Story;
  readonly #clock = new VirtualClock(0);
  readonly #journal: JournalStore;
  readonly #chain: ModelChain;
  readonly #service: ModelService;
  readonly #wire: Wire;
  readonly #names: readonly string[];
  readonly #written = new Set<string>();
  readonly #signed = new Map<string, string>();
  readonly #breaches: string[] = [];
  readonly #deposits = new Map<Mint, bigint>();
  readonly #crashes: Crash[];
  #daemon: { readonly life: Life; readonly state: EngineState; readonly executor: LiveExecutor; isTrading: boolean }
    | undefined;
  #offset = BEGINNING;
  #isLocked = false;
  #lives = 0;
  #retired: number | undefined;
  #points = 0;
  #seq = 0;

  constructor(story: Story, openStore: (clock: VirtualClock) => JournalStore) {
    plays += 1;
    this.#story = story;
    this.#journal = openStore(this.#clock);
    this.#names = MINTS.map((_mint, index) => `p${plays}s${index}`);
    this.#crashes = [...story.crashes];
    const random = seededRandom(story.seed);
    this.#chain = new ModelChain({ balances: WALLET, fates: story.fates, skips: () => random() < story.skipped });
    this.#service = new ModelService({
      chain: this.#chain, tricks: story.tricks, priceOf: (mint) => PRICES.get(mint)!, name: `p${plays}`,
    });
    this.#wire = new Wire({ clock: this.#clock, weathers: story.weathers, random: seededRandom(`${story.seed}:wire`) });
  }

  async run(): Promise<Played> {
    this.#journal.saveSnapshot(freshSnapshot(WALLET as ReadonlyMap<Mint, Amount>));
    const { swaps, words, jumps, deposits } = this.#story;
    const lastAt = this.#arrange([
      ...swaps.map((swap) => ({ at: swap.at, does: () => { this.#proposeSwap(swap); } })),
      ...words.map((word) => ({ at: word.at, does: () => { this.#hear(word); } })),
      ...jumps.map(({ at, byMs }) => ({ at, does: () => { this.#offset += byMs; } })),
      ...deposits.map(({ at, token, amount }) =>
        ({ at, does: () => { this.#deposit(MINTS[token]!, BigInt(amount)); } })),
    ]);
    const { weathers, secondNode = [] } = this.#story;
    const weatherUntil = Math.max(...[weathers, secondNode].map((times) =>
      times.reduce((sum, { forMs }) => sum + forMs, 0)));
    const calmAt = Math.max(lastAt, weatherUntil) + 1;
    this.#clock.schedule(() => undefined, calmAt);
    this.#begin();
    await this.#live(calmAt);
    const finish = this.#daemon?.state;
    if (finish === undefined) throw new Error('no process at the end of a story');
    const { snapshot } = recoverState(this.#journal, this.#setup(), undefined);
    return {
      chain: this.#chain, signed: this.#signed, breaches: this.#breaches, deposits: this.#deposits, lives: this.#lives,
      ledger: finish.portfolio.wallet,
      restarted: new Map(Object.entries(snapshot.wallet).map(([mint, amount]) => [mint as Mint, BigInt(amount)])),
      intents: this.#journal.listIntents({ limit: 100 }).filter(({ strategy }) => this.#names.includes(strategy)),
      story: (intentId) => this.#journal.showIntent(intentId),
    };
  }

  /** Lets time go on until all is known and nothing can land any more, or long enough for that. */
  async #live(calmAt: number): Promise<void> {
    let callsBefore = 0;
    let instant = -1;
    // A process that is down is begun later: then there is a timer.
    for (;;) {
      await new Promise((resolve) => { setImmediate(resolve); });
      if (this.#clock.now() !== instant) callsBefore = this.#wire.calls;
      instant = this.#clock.now();
      if (this.#wire.calls - callsBefore > CALLS_AT_ONCE_MAX)
        this.#breaches.push(`more than ${CALLS_AT_ONCE_MAX} calls at the instant ${instant}`);
      if (this.#breaches.length > 0) break;
      if (this.#clock.now() >= calmAt && this.#daemon?.isTrading === true && this.#daemon.state.intents.size === 0)
        break;
      const next = this.#clock.nextAt();
      if (next === Infinity || next > calmAt + CALM_MS) {
        this.#breaches.push(next === Infinity ? 'nothing goes on any more'
          : 'not all is known though all was well for long');
        break;
      }
      this.#chain.advanceTo(next);
      this.#clock.advanceTo(next);
    }
    // Whatever is still on its way lands now, if it can.
    this.#chain.advanceTo(this.#clock.now() + 600 * SLOT_MS);
    if (this.#daemon === undefined) this.#begin();
  }

  #arrange(events: readonly { readonly at: number; readonly does: () => void }[]): number {
    for (const { at, does } of events)
      this.#clock.schedule(() => { this.#chain.advanceTo(this.#clock.now()); does(); }, at);
    return Math.max(...events.map(({ at }) => at));
  }

  #setup(): StateSetup {
    return setupOf(this.#names, this.#retired);
  }

  /** Begins a process. */
  #begin(): void {
    if (this.#isLocked) {
      this.#clock.schedule(() => { this.#begin(); }, LOCK_RETRY_MS);
      return;
    }
    this.#lives += 1;
    const crash = this.#crashes.shift();
    const diesAt = crash !== undefined && 'points' in crash.after ? this.#points + crash.after.points : Infinity;
    const life = new Life(() => this.#points++ >= diesAt && this.#die(life, crash!));
    if (crash !== undefined && 'ms' in crash.after)
      this.#clock.schedule(() => { if (!life.isDead) life.isDead = this.#die(life, crash); }, crash.after.ms);
    this.#attempt(life, () => {
      const clock = life.clock(this.#clock, () => this.#offset);
      const recovered = life.write(() => recoverState(this.#journal, this.#setup(), undefined));
      const state = createState({ ...this.#setup(), snapshot: recovered.snapshot, open: recovered.open });
      const received = (message: ModelMessage): void => { this.#received(message); };
      const executor = createLiveExecutor({
        service: this.#service.port(this.#wire, life, received),
        chain: this.#node({ life, clock, onReceived: received }),
        signer: modelSigner(this.#wire, life),
        journal: life.journal(this.#journal, (attempt) => { this.#keeps(attempt); }),
        clock,
        mayTryAgain: (intent) => retryDenial(state, intent, clock.now()),
      });
      const daemon = { life, state, executor, isTrading: false };
      this.#daemon = daemon;
      executor.reconcile(recovered.open).subscribe({
        next: (outcome) => { this.#accept(life, state, outcome); },
        error: (error: unknown) => { this.#bug(life, error); },
        complete: () => { daemon.isTrading = !life.isDead; },
      });
    });
  }

  #die(life: Life, { downMs, retires }: Crash): true {
    if (life.isDead) return true;
    if (this.#daemon?.life === life) this.#daemon = undefined;
    this.#retired = retires;
    this.#clock.schedule(() => { this.#begin(); }, downMs);
    return true;
  }

  /** What the engine does with an outcome: the state first, then what the next start needs. */
  #accept(life: Life, state: EngineState, outcome: Outcome): void {
    if (life.isDead) return;
    this.#attempt(life, () => {
      step(state, ++this.#seq, this.#clock.now() + this.#offset, outcome);
      if (isTerminal(outcome.state))
        life.write(() => { this.#journal.saveSnapshot(snapshotState(state), [outcome.intentId]); });
    });
  }

  #proposeSwap({ strategy, exits, token, percent, route, key }: SwapPlan): void {
    const daemon = this.#daemon;
    const name = this.#names[strategy]!;
    if (daemon?.isTrading !== true || !daemon.state.strategies.has(name)) return;
    const { state, life, executor } = daemon;
    const home = MINTS[strategy]!;
    const other = MINTS[token === strategy ? (token + 1) % MINTS.length : token]!;
    const proposal: SwapProposal = {
      kind: 'swap', inputMint: exits ? other : home, outputMint: exits ? home : other,
      amount: exits ? 'all' : (BUDGETS[strategy]! * BigInt(percent)) / 100n as Amount, route, reason: 'a story', key,
    };
    const ruling =
      step(state, ++this.#seq, this.#clock.now() + this.#offset, { kind: 'proposal', strategy: name, proposal });
    if (ruling?.effect?.kind !== 'execute') return;
    executor.execute(ruling.effect.intent).subscribe({
      next: (outcome) => { this.#accept(life, state, outcome); },
      error: (error: unknown) => { this.#bug(life, error); },
    });
  }

  /** An operator resolves an intent through the daemon or the journal; a refusal changes nothing. */
  #hear({ as }: Word): void {
    const [oldest] = this.#journal.openIntents();
    // Within seconds of its signature a wrong height would do: who says so then knows it from elsewhere.
    if (oldest === undefined || this.#wire.weather.wrongHeights > 0) return;
    const { intent, attempts } = oldest;
    const own = attempts.map(({ signature }) => signature.slice('us/'.length));
    const landed = this.#chain.landings.find(({ message, goneAt }) => own.includes(message.id) && goneAt === Infinity);
    const signature = landed === undefined ? `us/${own[0] ?? 'none'}` : idOf(landed.message);
    const word = as === 'landed' ? { as, signature, reason: 'seen' } : { as, reason: 'said' };
    const life = this.#daemon?.life ?? new Life(() => false);
    // The writer of the journal holds the lock of its folder.
    if (this.#daemon === undefined && this.#isLocked) return;
    this.#isLocked = this.#daemon === undefined;
    const heard = this.#daemon === undefined
      ? resolveIntent({ owner: 'us', journal: this.#journal, chain: this.#node({
        life, clock: this.#clock, onReceived: () => undefined,
      }) }, intent.id, word)
      : this.#daemon.executor.resolve(intent.id, word);
    heard.catch((error: unknown) => {
      if (!isGannetError(error)) this.#bug(life, error);
    }).finally(() => { this.#isLocked = false; });
  }

  /** The chain as a process sees it: one node, or two of which the second lies. */
  #node(seen: Pick<Parameters<typeof createModelNode>[0], 'life' | 'clock' | 'onReceived'>): Chain {
    const create = (): AskedNode => ({
      ...createModelNode({ chain: this.#chain, wire: this.#wire, ...seen }), balances: () => Promise.resolve(new Map()),
    });
    const { secondNode } = this.#story;
    const first = create();
    if (secondNode === undefined) return first;
    const second = lyingNode(create(), () => {
      let until = 0;
      return secondNode.find(({ forMs }) => this.#clock.now() < (until += forMs))?.lies ?? [];
    });
    const [isUsable, isForeign] = [() => true, () => false];
    return { ...first, node: 'both', ...createAgreement({ members: [
      { name: 'first', chain: first, isUsable, isForeign }, { name: 'second', chain: second, isUsable, isForeign },
    ] }) };
  }

  #deposit(mint: Mint, amount: bigint): void {
    this.#chain.move(mint, amount);
    this.#deposits.set(mint, (this.#deposits.get(mint) ?? 0n) + amount);
  }

  /** Whose a message is, its row says: bytes that were signed but never journalled cannot have been sent. */
  #keeps({ intentId, signature, messageHash }: Attempt): void {
    this.#written.add(signature);
    if (!this.#signed.has(messageHash)) this.#signed.set(messageHash, intentId);
  }

  #received(message: ModelMessage): void {
    if (!this.#written.has(`us/${message.id}`)) this.#breaches.push(`${message.id} left without its row`);
    this.#chain.receive(message);
  }

  #attempt(life: Life, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#bug(life, error);
    }
  }

  #bug(life: Life, error: unknown): void {
    if (life.isDead || error instanceof Killed) return;
    this.#breaches.push(`a bug: ${error instanceof Error ? error.message : String(error)}`);
  }
}
