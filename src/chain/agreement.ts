import { stringifyJson } from '../core/json.ts';
import type { Amount } from '../core/amount.ts';
import { GannetError, isGannetError } from '../core/errors.ts';
import type { Mint } from '../market/token.ts';
import { isUnreadable, type LandedSwap, type UnreadableTransaction } from '../trading/attempt.ts';
import type { BalanceHistory } from './balance-history.ts';
import type { Balances } from './balances.ts';
import type { Finality } from './finality.ts';
import type { SwapSide } from './landed-swap.ts';
import type { SignerSearch } from './signer-search.ts';

/** A node's answer to signed bytes; `rejected` is no proof that they cannot land. */
export type SendAnswer =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'rejected'; readonly code: string; readonly message: string };

/** The calls whose answers decide about money. */
interface MoneyCalls extends Pick<Finality, 'finalizedBlockHeight' | 'isBlockhashValid' | 'signatureStatus'>,
  Pick<Balances, 'tokenBalance' | 'balances'> {
  /** Sends signed bytes once, without the node's own simulation and without the node repeating it. */
  send(transaction: Uint8Array, call?: { readonly signal: AbortSignal }): Promise<SendAnswer>;
  /** Returns the effect of a landed transaction on a wallet; undefined while the node does not have it. */
  landedSwap(
    options: SwapSide & { readonly signature: string },
  ): Promise<LandedSwap | UnreadableTransaction | undefined>;
  findBySigner: SignerSearch;
  balanceHistory: BalanceHistory;
  /**
   * Returns all signatures of a landed transaction, the fee payer's first; undefined while the node does not have it.
   */
  signaturesOf(signature: string): Promise<readonly string[] | UnreadableTransaction | undefined>;
}

/** One of several nodes. */
interface Member {
  /** For messages. */
  readonly name: string;
  readonly chain: MoneyCalls;
  /** Whether it is asked: it answers, has kept up, and is of the right network. */
  readonly isUsable: () => boolean;
  /** Whether it is of another network. */
  readonly isForeign: () => boolean;
}

interface AgreementOptions {
  readonly members: readonly Member[];
  /** Resolves once it is known which members are usable. */
  readonly ready?: (() => Promise<void>) | undefined;
  /** Hears each contradiction between nodes, and for each subject when they agree again. */
  readonly onCompared?: ((subject: string, contradiction: string | undefined) => void) | undefined;
  /** Hears the slot of a landed transaction of the wallet that the nodes agree on. */
  readonly onLanded?: ((slot: bigint) => void) | undefined;
}

interface Answer<Value> {
  readonly name: string;
  readonly value: Value;
}

/** The answers of all usable nodes, and why the others gave none. */
interface Answers<Value> {
  /** How many nodes were asked, those that gave no answer included. */
  readonly asked: number;
  readonly answers: readonly Answer<Value>[];
  readonly silent: readonly string[];
}

/** A node alone decides nothing where two are given. */
const AGREEING_MIN = 2;
const RANKS = { processed: 0, confirmed: 1, finalized: 2 } as const;

/**
 * Returns the calls of several nodes as those of one that says no more than two of them say. "Expired", "not found",
 * "failed" and balances want the agreement of two; one node that has a transaction is enough to refute that it never
 * landed. A success that one node reports counts alone only while no other node is usable. Every answer comes from a
 * chain with a slot floor of its own, so that an expiry proof made of these answers contains a complete proof by each
 * of two nodes. Throws CHAIN_UNAGREED where nodes contradict each other (details: contradiction), or where fewer than
 * two answer.
 */
