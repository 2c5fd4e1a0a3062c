import type { LookaheadProgress, LookaheadResult, StrategyVerdict } from '../backtest/lookahead.ts';
import { lookahead } from '../backtest/lookahead.ts';
import type { Leak } from '../backtest/lookahead/leak.ts';
import type { WarmUpVerdict } from '../backtest/lookahead/warm-up-twin.ts';
import { judgeWarmUp } from '../backtest/lookahead/warm-up-twin.ts';
import { printable } from '../core/text.ts';
import { formatDuration } from '../core/time.ts';
import type { Decision } from '../trading/step.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { createThreadPool } from './lookahead/threads.ts';
import { wholeNumberTo } from './research/flags.ts';
import { openSubject } from './research/subject.ts';
import type { ThreadSetup } from './research/thread-setup.ts';

interface LookaheadFlags {
  readonly recording: string;
  readonly times: number;
  readonly seed: number;
  readonly warmUp?: boolean;
}

export const lookaheadCommand: CommandModule = (program, run) => {
  program.command('lookahead <config>')
    .description('spoils the future of a recording and looks for decisions that change before it')
    .requiredOption('--recording <dir>', 'a recording: its folder, or the id of the run that made it')
    .option('--times <n>', 'at how many instants the future begins', wholeNumberTo(999_999), 9)
    .option('--seed <n>', 'where the instants and the noise come from', wholeNumberTo(999_999), 1)
    .option('--warm-up', 'also whether a longer history before the start changes decisions')
    .action(run(async (context: CommandContext, file: string, flags: LookaheadFlags) => {
      const { terminal, interrupt } = context;
      const { setup } = await openSubject(context, { file, recording: flags.recording });
      const progress = progressLine(context);
      const result = await lookForLeaks(setup, flags, { interrupt, onProgress: progress.show });
      progress.end();
      const warmUps = flags.warmUp === true ? await lookForHistory(setup, interrupt) : undefined;
      const isClean = result.clean && (warmUps === undefined || [...warmUps.values()].every(({ leak }) => leak === undefined));
      terminal.result(asJson(result, warmUps, isClean), () => asText(result, warmUps));
      return isClean ? EXIT.done : EXIT.failed;
    }));
};

/** Looks at every strategy of a configuration. */
export function lookForLeaks(setup: ThreadSetup, { times, seed }: Pick<LookaheadFlags, 'times' | 'seed'>, { interrupt, onProgress }: {
  readonly interrupt?: AbortSignal | undefined; readonly onProgress?: ((progress: LookaheadProgress) => void) | undefined;
} = {}): Promise<LookaheadResult> {
  const names = setup.strategies.map(({ name }) => name);
  return lookahead(names, createThreadPool(setup, interrupt), { startAt: setup.firstAt, endAt: setup.lastAt, times, seed, onProgress });
}

/** Looks at every strategy's warm-up, each alone. */
export async function lookForHistory(setup: ThreadSetup, interrupt?: AbortSignal): Promise<ReadonlyMap<string, WarmUpVerdict>> {
  const pool = createThreadPool(setup, interrupt);
  const verdicts = new Map<string, WarmUpVerdict>();
  let generation = 0;
  try {
    for (const { name, warmupMs = 0 } of setup.strategies) {
      const thread = await pool.lend();
      verdicts.set(name, await judgeWarmUp({
        warmupMs, startAt: setup.firstAt, endAt: setup.lastAt,
        run: (history) => thread.run({ strategy: name, generation: ++generation, history }),
      }));
      await pool.takeBack(thread);
    }
  } finally {
    await pool.close();
  }
  return verdicts;
}

/** One line that is written over, where somebody looks on. */
function progressLine({ terminal }: CommandContext): { readonly show: (progress: LookaheadProgress) => void; readonly end: () => void } {
  if (!process.stderr.isTTY) return { show: () => undefined, end: () => undefined };
  return {
    show: ({ strategy, passes }) => { terminal.err(`\r\u001B[K  ${passes} passes, ${printable(strategy, 60)}`); },
    end: () => { terminal.err('\r\u001B[K'); },
  };
}

function asJson({ strategies }: LookaheadResult, warmUps: ReadonlyMap<string, WarmUpVerdict> | undefined, clean: boolean): unknown {
  return {
    clean,
    strategies: strategies.map(({ name, clean: isClean, decisions, firstLeak }) => {
      const warmUp = warmUps?.get(name);
      return {
        name,
        clean: isClean && warmUp?.leak === undefined,
        first_leak: leakJson(firstLeak ?? warmUp?.leak),
        decisions,
        ...(warmUp === undefined ? {} : {
          warm_up: {
            configured: formatDuration(warmUp.warmupMs), enough: warmUp.enoughMs === undefined ? null : formatDuration(warmUp.enoughMs),
            longest_tried: formatDuration(warmUp.longestMs), trading_from: iso(warmUp.tradeFrom),
          },
        }),
      };
    }),
  };
}

function leakJson(leak: Leak | undefined): unknown {
  if (leak === undefined) return null;
  const { poison, from, process: where, seq, at, expected, found, detail } = leak;
  return { poison, from: iso(from), process: where, seq, at: iso(at), expected: outcomeJson(expected), found: outcomeJson(found), detail };
}

function outcomeJson(decision: Decision | null): unknown {
  if (decision === null) return null;
  const { seq, at, proposal, verdict, code } = decision;
  return { seq, at: iso(at), proposal, verdict, code };
}

function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

function asText({ strategies }: LookaheadResult, warmUps: ReadonlyMap<string, WarmUpVerdict> | undefined): string {
  return strategies.map((verdict) => [...verdictLines(verdict), ...warmUpLines(warmUps?.get(verdict.name))].join('')).join('');
}

function verdictLines({ name, decisions, firstLeak }: StrategyVerdict): string[] {
  if (firstLeak === undefined) {
    return [`  ${name}: clean, ${decisions} decisions${decisions === 0 ? ': nothing was decided, so nothing is proven' : ''}\n`];
  }
  return [`  ${name}: NOT clean: ${printable(firstLeak.detail, 500)}\n`, ...leakLines(firstLeak)];
}

function leakLines({ from, at, seq, expected, found }: Leak): string[] {
  return [
    ...(from === null ? [] : [`    future spoiled from ${iso(from)!}\n`]),
    ...(at === null ? [] : [
      `    first at ${iso(at)!}, seq ${seq}\n`,
      `    expected ${said(expected)}\n`,
      `    found    ${said(found)}\n`,
    ]),
  ];
}

function said(decision: Decision | null): string {
  if (decision === null) return 'no decision';
  const { proposal, verdict, code } = decision;
  const what = proposal.kind === 'alert' ? `alert "${printable(proposal.message, 200)}"` : `swap of ${typeof proposal.amount === 'object' ? `${proposal.amount.fraction}` : proposal.amount} "${printable(proposal.reason, 200)}"`;
  return `${what}, ${verdict}${code === null ? '' : ` ${code}`}`;
}

function warmUpLines(warmUp: WarmUpVerdict | undefined): string[] {
  if (warmUp === undefined) return [];
  const { warmupMs, enoughMs, longestMs, leak } = warmUp;
  if (leak === undefined) return [`    warm-up ${formatDuration(warmupMs)}: up to ${formatDuration(longestMs)} of history change nothing\n`];
  const enough = enoughMs === undefined ? `nothing shorter than ${formatDuration(longestMs)} is enough` : `${formatDuration(enoughMs)} is enough`;
  return [`    warm-up ${formatDuration(warmupMs)}: a longer history changes decisions; ${enough}\n`, ...leakLines(leak)];
}
