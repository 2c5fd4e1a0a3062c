import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Chain } from '../../chain/chain.ts';
import { pluralize } from '../../core/text.ts';
import { GannetError, isGannetError } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import { openRecording } from '../../recording/reader.ts';
import { ACCEPT_COUNTERS_FLAG } from '../../signer/command-process.ts';
import type { SignerDescription } from '../../signer/channel/channel-protocol.ts';
import { headPath } from '../../store/journal-head.ts';
import type { JournalStore } from '../../store/journal.ts';
import { runStartOf } from './find-run.ts';
import { readManifest } from './run-manifest.ts';

/** What a journal is compared with before a run trusts it. */
interface HistoryScope extends HistoryView {
  readonly journal: Pick<JournalStore, 'standing' | 'acceptAsIs' | 'attemptsSince'>;
  /** Called where the operator accepts the journal and the counters as they are; undefined where not. */
  readonly accept: ((what: string) => void) | undefined;
}

/** The same for a comparison that writes nothing. */
interface HistoryView {
  readonly journal: Pick<JournalStore, 'standing' | 'attemptsSince'>;
  readonly journalPath: string;
  readonly stateDir: string;
  readonly signer: Pick<SignerDescription, 'address' | 'signed' | 'countersDir'>;
  /** Undefined for a chain that started with this run and has no history. */
  readonly chain: Pick<Chain, 'newestTransactions' | 'ownMoves'> | undefined;
  /** The configured mints: a swap is a transaction that exchanges two of them. */
  readonly mints: readonly Mint[];
  readonly clock: Pick<Clock, 'now'>;
  /** When the signer's counters were read, where a daemon beside may have signed since; what came later is left out. */
  readonly countedAt?: Millis | undefined;
}

const EMBEDDED = 'embedded';
const FLAG = '--accept-new-journal';
const RESTORE =
  `Put the files back, or restore a copy made by "gannet state backup". To trade with what is there, add ${FLAG}`;
const RISK = 'swaps of earlier runs would be unknown and could be made a second time';
/** Less than the counters' day, so that a small difference of clocks raises no error. */
const COUNTED_MS: Millis = 23 * 3_600_000;
/** Only the newest ones are read, because each takes time at the start. */
const RECORDINGS_READ = 5;
const TRANSACTIONS_READ = 10;

/** A state file that lacks entries. */
interface Fault {
  readonly code: 'JOURNAL_LOST' | 'COUNTERS_LOST';
  readonly what: string;
  readonly risk: string;
}

/**
 * Throws JOURNAL_LOST for a journal that lacks entries or is empty although live runs exist, and COUNTERS_LOST for
 * counters with less than the journal. Returns a notice for people where the operator accepts that, else undefined.
 */
export async function refuseLostHistory(scope: HistoryScope): Promise<string | undefined> {
  const fault = await faultOf(scope);
  if (fault === undefined) return undefined;
  if (scope.accept === undefined) throw asError(scope, fault);
  scope.accept(fault.what);
  scope.journal.acceptAsIs();
  return `the operator accepts the state as it is (${FLAG}): ${fault.what}`;
}

/**
 * Throws STATE_OF_OTHER_CHAIN where the last live run of a state directory traded on a real chain and this one would on
 * an embedded one, or the other way round: positions and open swaps of one do not exist on the other.
 */
export function refuseOtherChain(stateDir: string, { isEmbedded }: { readonly isEmbedded: boolean }): void {
  const name = liveRun(stateDir);
  if (name === undefined) return;
  const { config: { chain } } = readManifest(join(stateDir, 'runs', name));
  const wasEmbedded = chain.rpc_url === EMBEDDED;
  if (wasEmbedded === isEmbedded) return;
  const [earlier, now] = wasEmbedded ? ['the embedded chain, with play money', 'a real chain']
    : [`the chain of ${chain.rpc_url}`, 'an embedded one, which would drop its positions and open swaps'];
  throw new GannetError('STATE_OF_OTHER_CHAIN', `${stateDir} belongs to another chain: its last live run, ${name}, `
    + `traded on ${earlier}, and this run would trade on ${now}. Nothing was started. Name another folder with `
    + '--state-dir', { details: { path: stateDir } });
}

/** Returns the error of a start, JOURNAL_LOST or COUNTERS_LOST; undefined where nothing is missing. */
export async function findLostHistory(view: HistoryView): Promise<GannetError | undefined> {
  const fault = await faultOf(view);
  return fault === undefined ? undefined : asError(view, fault);
}

async function faultOf(view: HistoryView): Promise<Fault | undefined> {
  return await journalFault(view) ?? countersFault(view);
}

function asError({ journalPath }: HistoryView, { code, what, risk }: Fault): GannetError {
  return new GannetError(code, `${what}; ${risk}. Nothing was started. ${RESTORE}`, { details: { path: journalPath } });
}

