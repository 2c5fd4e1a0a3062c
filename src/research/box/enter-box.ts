import { flushCompileCache, isBuiltin, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { assert } from '../../core/assert.ts';
import type { HardenedProcess } from '../../core/harden-process.ts';
import { hardenProcess } from '../../core/harden-process.ts';
import { boxedPackages, isOwnModule } from '../../core/code-files.ts';

/** Scopes of the permission model that no box has. */
const NEVER = ['child', 'worker', 'net', 'addon', 'wasi', 'inspector', 'ffi'] as const;
/** Modules of Node that give a strategy nothing it may use; some reach parts of Node that no permission covers. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['child_process', 'without other processes'], ['cluster', 'without other processes'],
  ['inspector', 'without a debugger'], ['inspector/promises', 'without a debugger'],
  ['module', 'without changing how modules are loaded'], ['repl', 'without a console'],
  ['sqlite', 'without databases'], ['trace_events', 'without traces'], ['v8', 'without changing the engine of Node'],
  ['wasi', 'without system calls'], ['worker_threads', 'without threads'],
]);
const PACKAGES = boxedPackages().map((folder) => pathToFileURL(folder).href);

/** What a box takes away beyond its start. */
export interface BoxClosing {
  /** Folders that the process has read, and that strategies may not read. */
  readonly unreadable?: readonly string[] | undefined;
  /** Variables of the environment that stay. */
  readonly keep?: readonly string[] | undefined;
}

/**
 * Closes the box around this process before the first module of a strategy is loaded. Throws where the process was
 * started without the permission model, so that no mistake runs a strategy outside of it.
 */
export function enterBox({ unreadable = [], keep }: BoxClosing = {}): HardenedProcess {
  const { permission } = process;
  assert(permission, 'this process was not started in a box');
  for (const scope of NEVER) assert(!permission.has(scope), () => `a box must not have the permission "${scope}"`);
  const cache = process.env['NODE_COMPILE_CACHE'];
  if (cache !== undefined) {
    // What is loaded from here on is compiled each time: code of strategies never writes what other processes load.
    flushCompileCache();
    permission.drop('fs.write', cache);
    assert(!permission.has('fs.write', cache), 'the box still allows to write compiled code');
  }
  for (const path of unreadable) {
    permission.drop('fs.read', path);
    assert(!permission.has('fs.read', path), () => `the box still allows to read ${path}`);
  }
  refuseModules();
  return hardenProcess(undefined, keep);
}

function refuseModules(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const reason = REFUSED.get(specifier.replace(/^node:/, ''));
      const isOurs = context.parentURL !== undefined
        && (isOwnModule(context.parentURL) || PACKAGES.some((folder) => context.parentURL?.startsWith(folder)));
      if (reason === undefined || !isBuiltin(specifier) || isOurs) return next(specifier, context);
      throw new Error(`it imports ${specifier}: strategies run ${reason}`);
    },
  });
}
