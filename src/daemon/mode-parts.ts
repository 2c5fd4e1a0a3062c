import { join } from 'node:path';
import { GannetError } from '../core/errors.ts';
import { seededRandom } from '../core/random.ts';
import { journalled } from '../execution/journalled.ts';
import type { LiveExecutor } from '../execution/live-executor.ts';
import type { LiveWorld } from '../execution/journey.ts';
import { createLiveExecutor } from '../execution/live-executor.ts';
import { createPaperExecutor } from '../execution/paper-executor.ts';
import type { JournalStore } from '../store/journal.ts';
import { openJournal } from '../store/journal.ts';
import { lockWallet } from '../store/locks.ts';
import type { Executor } from '../trading/executor.ts';
import { BASE_FEE } from '../trading/simulated-landing.ts';
import type { SignerDescription } from '../signer/requests.ts';
import type { DaemonOptions } from './daemon-options.ts';
import { openSigner } from './open-signer.ts';
import type { Recovered, StateSetup } from './recover.ts';
import { beginOnNewChain, recoverState } from './recover.ts';
import type { Resources } from './resources.ts';

/** Who carries intents out, and from which money: all that differs between live and paper. */
export interface ModeParts {
  /** Who only pretends to trade has no swap of which nobody knows what became. */
  readonly executor: Executor & Partial<Pick<LiveExecutor, 'resolve'>>;
  readonly journal: JournalStore;
  readonly recovered: Recovered;
  readonly address: string | undefined;
  readonly signer: SignerDescription | undefined;
}

/** Opens what live trading needs; `mayTryAgain` speaks for risk where an attempt came to nothing. */
export async function liveParts(
  options: DaemonOptions, setup: StateSetup, resources: Resources, mayTryAgain: NonNullable<LiveWorld['mayTryAgain']>,
): Promise<ModeParts> {
  const { config, world, stateDir, clock } = options;
  const { chain, sandbox } = world;
  if (chain === undefined) throw new GannetError('CONFIG_INVALID', 'live trading needs chain.rpc_url: without it no outcome could be proven');
  const signer = await openSigner(options);
  // An embedded chain is this daemon's own: its wallet is nobody else's.
  if (sandbox === undefined) {
    const lock = await lockWallet({ address: signer.address, clock });
    resources.add('wallet lock', () => { lock.release(); });
  }
  const journal = openJournal({ path: join(stateDir, 'journal.sqlite'), clock });
  resources.add('journal', () => { journal.close(); });
  const wallet = await chain.balances(signer.address);
  return {
    executor: createLiveExecutor({
      service: world.service.swap, chain, signer, journal, clock, mayTryAgain,
      maxQuoteAgeMs: config.limits.maxQuoteAgeMs, maxQuoteAgeSlots: config.limits.maxQuoteAgeSlots,
    }),
    journal,
    recovered: sandbox === undefined ? recoverState(journal, setup, wallet) : beginOnNewChain(journal, wallet),
    address: signer.address,
    signer: signer.description,
  };
}

/** Opens what trading on paper needs. */
export function paperParts({ config, world, stateDir, clock }: DaemonOptions, setup: StateSetup, resources: Resources): ModeParts {
  const journal = openJournal({ path: join(stateDir, 'journal-paper.sqlite'), clock });
  resources.add('journal', () => { journal.close(); });
  const saved = journal.loadSnapshot();
  const executor = createPaperExecutor({
    service: world.service.swap,
    clock,
    random: seededRandom(`${config.seed}:paper`),
    model: {
      setting: config.backtest.setting, landLatencyMs: config.backtest.landLatencyMs, feeLamports: BASE_FEE,
      dropProbability: PAPER_DROP_PROBABILITY, expiryMs: PAPER_EXPIRY_MS,
    },
  });
  return {
    executor: journalled(executor, journal),
    journal,
    recovered: recoverState(journal, setup, saved === undefined ? config.backtest.balances : undefined),
    address: undefined,
    signer: undefined,
  };
}

/** A modest share of transactions never lands, and is known not to only when its blockhash has expired. */
const PAPER_DROP_PROBABILITY = 0.01;
const PAPER_EXPIRY_MS = 70_000;
