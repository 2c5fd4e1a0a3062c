import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { Attempt, LandedSwap } from '../trading/attempt.ts';
import type { Outcome } from '../trading/intent.ts';
import type { BalanceWorld } from './input-balance.ts';
import { doubtOfBalance } from './input-balance.ts';
import type { Progress } from './journey.ts';
import { landedProgress, signedProgress } from './landed-progress.ts';
import type { Chain, Journal, JournalledIntent } from './ports.ts';
import { readLanded } from './read-landed.ts';
import { withSpent } from './spent.ts';

/** What an operator says became of an intent. */
export type OperatorWord =
  | { readonly as: 'landed'; readonly signature: string; readonly reason: string }
  | {
    readonly as: 'failed' | 'expired' | 'abandoned';
    readonly reason: string;
    /** Also where the wallet lacks what would have been swapped: the operator knows where it went. */
    readonly despite?: 'balance' | undefined;
  };

/** What a word is held against. */
export interface ResolveWorld {
  /** Left out, nobody is asked: then only the operator knows, and "landed" cannot be booked. */
  readonly chain?: Pick<Chain, 'signatureStatus' | 'findBySigner' | 'signaturesOf' | 'landedSwap'
    | 'finalizedBlockHeight' | 'isBlockhashValid' | 'tokenBalance'>
    | undefined;
  readonly journal: Pick<Journal, 'openIntents' | 'movesSince'>;
  /** The wallet, base58. */
  readonly owner: string;
}

/**
 * Closes an open intent on an operator's word, in the journal, and returns its terminal outcome; the next start of the
 * daemon books it. For when no daemon runs: a running one closes its own (`LiveExecutor.resolve`).
 * Throws RESOLVE_REFUSED where there is no such open intent or the chain says otherwise, and the chain's own faults.
 */
export async function resolveIntent(
  world: ResolveWorld & { readonly journal: Pick<Journal, 'transition'> }, intentId: string, word: OperatorWord,
): Promise<Outcome> {
  const entry = world.journal.openIntents().find(({ intent }) => intent.id === intentId);
  if (entry === undefined)
    throw refused(intentId, 'there is no open intent of this name; `gannet journal list` shows what there is');
  const outcomes = await heedWord(world, entry, word);
  for (const outcome of outcomes) world.journal.transition(outcome);
  return outcomes.at(-1)!;
}

/** Returns the transitions that an operator's word leads to, the last one terminal. Throws as `resolveIntent` does. */
export async function heedWord(
  world: ResolveWorld, entry: JournalledIntent, word: OperatorWord,
): Promise<readonly Outcome[]> {
  return word.as === 'landed' ? heedLanded(world, entry, word) : heedNotLanded(world, entry, word);
}

async function heedLanded(
  { chain, owner }: Pick<ResolveWorld, 'chain' | 'owner'>, entry: JournalledIntent,
  word: OperatorWord & { as: 'landed' },
): Promise<readonly Outcome[]> {
  const { intent, attempts } = entry;
  if (attempts.length === 0) throw refused(intent.id, 'nothing was signed for it, so nothing of it can have landed');
  if (chain === undefined) throw refused(intent.id, 'what landed is booked from the chain: give an RPC');
  const { signature } = word;
  const signatures = await chain.signaturesOf(signature);
  if (signatures === undefined)
    throw refused(intent.id, `the chain does not have ${printable(signature, 100)}; ask a node that keeps its history`);
  const attempt = attempts.find((signed) => signatures.includes(signed.signature));
  if (attempt === undefined) throw refused(
    intent.id, `${printable(signature, 100)} is another transaction: it carries none of this intent's signatures`,
  );
  const status = await chain.signatureStatus(signature, { searchHistory: true });
  const landed = status && await readLanded({ chain, owner }, { intent, attempt, signature, status });
  if (landed === undefined)
    throw refused(intent.id, `the node lists ${printable(signature, 100)} but does not give it; ask again`);
  if (attempt !== attempts.at(-1) || attempt.number !== entry.attempt)
    await refuseEarlier({ chain, owner }, entry, landed, attempt);
  return landedOutcomes(entry, attempt, landed, word);
}

/**
 * What became of an earlier attempt ends the intent only where it swapped, and nothing that was signed later can swap
 * too.
 */
async function refuseEarlier(
  { chain, owner }: { readonly chain: NonNullable<ResolveWorld['chain']>; readonly owner: string },
  entry: JournalledIntent, { error, signature }: LandedSwap, { number }: Attempt,
): Promise<void> {
  const { intent, attempts, attempt: present } = entry;
  if (error !== undefined) throw refused(
    intent.id,
    `${signature} is its attempt ${number}, which failed and is known to; attempt ${present} is what is open`,
  );
  const last = attempts.at(-1)!;
  if (last.number === number) return;
  const living = await whyAlive(chain, last);
  const later = await findLanded({ chain, owner }, entry, last);
  if (later !== undefined && later.error === undefined) throw refused(intent.id, `attempt ${last.number} swapped as `
    + `well, as ${later.signature}: resolve it as that one, and the wallet's balances will show the other`);
  if (living !== undefined)
    throw refused(intent.id, `attempt ${number} landed, but of attempt ${last.number} ${living}`);
}

