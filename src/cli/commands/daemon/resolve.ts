import { Option } from 'commander';
import { createChain } from '../../../chain/chain.ts';
import type { CommandContext, CommandModule } from '../../command.ts';
import { example } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { openConfigured } from '../../input/service-request.ts';
import { snakeCased } from '../../output/answer-json.ts';
import { GannetError, isGannetError } from '../../../core/errors.ts';
import { parseJson, stringifyJson } from '../../../core/json.ts';
import { printable } from '../../../core/text.ts';
import { daemonClient } from '../../../daemon/control/control-client.ts';
import type { OrderKeeper } from '../../../daemon/control/order-audit.ts';
import { createOrderKeeper, openOrderAudit, resolveOrder } from '../../../daemon/control/order-audit.ts';
import { commandOrigin } from '../../../daemon/control/order-origin.ts';
import type { Log } from '../../../daemon/reporting/log.ts';
import { wideningAlert } from '../../../daemon/reporting/alert-text.ts';
import { journalPath, latestTokens } from '../../../daemon/files/find-run.ts';
import { takeOverState } from '../../../daemon/state/take-over.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';
import type { Resolution } from '../../../execution/operator-resolution.ts';
import { resolveIntent } from '../../../execution/operator-resolution.ts';
import { withTokenNames } from '../../../market/market-text.ts';
import { untilInterrupted } from '../../../recording/interrupt.ts';
import { countersFolder } from '../../../signer/counters/spend-counters.ts';
import { openJournalReader } from '../../../store/journal-reader.ts';
import type { JournalStore } from '../../../store/journal.ts';
import { openJournal } from '../../../store/journal.ts';
import { lockState } from '../../../store/locks.ts';
import type { Outcome } from '../../../trading/intent.ts';
import { isTerminal } from '../../../trading/intent.ts';

const WORDS = ['landed', 'expired', 'failed', 'abandoned'] as const;
/** The daemon asks the chain first, which takes time. */
const TIMEOUT_MS = 60_000;

interface Flags {
  readonly as: (typeof WORDS)[number];
  readonly signature?: string;
  readonly despiteBalance?: boolean;
  readonly reason: string;
}

export const resolveCommand: CommandModule = (program, run) => {
  program.command('resolve <id>')
    .description('closes a swap of unknown outcome for good, on your word; the chain is asked first')
    .addHelpText('after', example('gannet resolve dca-12 --as expired --reason "no such transaction"'))
    .addOption(new Option('--as <outcome>', 'the outcome of the swap').choices(WORDS).makeOptionMandatory())
    .requiredOption('--reason <text>', 'how you know; kept in the journal')
    .option('--signature <signature>', 'with "landed": the signature of its transaction')
    .option(
      '--despite-balance', 'not with "landed": accepts that the wallet lacks the input, because you know where it went',
    )
    .action(run(resolve));
};

async function resolve(context: CommandContext, id: string, flags: Flags): Promise<ExitCode> {
  const word = wordOf(flags);
  const outcome = await throughDaemon(context, id, word).then((answer) => answer ?? resolveDirectly(context, id, word))
    .catch((error: unknown) => { throw errorWithTokens(context, error); });
  const document = parseJson(stringifyJson(snakeCased(outcome)));
  context.terminal.result(document, () => `  ${id} is ${outcome.state}: ${outcome.reason ?? word.reason}\n`);
  return EXIT.done;
}

/** Returns an error whose message has amounts in tokens instead of smallest units. */
function errorWithTokens({ options }: CommandContext, error: unknown): unknown {
  if (!isGannetError(error)) return error;
  return new GannetError(
    error.code, withTokenNames(latestTokens(options.stateDir), error.message), { details: error.details, cause: error },
  );
}

function wordOf({ as, signature, reason, despiteBalance }: Flags): Resolution {
  if (reason.trim() === '')
    throw new GannetError('USAGE', '--reason: expected how you know the outcome, got an empty text');
  if (as !== 'landed') {
    if (signature !== undefined)
      throw new GannetError('USAGE', `--signature goes with "--as landed" only: a swap that is ${as} has none`);
    return { as, reason, ...(despiteBalance === true ? { despite: 'balance' } : {}) };
  }
  if (signature === undefined)
    throw new GannetError('USAGE', '"--as landed" needs --signature: the amounts are booked from that transaction');
  if (despiteBalance === true) throw new GannetError(
    'USAGE', '--despite-balance does not go with "--as landed": the transaction shows what the wallet paid',
  );
  return { as, signature, reason };
}

