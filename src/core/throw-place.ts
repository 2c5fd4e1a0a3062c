import { stripTypeScriptTypes } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isStrategyFile } from './shared-modules.ts';
import { printable } from './text.ts';

/** A module as a URL, or as a path where a loader names it so. */
const FRAME = /(?:\(|at )(?:async )?((?:file:\/\/)?\/.+):(\d+):(\d+)\)?$/;

/** The head of a stack of an error of syntax: file and line, then the source with a caret below the column. */
const SYNTAX = /^(?:file:\/\/)?(\/[^\n?]+)(?:\?[^\n:]*)?:(\d+)\n(?:.*\n)*?( *)\^/;

/** Returns the first location of an error's stack outside the project and its packages, "dip.ts:12:5". */
export function placeOf(error: unknown): string | undefined {
  return error instanceof Error && typeof error.stack === 'string' ? placeIn(error.stack) : undefined;
}

/** Returns the first location of a stack trace outside the project and its packages, "dip.ts:12:5". */
export function placeIn(stack: string): string | undefined {
  for (const frame of stack.split('\n')) {
    const [, from, line, column] = FRAME.exec(frame) ?? [];
    if (from === undefined) continue;
    // A fresh copy of a module has a URL with a query.
    const path = (from.startsWith('file:') && URL.canParse(from) ? fileURLToPath(from) : from).replace(/\?.*$/, '');
    if (isStrategyFile(path))
      return `${printable(basename(path), 100)}:${line!}:${column!}`;
  }
  return undefined;
}

/** Returns the location of an error of syntax, "dip.ts:4:6", where its stack begins with the source; else undefined. */
export function syntaxPlaceOf(error: unknown): string | undefined {
  const [, path, line, indent] = SYNTAX.exec(error instanceof Error ? error.stack ?? '' : '') ?? [];
  return path === undefined ? undefined : `${printable(basename(path), 100)}:${line!}:${indent!.length + 1}`;
}

/**
 * Returns the location of an error of syntax in the text of a file; undefined where it has none. Node's loader does not
 * say it of JavaScript, but its parser of TypeScript does, which reads JavaScript too.
 */
export function syntaxPlaceIn(text: string, file: string): string | undefined {
  try {
    stripTypeScriptTypes(text, { sourceUrl: file });
    return undefined;
  } catch (error) {
    return syntaxPlaceOf(error);
  }
}