async function heedNotLanded(
  world: ResolveWorld, entry: JournalledIntent, word: OperatorWord & { as: 'failed' | 'expired' | 'abandoned' },
): Promise<readonly Outcome[]> {
  const { intent, state, attempts, attempt: number } = entry;
  const isSigned = attempts.at(-1)?.number === number;
  if (!isSigned && word.as !== 'abandoned')
    throw refused(intent.id, `nothing is signed of attempt ${number}: it can only be abandoned`);
  if (world.chain !== undefined) {
    // First, so that "nothing found" below means something: bytes that are alive could land right after they were
    // looked for.
    const living = isSigned ? await whyAlive(world.chain, attempts.at(-1)!) : undefined;
    for (const attempt of attempts) {
      const landed = await findLanded({ ...world, chain: world.chain }, entry, attempt);
      if (landed?.error === undefined && landed !== undefined) {
        throw refused(
          intent.id, `attempt ${attempt.number} swapped as ${landed.signature}; it can only be resolved as landed`,
        );
      }
      if (landed === undefined || attempt.number !== number) continue;
      if (word.as !== 'failed') throw refused(intent.id, `attempt ${attempt.number} failed on the chain as `
        + `${landed.signature} and cost its fee; it can only be resolved as failed`);
      return landedOutcomes(entry, attempt, landed, word);
    }
    if (living !== undefined) throw refused(intent.id, living);
    if (isSigned && word.despite !== 'balance') await refuseDoubtful({ ...world, chain: world.chain }, entry);
  }
  const facts = { code: 'OPERATOR_RESOLVED', reason: printable(word.reason, 300) };
  const steps: { readonly number: number; readonly progress: Progress }[] = [];
  if (isSigned && (state === 'approved' || state === 'building')) steps.push(...toSigned(state, attempts.at(-1)!));
  if (word.as === 'abandoned' && isSigned) {
    // What was signed is given up as dead first: a key that was acted on is not given back.
    steps.push({ number, progress: { state: 'unknown', ...facts } }, {
      number: number + 1, progress: { state: 'building', ended: 'expired', ...facts },
    });
    steps.push({ number: number + 1, progress: { state: 'abandoned', ...facts } });
  } else {
    if (state === 'approved') steps.push({ number, progress: { state: 'building' } });
    steps.push({ number, progress: { state: word.as, ...facts } });
  }
  return outcomesOf(entry, steps);
}

/** A node with a hole in its history finds nothing of what landed; the wallet's balance tells. */
async function refuseDoubtful(world: BalanceWorld, { intent, attempts }: JournalledIntent): Promise<void> {
  const doubt = await doubtOfBalance(world, intent, attempts.at(-1)!);
  if (doubt === undefined) return;
  const why = doubt.kind === 'open' ? doubt.because : doubt.reason;
  throw refused(intent.id, `${why}; where you know what became of the wallet's balance, say so with --despite-balance`);
}

/** Whichever attempt it is: one that was thought dead may be the one that lives. */
function landedOutcomes(
  entry: JournalledIntent, attempt: Attempt, landed: LandedSwap, { reason }: OperatorWord,
): readonly Outcome[] {
  const end = landedProgress(entry.intent, attempt, landed);
  const progress = {
    ...end, code: end.code ?? 'OPERATOR_RESOLVED',
    reason: printable(end.reason === undefined ? reason : `${end.reason}; ${reason}`, 300),
  };
  const steps = entry.state === 'approved' || entry.state === 'building' ? toSigned(entry.state, attempt) : [];
  return outcomesOf(entry, [...steps, { number: attempt.number, progress }]);
}

/** Written down as signed, but the process ended before it could say so. */
function toSigned(
  state: 'approved' | 'building', attempt: Attempt,
): { readonly number: number; readonly progress: Progress }[] {
  const building = state === 'approved' ? [{ number: attempt.number, progress: { state: 'building' } as const }] : [];
  return [...building, { number: attempt.number, progress: signedProgress(attempt) }];
}

function outcomesOf({ intent, spentLamports }: JournalledIntent, steps: readonly {
  readonly number: number; readonly progress: Progress;
}[]): readonly Outcome[] {
  return steps.map(({ number, progress }) =>
    ({ kind: 'outcome', intentId: intent.id, attempt: number, ...withSpent(progress, spentLamports) }));
}

async function findLanded(
  { chain, owner }: { readonly chain: NonNullable<ResolveWorld['chain']>; readonly owner: string },
  { intent }: JournalledIntent, attempt: Attempt,
): Promise<LandedSwap | undefined> {
  const id = attempt.transactionId
    ?? await chain.findBySigner({ owner, ownSignature: attempt.signature, sinceSlot: attempt.inputSlots?.from });
  const status = id === undefined ? undefined : await chain.signatureStatus(id, { searchHistory: true });
  if (id === undefined || status === undefined) return undefined;
  const landed = await readLanded({ chain, owner }, { intent, attempt, signature: id, status });
  if (landed === undefined)
    throw refused(intent.id, `the node knows ${id} but does not give it yet; ask again in a moment`);
  return landed;
}

/** Returns why an attempt's bytes may still land, undefined where they never can. */
async function whyAlive(
  chain: NonNullable<ResolveWorld['chain']>, { lastValidBlockHeight, blockhash }: Attempt,
): Promise<string | undefined> {
  const height = await chain.finalizedBlockHeight();
  if (height > lastValidBlockHeight && !(await chain.isBlockhashValid(blockhash))) return undefined;
  return `its bytes may still land: finalized is at block height ${height}, they live until ${lastValidBlockHeight}; `
    + 'ask again in a minute';
}

function refused(intentId: string, why: string): GannetError {
  return new GannetError(
    'RESOLVE_REFUSED', `${printable(intentId, 80)}: ${why}`, { details: { intent_id: printable(intentId, 80) } },
  );
}