/** Returns undefined when no daemon runs, so that no other process writes the journal. */
async function throughDaemon(context: CommandContext, id: string, word: Resolution): Promise<Outcome | undefined> {
  try {
    return await daemonClient(context).post(
      `/api/intents/${encodeURIComponent(id)}/resolve`, word, { timeoutMs: TIMEOUT_MS },
    ) as unknown as Outcome;
  } catch (error) {
    if (isGannetError(error) && error.code === 'CONTROL_UNREACHABLE') return undefined;
    throw error;
  }
}

/** The state's lock keeps a daemon from starting meanwhile, and fails when one runs. */
async function resolveDirectly(context: CommandContext, id: string, word: Resolution): Promise<Outcome> {
  const { stateDir } = context.options;
  const path = journalPath(stateDir, 'live');
  ensureOpen(path, id);
  const lock = lockState(stateDir, systemClock);
  try {
    const countersDir = countersFolder(stateDir, context.environment, process.cwd());
    await takeOverState({ stateDir, countersDir, clock: systemClock, log: logTo(context) });
    const journal = openJournal({ path, clock: systemClock });
    try {
      return await orderKeeper(context).carryOutAsync(
        resolveOrder(id, word, commandOrigin('gannet resolve')), () => resolveAgainstChain(context, journal, id, word),
      );
    } finally {
      journal.close();
    }
  } finally {
    lock.release();
  }
}

/** Without a daemon the log goes to standard error. */
function logTo({ terminal }: CommandContext): Log {
  return (_level, message) => { terminal.err(`${message}\n`); };
}

/** Without a daemon the alert goes to standard error; the next daemon repeats it. */
function orderKeeper(context: CommandContext): OrderKeeper {
  const { options: { stateDir }, terminal } = context;
  const audit = openOrderAudit({
    stateDir, runId: null, clock: systemClock, log: logTo(context),
  });
  return createOrderKeeper(audit, (order) => { terminal.err(`${wideningAlert(order).message}\n`); });
}

/** Checks the swap before anything is locked or connected. */
function ensureOpen(path: string, id: string): void {
  const reader = openJournalReader(path);
  if (reader === undefined)
    throw new GannetError('RUN_NOT_FOUND', `there is no journal ${path}: nothing was traded with this state directory`);
  try {
    const state = reader.show(id)?.state;
    if (state === undefined) throw new GannetError(
      'INTENT_UNKNOWN', `the journal has no swap ${printable(id, 100)}; "gannet journal list" lists its swaps`,
    );
    if (isTerminal(state)) throw new GannetError('RESOLVE_REFUSED', `${id} is ${state} already, and stays so`);
  } finally {
    reader.close();
  }
}

async function resolveAgainstChain(
  context: CommandContext, journal: JournalStore, id: string, word: Resolution,
): Promise<Outcome> {
  const payer = payerOf(journal, id);
  const { rpcUrl } = context.options;
  if (rpcUrl !== undefined && payer !== undefined) {
    // The chain and the wallet are known, so the service is not needed.
    return untilInterrupted(context.interrupt, createChain({ rpcUrl, clock: systemClock }), (chain) =>
      resolveIntent({ chain, owner: payer, journal }, id, word));
  }
  const { loaded: { config }, connections } = await openConfigured(context, 'read');
  return untilInterrupted(context.interrupt, connections, async () => {
    // An embedded chain started with this command, so it holds no transaction of an earlier run.
    const chain = connections.sandbox === undefined ? connections.chain : undefined;
    const owner = config.wallet.address ?? payer;
    if (owner === undefined && chain !== undefined) {
      throw new GannetError(
        'CONFIG_INVALID',
        'expected wallet.address in the configuration: the chain is asked for this wallet’s transactions',
      );
    }
    return resolveIntent({ chain, owner: owner ?? '', journal }, id, word);
  });
}

/** When the transaction id is our own signature, our wallet paid its fee. */
function payerOf(journal: JournalStore, id: string): string | undefined {
  const attempts = journal.openIntents().find(({ intent }) => intent.id === id)?.attempts ?? [];
  return attempts.find(({ signature, transactionId }) => signature === transactionId)?.feePayer;
}
