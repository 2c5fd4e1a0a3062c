/** The exit codes of commands. */
export const EXIT = {
  done: 0,
  /** The command did not achieve its result. */
  failed: 1,
  /** Usage or configuration error: nothing was started. */
  usage: 2,
  /** Halted by risk or by the operator. */
  halted: 3,
  /** A run under a service manager could not start for a reason that may pass, such as a node without an answer. */
  tryAgain: 75,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
