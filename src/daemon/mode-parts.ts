import { join } from 'node:path';
import { attemptCosts } from '../backtest/models/attempt-costs.ts';
import { latencyAt } from '../backtest/models/latency.ts';
import { knownQuantiles } from '../config/latency-text.ts';
import { assert } from '../core/assert.ts';
import { GannetError } from '../core/errors.ts';
import { seededRandom } from '../core/random.ts';
import { journalled } from '../execution/journalled.ts';
import type { LiveExecutor } from '../execution/live-executor.ts';
import type { LiveWorld } from '../execution/journey.ts';
import { createLiveExecutor } from '../execution/live-executor.ts';
import { createPaperExecutor } from '../execution/paper-executor.ts';
import { countersFiles } from '../signer/counters.ts';
import { openJournal } from '../store/journal.ts';
import { lockWallet } from '../store/locks.ts';
import type { PatientJournal } from '../store/patient-journal.ts';
import { createPatientJournal } from '../store/patient-journal.ts';
import type { Executor } from '../trading/executor.ts';
import type { KeptFile } from '../signer/kept-files.ts';
import type { SignerDescription } from '../signer/requests.ts';
import type { DaemonOptions } from './daemon-options.ts';
import type { DiskGuard } from './disk-guard.ts';
import { openSigner } from './open-signer.ts';
import type { Recovered, StateSetup } from './recover.ts';
import { beginOnNewChain, recoverState } from './recover.ts';
import { refuseLostHistory } from './lost-history.ts';
import type { Resources } from './resources.ts';
import type { StateWatch } from './state-watch.ts';
import { journalWhileKept, signingWhileKept } from './state-watch.ts';
import type { WalletKeeper } from './wallet-keeper.ts';
import { createWalletKeeper } from './wallet-keeper.ts';

/** Who carries intents out, and from which money: all that differs between live and paper. */
export interface ModeParts {
  /** Who only pretends to trade has no swap of which nobody knows what became. */
  readonly executor: Executor & Partial<Pick<LiveExecutor, 'resolve'>>;
  readonly journal: PatientJournal;
  readonly recovered: Recovered;
  /** Undefined where there is no wallet on a chain. */
  readonly walletKeeper: WalletKeeper | undefined;
  readonly address: string | undefined;
  readonly signer: SignerDescription | undefined;
  /** What is to be told at the start of what an earlier run left, or of what is gone. */
  readonly notices: readonly string[];
}

/** What both modes are opened with. */
export interface ModeScope {
  readonly options: DaemonOptions;
  readonly setup: StateSetup;
  readonly resources: Resources;
  readonly diskGuard: DiskGuard;
  readonly stateWatch: StateWatch;
}

/** Opens what live trading needs; `mayTryAgain` speaks for risk where an attempt came to nothing, `ledger` for the books. */
export async function liveParts(
  scope: ModeScope, { mayTryAgain, ledger }: Required<Pick<LiveWorld, 'mayTryAgain' | 'ledger'>>,
): Promise<ModeParts> {
  const { options, setup, resources, stateWatch } = scope;
  const { config, world, clock, log, stateDir } = options;
  const { chain, sandbox } = world;
  if (chain === undefined) throw new GannetError('CONFIG_INVALID', 'live trading needs chain.rpc_url: without it no outcome could be proven');
  const signer = await openSigner(options);
  // An embedded chain is this daemon's own: its wallet is nobody else's.
  if (sandbox === undefined) {
    const lock = await lockWallet({ address: signer.address, clock });
    resources.add('wallet lock', () => { lock.release(); });
  }
  // What the embedded wallet spends is counted nowhere.
  if (signer.description.signed !== undefined) for (const file of countersFiles(stateDir)) stateWatch.add(file);
  const journalPath = join(stateDir, 'journal.sqlite');
  const journal = openPatiently(scope, journalPath);
  const accepted = await refuseLostHistory({
    journal, journalPath, stateDir, signer: signer.description, chain: sandbox === undefined ? chain : undefined,
    mints: config.tokens.all.map(({ mint }) => mint), clock, accept: options.acceptNewJournal === true,
  });
  const isFirst = sandbox !== undefined || journal.loadSnapshot() === undefined;
  const wallet = isFirst ? await chain.balances(signer.address) : new Map();
  const isNewChain = sandbox !== undefined && journal.loadSnapshot() !== undefined;
  return {
    executor: createLiveExecutor({
      service: world.service.swap, chain, signer: signingWhileKept(signer, stateWatch), journal, clock, mayTryAgain, ledger,
      maxQuoteAgeMs: config.limits.maxQuoteAgeMs, maxQuoteAgeSlots: config.limits.maxQuoteAgeSlots,
    }),
    journal,
    recovered: sandbox === undefined ? recoverState(journal, setup, wallet) : beginOnNewChain(journal, wallet),
    walletKeeper: createWalletKeeper({
      wallet: signer.address, chain, journal, clock,
      onFault: (error) => { log('warn', 'the wallet could not be held against the chain', { error }); },
    }),
    address: signer.address,
    signer: signer.description,
    notices: [...(accepted === undefined ? [] : [accepted]), ...(isNewChain ? [NEW_CHAIN] : [])],
  };
}

const NEW_CHAIN = 'the embedded chain is new: its balances begin anew, and positions, keys and strategy state of earlier runs are dropped';

/** Opens what trading on paper needs. */
export function paperParts(scope: ModeScope): ModeParts {
  const { options: { config, world, clock }, setup } = scope;
  const journal = openPatiently(scope, join(scope.options.stateDir, 'journal-paper.sqlite'));
  // No money is at stake: what is left of the ledger goes on.
  const isCut = journal.standing().wentTo !== undefined;
  if (isCut) journal.acceptAsIs();
  const saved = journal.loadSnapshot();
  const { setting, latency: { land }, landing, costs } = config.backtest.model;
  const landLatency = knownQuantiles(land);
  assert(landLatency, 'a paper run is refused where its latency is to come from a recording');
  const executor = createPaperExecutor({
    service: world.service.swap,
    clock,
    random: seededRandom(`${config.seed}:paper`),
    model: {
      setting, landLatencyMs: latencyAt(landLatency, 0.5), feeLamports: attemptCosts(costs).feeLamports,
      dropProbability: landing.dropProbability, expiryMs: landing.expiryMs,
    },
  });
  return {
    executor: journalled(executor, journal),
    journal,
    recovered: recoverState(journal, setup, saved === undefined ? config.backtest.balances : undefined),
    walletKeeper: undefined,
    address: undefined,
    signer: undefined,
    notices: isCut ? ['the journal of trading on paper lacks what was written last: its WAL was deleted, or the file is an older copy'] : [],
  };
}

function journalFiles(path: string): readonly KeptFile[] {
  return [{ name: 'the journal', path }, { name: 'the WAL of the journal', path: `${path}-wal` }];
}

function openPatiently({ options: { clock, log }, resources, diskGuard, stateWatch }: ModeScope, path: string): PatientJournal {
  const onHeadFault = (error: unknown): void => { log('warn', 'how far the journal goes could not be noted beside it', { error }); };
  const journal = createPatientJournal(journalWhileKept(openJournal({ path, clock, onHeadFault }), stateWatch), {
    clock,
    onFault: (error) => {
      // No room would help.
      if (stateWatch.fault() !== undefined) return false;
      log('error', 'the journal could not be written', { error });
      return diskGuard.failed('the journal', error);
    },
    onWritten: () => { diskGuard.recovered('the journal'); },
  });
  resources.add('journal', () => { journal.close(); });
  for (const file of journalFiles(path)) stateWatch.add(file);
  return journal;
}
