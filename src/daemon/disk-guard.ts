import { rmSync, statSync, unlinkSync } from 'node:fs';
import { open, rename, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { SchedulerAction } from 'rxjs';
import { Subscription } from 'rxjs';
import { messageOf } from '../core/errors.ts';
import { seededRandom } from '../core/random.ts';
import { printable } from '../core/text.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { SetTradingState } from '../trading/command.ts';
import type { AlertProposal } from '../trading/proposal.ts';
import type { EngineState } from '../trading/state.ts';
import type { Log } from './log.ts';

/** How much room there must be, bytes. */
export interface DiskMarks {
  /** Below it nothing is recorded any more. */
  readonly recordingBytes: number;
  /** Below it nothing is entered any more. */
  readonly entriesBytes: number;
  /** What is put aside, to be given up when the disk is full. */
  readonly ballastBytes: number;
}

const MIB = 1024 * 1024;
export const DISK_MARKS: DiskMarks = { recordingBytes: 256 * MIB, entriesBytes: 64 * MIB, ballastBytes: 16 * MIB };

/** What the guard acts on once there is a run. */
export interface GuardedRun {
  readonly state: Pick<EngineState, 'trading' | 'tradingBy'>;
  readonly accept: (command: SetTradingState) => void;
  /** Tells it once, and once more after it was well in between. */
  readonly alert: (level: AlertProposal['level'], message: string) => void;
  /** Ends the recording in order; nothing happens the second time. Returns whether there was one to end. */
  readonly stopRecording: () => boolean;
  /** Tries again to write what waits. */
  readonly retry: () => void;
}

/** Keeps a full disk from doing harm: recording stops first, then entries; exits go on. */
export interface DiskGuard {
  /** Takes note that something could not be written. Returns whether room was made, so that it may be tried again at once. */
  failed(writer: string, error: unknown): boolean;
  /** Takes note that it can be written again. */
  recovered(writer: string): void;
  /** Takes note that the recording stopped by itself: it may be on another disk, so nothing else follows from it. */
  recordingFailed(error: unknown): void;
  /** Looks at the disk at once and every few seconds, and acts on what it finds. */
  watch(run: GuardedRun): Subscription;
}

const LOOK_EVERY_MS: Millis = 5_000;
/** More room than the mark is needed to begin again, or it would begin and end in turns. */
const ROOM_AGAIN = 1.5;
const BALLAST = 'ballast';

/** Returns the guard of the disks on which a run writes. */
export function createDiskGuard(options: {
  /** Where the journal is: the disk that exits need. */
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
  /** What happened before there was a run to tell it. */
  #untold: string | undefined;
  #isTight = false;
  #looking = false;
  #isPuttingAside = false;
  /** Bytes; infinite where nobody could say. */
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
    this.#faults.set(writer, messageOf(error));
    const madeRoom = this.#giveUpBallast();
    if (isNew) this.#act();
    return madeRoom;
  }

  recovered(writer: string): void {
    this.#faults.delete(writer);
  }

  recordingFailed(error: unknown): void {
    const message = `the recording stopped (${printable(messageOf(error), 200)}); trading goes on, the next run records again`;
    if (this.#run === undefined) this.#untold = message;
    else this.#run.alert('warning', message);
    void this.#look();
  }

  watch(run: GuardedRun): Subscription {
    this.#run = run;
    this.#removeUnfinished();
    if (this.#untold !== undefined) run.alert('warning', this.#untold);
    this.#untold = undefined;
    if (this.#faults.size > 0) this.#act();
    void this.#look();
    // Not at the very start: a command that is over in a moment needs no ballast.
    const lookAndPutAside = (): void => { void this.#look().then(() => this.#putAsideBallast()); };
    const looks = this.#options.clock.schedule(function (this: SchedulerAction<void>) {
      lookAndPutAside();
      this.schedule(undefined, LOOK_EVERY_MS);
    }, LOOK_EVERY_MS);
    return new Subscription(() => {
      looks.unsubscribe();
      this.#run = undefined;
    });
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const { stateDir, recordingDir } = this.#options;
      this.#run?.retry();
      this.#room = await roomIn(stateDir);
      this.#recordingRoom = await roomIn(recordingDir);
      if (this.#room < this.#marks.ballastBytes) this.#giveUpBallast();
      this.#act();
    } catch (error) {
      this.#options.log('warn', 'the disk could not be looked at', { error });
    } finally {
      this.#looking = false;
    }
  }

  #act(): void {
    const run = this.#run;
    if (run === undefined) return;
    const { recordingBytes, entriesBytes } = this.#marks;
    const isTight = this.#faults.size > 0 || this.#room < entriesBytes * (this.#isTight ? ROOM_AGAIN : 1);
    const why = this.#reason();
    if ((isTight || Math.min(this.#room, this.#recordingRoom) < recordingBytes) && run.stopRecording()) {
      run.alert('warning', `${why}: this run records nothing any more; the next one does, once there is room`);
    }
    if (isTight && !this.#isTight) run.alert('critical', `${why}: nothing is entered until there is room again, exits go on. Free some space`);
    if (!isTight && this.#isTight) run.alert('info', 'there is room on the disk again');
    this.#isTight = isTight;
    const { state } = run;
    if (isTight && state.trading === 'active') run.accept({ ...COMMAND, state: 'reduce-only', reason: why });
    // Also where an earlier run ended so.
    if (!isTight && this.#room !== Infinity && state.trading === 'reduce-only' && state.tradingBy === 'disk-guard') {
      run.accept({ ...COMMAND, state: 'active', reason: 'there is room on the disk again' });
    }
  }

  #reason(): string {
    const [first] = this.#faults;
    if (first !== undefined) return `${first[0]} cannot be written (${printable(first[1], 200)})`;
    const { stateDir, recordingDir } = this.#options;
    const [room, dir] = this.#room <= this.#recordingRoom ? [this.#room, stateDir] : [this.#recordingRoom, recordingDir];
    return `the disk of ${printable(dir, 200)} has ${Math.floor(room / MIB)} MiB left`;
  }

  #giveUpBallast(): boolean {
    if (!this.#hasBallast) return false;
    this.#hasBallast = false;
    try {
      unlinkSync(this.#ballast);
      this.#options.log('warn', 'the ballast was given up, so that exits can be written down');
      return true;
    } catch (error) {
      this.#options.log('error', 'the ballast could not be given up', { error });
      return false;
    }
  }

  /** Whoever died while he put it aside left a part of it behind. */
  #removeUnfinished(): void {
    try {
      rmSync(this.#unfinished, { force: true });
    } catch (error) {
      this.#options.log('warn', 'what an earlier run left of a ballast could not be removed', { error });
    }
  }

  /** Real bytes that do not compress: a promise of the file system would be worth nothing when it is needed. */
  async #putAsideBallast(): Promise<void> {
    const { ballastBytes, entriesBytes } = this.#marks;
    if (this.#run === undefined || this.#hasBallast || this.#isPuttingAside || this.#isTight || this.#room < entriesBytes * ROOM_AGAIN + ballastBytes) return;
    const unfinished = this.#unfinished;
    this.#isPuttingAside = true;
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
      this.#options.log('warn', 'no ballast could be put aside', { error });
      await unlink(unfinished).catch(() => undefined);
    } finally {
      this.#isPuttingAside = false;
    }
  }
}

const COMMAND = { kind: 'command', name: 'set-trading-state', by: 'disk-guard' } as const;

/** Returns what a user without privileges may still write, bytes; of a folder that is not there yet, of the nearest that is. */
async function roomIn(dir: string): Promise<number> {
  for (let place = dir; ; place = join(place, '..')) {
    try {
      const { bavail, bsize } = await statfs(place);
      return bavail * bsize;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT') || join(place, '..') === place) throw error;
    }
  }
}

function noise(bytes: number): Buffer {
  const random = seededRandom('ballast');
  const words = Uint32Array.from({ length: Math.ceil(bytes / 4) }, () => Math.floor(random() * 2 ** 32));
  return Buffer.from(words.buffer, 0, bytes);
}
