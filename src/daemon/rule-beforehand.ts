import { join } from 'node:path';
import type { RunConfig, StrategyConfig } from '../config/run-config.ts';
import type { GannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Quote } from '../market/quote.ts';
import type { SignerDescription } from '../signer/requests.ts';
import type { JournalView } from '../store/journal-view.ts';
import { openJournalView } from '../store/journal-view.ts';
import { beginRun } from '../trading/begin-run.ts';
import { writeBalances } from '../trading/book-snapshot.ts';
import type { Command } from '../trading/command.ts';
import type { DenialCode } from '../trading/denials.ts';
import type { SwapProposal } from '../trading/proposal.ts';
import type { Denial } from '../trading/risk/denial.ts';
import type { EngineState } from '../trading/state.ts';
import { createState } from '../trading/state.ts';
import { step } from '../trading/step.ts';
import { CRASH_LIMIT, crashesInARow } from './crash-count.ts';
import { findLostHistory } from './lost-history.ts';
import { readState } from './recover.ts';
import { safeModeCommand } from './safe-mode.ts';
import { stopFileOf } from './stop-file.ts';
import type { World } from './world.ts';

/** The state directory and the wallet of a run that has not started. */
export interface BeforehandScope {
  readonly config: RunConfig;
  readonly world: Pick<World, 'chain'>;
  readonly stateDir: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly wallet: Pick<SignerDescription, 'address' | 'signed'>;
}

/** A swap by hand, and the price that it is held against. */
export interface BeforehandSwap {
  readonly strategy: StrategyConfig;
  readonly proposal: SwapProposal;
  readonly quote: Quote;
}

/** What the limits say of a swap that was not proposed yet. */
export interface BeforehandRuling {
  readonly denial: Denial;
  /** Whether nothing that the start of a run still finds out could change it. */
  readonly isCertain: boolean;
}

/** What depends on neither a price nor on what becomes of open swaps. */
const CERTAIN: ReadonlySet<string> = new Set<DenialCode>([
  'TRADING_HALTED', 'TRADING_REDUCE_ONLY', 'PROPOSAL_INVALID', 'SLIPPAGE_EXCEEDS_MAX', 'RATE_PER_MINUTE', 'RATE_PER_HOUR', 'RATE_PER_DAY',
]);
/** Of the wallet as the chain has it: certain where no open swap changes it. */
const OF_THE_WALLET: ReadonlySet<string> = new Set<DenialCode>(['BALANCE_INSUFFICIENT', 'SOL_RESERVE']);

/** Returns what a live start in a state directory would refuse as lost; undefined where nothing is missing. Writes nothing. */
export async function lostBeforehand({ config, world: { chain }, stateDir, clock, wallet }: BeforehandScope): Promise<GannetError | undefined> {
  const journalPath = join(stateDir, 'journal.sqlite');
  return await viewing(journalPath, (journal) => findLostHistory({
    journal, journalPath, stateDir, signer: wallet, chain, mints: config.tokens.all.map(({ mint }) => mint), clock,
  }));
}

/**
 * Rules on a swap by hand with the limits of a live run and the state that its journal restores; nothing is carried out or
 * written. The look at the token is taken for good: the run makes it. Undefined where nothing refuses it.
 */
export async function ruleBeforehand(scope: BeforehandScope, swap: BeforehandSwap): Promise<BeforehandRuling | undefined> {
  return await viewing(join(scope.stateDir, 'journal.sqlite'), (journal) => ruleOver(journal, scope, swap));
}

async function viewing<T>(path: string, look: (journal: JournalView) => Promise<T | undefined>): Promise<T | undefined> {
  const journal = openJournalView(path);
  if (journal === undefined) return undefined;
  try {
    return await look(journal);
  } finally {
    journal.close();
  }
}

async function ruleOver(
  journal: JournalView, { config, world: { chain }, stateDir, clock, wallet }: BeforehandScope, { strategy, proposal, quote }: BeforehandSwap,
): Promise<BeforehandRuling | undefined> {
  const { name, budget, maxAgeMs, maxExposure, isByHand } = strategy;
  const setup = { tokens: config.tokens, limits: config.limits, strategies: [{ name, budget, limits: { maxAgeMs, maxExposure }, isByHand }] };
  const balances = await chain?.balances(wallet.address);
  const { snapshot, open } = readState(journal, setup, balances);
  // A start holds the ledger against the chain before anything is proposed; with open swaps that takes their outcomes.
  const held = open.length > 0 || balances === undefined ? snapshot : { ...snapshot, wallet: writeBalances(balances) };
  const state = createState({ ...setup, snapshot: held, open });
  const now = clock.now();
  beginRun(state, now);
  for (const command of wordsBefore(journal, { state, stateDir, now, proposal })) step(state, 0, now, command);
  step(state, 0, now, quote);
  const { denial } = step(state, 0, now, { kind: 'proposal', strategy: name, proposal }) ?? {};
  if (denial === undefined) return undefined;
  const { code } = denial;
  const isOwnUnit = code === 'TRADE_EXCEEDS_MAX' && config.limits.maxTrade?.mint === proposal.inputMint;
  return { denial, isCertain: CERTAIN.has(code) || isOwnUnit || (open.length === 0 && OF_THE_WALLET.has(code)) };
}

/** What a start is told before its first proposal: by its crashes, by the file STOP, and of the token. */
function wordsBefore(
  journal: JournalView,
  { state, stateDir, now, proposal }: { readonly state: EngineState; readonly stateDir: string; readonly now: Millis; readonly proposal: SwapProposal },
): Command[] {
  const crashes = crashesInARow(journal.listRuns({ limit: CRASH_LIMIT.crashes }), now);
  const stopFile = stopFileOf(stateDir);
  const stop = stopFile.read();
  const isActive = state.trading !== 'halted';
  return [
    ...(isActive && crashes >= CRASH_LIMIT.crashes ? [safeModeCommand(crashes)] : []),
    ...(isActive && stop !== undefined
      ? [{ kind: 'command', name: 'set-trading-state', state: 'halted', by: 'stop-file', reason: stop === '' ? stopFile.path : stop } as const] : []),
    { kind: 'command', name: 'judge-token', mint: proposal.outputMint, findings: [], reason: 'the run looks at it' },
  ];
}
