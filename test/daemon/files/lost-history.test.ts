import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GannetError } from '../../../src/core/errors.ts';
import { findLostHistory, refuseLostHistory, refuseOtherChain } from '../../../src/daemon/files/lost-history.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import { createRecordingWriter } from '../../../src/recording/writer.ts';
import { temporaryFolder, temporaryJournal } from '../../store/fixtures.ts';
import { attemptOf, FILL, intentOf, outcomeOf, wallClock } from '../../store/sample-intents.ts';

type HistoryScope = Parameters<typeof refuseLostHistory>[0];

const RUN = '20261121T101112-0a1b2c';
const SIGNATURE = 'signatureOfTheLastSwap';

/**
 * Checks an empty journal in a new state directory, changed as a test says; returns the word: accepted, refused, or
 * nothing.
 */
async function historyOf(
  prepare: (stateDir: string) => void | Promise<void> = () => undefined, changes: Partial<HistoryScope> = {},
): Promise<string> {
  const stateDir = temporaryFolder();
  await prepare(stateDir);
  const journalPath = join(stateDir, 'journal.sqlite');
  const scope: HistoryScope = {
    journal: temporaryJournal(journalPath), journalPath, stateDir,
    signer: { address: 'payer', signed: { inDay: 0, inMonth: 0 } }, chain: undefined, mints: [SOL_MINT, USDC_MINT],
    clock: wallClock, accept: undefined, ...changes,
  };
  try {
    return await refuseLostHistory(scope) ?? 'nothing is wrong';
  } catch (error) {
    if (!(error instanceof GannetError)) throw error;
    return `${error.code}: ${error.message}`;
  }
}

function runOf(mode: string, rpcUrl = 'https://rpc.example') {
  return (stateDir: string): void => {
    mkdirSync(join(stateDir, 'runs', RUN), { recursive: true });
    writeFileSync(
      join(stateDir, 'runs', RUN, 'manifest.json'),
      JSON.stringify({ format_version: 1, run_id: RUN, mode, config: { chain: { rpc_url: rpcUrl } } }),
    );
  };
}

/** Of a run whose own folder is gone; what a run on paper records has no signature. */
function recordingWith(signature: string | undefined, name = RUN) {
  return async (stateDir: string): Promise<void> => {
    const writer = createRecordingWriter({
      dir: join(stateDir, 'recordings'), name, clock: wallClock, tokens: [], onError: (error) => { throw error; },
    });
    writer.append(1, 1_790_000_000_000, outcomeOf('dca-1', 'confirmed', { fill: FILL, signature }));
    await writer.close();
  };
}

/** A chain that knows one transaction of the wallet. */
function chainWith(moves: Readonly<Record<string, bigint>>): NonNullable<HistoryScope['chain']> {
  return { newestTransactions: async () => [{ signature: SIGNATURE, slot: 5n }], ownMoves: async () =>
    new Map(Object.entries(moves)) };
}

function refused(proof: string): unknown {
  const said = 'journal\\.sqlite is missing or empty, but this is not the first start';
  return expect.stringMatching(
    new RegExp(`^JOURNAL_LOST: .*${said}: .*${proof}.*gannet state backup.*--accept-new-journal`),
  );
}

