import type { Invocation } from './invocation.ts';

/** Options of V8's that `bin/gannet` gives the first process for its own heap. */
const HEAP_OPTION = /^--(?:no-)?(?:max-semi-space-size|initial-old-space-size|heap-growing-percent|allocation-site-pretenuring)(?:=|$)/;

/** Commands that run for months and never have much to do at a time. */
const LASTING: ReadonlySet<string> = new Set(['run', 'record']);

/**
 * What V8 does by default pays where much is computed at once, and here would take twice the memory: a young generation of
 * 64 MB, and, since all survives while a daemon starts, whole kinds of objects made in the old generation ever after, where
 * each keeps the request it belongs to until the next full collection. So: a small young generation, everything made in it,
 * and a full collection whenever the old one has grown by a fifth.
 */
const LASTING_OPTIONS: readonly string[] = ['--max-semi-space-size=2', '--no-allocation-site-pretenuring', '--initial-old-space-size=40', '--heap-growing-percent=20'];
/** glibc's: each thread of a process fills an arena of its own otherwise, and gives none of it back. */
const LASTING_ARENAS = '2';

/** What a process is started with. */
export interface ProcessStart {
  readonly options: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/** Returns what the process of a command is started with: what it is given, without the first process's heap, and frugal where it is to last. */
export function frugalStart({ command }: Invocation, { options, variables }: ProcessStart): ProcessStart {
  const own = options.filter((option) => !HEAP_OPTION.test(option));
  if (command === undefined || !LASTING.has(command)) return { options: own, variables };
  return { options: [...own, ...LASTING_OPTIONS], variables: { MALLOC_ARENA_MAX: LASTING_ARENAS, ...variables } };
}
