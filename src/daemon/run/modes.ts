import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { latencyAt } from '../../backtest/models/latency.ts';
import { attemptCosts } from '../../backtest/models/swap-costs.ts';
import { knownQuantiles } from '../../config/schema-backtest.ts';
import type { Lamports } from '../../core/amount.ts';
import { lamports } from '../../core/amount.ts';
import { assert } from '../../core/assert.ts';
import { GannetError } from '../../core/errors.ts';
import { seededRandom } from '../../core/random.ts';
import { journalled } from '../../execution/journalled.ts';
import type { ExecutorPorts } from '../../execution/ports.ts';
import { createLiveExecutor } from '../../execution/live-executor.ts';
import { createPaperExecutor } from '../../execution/paper-executor.ts';
import type { Millis } from '../../core/time.ts';
import { ACCEPT_COUNTERS_FLAG } from '../../signer/command-process.ts';
import type { KeptFile } from '../../signer/counters/kept-files.ts';
import { countersFiles } from '../../signer/counters/spend-counters.ts';
import { openJournal } from '../../store/journal.ts';
import { lockWallet } from '../../store/locks.ts';
import type { WriteBehindJournal } from '../../store/write-behind-journal.ts';
import { createWriteBehindJournal } from '../../store/write-behind-journal.ts';
import type { WideningOrder } from '../control/order-audit.ts';
import { commandOrigin } from '../control/order-origin.ts';
import { refuseLostHistory, refuseOtherChain } from '../files/lost-history.ts';
import { journalWhileKept, signingWhileKept } from '../watch/state-watch.ts';
import { createWalletKeeper } from '../watch/ledger-reconciliation.ts';
import { openSigner } from './open-signer.ts';
import { beginOnNewChain, recoverState } from './recover.ts';
import type { AttemptCostModel } from '../../trading/simulation-model.ts';
import type { OrderOptions } from '../../trading/swap-options.ts';
import { NO_SWAP_OPTIONS } from '../../trading/swap-options.ts';
import type { ModeParts, ModeScope } from './run-options.ts';

/** Opens the parts of a live run. `mayTryAgain` asks risk before a further attempt; `ledger` reads the books. */
export async function liveParts(
  scope: ModeScope, { mayTryAgain, ledger }: Required<Pick<ExecutorPorts, 'mayTryAgain' | 'ledger'>>,
): Promise<ModeParts> {
  const { options, setup, resources, stateWatch, audit } = scope;
  const { config, connections, clock, log, stateDir } = options;
  const { chain, sandbox } = connections;
  if (chain === undefined) {
    throw new GannetError('CONFIG_INVALID', 'live trading needs chain.rpc_url: without it no outcome could be proven');
  }
  refuseOtherChain(stateDir, { isEmbedded: sandbox !== undefined });
  const signer = await openSigner(options);
  // An embedded chain belongs to this daemon, so no other daemon has its wallet.
  if (sandbox === undefined) {
    const lock = await lockWallet({ address: signer.address, clock });
    resources.add('wallet lock', () => { lock.release(); });
  }
  // The spending of the embedded wallet is not counted. A signer of another user watches its files alone.
  const { countersDir, capsFullUntil } = signer.description;
  if (countersDir !== undefined && mayEnter(countersDir))
    for (const file of countersFiles(countersDir)) stateWatch.add(file);
  const journalPath = join(stateDir, 'journal.sqlite');
  const journal = openWriteBehind(scope, journalPath);
  const widenings: WideningOrder[] = signer.description.countersAccepted === true ? [ACCEPTED_COUNTERS] : [];
  for (const order of widenings) audit.write(order);
  const accepted = await refuseLostHistory({
    journal, journalPath, stateDir, signer: signer.description, chain: sandbox === undefined ? chain : undefined,
    mints: config.tokens.all.map(({ mint }) => mint), clock,
    accept: options.acceptNewJournal !== true ? undefined : (what) => {
      const order = acceptOrder(what);
      audit.write(order);
      widenings.push(order);
    },
  });
  const isFirst = sandbox !== undefined || journal.loadSnapshot() === undefined;
  const wallet = isFirst ? await chain.balances(signer.address, { agreed: true }) : new Map();
  const swaps = new Map(config.strategies.map(({ name, swap }) => [name, swap]));
  const isNewChain = sandbox !== undefined && journal.loadSnapshot() !== undefined;
  return {
    executor: createLiveExecutor({
      service: connections.service.swap, chain, signer: signingWhileKept(signer, stateWatch), journal, clock,
      swapOptions: (strategy) => swaps.get(strategy) ?? NO_SWAP_OPTIONS,
      mayTryAgain, ledger, maxQuoteAgeMs: config.limits.maxQuoteAgeMs, maxQuoteAgeSlots: config.limits.maxQuoteAgeSlots,
    }),
    journal,
    recovered: sandbox === undefined ? recoverState(journal, setup, wallet) : beginOnNewChain(journal, wallet),
    walletKeeper: createWalletKeeper({
      wallet: signer.address, chain, journal, clock,
      onFault: (error) => { log('warn', 'the ledger could not be compared with the chain', { error }); },
    }),
    isNewLedger: isNewChain,
    address: signer.address,
    signer: signer.description,
    notices: [
      ...(accepted === undefined ? [] : [accepted]), ...(isNewChain ? [NEW_CHAIN] : []),
      ...(capsFullUntil === undefined || capsFullUntil <= clock.now() ? [] : [capsFull(capsFullUntil)]),
    ],
    widenings,
  };
}

