import { rmSync, statSync, unlinkSync } from 'node:fs';
import { open, rename, statfs, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SchedulerAction } from 'rxjs';
import { Subscription } from 'rxjs';
import type { GannetError } from '../../core/errors.ts';
import { isGannetError, isNoRoom, messageOf } from '../../core/errors.ts';
import { seededRandom } from '../../core/random.ts';
import { printable } from '../../core/text.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { SetTradingState } from '../../trading/engine-command.ts';
import type { AlertProposal } from '../../trading/proposal.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { Log } from '../reporting/log.ts';

/** How much free space a run needs, in bytes. */
export interface DiskMarks {
  /** Below it the recording stops. */
  readonly recordingBytes: number;
  /** Below it there are no more entries. */
  readonly entriesBytes: number;
  /** The size of the ballast file, which is deleted when the disk is full. */
  readonly ballastBytes: number;
}

const MIB = 1024 * 1024;
export const DISK_MARKS: DiskMarks = { recordingBytes: 256 * MIB, entriesBytes: 64 * MIB, ballastBytes: 16 * MIB };

/** The run that a disk guard protects. */
interface GuardedRun {
  readonly state: Pick<EngineState, 'trading' | 'tradingBy'>;
  readonly accept: (command: SetTradingState) => void;
  readonly alert: (level: AlertProposal['level'], message: string) => void;
  /** Ends the recording in order. Returns false where no recording was active. */
  readonly stopRecording: () => boolean;
  /** Writes again what the disk did not take. */
  readonly retry: () => void;
}

/** Limits the harm of a full disk: the recording stops first, then entries; exits go on. */
export interface DiskGuard {
  /** Notes a failed write; each cause is logged once. Returns whether room was made, so that a retry makes sense. */
  failed(writer: string, error: unknown): boolean;
  /** Notes that the writer works again. */
  recovered(writer: string): void;
  /** Notes that the recording stopped. It may be on another disk, so nothing else follows. */
  recordingFailed(error: unknown): void;
  /** Checks the disk at once and every few seconds, and acts on the result. */
  watch(run: GuardedRun): Subscription;
}

const CHECK_EVERY_MS: Millis = 5_000;
/** Entries resume at a higher mark, so that they do not stop and resume in turns. */
const ROOM_AGAIN = 1.5;
const BALLAST = 'ballast';

/** Returns the guard of the disks that a run writes to. */
export function createDiskGuard(options: {
  /** Holds the journal: exits need this disk. */
  readonly stateDir: string;
  readonly recordingDir: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly marks?: DiskMarks | undefined;
}): DiskGuard {
  return new Guard(options);
}

class Guard implements DiskGuard {
  readonly #options: Parameters<typeof createDiskGuard>[0];
  readonly #marks: DiskMarks;
  readonly #ballast: string;
  readonly #unfinished: string;
  readonly #faults = new Map<string, string>();
  #hasBallast: boolean;
  #run: GuardedRun | undefined;
  /** A warning from before the run started. */
  #earlyWarning: string | undefined;
  #isTight = false;
  #isChecking = false;
  #isWritingBallast = false;
  /** Bytes; infinite while unknown. */
  #room = Infinity;
  #recordingRoom = Infinity;

  constructor(options: Parameters<typeof createDiskGuard>[0]) {
    this.#options = options;
    this.#marks = options.marks ?? DISK_MARKS;
    this.#ballast = join(options.stateDir, BALLAST);
    this.#unfinished = `${this.#ballast}.new`;
    this.#hasBallast = statSync(this.#ballast, { throwIfNoEntry: false })?.isFile() ?? false;
  }