export function createAgreement({ members, ready, onCompared, onLanded }: AgreementOptions): MoneyCalls {
  async function askAll<Value>(ask: (chain: MoneyCalls) => Promise<Value>): Promise<Answers<Value>> {
    await ready?.();
    const asked = members.filter(({ isUsable }) => isUsable());
    const silent = members.filter((member) => !asked.includes(member)).map(({ name }) => `${name} is not usable`);
    const faults: GannetError[] = [];
    const answers: Answer<Value>[] = [];
    await Promise.all(asked.map(async ({ name, chain }) => {
      try {
        answers.push({ name, value: await ask(chain) });
      } catch (error) {
        if (!isGannetError(error)) throw error;
        faults.push(error);
        silent.push(`${name}: ${error.message}`);
      }
    }));
    if (answers.length > 0) return { asked: asked.length, answers, silent };
    throw faults[0] ?? new GannetError('CHAIN_UNREACHABLE', `no node can be asked: ${silent.join('; ')}`);
  }

  function contradict(subject: string, words: readonly (readonly [name: string, word: string])[]): GannetError {
    const message = `${subject}: the nodes contradict each other: `
      + words.map(([name, word]) => `${name} says ${word}`).join(', ');
    onCompared?.(subject, message);
    return new GannetError('CHAIN_UNAGREED', message, {
      details: { subject, contradiction: true, nodes: words.map(([name]) => name).join(', ') },
    });
  }

  /** Returns the only value that two nodes give. */
  function sameOf<Value>(subject: string, given: Answers<Value>, textOf: (value: Value) => string): readonly Value[] {
    requireTwo(subject, given);
    const groups = Map.groupBy(given.answers, ({ value }) => textOf(value));
    const agreeing = [...groups.values()].filter((group) => group.length >= AGREEING_MIN);
    if (agreeing.length !== 1) throw contradict(subject, given.answers.map(({ name, value }) =>
      [name, textOf(value).slice(0, 120)]));
    onCompared?.(subject, undefined);
    return agreeing[0]!.map(({ value }) => value);
  }

  return {
    async finalizedBlockHeight(how) {
      const given = await askAll((chain) => chain.finalizedBlockHeight());
      // It bounds what is signed, and expires nothing: a proof asks again. So a node that has just begun to fail, and
      // does not count as lost yet, costs no swap.
      if (how?.beforeSigning === true && given.answers.length === 1) return given.answers[0]!.value;
      requireTwo('the finalized block height', given);
      // The height that two nodes have reached.
      return given.answers.map(({ value }) => value).toSorted(descending)[AGREEING_MIN - 1]!;
    },
    async isBlockhashValid(blockhash) {
      const given = await askAll((chain) => chain.isBlockhashValid(blockhash));
      if (given.answers.some(({ value }) => value)) return true;
      requireTwo('that a blockhash is no longer valid', given);
      return false;
    },
    async signatureStatus(signature, options) {
      const given = await askAll((chain) => chain.signatureStatus(signature, options));
      const found = given.answers.flatMap(({ name, value }) => (value === undefined ? [] : [{ name, value }]));
      const subject = `whether ${signature} landed`;
      if (found.length === 0) {
        if (options.searchHistory) requireTwo(subject, given);
        onCompared?.(subject, undefined);
        return undefined;
      }
      const failed = found.filter(({ value }) => value.error !== undefined);
      const isSplit = failed.length > 0 && failed.length < found.length;
      const [furthest, second] = found.map(({ value }) => value)
        .toSorted((a, b) => RANKS[b.confirmation] - RANKS[a.confirmation]);
      const isAlone = second === undefined && given.asked > 1 && furthest!.confirmation !== 'processed';
      if (isAlone) requireTwo(subject, given);
      if (isSplit || isAlone) {
        throw contradict(subject, given.answers.map(({ name, value }) => [name, value === undefined ? 'not found'
          : `${value.confirmation} in slot ${value.slot}${value.error === undefined ? '' : ' as failed'}`]));
      }
      onCompared?.(subject, undefined);
      return second ?? furthest;
    },
    async landedSwap(options) {
      const given = await askAll((chain) => chain.landedSwap(options));
      const subject = `what ${options.signature} did`;
      const readable = readableOf(given);
      if (readable.answers.length === 0) return unreadableOf(given);
      const found = readable.answers.flatMap(({ value }) => (value === undefined ? [] : [value]));
      if (found.length === 0) return unreadableOf(given);
      // A node that cannot read it has no word on it; that it landed, and how, is the word of two by its status.
      const isAlone = readable.asked === 1 && (found[0]!.error === undefined || given.asked > 1);
      const [landed] = isAlone ? found
        : sameOf(
          subject, readable, (value) => (value === undefined ? 'that it does not have it' : stringifyJson(value)),
        );
      if (landed !== undefined) onLanded?.(landed.slot);
      return landed;
    },
    async findBySigner(options) {
      const given = await askAll((chain) => chain.findBySigner(options));
      const found = given.answers.find(({ value }) => value !== undefined)?.value;
      if (found === undefined) requireTwo('that no transaction carries a signature', given);
      return found;
    },
    async signaturesOf(signature) {
      const given = await askAll((chain) => chain.signaturesOf(signature));
      const found = readableOf(given).answers.find(({ value }) => value !== undefined)?.value;
      if (found !== undefined) return found;
      const unreadable = unreadableOf(given);
      if (unreadable === undefined) requireTwo(`that no node has ${signature}`, given);
      return unreadable;
    },
    async tokenBalance(owner, mint) {
      const given = await askAll((chain) => chain.tokenBalance(owner, mint));
      const same = sameOf(`the wallet's balance of ${mint}`, given, ({ amount }) => amount.toString());
      return {
        amount: same[0]!.amount, slot: same.map(({ slot }) => slot).toSorted(descending).at(-1)!,
        lastSlot: same.map(({ lastSlot }) => lastSlot).toSorted(descending)[0]!,
      };
    },
    async balanceHistory(options) {
      const given = await askAll((chain) => chain.balanceHistory(options));
      // Compared is what every node can read; the answer is that of the node that reads most.
      const unread = new Set(given.answers.flatMap(({ value: { unreadable } }) =>
        unreadable.map(({ signature }) => signature)));
      const same = sameOf('the wallet’s transactions', given, ({ native, steps }) => stringifyJson({
        lamports: native.lamports,
        steps: steps.filter(({ signatures }) => !unread.has(signatures[0]!))
          .map(({ accounts, ...step }) => ({ ...step, accounts: [...accounts].toSorted(byAddress) })),
      }));
      const slot = same.map(({ native }) => native.slot).toSorted(descending).at(-1)!;
      const fullest = same.toSorted((a, b) => a.unreadable.length - b.unreadable.length)[0]!;
      return { ...fullest, native: { ...fullest.native, slot } };
    },
    async balances(owner) {
      const given = await askAll((chain) => chain.balances(owner));
      const [agreed] = sameOf('the wallet’s balances', given, textOfBalances);
      return agreed!;
    },
    /** The same bytes have the same signature, and the chain takes each signature once: sending them again is safe. */
    async send(transaction, call) {
      await ready?.();
      const usable = members.filter(({ isUsable }) => isUsable());
      const receivers = usable.length > 0 ? usable : members.filter(({ isForeign }) => !isForeign());
      if (receivers.length === 0) throw new GannetError('CHAIN_UNREACHABLE', 'no node of the right network is known');
      const sends = receivers.map(({ chain }) => chain.send(transaction, call));
      return firstAccepted(sends);
    },
  };
}

