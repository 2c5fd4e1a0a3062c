import { messageOf } from './errors.ts';
import { printable } from './text.ts';
import { placeOf } from './throw-place.ts';

/** What code tried, and what a box says to it, by the name of Node's permission. */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['FileSystemRead', 'read a file: strategies run without file access'],
  ['FileSystemWrite', 'write a file: strategies run without file access'],
  ['Net', 'use the network: strategies run without network'],
  ['ChildProcess', 'start a process: strategies run without other processes'],
  ['WorkerThreads', 'start a thread: strategies run without threads'],
  ['Inspector', 'open a debugger: strategies run without a debugger'],
  ['WASI', 'make system calls: strategies run without system calls'],
  ['Addon', 'load native code: strategies run without native code'],
]);

/** Returns the message of an error in a box. A refusal is named with the file, line and column of the author. */
export function refusalMessage(error: unknown): string {
  const refusal = refusalOf(error);
  if (refusal === undefined) return messageOf(error);
  const place = placeOf(error);
  return place === undefined ? `it tried to ${refusal}` : `${place} tried to ${refusal}`;
}

/** Returns what Node's permission model refused, as the end of a sentence; undefined for any other error. */
export function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  if (error.code === 'ERR_DLOPEN_DISABLED') return REFUSALS.get('Addon');
  if (error.code !== 'ERR_ACCESS_DENIED') return undefined;
  const permission = 'permission' in error ? String(error.permission) : 'Net';
  const what = REFUSALS.get(permission);
  const resource = 'resource' in error && permission !== 'Net' ? printable(String(error.resource), 200) : '';
  // An import of a refused module carries its own sentence.
  if (what === undefined || (!('permission' in error) && !/getaddrinfo|query|connect|bind|listen/.test(error.message)))
    return undefined;
  return resource === '' ? what : what.replace(/^(\w+ a \w+)/, `$1 (${resource})`);
}