const ACCEPTED_COUNTERS: WideningOrder = {
  action: 'accept-new-counters', origin: commandOrigin(`gannet run ${ACCEPT_COUNTERS_FLAG}`),
  widens: 'the signer’s counters are accepted as they are: its caps start again at nothing',
};

/** Returns the order to trade with a state that lacks entries. */
function acceptOrder(what: string): WideningOrder {
  return {
    action: 'accept-new-journal', origin: commandOrigin('gannet run --accept-new-journal'),
    widens: `the state is accepted as it is: ${what}`,
  };
}

function mayEnter(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function capsFull(until: Millis): string {
  return `the signer’s counters were missing, altered or an older copy: every cap counts as used until ${
    new Date(until).toISOString().slice(0, 19)}Z, unless you start once with ${ACCEPT_COUNTERS_FLAG}`;
}

const NEW_CHAIN = 'the embedded chain is new: it has new balances, and positions, keys and strategy states of earlier '
  + 'runs are dropped';

/** Opens the parts of a paper run. */
export function paperParts(scope: ModeScope): ModeParts {
  const { options: { config, connections, clock }, setup } = scope;
  const swaps = new Map(config.strategies.map(({ name, swap }) => [name, swap]));
  const journal = openWriteBehind(scope, join(scope.options.stateDir, 'journal-paper.sqlite'));
  // No money is at stake, so the run goes on with the rest of the ledger.
  const isCut = journal.standing().writtenTo !== undefined;
  if (isCut) journal.acceptAsIs();
  const saved = journal.loadSnapshot();
  const { setting, latency: { land }, landing, costs } = config.backtest.model;
  const landLatency = knownQuantiles(land);
  assert(landLatency, 'a paper run is refused where its latency is to come from a recording');
  const executor = createPaperExecutor({
    service: connections.service.swap,
    clock,
    random: seededRandom(`${config.seed}:paper`),
    swapOptions: (strategy) => swaps.get(strategy) ?? NO_SWAP_OPTIONS,
    model: {
      setting, landLatencyMs: latencyAt(landLatency, 0.5), feeLamports: (order) => paperFee(costs, order),
      dropProbability: landing.dropProbability, expiryMs: landing.expiryMs,
    },
  });
  return {
    executor: journalled(executor, journal),
    journal,
    recovered: recoverState(journal, setup, saved === undefined ? config.backtest.balances : undefined),
    walletKeeper: undefined,
    isNewLedger: false,
    address: undefined,
    signer: undefined,
    notices: isCut
      ? ['the journal of paper runs lacks its last entries: its WAL was deleted, or the file is an older copy'] : [],
    widenings: [],
  };
}

/** The network's costs of a swap on paper: a fee that the configuration names takes the place of the model's. */
function paperFee(costs: AttemptCostModel, { priorityFeeLamports, bundleTipLamports }: OrderOptions): Lamports {
  const { baseLamports, priorityLamports, tipLamports } = attemptCosts(costs);
  return lamports(baseLamports + (priorityFeeLamports ?? priorityLamports) + (bundleTipLamports ?? tipLamports));
}

function journalFiles(path: string): readonly KeptFile[] {
  return [{ name: 'the journal', path }, { name: 'the WAL of the journal', path: `${path}-wal` }];
}

function openWriteBehind(
  { options: { clock, log }, resources, diskGuard, stateWatch, metrics }: ModeScope, path: string,
): WriteBehindJournal {
  const onHeadFault =
    (
      error: unknown,
    ): void => { log('warn', 'the file with the journal’s last position could not be written', { error }); };
  const kept = journalWhileKept(metrics.timed(openJournal({ path, clock, onHeadFault })), stateWatch);
  const journal = createWriteBehindJournal(kept, {
    clock,
    onFault: (error) => {
      // More room would not help.
      if (stateWatch.fault() !== undefined) return false;
      return diskGuard.failed('the journal', error);
    },
    onWritten: () => { diskGuard.recovered('the journal'); },
  });
  metrics.journalsTo(journal);
  resources.add('journal', () => { journal.close(); });
  for (const file of journalFiles(path)) stateWatch.add(file);
  return journal;
}
