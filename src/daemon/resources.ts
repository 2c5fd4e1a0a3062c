import type { Log } from './log.ts';

/** What must be closed in the end, the last opened first; one that cannot be closed keeps no other open. */
export class Resources {
  readonly #log: Log;
  readonly #open: { readonly name: string; readonly close: () => void | Promise<void> }[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  add(name: string, close: () => void | Promise<void>): void {
    this.#open.push({ name, close });
  }

  async close(): Promise<void> {
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) {
      try {
        await next.close();
      } catch (error) {
        this.#log('error', `the ${next.name} could not be closed`, { error });
      }
    }
  }
}
