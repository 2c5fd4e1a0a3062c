import { existsSync, writeFileSync } from 'node:fs';
import { Option } from 'commander';
import type { Command } from 'commander';
import { ensureWritable } from './files.ts';
import type { CommandContext } from '../command.ts';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import { daemonClient } from '../../daemon/control/control-client.ts';
import { historyPath, journalPath, knownTokens } from '../../daemon/files/find-run.ts';
import type { Mint, TokenTable } from '../../market/token.ts';
import type { Booked } from '../../profit/ledger.ts';
import { ProfitLedger } from '../../profit/ledger.ts';
import type { Pricing } from '../../profit/prices.ts';
import { lastPricing } from '../../profit/prices.ts';
import { ProfitResults } from '../../profit/results.ts';
import type { ProfitStatement } from '../../profit/statement.ts';
import { openHistoryReader } from '../../store/history.ts';
import { readProfitRecords } from '../../store/journal-reader.ts';
import type { ProfitRecords } from '../../store/journal-reader.ts';

/** The flags that choose between live and paper trading. */
export interface ModeFlags {
  readonly paper?: boolean;
  readonly live?: boolean;
}

type Mode = 'live' | 'paper';

/** Adds the flags that choose between live and paper trading. */
export function withModeFlags(command: Command): Command {
  return command
    .addOption(new Option('--paper', 'paper trading').conflicts('live'))
    .option('--live', 'live trading; by default that of the running daemon, else live where there is a journal');
}

/** What the journal of a mode says. */
interface ProfitInput {
  readonly mode: Mode;
  readonly records: ProfitRecords;
  readonly ledger: ProfitLedger;
  readonly results: ProfitResults;
  readonly booked: readonly Booked[];
  readonly tokens: TokenTable;
}

/** Reads the journal of the chosen mode. Throws RUN_NOT_FOUND where nothing was traded. */
export function readProfit({ options: { stateDir } }: CommandContext, mode: Mode): ProfitInput {
  const path = journalPath(stateDir, mode);
  const records = readProfitRecords(path);
  if (records === undefined) {
    const other = existsSync(journalPath(stateDir, mode === 'paper' ? 'live' : 'paper'));
    const where = !other ? 'with this state directory yet'
      : mode === 'paper' ? 'on paper with this state directory' : 'live with this state directory, only on paper';
    throw new GannetError('RUN_NOT_FOUND', `there is no journal ${path}: nothing was traded ${where}`);
  }
  const ledger = new ProfitLedger(records.budgets, records.ledgerStarts);
  const results = new ProfitResults();
  const booked = records.swaps.map((swap) => ledger.add(swap));
  for (const each of booked) results.add(each);
  const mints = new Set<Mint>([
    ...records.swaps.flatMap(({ inputMint, outputMint }) => [inputMint, outputMint]),
    ...records.adjustments.map(({ mint }) => mint), ...Object.values(records.budgets).map(({ mint }) => mint),
  ]);
  return { mode, records, ledger, results, booked, tokens: knownTokens(stateDir, mints) };
}

/** Returns the statement of the running daemon; undefined without one, or where it does not answer. */
export async function runningStatement(context: CommandContext): Promise<ProfitStatement | undefined> {
  try {
    return await daemonClient(context).get('/api/profit') as unknown as ProfitStatement | undefined;
  } catch (error) {
    if (!isGannetError(error)) throw error;
    // Without a daemon the journal says all but the present prices.
    if (error.code !== 'CONTROL_UNREACHABLE')
      context.terminal.err(`${error.message}; the last known prices are used\n`);
    return undefined;
  }
}

/** Returns the mode that the flags choose, else that of the running daemon, else the one that has a journal. */
export function chosenMode(
  { options: { stateDir } }: CommandContext, { paper, live }: ModeFlags, running: ProfitStatement | undefined,
): Mode {
  if (paper === true) return 'paper';
  if (live === true) return 'live';
  return running?.mode ?? (existsSync(journalPath(stateDir, 'live')) ? 'live' : 'paper');
}

/** Returns values by the last prices that a daemon kept. */
export function keptPricing({ terminal, options: { stateDir } }: CommandContext, mode: Mode): Pricing {
  try {
    const history = openHistoryReader(historyPath(stateDir, mode));
    if (history === undefined) return lastPricing([]);
    try {
      return lastPricing(history.lastPrices());
    } finally {
      history.close();
    }
  } catch (error) {
    if (!isGannetError(error)) throw error;
    terminal.err(`positions have no value: ${error.message}\n`);
    return lastPricing([]);
  }
}

/** Writes a file that only its owner can read. Throws USAGE where it cannot be written. */
export function writePrivate(file: string, option: string, text: string): void {
  ensureWritable(file, option);
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch (cause) {
    throw new GannetError(
      'USAGE', `${option} ${printable(file)} cannot be written: ${messageOf(cause)}; name another file`, { cause },
    );
  }
}