/** Returns the answers of the nodes that can read a transaction, as if the others had not been asked. */
function readableOf<Value>(
  { asked, answers, silent }: Answers<Value | UnreadableTransaction>,
): Answers<Exclude<Value, UnreadableTransaction>> {
  const readable = answers.flatMap(({ name, value }) =>
    (isUnreadable(value) ? [] : [{ name, value: value as Exclude<Value, UnreadableTransaction> }]));
  return { asked: asked - (answers.length - readable.length), answers: readable, silent };
}

/** Returns the state of a transaction that no node reads. It is not ours where one node names a later version. */
function unreadableOf(given: Answers<unknown>): UnreadableTransaction | undefined {
  const states = given.answers.flatMap(({ value }) => (isUnreadable(value) ? [value] : []));
  return states.find(({ mayBeOwn }) => !mayBeOwn) ?? states[0];
}

function requireTwo(subject: string, { answers, silent }: Answers<unknown>): void {
  if (answers.length >= AGREEING_MIN) return;
  throw new GannetError('CHAIN_UNAGREED', `${subject} wants the word of two nodes, and only ${answers[0]!.name} `
    + `answers: ${silent.join('; ')}`, { details: { subject, contradiction: false } });
}

function descending(a: bigint, b: bigint): number {
  return a > b ? -1 : a < b ? 1 : 0;
}

function byAddress([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function textOfBalances(balances: ReadonlyMap<Mint, Amount>): string {
  return [...balances].toSorted(byAddress).map(([mint, amount]) => `${amount} of ${mint}`).join(', ') || 'nothing';
}

/** Returns as soon as one node took the bytes; else the first refusal, and throws where no node answered. */
function firstAccepted(sends: readonly Promise<SendAnswer>[]): Promise<SendAnswer> {
  return new Promise((resolve, reject) => {
    void Promise.allSettled(sends.map(async (sent) => {
      const answer = await sent;
      if (answer.kind === 'accepted') resolve(answer);
      return answer;
    })).then((ends) => {
      const faults = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
      const bug = faults.find((fault) => !isGannetError(fault));
      const answer = ends.find((end) => end.status === 'fulfilled');
      if (bug === undefined && answer !== undefined) resolve(answer.value);
      else reject(bug ?? faults[0]);
    });
  });
}
