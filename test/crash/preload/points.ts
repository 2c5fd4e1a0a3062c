import { appendFileSync } from 'node:fs';

/** What a process does at its edge, where it may be killed. */
export interface CrashPoint {
  readonly number: number;
  /** "commit", "sql", "file", "send", "receive", "spawn". */
  readonly kind: string;
  /**
   * Which: the statement, the file, the request; and which time that is, from 1. Unlike the number it says the same in
   * every run.
   */
  readonly what: string;
}

/** When to die. */
export interface Doom {
  readonly when: 'before' | 'after';
  /** Kind and what of a point: "commit journal.sqlite (INSERT attempts) #1". */
  readonly point: string;
}

/** Numbers what a process does, and kills it where it was told to. */
export interface Points {
  /** Begins to number; what came before has no number. */
  begin(): void;
  /** What was journalled is a step: the same thing done again after it is another point than before. */
  step(): void;
  /** Does something at a point. */
  at<T>(kind: string, what: string, act: () => T): T;
}

/** Polls repeat themselves for as long as something takes: between two steps, more of the same is no other point. */
const REPEATS = 2;
const writeReally = appendFileSync;

/** Returns the points of this process: told of in a file, one line of JSON each, as it comes to them. */
export function createPoints(options: { readonly log: string | undefined; readonly doom: Doom | undefined }): Points {
  /** How often since the last step, and in all. */
  const seen = new Map<string, number>();
  const counted = new Map<string, number>();
  let begun = false;
  let last = 0;

  function note(line: object): void {
    if (options.log !== undefined) writeReally(options.log, `${JSON.stringify(line)}\n`);
  }

  function die(point: CrashPoint, when: Doom['when']): void {
    note({ killed: when, ...point });
    // The kernel takes the process before the next instruction of ours.
    process.kill(process.pid, 'SIGKILL');
  }

  return {
    begin() { begun = true; },
    step() { seen.clear(); },
    at(kind, what, act) {
      const label = `${kind} ${what}`;
      const times = (seen.get(label) ?? 0) + 1;
      seen.set(label, times);
      if (!begun || times > REPEATS) return act();
      last += 1;
      const occurrence = (counted.get(label) ?? 0) + 1;
      counted.set(label, occurrence);
      const point: CrashPoint = { number: last, kind, what: `${what} #${occurrence}` };
      const doom = options.doom?.point === nameOf(point) ? options.doom.when : undefined;
      if (doom === 'before') die(point, doom);
      note(point);
      const result = act();
      if (doom === 'after') die(point, doom);
      return result;
    },
  };
}

/** Returns a point's name, the same in every run of a scenario. */
export function nameOf({ kind, what }: Pick<CrashPoint, 'kind' | 'what'>): string {
  return `${kind} ${what}`;
}

/** Returns the doom in a text such as "before:send rpc sendTransaction #1". */
export function readDoom(text: string | undefined): Doom | undefined {
  const [, when, point] = /^(before|after):(.+)$/.exec(text ?? '') ?? [];
  return when === undefined || point === undefined ? undefined : { when: when as Doom['when'], point };
}

/** Returns a doom as a text. */
export function writeDoom({ when, point }: Doom): string {
  return `${when}:${point}`;
}
