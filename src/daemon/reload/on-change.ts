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

/** The changes of some files of a folder. */
interface WatchedFolder {
  readonly watcher: FSWatcher;
  names: ReadonlySet<string>;
}

/** Watches folders rather than files: an editor may replace a file by another one. */
class ChangedFiles {
  readonly #options: OnChangeOptions;
  /** A watch goes on over reloads, because a change between two watches would be missed. */
  readonly #folders = new Map<string, WatchedFolder>();
  #timer: { unsubscribe(): void } | undefined;
  #isClosed = false;
  #lastFault: string | undefined;

  constructor(options: OnChangeOptions) {
    this.#options = options;
  }

  /** Watches the files that belong to the strategies now. */
  begin(): void {
    const { reloader, configFile } = this.#options;
    const files = [...reloader.files, ...(configFile === undefined ? [] : [configFile])];
    const wanted = Map.groupBy(files, dirname);
    for (const [folder, { watcher }] of this.#folders) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    const before = this.#folders.size;
    try {
      for (const [folder, all] of wanted) this.#watch(folder, new Set(all.map((file) => basename(file))));
    } catch (error) {
      this.#cannotWatch(error);
    }
    // After a reload, a file of a further folder may have changed between its reading and the watch.
    if (before > 0 && this.#folders.size > before) this.#soon();
  }

  #watch(folder: string, names: ReadonlySet<string>): void {
    const known = this.#folders.get(folder);
    if (known !== undefined) {
      known.names = names;
      return;
    }
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (name === null || this.#folders.get(folder)?.names.has(name) === true) this.#soon();
    });
    watcher.on('error', (error) => { this.#cannotWatch(error); });
    this.#folders.set(folder, { watcher, names });
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.unsubscribe();
    this.#end();
  }

  #end(): void {
    for (const { watcher } of this.#folders.values()) watcher.close();
    this.#folders.clear();
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
      const { refused } = await reloader.reload(undefined);
      if (refused.length > 0) this.#refused(refused.map(({ reason }) => reason).join('; '));
      else this.#lastFault = undefined;
    } catch (error) {
      if (!isGannetError(error)) onError(error);
      else this.#refused(error.message);
    }
    // Other files may belong to the code now.
    if (!this.#isClosed) this.begin();
  }

  #refused(why: string): void {
    if (why === this.#lastFault || this.#isClosed) return;
    this.#lastFault = why;
    this.#warn(`changed files are not reloaded, and their strategies go on as they were: ${why}`);
  }

  #cannotWatch(error: unknown): void {
    this.#end();
    this.#warn(`changed files cannot be noticed (${messageOf(error)}): order "gannet reload" after a change`);
  }

  #warn(message: string): void {
    this.#options.alert({ kind: 'alert', level: 'warning', message, data: { code: 'RELOAD_FAILED' } });
  }
}
