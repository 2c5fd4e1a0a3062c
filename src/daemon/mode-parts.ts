import { join } from 'node:path';
import { attemptCosts } from '../backtest/models/attempt-costs.ts';
import { latencyAt } from '../backtest/models/latency.ts';
import { assert } from '../core/assert.ts';
import { GannetError } from '../core/errors.ts';
import { seededRandom } from '../core/random.ts';
import { journalled } from '../execution/journalled.ts';
import type { LiveExecutor } from '../execution/live-executor.ts';
import type { LiveWorld } from '../execution/journey.ts';
import { createLiveExecutor } from '../execution/live-executor.ts';
import { createPaperExecutor } from '../execution/paper-executor.ts';
import { openJournal } from '../store/journal.ts';
import { lockWallet } from '../store/locks.ts';
import type { PatientJournal } from '../store/patient-journal.ts';
import { createPatientJournal } from '../store/patient-journal.ts';
import type { Executor } from '../trading/executor.ts';
import type { SignerDescription } from '../signer/requests.ts';
import type { DaemonOptions } from './daemon-options.ts';
import type { DiskGuard } from './disk-guard.ts';
import { openSigner } from './open-signer.ts';
import type { Recovered, StateSetup } from './recover.ts';
import { beginOnNewChain, recoverState } from './recover.ts';
import type { Resources } from './resources.ts';
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
}

/** What both modes are opened with. */
export interface ModeScope {
  readonly options: DaemonOptions;
  readonly setup: StateSetup;
  readonly resources: Resources;
  readonly diskGuard: DiskGuard;
}

/** Opens what live trading needs; `mayTryAgain` speaks for risk where an attempt came to nothing, `ledger` for the books. */
export async function liveParts(scope: ModeScope, { mayTryAgain, ledger }: Required<Pick<LiveWorld, 'mayTryAgain' | 'ledger'>>): Promise<ModeParts> {
  const { options, setup, resources } = scope;
  const { config, world, clock, log } = options;
  const { chain, sandbox } = world;
  if (chain === undefined) throw new GannetError('CONFIG_INVALID', 'live trading needs chain.rpc_url: without it no outcome could be proven');
  const signer = await openSigner(options);
  // An embedded chain is this daemon's own: its wallet is nobody else's.
  if (sandbox === undefined) {
    const lock = await lockWallet({ address: signer.address, clock });
    resources.add('wallet lock', () => { lock.release(); });
  }
  const journal = openPatiently(scope, 'journal.sqlite');
  const isFirst = sandbox !== undefined || journal.loadSnapshot() === undefined;
  const wallet = isFirst ? await chain.balances(signer.address) : new Map();
  return {
    executor: createLiveExecutor({
      service: world.service.swap, chain, signer, journal, clock, mayTryAgain, ledger,
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
  };
}

/** Opens what trading on paper needs. */
export function paperParts(scope: ModeScope): ModeParts {
  const { options: { config, world, clock }, setup } = scope;
  const journal = openPatiently(scope, 'journal-paper.sqlite');
  const saved = journal.loadSnapshot();
  const { setting, latency: { land }, landing, costs } = config.backtest.model;
  assert(land !== 'recorded', 'a paper run is refused where its latency is to come from a recording');
  const executor = createPaperExecutor({
    service: world.service.swap,
    clock,
    random: seededRandom(`${config.seed}:paper`),
    model: {
      setting, landLatencyMs: latencyAt(land, 0.5), feeLamports: attemptCosts(costs).feeLamports,
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
  };
}

function openPatiently({ options: { stateDir, clock, log }, resources, diskGuard }: ModeScope, file: string): PatientJournal {
  const journal = createPatientJournal(openJournal({ path: join(stateDir, file), clock }), {
    clock,
    onFault: (error) => {
      log('error', 'the journal could not be written', { error });
      return diskGuard.failed('the journal', error);
    },
    onWritten: () => { diskGuard.recovered('the journal'); },
  });
  resources.add('journal', () => { journal.close(); });
  return journal;
}
