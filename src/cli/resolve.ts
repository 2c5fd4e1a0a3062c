import { Option } from 'commander';
import { createChain } from '../chain/chain.ts';
import { GannetError, isGannetError } from '../core/errors.ts';
import { parseJson, stringifyJson } from '../core/json.ts';
import { printable } from '../core/text.ts';
import { systemClock } from '../daemon/system-clock.ts';
import type { OperatorWord } from '../execution/resolve.ts';
import { resolveIntent } from '../execution/resolve.ts';
import { spoken } from '../market/market-text.ts';
import { openJournalReader } from '../store/journal-reader.ts';
import type { JournalStore } from '../store/journal.ts';
import { openJournal } from '../store/journal.ts';
import { lockState } from '../store/locks.ts';
import type { Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import { snakeCased } from './answer-json.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { openConfigured } from './configured.ts';
import { daemonClient } from './daemon-client.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { untilInterrupted } from './interrupt.ts';
import { journalPath, latestTokens } from './run-directories.ts';

const WORDS = ['landed', 'expired', 'failed', 'abandoned'] as const;
/** The chain is asked whether it says otherwise. */
const TIMEOUT_MS = 60_000;

interface Flags {
  readonly as: (typeof WORDS)[number];
  readonly signature?: string;
  readonly despiteBalance?: boolean;
  readonly reason: string;
}

export const resolveCommand: CommandModule = (program, run) => {
  program.command('resolve <id>')
    .description('your word on a swap of which nobody can say what became: closes it for good; the chain is asked first')
    .addOption(new Option('--as <outcome>', 'what became of it').choices(WORDS).makeOptionMandatory())
    .requiredOption('--reason <text>', 'how you know: it stays in the journal')
    .option('--signature <signature>', 'with "landed": the transaction that it landed as')
    .option('--despite-balance', 'not with "landed": also where the wallet lacks what would have been swapped, for you know where it went')
    .action(run(resolve));
};

async function resolve(context: CommandContext, id: string, flags: Flags): Promise<ExitCode> {
  const word = wordOf(flags);
  const outcome = await throughDaemon(context, id, word).then((told) => told ?? byItself(context, id, word)).catch((error: unknown) => { throw inWords(context, error); });
  const told = parseJson(stringifyJson(snakeCased(outcome)));
  context.terminal.result(told, () => `  ${id} is ${outcome.state}: ${outcome.reason ?? word.reason}\n`);
  return EXIT.done;
}

/** Why it is refused has amounts in smallest units: whoever reads it knows them by their tokens. */
function inWords({ options }: CommandContext, error: unknown): unknown {
  if (!isGannetError(error)) return error;
  return new GannetError(error.code, spoken(latestTokens(options.stateDir), error.message), { details: error.details, cause: error });
}

function wordOf({ as, signature, reason, despiteBalance }: Flags): OperatorWord {
  if (reason.trim() === '') throw new GannetError('USAGE', '--reason: expected how you know, got nothing');
  if (as !== 'landed') {
    if (signature !== undefined) throw new GannetError('USAGE', `--signature goes with "--as landed": what is ${as} has none`);
    return { as, reason, ...(despiteBalance === true ? { despite: 'balance' } : {}) };
  }
  if (signature === undefined) throw new GannetError('USAGE', '"--as landed" takes --signature: the amounts are booked from that transaction');
  if (despiteBalance === true) throw new GannetError('USAGE', '--despite-balance does not go with "--as landed": the transaction says what the wallet gave');
  return { as, signature, reason };
}

/** Undefined where no daemon runs: then nobody else writes the journal. */
async function throughDaemon(context: CommandContext, id: string, word: OperatorWord): Promise<Outcome | undefined> {
  try {
    return await daemonClient(context).post(`/api/intents/${encodeURIComponent(id)}/resolve`, word, { timeoutMs: TIMEOUT_MS }) as unknown as Outcome;
  } catch (error) {
    if (isGannetError(error) && error.code === 'CONTROL_UNREACHABLE') return undefined;
    throw error;
  }
}

/** The state's lock keeps a daemon from starting meanwhile, and says where one runs after all. */
async function byItself(context: CommandContext, id: string, word: OperatorWord): Promise<Outcome> {
  const { stateDir } = context.options;
  const path = journalPath(stateDir, 'live');
  ensureOpen(path, id);
  const lock = lockState(stateDir, systemClock);
  try {
    const journal = openJournal({ path, clock: systemClock });
    try {
      return await heldAgainstChain(context, journal, id, word);
    } finally {
      journal.close();
    }
  } finally {
    lock.release();
  }
}

/** Looked at before anything is locked or connected. */
function ensureOpen(path: string, id: string): void {
  const reader = openJournalReader(path);
  if (reader === undefined) throw new GannetError('RUN_NOT_FOUND', `there is no journal ${path}: nothing was traded with this state directory`);
  try {
    const state = reader.show(id)?.state;
    if (state === undefined) throw new GannetError('INTENT_UNKNOWN', `the journal has no swap ${printable(id, 100)}; "gannet journal list" shows what it has`);
    if (isTerminal(state)) throw new GannetError('RESOLVE_REFUSED', `${id} is ${state} already, and stays so`);
  } finally {
    reader.close();
  }
}

async function heldAgainstChain(context: CommandContext, journal: JournalStore, id: string, word: OperatorWord): Promise<Outcome> {
  const payer = payerOf(journal, id);
  const { rpcUrl } = context.options;
  if (rpcUrl !== undefined && payer !== undefined) {
    // All that it takes is there, whatever the service does meanwhile.
    return untilInterrupted(context.interrupt, createChain({ rpcUrl, clock: systemClock }), (chain) => resolveIntent({ chain, owner: payer, journal }, id, word));
  }
  const { loaded: { config }, world } = await openConfigured(context, 'look');
  return untilInterrupted(context.interrupt, world, async () => {
    // A chain that began with this command knows nothing of what an earlier one did.
    const chain = world.sandbox === undefined ? world.chain : undefined;
    const owner = config.wallet.address ?? payer;
    if (owner === undefined && chain !== undefined) {
      throw new GannetError('CONFIG_INVALID', 'expected wallet.address in the configuration: the chain is asked what this wallet did');
    }
    return resolveIntent({ chain, owner: owner ?? '', journal }, id, word);
  });
}

/** Where our own signature names the transaction, we are the one who paid for it. */
function payerOf(journal: JournalStore, id: string): string | undefined {
  const attempts = journal.openIntents().find(({ intent }) => intent.id === id)?.attempts ?? [];
  return attempts.find(({ signature, transactionId }) => signature === transactionId)?.feePayer;
}
