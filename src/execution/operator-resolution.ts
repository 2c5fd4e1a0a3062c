import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { isUnreadable, type Attempt, type LandedSwap } from '../trading/attempt.ts';
import type { Outcome } from '../trading/intent.ts';
import { balanceObjection } from './input-balance.ts';
import type { Chain, Journal, JournalledIntent, Progress } from './ports.ts';
import { landedProgress, readLanded, signedProgress, withSpent } from './landed-fill.ts';
import { HistoryCheck } from './wallet-history.ts';

/** An operator's statement of an intent's outcome. */
export type Resolution =
  | { readonly as: 'landed'; readonly signature: string; readonly reason: string }
  | {
    readonly as: 'failed' | 'expired' | 'abandoned';
    readonly reason: string;
    /** Accepts a missing input in the wallet: the operator knows the reason. */
    readonly despite?: 'balance' | undefined;
  };

/** The sources that a resolution is checked against. */
interface ResolvePorts {
  /** Without it nothing is checked, and "landed" cannot be booked. */
  readonly chain?: Pick<Chain, 'signatureStatus' | 'findBySigner' | 'signaturesOf' | 'landedSwap'
    | 'finalizedBlockHeight' | 'isBlockhashValid' | 'tokenBalance' | 'balanceHistory'>
    | undefined;
  readonly journal: Pick<Journal, 'openIntents' | 'movesSince'>;
  /** The wallet, base58. */
  readonly owner: string;
}

/**
 * Closes an open intent in the journal as the operator states, and returns its terminal outcome; the next start of the
 * daemon books it. Only for a stopped daemon: a running one closes its own (`LiveExecutor.resolve`). Throws
 * RESOLVE_REFUSED where there is no such open intent or the chain contradicts, and the chain's own faults.
 */
export async function resolveIntent(
  ports: ResolvePorts & { readonly journal: Pick<Journal, 'transition'> }, intentId: string, resolution: Resolution,
): Promise<Outcome> {
  const entry = ports.journal.openIntents().find(({ intent }) => intent.id === intentId);
  if (entry === undefined)
    throw refused(intentId, 'there is no open intent of this name; `gannet journal list` shows what there is');
  const outcomes = await resolvedOutcomes(ports, entry, resolution);
  for (const outcome of outcomes) ports.journal.transition(outcome);
  return outcomes.at(-1)!;
}

/** Returns the transitions of a resolution, the last one terminal. Throws as `resolveIntent` does. */
export async function resolvedOutcomes(
  ports: ResolvePorts, entry: JournalledIntent, resolution: Resolution,
): Promise<readonly Outcome[]> {
  return resolution.as === 'landed' ? outcomesOfLanded(ports, entry, resolution)
    : outcomesOfNotLanded(ports, entry, resolution);
}

async function outcomesOfLanded(
  { chain, owner }: Pick<ResolvePorts, 'chain' | 'owner'>, entry: JournalledIntent,
  resolution: Resolution & { as: 'landed' },
): Promise<readonly Outcome[]> {
  const { intent, attempts } = entry;
  if (attempts.length === 0) throw refused(intent.id, 'nothing was signed for it, so nothing of it can have landed');
  if (chain === undefined) throw refused(intent.id, 'what landed is booked from the chain: give an RPC');
  const { signature } = resolution;
  const signatures = await chain.signaturesOf(signature);
  if (signatures === undefined)
    throw refused(intent.id, `the chain does not have ${printable(signature, 100)}; ask a node that keeps its history`);
  if (isUnreadable(signatures)) {
    throw refused(intent.id, `${printable(signature, 100)} cannot be read: ${signatures.reason}; ask a node that gives `
      + 'it, as --rpc-url');
  }
  const attempt = attempts.find((signed) => signatures.includes(signed.signature));
  if (attempt === undefined) throw refused(
    intent.id, `${printable(signature, 100)} is another transaction: it carries none of this intent's signatures`,
  );
  const status = await chain.signatureStatus(signature, { searchHistory: true });
  const landed = status && await readLanded({ chain, owner }, { intent, attempt, signature, status });
  if (landed === undefined)
    throw refused(intent.id, `the node lists ${printable(signature, 100)} but does not return it; ask again`);
  if (attempt !== attempts.at(-1) || attempt.number !== entry.attempt)
    await refuseEarlier({ chain, owner }, entry, landed, attempt);
  return landedOutcomes(entry, attempt, landed, resolution);
}

/** An earlier attempt ends the intent only where it swapped and no later one can swap too. */
async function refuseEarlier(
  { chain, owner }: { readonly chain: NonNullable<ResolvePorts['chain']>; readonly owner: string },
  entry: JournalledIntent, { error, signature }: LandedSwap, { number }: Attempt,
): Promise<void> {
  const { intent, attempts, attempt: present } = entry;
  if (error !== undefined) throw refused(
    intent.id,
    `${signature} is its attempt ${number}, which is known as failed; attempt ${present} is what is open`,
  );
  const last = attempts.at(-1)!;
  if (last.number === number) return;
  const stillValid = await validityReason(chain, last);
  const later = await findLanded({ chain, owner }, entry, last);
  if (later !== undefined && later.error === undefined) throw refused(intent.id, `attempt ${last.number} swapped as `
    + `well, as ${later.signature}: resolve it as that one, and the wallet's balances will show the other`);
  if (stillValid !== undefined)
    throw refused(intent.id, `attempt ${number} landed, but of attempt ${last.number} ${stillValid}`);
}