  failed(writer: string, error: unknown): boolean {
    const isNew = !this.#faults.has(writer);
    // The writer tries again every second.
    if (this.#faults.get(writer) !== messageOf(error))
      this.#options.log('error', `${writer} could not be written`, { error });
    this.#faults.set(writer, messageOf(error));
    const madeRoom = this.#deleteBallast();
    if (isNew) this.#act();
    return madeRoom;
  }

  recovered(writer: string): void {
    this.#faults.delete(writer);
  }

  recordingFailed(error: unknown): void {
    const message =
      `the recording stopped (${printable(messageOf(error), 200)}); trading goes on, the next run records again`;
    if (this.#run === undefined) this.#earlyWarning = message;
    else this.#run.alert('warning', message);
    void this.#check();
  }

  watch(run: GuardedRun): Subscription {
    this.#run = run;
    this.#removeUnfinished();
    if (this.#earlyWarning !== undefined) run.alert('warning', this.#earlyWarning);
    this.#earlyWarning = undefined;
    if (this.#faults.size > 0) this.#act();
    void this.#check();
    // Not at the start: a short command needs no ballast.
    const checkAndWriteBallast = (): void => { void this.#check().then(() => this.#writeBallast()); };
    const checks = this.#options.clock.schedule(function (this: SchedulerAction<void>) {
      checkAndWriteBallast();
      this.schedule(undefined, CHECK_EVERY_MS);
    }, CHECK_EVERY_MS);
    return new Subscription(() => {
      checks.unsubscribe();
      this.#run = undefined;
    });
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const { stateDir, recordingDir } = this.#options;
      this.#run?.retry();
      this.#room = await roomIn(stateDir);
      this.#recordingRoom = await roomIn(recordingDir);
      if (this.#room < this.#marks.ballastBytes) this.#deleteBallast();
      this.#act();
    } catch (error) {
      this.#options.log('warn', 'the free space of the disk is unknown', { error });
    } finally {
      this.#isChecking = false;
    }
  }

  #act(): void {
    const run = this.#run;
    if (run === undefined) return;
    const { recordingBytes, entriesBytes } = this.#marks;
    const isTight = this.#faults.size > 0 || this.#room < entriesBytes * (this.#isTight ? ROOM_AGAIN : 1);
    const why = this.#reason();
    if ((isTight || Math.min(this.#room, this.#recordingRoom) < recordingBytes) && run.stopRecording()) {
      run.alert(
        'warning', `${why}: the recording of this run has stopped; the next run records again if there is room`,
      );
    }
    if (isTight && !this.#isTight)
      run.alert('critical', `${why}: no more entries until there is room again, exits go on. Free some space`);
    if (!isTight && this.#isTight) run.alert('info', 'there is room on the disk again');
    this.#isTight = isTight;
    const { state } = run;
    if (isTight && state.trading === 'active') run.accept({ ...COMMAND, state: 'reduce-only', reason: why });
    // An earlier run may have set this state.
    if (!isTight && this.#room !== Infinity && state.trading === 'reduce-only' && state.tradingBy === 'disk-guard') {
      run.accept({ ...COMMAND, state: 'active', reason: 'there is room on the disk again' });
    }
  }

  #reason(): string {
    const [first] = this.#faults;
    if (first !== undefined) return `${first[0]} cannot be written (${printable(first[1], 200)})`;
    const { stateDir, recordingDir } = this.#options;
    const [room, dir] = this.#room <= this.#recordingRoom ? [this.#room, stateDir]
      : [this.#recordingRoom, recordingDir];
    return `the disk of ${printable(dir, 200)} has ${Math.floor(room / MIB)} MiB left`;
  }

  #deleteBallast(): boolean {
    if (!this.#hasBallast) return false;
    this.#hasBallast = false;
    try {
      unlinkSync(this.#ballast);
      this.#options.log('warn', 'the ballast was deleted, so that exits can be written');
      return true;
    } catch (error) {
      this.#options.log('error', 'the ballast could not be deleted', { error });
      return false;
    }
  }

  /** A process that ended while it wrote the ballast left a part of it. */
  #removeUnfinished(): void {
    try {
      rmSync(this.#unfinished, { force: true });
    } catch (error) {
      this.#options.log('warn', 'the partial ballast of an earlier run could not be removed', { error });
    }
  }

  /** Writes bytes that do not compress, because space that is only reserved may be missing when it is needed. */
  async #writeBallast(): Promise<void> {
    const { ballastBytes, entriesBytes } = this.#marks;
    if (this.#run === undefined || this.#hasBallast || this.#isWritingBallast || this.#isTight
        || this.#room < entriesBytes * ROOM_AGAIN + ballastBytes) return;
    const unfinished = this.#unfinished;
    this.#isWritingBallast = true;
    try {
      const file = await open(unfinished, 'w', 0o600);
      try {
        const block = noise(Math.min(MIB, ballastBytes));
        for (let written = 0; written < ballastBytes; written += block.length) await file.write(block);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(unfinished, this.#ballast);
      this.#hasBallast = true;
    } catch (error) {
      this.#options.log('warn', 'the ballast could not be written', { error });
      await unlink(unfinished).catch(() => undefined);
    } finally {
      this.#isWritingBallast = false;
    }
  }
}

const COMMAND = { kind: 'command', name: 'set-trading-state', by: 'disk-guard' } as const;

/** Returns the free bytes for a user without privileges. A missing folder counts as its nearest existing parent. */
export async function roomIn(dir: string): Promise<number> {
  for (let place = dir; ; place = dirname(place)) {
    try {
      const { bavail, bsize } = await statfs(place);
      return bavail * bsize;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT') || dirname(place) === place)
        throw error;
    }
  }
}

function noise(bytes: number): Buffer {
  const random = seededRandom('ballast');
  const words = Uint32Array.from({ length: Math.ceil(bytes / 4) }, () => Math.floor(random() * 2 ** 32));
  return Buffer.from(words.buffer, 0, bytes);
}

/** Returns whether a full disk caused an error. */
export function isDiskFull(error: unknown): error is GannetError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isNoRoom(cause)) return isGannetError(error);
  }
  return false;
}
