import type { Command } from 'commander';
import type { CommandModule, RunCommand } from './command.ts';

/** The commands that a module adds, and how it is loaded. */
interface CommandEntry {
  readonly names: readonly string[];
  readonly load: () => Promise<CommandModule>;
}

/** Commands and flags that move money, or allow a daemon to move it: an error never suggests them for a typo. */
export const NEVER_SUGGESTED: ReadonlySet<string> =
  new Set(['run', 'swap', 'sell', 'execute', 'resume', 'flatten', 'resolve', 'close-empty', 'signer', '--live',
    '--accept-new-counters', '--yes', '--despite-balance']);

const researchCommands = () => import('./commands/research/research-commands.ts');

/** All commands by the headings of the help, in its order. Running one command loads no other. */
export const COMMANDS: Readonly<Record<string, readonly CommandEntry[]>> = {
  'Trading:': [
    { names: ['run'], load: async () => (await import('./commands/trading/run.ts')).runDaemonCommand },
    { names: ['status'], load: async () => (await import('./commands/daemon/status.ts')).statusCommand },
    { names: ['logs'], load: async () => (await import('./commands/daemon/logs.ts')).logsCommand },
    { names: ['page'], load: async () => (await import('./commands/daemon/page.ts')).pageCommand },
    { names: ['swap'], load: async () => (await import('./commands/trading/swap.ts')).swapCommand },
    { names: ['sell'], load: async () => (await import('./commands/trading/sell.ts')).sellCommand },
    { names: ['execute'], load: async () => (await import('./commands/trading/execute.ts')).executeCommand },
    { names: ['wallet'], load: async () => (await import('./commands/trading/wallet.ts')).walletCommand },
    { names: ['signer'], load: async () => (await import('./commands/trading/signer.ts')).signerCommand },
  ],
  'Control of the running daemon:': [
    { names: ['halt', 'resume', 'reduce-only', 'flatten', 'pause'], load: async () =>
      (await import('./commands/daemon/control.ts')).operatorCommands },
    { names: ['reload'], load: async () => (await import('./commands/daemon/reload.ts')).reloadCommand },
    { names: ['notify'], load: async () => (await import('./commands/daemon/notify.ts')).notifyCommand },
    { names: ['stop'], load: async () => (await import('./commands/daemon/stop.ts')).stopCommand },
  ],
  'Decisions and journal:': [
    { names: ['explain'], load: async () => (await import('./commands/daemon/explain.ts')).explainCommand },
    { names: ['journal'], load: async () => (await import('./commands/daemon/journal.ts')).journalCommand },
    { names: ['state'], load: async () => (await import('./commands/daemon/state.ts')).stateCommand },
    { names: ['resolve'], load: async () => (await import('./commands/daemon/resolve.ts')).resolveCommand },
  ],
  'Profit:': [
    { names: ['profit'], load: async () => (await import('./commands/profit/profit.ts')).profitCommand },
    { names: ['trades'], load: async () => (await import('./commands/profit/trades.ts')).tradesCommand },
    { names: ['daily'], load: async () => (await import('./commands/profit/trades.ts')).dailyCommand },
  ],
  'Setup and recordings:': [
    { names: ['init'], load: async () => (await import('./commands/strategy/scaffold.ts')).initCommand },
    { names: ['sandbox'], load: async () => (await import('./commands/sandbox.ts')).sandboxCommand },
    { names: ['rehearse'], load: async () =>
      (await import('./commands/trading/rehearse.ts')).rehearseCommand },
    { names: ['doctor'], load: async () => (await import('./commands/daemon/doctor.ts')).doctorCommand },
    { names: ['completion'], load: async () =>
      (await import('./commands/completion.ts')).completionCommand(addCommands) },
    { names: ['config'], load: async () => (await import('./commands/config.ts')).configCommand },
    { names: ['record'], load: async () => (await import('./commands/recording/record.ts')).recordCommand },
    { names: ['runs'], load: async () => (await import('./commands/recording/list.ts')).runsCommand },
    { names: ['prune'], load: async () => (await import('./commands/recording/prune.ts')).pruneCommand },
    { names: ['recording'], load: async () => (await import('./commands/recording/recording.ts')).recordingCommand },
  ],
  'Strategies:': [
    { names: ['strategy'], load: async () => (await import('./commands/strategy/strategy.ts')).strategyCommand },
  ],
  'Research:': [
    { names: ['backtest'], load: async () => (await researchCommands()).backtestCommand },
    { names: ['sweep'], load: async () => (await researchCommands()).sweepCommand },
    { names: ['walk-forward'], load: async () =>
      (await researchCommands()).walkForwardCommand },
    { names: ['lookahead'], load: async () => (await researchCommands()).lookaheadCommand },
    { names: ['replay'], load: async () => (await researchCommands()).replayCommand },
    { names: ['compare'], load: async () => (await import('./commands/research/compare.ts')).compareCommand },
    { names: ['analyze'], load: async () => (await import('./commands/research/analyze.ts')).analyzeCommand },
  ],
  'Swap requests (nothing is signed):': [
    { names: ['quote'], load: async () => (await import('./commands/service/quote.ts')).quoteCommand },
    { names: ['order'], load: async () => (await import('./commands/service/order.ts')).orderCommand },
    { names: ['build'], load: async () => (await import('./commands/service/build.ts')).buildCommand },
    { names: ['inspect-transaction'], load: async () =>
      (await import('./commands/service/inspect-transaction.ts')).inspectTransactionCommand },
  ],
  'Tokens:': [
    { names: ['tokens'], load: async () => (await import('./commands/service/tokens.ts')).tokensCommand },
    { names: ['discover'], load: async () => (await import('./commands/service/discover.ts')).discoverCommand },
  ],
  'Prediction markets:': [
    { names: ['events'], load: async () => (await import('./commands/service/events.ts')).eventsCommand },
    { names: ['markets'], load: async () => (await import('./commands/service/markets.ts')).marketsCommand },
    { names: ['order-book'], load: async () => (await import('./commands/service/order-book.ts')).orderBookCommand },
    { names: ['positions'], load: async () => (await import('./commands/service/positions.ts')).positionsCommand },
    { names: ['history'], load: async () => (await import('./commands/service/history.ts')).historyCommand },
  ],
  'Superseded and additional endpoints:': [
    { names: ['v1'], load: async () => (await import('./commands/service/v1.ts')).v1Command },
    { names: ['lend'], load: async () => (await import('./commands/service/lend.ts')).lendCommand },
  ],
  'Benchmark:': [
    { names: ['bench'], load: async () => (await import('./commands/bench.ts')).benchCommand },
  ],
};

/**
 * Adds the command that a command line names to the program. Adds all commands when it names none that exists, so that
 * help lists them and an error suggests the nearest.
 */
export async function addCommands(
  program: Command, { argv, run }: { readonly argv: readonly string[]; readonly run: RunCommand },
): Promise<void> {
  const named = operandOf(program, argv.slice(2));
  const isNamed = ({ names }: CommandEntry): boolean => named !== undefined && names.includes(named);
  const isKnown = Object.values(COMMANDS).flat().some(isNamed);
  for (const [heading, entries] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const entry of entries) if (!isKnown || isNamed(entry)) (await entry.load())(program, run);
  }
}

/** Returns the first word that is neither an option of the program nor an option's value. */
function operandOf(program: Command, words: readonly string[]): string | undefined {
  const takesNext = new Set(program.options.filter(({ required }) => required).map(({ long }) => long));
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i]!;
    if (!word.startsWith('-')) return word;
    if (takesNext.has(word)) i += 1;
  }
  return undefined;
}