async function outcomesOfNotLanded(
  ports: ResolvePorts, entry: JournalledIntent, resolution: Resolution & { as: 'failed' | 'expired' | 'abandoned' },
): Promise<readonly Outcome[]> {
  const { intent, state, attempts, attempt: number } = entry;
  const isSigned = attempts.at(-1)?.number === number;
  if (!isSigned && resolution.as !== 'abandoned')
    throw refused(intent.id, `nothing is signed of attempt ${number}: it can only be abandoned`);
  if (ports.chain !== undefined) {
    // Checked first, so that "nothing found" below is a proof: valid bytes could land right after the search.
    const stillValid = isSigned ? await validityReason(ports.chain, attempts.at(-1)!) : undefined;
    for (const attempt of attempts) {
      const landed = await findLanded({ ...ports, chain: ports.chain }, entry, attempt);
      if (landed?.error === undefined && landed !== undefined) {
        throw refused(
          intent.id, `attempt ${attempt.number} swapped as ${landed.signature}; it can only be resolved as landed`,
        );
      }
      if (landed === undefined || attempt.number !== number) continue;
      if (resolution.as !== 'failed') throw refused(intent.id, `attempt ${attempt.number} failed on the chain as `
        + `${landed.signature} and cost its fee; it can only be resolved as failed`);
      return landedOutcomes(entry, attempt, landed, resolution);
    }
    if (stillValid !== undefined) throw refused(intent.id, stillValid);
    if (isSigned && resolution.despite !== 'balance') await refuseObjection({ ...ports, chain: ports.chain }, entry);
  }
  const facts = { code: 'OPERATOR_RESOLVED', reason: printable(resolution.reason, 300) };
  const steps: { readonly number: number; readonly progress: Progress }[] = [];
  if (isSigned && (state === 'approved' || state === 'building')) steps.push(...toSigned(state, attempts.at(-1)!));
  if (resolution.as === 'abandoned' && isSigned) {
    // The signed attempt is closed as expired first: a proposal key that was used is not released.
    steps.push({ number, progress: { state: 'unknown', ...facts } }, {
      number: number + 1, progress: { state: 'building', ended: 'expired', ...facts },
    });
    steps.push({ number: number + 1, progress: { state: 'abandoned', ...facts } });
  } else {
    if (state === 'approved') steps.push({ number, progress: { state: 'building' } });
    steps.push({ number, progress: { state: resolution.as, ...facts } });
  }
  return outcomesOf(entry, steps);
}

/** A node with an incomplete history misses landed transactions; the wallet's balance shows them. */
async function refuseObjection(
  ports: ResolvePorts & { readonly chain: NonNullable<ResolvePorts['chain']> }, { intent, attempts }: JournalledIntent,
): Promise<void> {
  const history = new HistoryCheck({ ...ports, elapsed: () => 0 });
  const objection = await balanceObjection({ ...ports, history }, intent, attempts.at(-1)!);
  if (objection === undefined) return;
  const why = objection.kind === 'open' ? objection.because : objection.reason;
  throw refused(intent.id, `${why}; where you know the reason for the difference, add --despite-balance`);
}

/** For any attempt: one that counted as expired may have landed. */
function landedOutcomes(
  entry: JournalledIntent, attempt: Attempt, landed: LandedSwap, { reason }: Resolution,
): readonly Outcome[] {
  const end = landedProgress(entry.intent, attempt, landed);
  const progress = {
    ...end, code: end.code ?? 'OPERATOR_RESOLVED',
    reason: printable(end.reason === undefined ? reason : `${end.reason}; ${reason}`, 300),
  };
  const steps = entry.state === 'approved' || entry.state === 'building' ? toSigned(entry.state, attempt) : [];
  return outcomesOf(entry, [...steps, { number: attempt.number, progress }]);
}

/** The attempt was journalled as signed, but the process ended before it reported that. */
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
  { chain, owner }: { readonly chain: NonNullable<ResolvePorts['chain']>; readonly owner: string },
  { intent }: JournalledIntent, attempt: Attempt,
): Promise<LandedSwap | undefined> {
  const id = attempt.transactionId ?? await chain.findBySigner({
    owner, transaction: attempt.signedTransaction, sinceSlot: attempt.inputSlots?.from,
  });
  const status = id === undefined ? undefined : await chain.signatureStatus(id, { searchHistory: true });
  if (id === undefined || status === undefined) return undefined;
  const landed = await readLanded({ chain, owner }, { intent, attempt, signature: id, status });
  if (landed === undefined)
    throw refused(intent.id, `the node knows ${id} but does not return it yet; ask again in a moment`);
  return landed;
}

/** Returns why an attempt's bytes may still land, undefined where they cannot. */
async function validityReason(
  chain: NonNullable<ResolvePorts['chain']>, { lastValidBlockHeight, blockhash }: Attempt,
): Promise<string | undefined> {
  const height = await chain.finalizedBlockHeight();
  if (height > lastValidBlockHeight && !(await chain.isBlockhashValid(blockhash))) return undefined;
  return `its bytes may still land: finalized is at block height ${height}, they are valid until `
    + `${lastValidBlockHeight}; `
    + 'ask again in a minute';
}

function refused(intentId: string, why: string): GannetError {
  return new GannetError(
    'RESOLVE_REFUSED', `${printable(intentId, 80)}: ${why}`, { details: { intent_id: printable(intentId, 80) } },
  );
}
