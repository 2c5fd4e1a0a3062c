import type { SchedulerAction } from 'rxjs';
import type { RunConfig } from '../../config/run-config.ts';
import { messageOf } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { ControlPort } from '../control/control-port.ts';
import type { Log } from '../reporting/log.ts';
import { roomIn } from '../watch/disk-guard.ts';
import type { Usage } from './inventory.ts';
import type { Pruning } from './prune.ts';
import { prune } from './prune.ts';

const FIRST_MS: Millis = 20_000;
const EVERY_MS: Millis = 3_600_000;
const ROOM_EVERY_MS: Millis = 60_000;
/** Twice the room at which the recording stops: what is old goes before what is new is not recorded. */
const ROOM_BYTES = 512 * 1024 * 1024;

/** Deletes beside a run what the configuration does not keep, at its start and each hour, sooner on a full disk. */
export class RetentionService {
  readonly #options: {
    readonly config: RunConfig; readonly stateDir: string; readonly clock: Clock; readonly log: Log;
  };
  readonly #ended = new AbortController();
  #timer: { unsubscribe(): void } | undefined;
  #nextAt: Millis;
  #working: Promise<void> | undefined;
  #isOverBudget = false;
  #lastFault: string | undefined;

  constructor(options: {
    readonly config: RunConfig; readonly stateDir: string; readonly clock: Clock; readonly log: Log;
  }) {
    this.#options = options;
    this.#nextAt = options.clock.now() + FIRST_MS;
  }

  attach(port: Pick<ControlPort, 'alert'>): void {
    const check = (): void => { this.#working ??= this.#check(port).finally(() => { this.#working = undefined; }); };
    this.#timer = this.#options.clock.schedule(function (this: SchedulerAction<void>) {
      check();
      this.schedule(undefined, ROOM_EVERY_MS);
    }, FIRST_MS);
  }

  async close(): Promise<void> {
    this.#timer?.unsubscribe();
    this.#ended.abort();
    await this.#working;
  }

  async #check(port: Pick<ControlPort, 'alert'>): Promise<void> {
    const { config: { retention, recording, strategies }, stateDir, clock, log } = this.#options;
    try {
      const neededBytes = Math.max(0, ROOM_BYTES - Math.min(await roomIn(stateDir), await roomIn(recording.dir)));
      if (clock.now() < this.#nextAt && neededBytes === 0) return;
      this.#nextAt = clock.now() + EVERY_MS;
      const done = await prune({
        stateDir, recordingDir: recording.dir, config: retention, now: clock.now(), neededBytes,
        warmupMs: Math.max(0, ...strategies.map(({ warmupMs = 0 }) => warmupMs)), interrupt: this.#ended.signal,
      });
      this.#lastFault = undefined;
      this.#report(done, port);
    } catch (error) {
      if (messageOf(error) !== this.#lastFault) log('error', 'old files could not be deleted', { error });
      this.#lastFault = messageOf(error);
    }
  }

  #report({ plan, before, after, packedSwaps }: Pruning, port: Pick<ControlPort, 'alert'>): void {
    const { config: { retention }, stateDir, log } = this.#options;
    if (plan.pieces.length > 0 || packedSwaps > 0) log('info', 'old files were deleted', {
      pieces: plan.pieces.length, freedBytes: plan.freedBytes, packedSwaps, bytesBefore: before.total,
      bytesAfter: after?.total,
    });
    const isOver = plan.overBudgetBytes > 0;
    if (isOver && !this.#isOverBudget) {
      port.alert({
        kind: 'alert', level: 'warning',
        message: `${stateDir} is larger than retention.budget, and nothing more may be deleted: `
          + `${sizeText(after ?? before)}, ${megabytes(retention.budgetBytes)} allowed. Raise the budget, or lower the `
          + 'ages in "retention"',
      });
    }
    this.#isOverBudget = isOver;
  }
}

function sizeText({ total, ...kinds }: Usage): string {
  const largest = Object.entries(kinds).filter(([, bytes]) => bytes > 0).sort(([, a], [, b]) => b - a)
    .slice(0, 3).map(([kind, bytes]) => `${kind} ${megabytes(bytes)}`);
  return `${megabytes(total)} (${largest.join(', ')})`;
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
