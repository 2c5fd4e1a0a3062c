import type { FSWatcher } from 'node:fs';
import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isGannetError, messageOf } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { AlertProposal } from '../../trading/proposal.ts';
import type { Reloader } from './reloader.ts';

/** Editors write a file in several steps. */
const SETTLE_MS: Millis = 300;

interface OnChangeOptions {
  readonly reloader: Pick<Reloader, 'reload' | 'files' | 'isReady'>;
  /** The configuration's file; undefined for the built-in default. */
  readonly configFile: string | undefined;
  readonly clock: Clock;
  readonly alert: (alert: AlertProposal) => void;
  /** Called with a bug, which ends the run. */
  readonly onError: (error: unknown) => void;
}

/** Reloads strategies when their files or the configuration change, until it is closed. */
export function reloadOnChange(options: OnChangeOptions): { close(): void } {
  const watching = new ChangedFiles(options);
  watching.begin();
  return watching;
}

/** Watches folders rather than files: an editor may replace a file by another one. */
class ChangedFiles {
  readonly #options: OnChangeOptions;
  #watchers: FSWatcher[] = [];
  #timer: { unsubscribe(): void } | undefined;
  #isClosed = false;
  #lastFault: string | undefined;

  constructor(options: OnChangeOptions) {
    this.#options = options;
  }

  begin(): void {
    const { reloader, configFile } = this.#options;
    const names = new Map<string, Set<string>>();
    for (const file of [...reloader.files, ...(configFile === undefined ? [] : [configFile])])
      names.set(dirname(file), (names.get(dirname(file)) ?? new Set()).add(basename(file)));
    try {
      for (const [folder, within] of names) {
        const watcher = watch(folder, { persistent: false }, (_event, name) => {
          if (name === null || within.has(name)) this.#soon();
        });
        watcher.on('error', (error) => { this.#cannotWatch(error); });
        this.#watchers.push(watcher);
      }
    } catch (error) {
      this.#cannotWatch(error);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.unsubscribe();
    this.#end();
  }

  #end(): void {
    for (const watcher of this.#watchers.splice(0)) watcher.close();
  }

  #soon(): void {
    if (this.#isClosed) return;
    this.#timer?.unsubscribe();
    this.#timer = this.#options.clock.schedule(() => { void this.#reload(); }, SETTLE_MS);
  }

  async #reload(): Promise<void> {
    const { reloader, onError } = this.#options;
    if (!reloader.isReady) {
      this.#soon();
      return;
    }
    try {
      await reloader.reload(undefined);
      this.#lastFault = undefined;
    } catch (error) {
      if (!isGannetError(error)) onError(error);
      else this.#refused(error.message);
    }
    // Other files may belong to the code now.
    this.#end();
    if (!this.#isClosed) this.begin();
  }

  #refused(why: string): void {
    if (why === this.#lastFault || this.#isClosed) return;
    this.#lastFault = why;
    this.#warn(`the changed files are not reloaded, and the strategies go on as they were: ${why}`);
  }

  #cannotWatch(error: unknown): void {
    this.#end();
    this.#warn(`changed files cannot be noticed (${messageOf(error)}): order "gannet reload" after a change`);
  }

  #warn(message: string): void {
    this.#options.alert({ kind: 'alert', level: 'warning', message });
  }
}