describe('issue 13.33: an empty journal', () => {
  it('is a first start without proof of an earlier run', async () => {
    expect(await historyOf()).toBe('nothing is wrong');
    expect(await historyOf(runOf('paper'))).toBe('nothing is wrong');
    expect(await historyOf(runOf('backtest'))).toBe('nothing is wrong');
    expect(await historyOf(recordingWith(undefined))).toBe('nothing is wrong');
    expect(await historyOf(recordingWith(SIGNATURE, 'of-another-machine'))).toBe('nothing is wrong');
    // Paid in, paid out, and a fee: none is a swap.
    for (const moves of [{ [USDC_MINT]: 5n }, { [SOL_MINT]: -5n }, {}])
      expect(await historyOf(undefined, { chain: chainWith(moves) })).toBe('nothing is wrong');
  });

  it('is refused beside a live run, its recording, counters or swaps on the chain, with instructions', async () => {
    expect(await historyOf(runOf('live'))).toEqual(refused(`holds the live run ${RUN}`));
    expect(await historyOf(recordingWith(SIGNATURE))).toEqual(refused(`the recording ${RUN} holds swaps that landed`));
    expect(await historyOf(undefined, { signer: { address: 'payer', signed: { inDay: 0, inMonth: 3 } } }))
      .toEqual(refused('counters hold 3 swaps of the wallet payer'));
    expect(await historyOf(undefined, { chain: chainWith({ [USDC_MINT]: -5n, [SOL_MINT]: 4n }) }))
      .toEqual(refused(`made swaps, the last one in the transaction ${SIGNATURE}`));
  });

  it('is accepted on the operator’s request, with a notice', async () => {
    const accepted: string[] = [];
    expect(await historyOf(runOf('live'), { accept: (what) => { accepted.push(what); } }))
      .toMatch(/^the operator accepts the state as it is \(--accept-new-journal\): .*holds the live run/);
    expect(accepted).toEqual([expect.stringContaining('holds the live run')]);
  });

  it('stays refused where the acceptance cannot be written', async () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const scope = { journal: temporaryJournal(path), signer: { address: 'payer', signed: { inDay: 0, inMonth: 3 } } };
    expect(await historyOf(undefined, {
      ...scope, accept: () => { throw new GannetError('AUDIT_FAILED', 'no room'); },
    })).toBe('AUDIT_FAILED: no room');
    expect(await historyOf(undefined, scope)).toMatch(/^JOURNAL_LOST/);
  });
});

describe('issue 13.33: counters with less than the journal', () => {
  it('are refused until the operator accepts them; attempts of other wallets do not count', async () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const earlier = temporaryJournal(path);
    for (const [number, feePayer] of [[1, 'payer'], [2, 'payer'], [3, 'theMaker']] as const) {
      earlier.intentApproved(intentOf(number));
      earlier.attemptSigned(attemptOf(`dca-${number}`, { feePayer }));
    }
    const journal = temporaryJournal(path);
    const at = (inDay: number, isAccepted = false): Promise<string> => historyOf(undefined, {
      journal, accept: isAccepted ? () => undefined : undefined,
      signer: { address: 'payer', signed: { inDay, inMonth: inDay } },
    });
    expect(await at(2)).toBe('nothing is wrong');
    expect(await at(1))
      .toMatch(/^COUNTERS_LOST: .*they hold 1 of the last day, the journal 2: the file or its WAL was deleted/);
    expect(await at(0, true)).toMatch(/lack swaps/);
    expect(await at(0)).toBe('nothing is wrong');
    // A daemon beside may have signed both since the counters were read.
    const signedAt = 1_000;
    const others = { journalPath: path, stateDir: temporaryFolder(), chain: undefined, mints: [], journal: {
      standing: () => ({ ...journal.standing(), acceptedAt: 0 }),
      attemptsSince: (_payer: string, since: number) => (since < signedAt ? 2 : 0),
    } };
    const beside = (countedAt: number): Promise<GannetError | undefined> => findLostHistory({
      ...others, signer: { address: 'payer', signed: { inDay: 0, inMonth: 0 } }, clock: { now: () => 2_000 }, countedAt,
    });
    expect(await beside(signedAt - 1)).toBeUndefined();
    expect(await beside(signedAt)).toMatchObject({ code: 'COUNTERS_LOST' });
    // The embedded wallet’s spends are counted nowhere.
    expect(await historyOf(undefined, { journal, signer: { address: 'payer' } })).toBe('nothing is wrong');
  });
});

function lastTradedOn(rpcUrl: string): string {
  const stateDir = temporaryFolder();
  runOf('live', rpcUrl)(stateDir);
  return stateDir;
}

function starting(stateDir: string, chain: 'real' | 'embedded'): () => void {
  return () => { refuseOtherChain(stateDir, { isEmbedded: chain === 'embedded' }); };
}

describe('a state directory whose last live run was on another chain', () => {
  it('is refused, and one of the same chain or without a live run is not', () => {
    const [real, embedded] = [lastTradedOn('https://rpc.example'), lastTradedOn('embedded')];
    expect(starting(real, 'embedded'))
      .toThrow(/its last live run, .*, traded on the chain of https:\/\/rpc\.example, and this/);
    expect(starting(embedded, 'real')).toThrow(/traded on the embedded chain, with play money, and this/);
    expect(starting(real, 'real')).not.toThrow();
    for (const stateDir of [embedded, temporaryFolder()]) expect(starting(stateDir, 'embedded')).not.toThrow();
  });
});
