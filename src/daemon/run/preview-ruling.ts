import { join } from 'node:path';
import type { RunConfig, StrategyConfig } from '../../config/run-config.ts';
import type { GannetError } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { Quote } from '../../market/quote.ts';
import type { SignerDescription } from '../../signer/channel/channel-protocol.ts';
import type { JournalView } from '../../store/journal-reader.ts';
import { openJournalView } from '../../store/journal-reader.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { beginRun, createState } from '../../trading/engine-state.ts';
import { writeBalances } from '../../trading/book-snapshot.ts';
import type { Command } from '../../trading/engine-command.ts';
import type { Denial, DenialCode } from '../../trading/limits.ts';
import type { SwapProposal } from '../../trading/proposal.ts';
import { step } from '../../trading/step.ts';
import { findLostHistory } from '../files/lost-history.ts';
import { stopFileOf } from '../watch/stop-file.ts';
import type { Connections } from './connections.ts';
import { readState } from './recover.ts';
import { CRASH_LIMIT, crashesInARow, safeModeCommand } from './safe-mode.ts';

/** The state directory and the wallet of a run that has not started. */
interface PreviewScope {
  readonly config: RunConfig;
  readonly connections: Pick<Connections, 'chain'>;
  readonly stateDir: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly wallet: Pick<SignerDescription, 'address' | 'signed'>;
  /** Before the wallet was asked for: a daemon beside may sign meanwhile. */
  readonly countedAt: Millis;
}

/** A manual swap, and the quote that prices it. */
interface PreviewSwap {
  readonly strategy: StrategyConfig;
  readonly proposal: SwapProposal;
  readonly quote: Quote;
}

/** The refusal of a swap before it is proposed. */
export interface PreviewRuling {
  readonly denial: Denial;
  /** Whether the start of a run cannot change it. */
  readonly isCertain: boolean;
}

/** Denials that depend neither on a price nor on the outcome of open swaps. */
const CERTAIN: ReadonlySet<string> = new Set<DenialCode>([
  'TRADING_HALTED', 'TRADING_REDUCE_ONLY', 'PROPOSAL_INVALID', 'SLIPPAGE_EXCEEDS_MAX', 'RATE_PER_MINUTE',
  'RATE_PER_HOUR', 'RATE_PER_DAY',
]);
/** Denials that depend on the wallet: certain without open swaps. */
const OF_THE_WALLET: ReadonlySet<string> = new Set<DenialCode>(['BALANCE_INSUFFICIENT', 'SOL_RESERVE']);

/** Returns the error of a live start with lost state files; undefined where nothing is missing. Writes nothing. */
export async function previewLostHistory(
  { config, connections: { chain }, stateDir, clock, wallet, countedAt }: PreviewScope,
): Promise<GannetError | undefined> {
  const journalPath = join(stateDir, 'journal.sqlite');
  return await withJournal(journalPath, (journal) => findLostHistory({
    journal, journalPath, stateDir, signer: wallet, chain, mints: config.tokens.all.map(({ mint }) => mint), clock,
    countedAt,
  }));
}

/**
 * Rules on a manual swap with the limits of a live run and the state in its journal, without executing or writing
 * anything. The token check is assumed to pass, because the run makes it. Undefined where nothing refuses the swap.
 */
export async function previewRuling(scope: PreviewScope, swap: PreviewSwap): Promise<PreviewRuling | undefined> {
  return await withJournal(join(scope.stateDir, 'journal.sqlite'), (journal) => ruleOn(journal, scope, swap));
}

async function withJournal<T>(
  path: string, read: (journal: JournalView) => Promise<T | undefined>,
): Promise<T | undefined> {
  const journal = openJournalView(path);
  if (journal === undefined) return undefined;
  try {
    return await read(journal);
  } finally {
    journal.close();
  }
}

async function ruleOn(
  journal: JournalView, { config, connections: { chain }, stateDir, clock, wallet }: PreviewScope,
  { strategy, proposal, quote }: PreviewSwap,
): Promise<PreviewRuling | undefined> {
  const { name, budget, maxAgeMs, maxExposure, swap, isManual } = strategy;
  const setup = {
    tokens: config.tokens, limits: config.limits,
    strategies: [{ name, budget, limits: { maxAgeMs, maxExposure, route: swap?.route }, isManual }],
  };
  const balances = await chain?.balances(wallet.address);
  const { snapshot, open } = readState(journal, setup, balances);
  // A start compares the ledger with the chain before any proposal. With open swaps that needs their outcomes.
  const held = open.length > 0 || balances === undefined ? snapshot : { ...snapshot, wallet: writeBalances(balances) };
  const state = createState({ ...setup, snapshot: held, open });
  const now = clock.now();
  beginRun(state, now);
  for (const command of startCommands(journal, { state, stateDir, now, proposal })) step(state, 0, now, command);
  step(state, 0, now, quote);
  const { denial } = step(state, 0, now, { kind: 'proposal', strategy: name, proposal }) ?? {};
  if (denial === undefined) return undefined;
  const { code } = denial;
  const isOwnUnit = code === 'TRADE_EXCEEDS_MAX' && config.limits.maxTrade?.mint === proposal.inputMint;
  return { denial, isCertain: CERTAIN.has(code) || isOwnUnit || (open.length === 0 && OF_THE_WALLET.has(code)) };
}

/** Returns the commands of a start before its first proposal: safe mode, the file STOP, and the token check. */
function startCommands(
  journal: JournalView,
  { state, stateDir, now, proposal }: {
    readonly state: EngineState; readonly stateDir: string; readonly now: Millis; readonly proposal: SwapProposal;
  },
): Command[] {
  const crashes = crashesInARow(journal.listRuns({ limit: CRASH_LIMIT.crashes }), now);
  const stopFile = stopFileOf(stateDir);
  const stop = stopFile.read();
  const isActive = state.trading !== 'halted';
  return [
    ...(isActive && crashes >= CRASH_LIMIT.crashes ? [safeModeCommand(crashes)] : []),
    ...(isActive && stop !== undefined
      ? [{
        kind: 'command', name: 'set-trading-state', state: 'halted', by: 'stop-file',
        reason: stop === '' ? stopFile.path : stop,
      } as const] : []),
    { kind: 'command', name: 'judge-token', mint: proposal.outputMint, findings: [], reason: 'the run checks it' },
  ];
}
