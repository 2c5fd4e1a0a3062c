import { readSync, writeSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import type { GlobalOptions } from '../command.ts';
import type { PreparedCall } from './boxed-context.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import { parseJson, stringifyJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import { readFrames, writeFrame } from '../../research/box/frames.ts';
import type { BacktestDecisions } from '../../research/lookahead/lookahead.ts';
import type { TrialLog } from '../../store/trial-log.ts';
import type { Decision } from '../../trading/step.ts';

/** What an output stream goes to. */
export interface ShownOutput {
  readonly isTTY: boolean;
  /** The columns of a terminal. */
  readonly columns?: number | undefined;
}

/** What a boxed command needs to begin. */
interface BoxJob {
  readonly call: PreparedCall;
  readonly options: GlobalOptions;
  /** The variables that the configuration names; no others enter the box. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly withheld: readonly string[];
  /** The command line, for the redaction of keys in it. */
  readonly argv: readonly string[];
  /** What the output of the box goes to. */
  readonly output: { readonly out: ShownOutput; readonly err: ShownOutput };
}

const MOST_TRIALS = 1_000_000;
const text = z.string().max(1_000_000);
const span = { recording: text, from: z.number(), to: z.number() };
const loggedTrial = z.strictObject({
  id: z.string().max(64), params: text, data: z.strictObject(span), sharpe: z.number().nullable(), isFold: z.boolean(),
});
/** What a boxed process may ask for. It may be hostile: nothing else is read. */
const REQUEST = z.discriminatedUnion('ask', [
  z.strictObject({ ask: z.literal('job') }),
  z.strictObject({ ask: z.literal('open-trials') }),
  z.strictObject({ ask: z.literal('record-trials'), trials: z.array(loggedTrial).max(MOST_TRIALS) }),
  z.strictObject({ ask: z.literal('count-trials'), data: z.strictObject(span), withFolds: z.boolean().optional() }),
  z.strictObject({ ask: z.literal('sync-trials'), file: text }),
  z.strictObject({ ask: z.literal('backtest'), until: z.number().optional() }),
]);
type Request = z.infer<typeof REQUEST>;

interface Answer {
  readonly value?: unknown;
  readonly error?: { readonly code: ErrorCode | undefined; readonly message: string };
}

/** What the process that started a box does for it. */
interface ParentServices {
  readonly job: BoxJob;
  openTrialLog(): TrialLog;
  syncTrials(file: string): void;
  backtestDecisions(until: Millis | undefined): Promise<BacktestDecisions>;
}

/** The answers to a boxed process. */
interface Answers {
  /** Whether a request has no answer yet. */
  readonly arePending: () => boolean;
  /** Closes what the requests opened. */
  readonly close: () => void;
}

/** Answers the requests of a boxed process. */
export function answerRequests(channel: Duplex, services: ParentServices): Answers {
  let log: TrialLog | undefined;
  let pending = 0;
  const handle = async (request: Request): Promise<unknown> => {
    switch (request.ask) {
      case 'job': return services.job;
      case 'open-trials':
        log ??= services.openTrialLog();
        return null;
      case 'record-trials': return log?.record(request.trials);
      case 'count-trials': return log?.of(request.data, { withFolds: request.withFolds });
      case 'sync-trials': return services.syncTrials(request.file);
      case 'backtest': {
        const { decisionHash, decisions } = await services.backtestDecisions(request.until);
        return { decisionHash, decisions: stringifyJson(decisions()) };
      }
    }
  };
  channel.on('error', () => undefined);
  const answer = async (frame: Buffer): Promise<Answer> => {
    try {
      return { value: await handle(REQUEST.parse(JSON.parse(frame.toString()))) ?? null };
    } catch (error) {
      return { error: { code: isGannetError(error) ? error.code : undefined, message: messageOf(error) } };
    }
  };
  readFrames(channel, (frame) => {
    pending += 1;
    void answer(frame).then((given) => {
      pending -= 1;
      writeFrame(channel, Buffer.from(JSON.stringify(given)));
    });
  });
  return { arePending: () => pending > 0, close: () => { log?.close(); } };
}

/** The process that started this boxed one. Calls wait for its answer. */
interface Parent {
  job(): BoxJob;
  openTrialLog(): TrialLog;
  syncTrials(file: string): void;
  backtestDecisions(until: Millis | undefined): Promise<BacktestDecisions>;
}

/** Returns the other end of `answerRequests`, on a descriptor of this process. */
export function parentOf(descriptor: number): Parent {
  const ask = (request: Request): unknown => {
    const body = Buffer.from(JSON.stringify(request));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(body.length);
    write(descriptor, Buffer.concat([length, body]));
    const answer = JSON.parse(read(descriptor, read(descriptor, 4).readUInt32LE()).toString()) as Answer;
    if (answer.error === undefined) return answer.value;
    throw answer.error.code === undefined ? new Error(answer.error.message)
      : new GannetError(answer.error.code, answer.error.message);
  };
  return {
    job: () => ask({ ask: 'job' }) as BoxJob,
    openTrialLog: () => {
      ask({ ask: 'open-trials' });
      return {
        record: (trials) => { ask({ ask: 'record-trials', trials: [...trials] }); },
        of: (data, { withFolds } = {}) => {
          const { count, sharpeVariance } =
            ask({ ask: 'count-trials', data, withFolds }) as { count: number; sharpeVariance?: number };
          return { count, sharpeVariance };
        },
        close: () => undefined,
      };
    },
    syncTrials: (file) => { ask({ ask: 'sync-trials', file }); },
    backtestDecisions: async (until) => {
      const { decisionHash, decisions } =
        ask({ ask: 'backtest', until }) as { decisionHash: string; decisions: string };
      return { decisionHash, until, decisions: () => parseJson(decisions) as unknown as readonly Decision[] };
    },
  };
}

function write(descriptor: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
}

function read(descriptor: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let done = 0; done < length;) {
    const more = readSync(descriptor, bytes, done, length - done, null);
    if (more === 0) throw new GannetError('PROCESS_ENDED', 'the process that started this one has ended');
    done += more;
  }
  return bytes;
}
