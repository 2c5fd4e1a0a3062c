import type { BoxedCall, CommandContext } from '../command.ts';
import type { Millis } from '../../core/time.ts';
import type { WorkerBox } from '../../research/box/workers.ts';
import type { BacktestDecisions } from '../../research/lookahead/lookahead.ts';
import type { TrialLog } from '../../store/trial-log.ts';

/** What only the process that started a box can do for it. */
interface BoxHost {
  /** Undefined where this process may start boxed processes itself. */
  readonly workers: WorkerBox | undefined;
  /** Opens the log of trials of the state directory. */
  openTrialLog(): TrialLog;
  /** Runs `gannet backtest` with the same configuration over the same recording, up to an instant. */
  backtestDecisions(until: Millis | undefined): Promise<BacktestDecisions>;
  /** Makes the file of a sweep's finished trials durable. */
  readonly syncTrials: ((file: string) => void) | undefined;
}

/** A call with its places, which are found outside of the box. */
export interface PreparedCall extends BoxedCall {
  /** The id of the run that it makes. */
  readonly runId: string;
  readonly recordingDir: string | undefined;
  readonly runDir: string | undefined;
  /** Whether a process still writes the recording. */
  readonly isBeingWritten: boolean;
}

/** What an action gets from its process. */
export interface BoxedContext
  extends Pick<CommandContext, 'terminal' | 'options' | 'environment' | 'withheld' | 'interrupt'> {
  readonly host: BoxHost;
}