async function journalFault(scope: HistoryView): Promise<Fault | undefined> {
  const { journal, journalPath: path } = scope;
  const { isNew, writtenTo, position } = journal.standing();
  if (writtenTo !== undefined) {
    const what =
      `${path} lacks its last entries: it ends at entry ${position.rows}, saved at ${instant(position.savedAt)}, `
      + `but entry ${writtenTo.rows}, saved at ${instant(writtenTo.savedAt)}, was written (${headPath(path)}): `
      + `its WAL (${path}-wal) was deleted, or the file is missing, an older copy or a restored backup`;
    return { code: 'JOURNAL_LOST', what, risk: RISK };
  }
  const proof = isNew ? await historyOf(scope) : undefined;
  if (proof === undefined) return undefined;
  return {
    code: 'JOURNAL_LOST', what: `${path} is missing or empty, but this is not the first start: ${proof}`, risk: RISK,
  };
}

/** Returns the proof of earlier live runs, for people; undefined without one. */
async function historyOf({ stateDir, signer, chain, mints }: HistoryView): Promise<string | undefined> {
  const run = liveRun(stateDir);
  if (run !== undefined) return `${join(stateDir, 'runs')} holds the live run ${run}`;
  const recording = liveRecording(stateDir);
  if (recording !== undefined) return `the recording ${recording} holds swaps that landed`;
  const { signed, address } = signer;
  if (signed !== undefined && signed.inMonth > 0)
    return `the signer’s counters hold ${pluralize(signed.inMonth, 'swap')} of the wallet ${address}`;
  const swap = chain === undefined ? undefined : await swapOnChain(chain, address, mints);
  return swap === undefined ? undefined : `the wallet ${address} made swaps, the last one in the transaction ${swap}`;
}

function liveRun(stateDir: string): string | undefined {
  return foldersIn(join(stateDir, 'runs')).find((name) => modeOf(join(stateDir, 'runs', name)) === 'live');
}

/** Returns undefined for an unreadable run, which proves nothing. */
function modeOf(runDir: string): string | undefined {
  try {
    return readManifest(runDir).mode;
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return undefined;
  }
}

/** Finds live recordings of runs whose own folder is gone. Paper runs record no signatures. */
function liveRecording(stateDir: string): string | undefined {
  const recordings = join(stateDir, 'recordings');
  const names = foldersIn(recordings)
    .filter((name) => runStartOf(name) !== undefined && modeOf(join(stateDir, 'runs', name)) === undefined);
  return names.slice(0, RECORDINGS_READ).find((name) => holdsLanded(join(recordings, name)));
}

function holdsLanded(directory: string): boolean {
  try {
    const cursor = openRecording(directory).cursor({ kinds: ['outcome'] });
    while (cursor.next()) {
      const { input } = cursor;
      if (input.kind === 'outcome' && input.state === 'confirmed' && input.signature !== undefined) return true;
    }
  } catch (error) {
    if (!isGannetError(error)) throw error;
  }
  return false;
}

/** Newest first: run ids sort by time. */
function foldersIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).toSorted().toReversed() : [];
}

async function swapOnChain(
  chain: NonNullable<HistoryView['chain']>, owner: string, mints: readonly Mint[],
): Promise<string | undefined> {
  const newest = await chain.newestTransactions(owner);
  for (const { signature } of newest.slice(0, TRANSACTIONS_READ)) {
    const moves = await chain.ownMoves({ signature, owner });
    const changes = mints.map((mint) => moves?.get(mint) ?? 0n);
    if (changes.some((change) => change < 0n) && changes.some((change) => change > 0n)) return signature;
  }
  return undefined;
}

/** The signer counts each signature before it signs, so fewer counts than journal entries mean lost counts. */
function countersFault({ journal, signer, clock, countedAt }: HistoryView): Fault | undefined {
  if (signer.signed === undefined) return undefined;
  const since = Math.max(clock.now() - COUNTED_MS, journal.standing().acceptedAt);
  const later = countedAt === undefined ? 0 : journal.attemptsSince(signer.address, countedAt);
  const written = journal.attemptsSince(signer.address, since) - later;
  if (signer.signed.inDay >= written) return undefined;
  const what = `the signer’s counters in ${signer.countersDir ?? 'its folder'} lack swaps: they hold `
    + `${signer.signed.inDay} of the last day, the journal ${written}: the file or its WAL was deleted, or is an older `
    + 'copy';
  const risk = `caps count as used for a day, unless ${ACCEPT_COUNTERS_FLAG} is given`;
  return { code: 'COUNTERS_LOST', what, risk };
}

function instant(at: Millis): string {
  return at === 0 ? 'no time' : `${new Date(at).toISOString().slice(0, 19)}Z`;
}
