import type { LookaheadResult } from '../backtest/lookahead.ts';
import { lookahead } from '../backtest/lookahead.ts';
import type { PassThread } from '../backtest/lookahead/pass.ts';
import type { WarmUpVerdict } from '../backtest/lookahead/warm-up-twin.ts';
import { judgeWarmUp } from '../backtest/lookahead/warm-up-twin.ts';
import type { LookaheadProgress } from '../backtest/lookahead/workload.ts';
import { recordedLooks } from '../backtest/recorded-looks.ts';
import { tokenTable } from '../market/token.ts';
import type { Recording } from '../recording/reader.ts';
import { openRecording } from '../recording/reader.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { asJson, asText } from './lookahead/answer.ts';
import { createThreadPool } from './lookahead/threads.ts';
import { progressLine } from './progress.ts';
import { wholeNumberTo } from './research/flags.ts';
import { shareRecording } from './research/shared-recording.ts';
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
      const { setup, recording } = await openSubject(context, { file, recording: flags.recording });
      const data = await threadData(setup, { recording, interrupt });
      const progress = progressLine(terminal, 'events');
      const onProgress = ({ done, all }: LookaheadProgress): void => { progress.show(Math.round(done * recording.events), Math.round(all * recording.events)); };
      const result = await lookIn(data, flags, { interrupt, onProgress }).finally(() => { progress.end(); });
      const warmUps = flags.warmUp === true ? await historyIn(data, flags, { interrupt }) : undefined;
      const answer = { result, warmUps, startAt: setup.firstAt, endAt: setup.lastAt, events: recording.events, tokens: tokenTable(setup.tokens) };
      const isClean = result.clean && (warmUps === undefined || [...warmUps.values()].every(({ leak }) => leak === undefined));
      terminal.result(asJson(answer, isClean), () => asText(answer));
      return isClean ? EXIT.done : EXIT.failed;
    }));
};

type PoolData = Parameters<typeof createThreadPool>[0];

type Thoroughness = Pick<LookaheadFlags, 'times' | 'seed'>;

interface Attention {
  readonly interrupt?: AbortSignal | undefined;
  readonly onProgress?: ((progress: LookaheadProgress) => void) | undefined;
  /** How much of the recording is taken into memory at most; a quarter of the machine's by default. */
  readonly mostSharedBytes?: number | undefined;
}

/** Looks at every strategy of a configuration. */
export async function lookForLeaks(setup: ThreadSetup, thoroughness: Thoroughness, attention: Attention = {}): Promise<LookaheadResult> {
  return lookIn(await threadData(setup, { ...attention, recording: openRecording(setup.recordingDir) }), thoroughness, attention);
}

/** Looks at every strategy's warm-up, each alone. */
export async function lookForHistory(setup: ThreadSetup, thoroughness: Pick<Thoroughness, 'seed'>, attention: Attention = {}): Promise<ReadonlyMap<string, WarmUpVerdict>> {
  return historyIn(await threadData(setup, { ...attention, recording: openRecording(setup.recordingDir) }), thoroughness, attention);
}

/** The recording is read once, into memory that all threads see, where it is not too large for that. */
async function threadData(setup: ThreadSetup, { recording, interrupt, mostSharedBytes }: Attention & { readonly recording: Recording }): Promise<PoolData> {
  const { rows } = await shareRecording(recording, { looks: recordedLooks(recording), interrupt, mostBytes: mostSharedBytes });
  const { createdAt, source } = recording.manifest;
  return { setup, rows: rows === undefined ? null : { layout: rows.layout, memory: rows.memory }, lastSeq: recording.truncatedAt ?? null, made: { createdAt, source } };
}

function lookIn(data: PoolData, { times, seed }: Thoroughness, { interrupt, onProgress }: Attention): Promise<LookaheadResult> {
  const { strategies, firstAt, lastAt } = data.setup;
  return lookahead(strategies.map(({ name }) => name), createThreadPool(data, interrupt), { startAt: firstAt, endAt: lastAt, times, seed, onProgress });
}

async function historyIn(data: PoolData, { seed }: Pick<Thoroughness, 'seed'>, { interrupt }: Attention): Promise<ReadonlyMap<string, WarmUpVerdict>> {
  const pool = createThreadPool(data, interrupt);
  const { strategies, firstAt, lastAt } = data.setup;
  const verdicts = new Map<string, WarmUpVerdict>();
  let generation = 0;
  try {
    for (const { name, warmupMs = 0 } of strategies) {
      const threads = [await pool.lend(), await pool.lend()];
      const run = inTurn(threads);
      verdicts.set(name, await judgeWarmUp({
        strategy: name, warmupMs, startAt: firstAt, endAt: lastAt, seed,
        run: (history) => run({ strategy: name, generation: ++generation, history }),
      }));
      for (const thread of threads) await pool.takeBack(thread);
    }
  } finally {
    await pool.close();
  }
  return verdicts;
}

/** Returns what hands passes to threads in turn; each of them runs its own one after the other. */
function inTurn(threads: readonly PassThread[]): PassThread['run'] {
  const lanes = threads.map((thread) => ({ thread, last: Promise.resolve<unknown>(undefined) }));
  let turn = 0;
  return (task) => {
    const lane = lanes[turn++ % lanes.length]!;
    const answer = lane.last.then(() => lane.thread.run(task));
    // Whoever asked for it hears of its failure.
    lane.last = answer.catch(() => undefined);
    return answer;
  };
}
