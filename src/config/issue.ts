import type { ErrorCode } from '../core/errors.ts';
import { GannetError } from '../core/errors.ts';

/** One fault of a configuration, at the place where it can be mended. Lines and columns count from 1. */
export interface ConfigIssue {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Where in the configuration, "strategies[0].params.window"; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** The keys and list positions that lead to a value. */
export type ConfigPath = readonly (string | number)[];

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** Returns a path as people write it: "strategies[0].params.window". */
export function formatPath(path: ConfigPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!PLAIN_KEY.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

/**
 * Returns an issue as one line: "config/gannet.yaml:14:11 strategies[0].params.window: expected …". An option of the
 * command line has no lines.
 */
export function formatIssue({ file, line, column, path, message }: ConfigIssue): string {
  const place = file.startsWith('--') ? file : `${file}:${line}:${column}`;
  return `${place} ${path === '' ? '' : `${path}: `}${message}`;
}

/** Returns the error with which a command refuses to start, one line per issue. */
export function configError(
  failure: { readonly code: ErrorCode; readonly issues: readonly ConfigIssue[] },
): GannetError {
  return new GannetError(
    failure.code, failure.issues.map(formatIssue).join('\n'), { details: { issues: failure.issues.length } },
  );
}
