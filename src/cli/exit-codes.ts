/** What a command's end tells a script. */
export const EXIT = {
  done: 0,
  /** What was asked did not come true. */
  failed: 1,
  /** Usage or configuration: nothing was started. */
  usage: 2,
  /** Halted by risk or by the operator. */
  halted: 3,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
