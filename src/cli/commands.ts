import type { Command } from 'commander';
import type { CommandModule, RunCommand } from './command.ts';

/** The commands that a module adds, and how it is loaded. */
export interface CommandEntry {
  readonly names: readonly string[];
  readonly load: () => Promise<CommandModule>;
}

/** What moves money, or lets a daemon move it: a typo must never suggest one of these. */
export const NEVER_SUGGESTED: ReadonlySet<string> = new Set(['run', 'swap', 'resume', 'flatten', 'resolve', 'close-empty', '--live', '--yes', '--despite-balance']);

/** All commands in the order of the help, by its headings. Whoever runs one loads no other. */
export const COMMANDS: Readonly<Record<string, readonly CommandEntry[]>> = {
  'Trading:': [
    { names: ['run'], load: async () => (await import('./run.ts')).runDaemonCommand },
    { names: ['status'], load: async () => (await import('./status.ts')).statusCommand },
    { names: ['swap'], load: async () => (await import('./swap.ts')).swapCommand },
    { names: ['wallet'], load: async () => (await import('./wallet.ts')).walletCommand },
  ],
  'Having the say over the running daemon:': [
    { names: ['halt', 'resume', 'reduce-only', 'flatten'], load: async () => (await import('./operator.ts')).operatorCommands },
    { names: ['stop'], load: async () => (await import('./stop.ts')).stopCommand },
  ],
  'Looking into what was done:': [
    { names: ['explain'], load: async () => (await import('./explain.ts')).explainCommand },
    { names: ['journal'], load: async () => (await import('./journal.ts')).journalCommand },
    { names: ['state'], load: async () => (await import('./state.ts')).stateCommand },
    { names: ['resolve'], load: async () => (await import('./resolve.ts')).resolveCommand },
  ],
  'Trying out:': [
    { names: ['sandbox'], load: async () => (await import('./sandbox.ts')).sandboxCommand },
    { names: ['config'], load: async () => (await import('./config.ts')).configCommand },
    { names: ['record'], load: async () => (await import('./record.ts')).recordCommand },
    { names: ['recording'], load: async () => (await import('./recording.ts')).recordingCommand },
    { names: ['backtest'], load: async () => (await import('./backtest.ts')).backtestCommand },
    { names: ['walk-forward'], load: async () => (await import('./walk-forward.ts')).walkForwardCommand },
    { names: ['sweep'], load: async () => (await import('./sweep.ts')).sweepCommand },
    { names: ['lookahead'], load: async () => (await import('./lookahead.ts')).lookaheadCommand },
    { names: ['replay'], load: async () => (await import('./replay.ts')).replayCommand },
    { names: ['analyze'], load: async () => (await import('./analyze.ts')).analyzeCommand },
  ],
  'Looking at swaps:': [
    { names: ['quote'], load: async () => (await import('./quote.ts')).quoteCommand },
    { names: ['order'], load: async () => (await import('./order.ts')).orderCommand },
    { names: ['build'], load: async () => (await import('./build.ts')).buildCommand },
    { names: ['inspect-transaction'], load: async () => (await import('./inspect-transaction.ts')).inspectTransactionCommand },
  ],
  'Looking at tokens:': [
    { names: ['tokens'], load: async () => (await import('./tokens.ts')).tokensCommand },
    { names: ['discover'], load: async () => (await import('./discover.ts')).discoverCommand },
  ],
  'Looking at prediction markets:': [
    { names: ['events'], load: async () => (await import('./events.ts')).eventsCommand },
    { names: ['markets'], load: async () => (await import('./markets.ts')).marketsCommand },
    { names: ['order-book'], load: async () => (await import('./order-book.ts')).orderBookCommand },
    { names: ['positions'], load: async () => (await import('./positions.ts')).positionsCommand },
    { names: ['history'], load: async () => (await import('./history.ts')).historyCommand },
  ],
  'Superseded and side endpoints:': [
    { names: ['v1'], load: async () => (await import('./v1.ts')).v1Command },
    { names: ['lend'], load: async () => (await import('./lend.ts')).lendCommand },
  ],
  'About Gannet itself:': [
    { names: ['bench'], load: async () => (await import('./bench.ts')).benchCommand },
  ],
};

/**
 * Adds the command that a command line names to the program, or all of them where it names none that there is: help lists
 * them, and an error suggests the nearest.
 */
export async function addCommands(program: Command, { argv, run }: { readonly argv: readonly string[]; readonly run: RunCommand }): Promise<void> {
  const named = operandOf(program, argv.slice(2));
  const isNamed = ({ names }: CommandEntry): boolean => named !== undefined && names.includes(named);
  const isKnown = Object.values(COMMANDS).flat().some(isNamed);
  for (const [heading, entries] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const entry of entries) if (!isKnown || isNamed(entry)) (await entry.load())(program, run);
  }
}

/** The first word that is no option of the program's own, nor an option's value. */
function operandOf(program: Command, words: readonly string[]): string | undefined {
  const takesNext = new Set(program.options.filter(({ required }) => required).map(({ long }) => long));
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i]!;
    if (!word.startsWith('-')) return word;
    if (takesNext.has(word)) i += 1;
  }
  return undefined;
}
