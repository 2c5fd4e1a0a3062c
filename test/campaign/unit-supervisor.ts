import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROJECT } from '../e2e/gannet.ts';

/** The values of a unit file by their keys. */
export type UnitFile = ReadonlyMap<string, readonly string[]>;

/** Returns a unit of `deploy/systemd`. A key that is given several times has several values. */
export function readUnitFile(name: string): UnitFile {
  const values = new Map<string, string[]>();
  for (const line of readFileSync(join(PROJECT, 'deploy', 'systemd', name), 'utf8').split('\n')) {
    const [, key, value] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
    if (key !== undefined) values.set(key, [...values.get(key) ?? [], value!]);
  }
  return values;
}

interface SupervisedOptions {
  readonly name: string;
  readonly file: UnitFile;
  /** The program's arguments, its environment, and a folder for the messages to the manager. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly dir: string;
  /** Units that must be ready before this one starts. */
  readonly after?: readonly SupervisedUnit[] | undefined;
  /** In place of the unit's WatchdogSec. */
  readonly watchdogSec?: number | undefined;
}

/** How one process of a unit ended. */
interface UnitEnd {
  readonly code: number | string;
  readonly output: string;
  /** The manager killed it because it did not say that it is well. */
  readonly byWatchdog: boolean;
}

const POLL_MS = 20;
/** Ends by these signals count as ordered. */
const CLEAN_SIGNALS: readonly string[] = ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGPIPE'];
const OUTPUT_MAX = 400_000;

/** Runs the process of a unit file and starts it again by the rules of systemd, as far as the file uses them. */
export class SupervisedUnit {
  readonly #options: SupervisedOptions;
  #child: ChildProcess | undefined;
  #wanted = false;
  #output = '';
  #starts: number[] = [];
  #heardAt = 0;
  #heardCount = 0;
  #byWatchdog = false;
  readonly ends: UnitEnd[] = [];
  /** Why it is not started again; undefined while it is. */
  givenUp: string | undefined;
  startCount = 0;

  constructor(options: SupervisedOptions) {
    this.#options = options;
    const notify = join(options.dir, 'systemd-notify');
    writeFileSync(notify, '#!/bin/sh\nprintf \'%s\\n\' "$*" >> "$NOTIFY_SOCKET"\n');
    chmodSync(notify, 0o755);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** What the present process has printed. */
  get output(): string {
    return this.#output;
  }

  get isReady(): boolean {
    return this.#child !== undefined && this.messages.includes('READY=1');
  }

  /** What the present process has told its manager, one message a line. */
  get messages(): string {
    return existsSync(this.#socket) ? readFileSync(this.#socket, 'utf8') : '';
  }

  /** Starts it as an operator does. */
  start(): void {
    this.#wanted = true;
    this.givenUp = undefined;
    this.#starts = [];
    void this.#launch();
  }

  /** Stops it as an operator does. Resolves with the time that it took, and with how it ended. */
  async stop(): Promise<{ readonly ms: number; readonly end: UnitEnd | undefined }> {
    this.#wanted = false;
    const startedAt = performance.now();
    const giveUpAt = startedAt + 1_000 * this.#seconds('TimeoutStopSec');
    const count = this.ends.length;
    this.#child?.kill('SIGTERM');
    while (this.#child !== undefined && performance.now() < giveUpAt) await sleep(POLL_MS);
    if (this.#child !== undefined) killGroup(this.#child.pid!);
    while (this.#child !== undefined) await sleep(POLL_MS);
    return { ms: Math.round(performance.now() - startedAt), end: this.ends[count] };
  }

  get #socket(): string {
    return join(this.#options.dir, `${this.#options.name}.messages`);
  }

  #value(key: string): string | undefined {
    return this.#options.file.get(key)?.at(-1);
  }

  #seconds(key: string): number {
    return Number(this.#value(key) ?? 0);
  }

  #codes(key: string): readonly string[] {
    return this.#options.file.get(key)?.join(' ').split(' ') ?? [];
  }

  async #launch(): Promise<void> {
    const { after = [], args, environment, dir, watchdogSec = this.#seconds('WatchdogSec') } = this.#options;
    for (const unit of after) while (this.#wanted && !unit.isReady) await sleep(POLL_MS);
    if (!this.#wanted || this.#child !== undefined || !this.#mayStart()) return;
    rmSync(this.#socket, { force: true });
    this.startCount += 1;
    this.#output = '';
    this.#byWatchdog = false;
    this.#heardAt = performance.now();
    const child = spawn(join(PROJECT, 'bin', 'gannet'), args, {
      cwd: dir, detached: true, stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...environment, PATH: `${dir}:${process.env['PATH'] ?? ''}`, NOTIFY_SOCKET: this.#socket,
        WATCHDOG_USEC: String(1_000_000 * watchdogSec),
      },
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => {
      this.#output = (this.#output + text).slice(-OUTPUT_MAX);
    });
    const watching = setInterval(() => { this.#watch(child, 1_000 * watchdogSec); }, 200);
    // No process of a unit outlives the first one.
    child.once('exit', () => { killGroup(child.pid!); });
    child.once('close', (code, signal) => {
      clearInterval(watching);
      this.#child = undefined;
      void this.#ended(code ?? signal!);
    });
  }

  /** Kills a process that is ready and has not said for the span of the watchdog that it is well. */
  #watch(child: ChildProcess, watchdogMs: number): void {
    const { messages } = this;
    if (!messages.includes('READY=1')) {
      this.#heardAt = performance.now();
      return;
    }
    const count = messages.split('WATCHDOG=1').length;
    if (count !== this.#heardCount) {
      this.#heardCount = count;
      this.#heardAt = performance.now();
    }
    if (performance.now() - this.#heardAt < watchdogMs) return;
    this.#byWatchdog = true;
    killGroup(child.pid!);
  }

  async #ended(code: number | string): Promise<void> {
    this.ends.push({ code, output: this.#output, byWatchdog: this.#byWatchdog });
    if (!this.#wanted) return;
    const isClean = code === 0 || CLEAN_SIGNALS.includes(String(code))
      || this.#codes('SuccessExitStatus').includes(String(code));
    const isPrevented = this.#codes('RestartPreventExitStatus').includes(String(code));
    if (isPrevented || (isClean && this.#value('Restart') !== 'always')) {
      this.#wanted = false;
      this.givenUp = `it ended with ${code}: ${this.#output.slice(-1_500)}`;
      return;
    }
    await sleep(1_000 * this.#seconds('RestartSec'));
    await this.#launch();
  }

  /** StartLimitIntervalSec and StartLimitBurst; an interval of 0 limits nothing. */
  #mayStart(): boolean {
    const spanMs = 1_000 * Number(this.#value('StartLimitIntervalSec') ?? 10);
    const now = performance.now();
    this.#starts = [...this.#starts.filter((at) => now - at < spanMs), now];
    if (spanMs === 0 || this.#starts.length <= Number(this.#value('StartLimitBurst') ?? 5)) return true;
    this.#wanted = false;
    this.givenUp = 'it was started too often';
    return false;
  }
}

/** Ends what is left of a process group. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // ESRCH: it has ended.
  }
}
