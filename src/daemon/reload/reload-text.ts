import { basename } from 'node:path';
import { stringifyJson } from '../../core/json.ts';
import { printable } from '../../core/text.ts';
import type { ParamChange } from './config-change.ts';

const HASH_SHOWN = 12;
const VALUE_SHOWN = 60;

/** What became of one strategy. */
export interface ReloadedStrategy {
  readonly strategy: string;
  /** The SHA-256 of its code; undefined where that is the same. */
  readonly code?: { readonly before: string; readonly after: string } | undefined;
  readonly params: readonly ParamChange[];
}

/** What a reload has done. */
export interface ReloadReport {
  readonly reloaded: readonly ReloadedStrategy[];
  /** The strategies whose new version has a fault; they go on as they were. */
  readonly refused: readonly { readonly strategy: string; readonly reason: string }[];
  /** The strategies that nothing was to be done with. */
  readonly unchanged: readonly string[];
}

/** Returns what has changed in a strategy, each change for people: "window 20 → 30". */
export function changeTexts({ code, params }: Pick<ReloadedStrategy, 'code' | 'params'>): string[] {
  return [
    ...params.map(({ name, before, after }) => `${printable(name, VALUE_SHOWN)} ${shown(before)} → ${shown(after)}`),
    ...(code === undefined ? []
      : [`code ${code.before.slice(0, HASH_SHOWN)} → ${code.after.slice(0, HASH_SHOWN)}`]),
  ];
}

/** Returns a reload of one strategy as one sentence. */
export function reloadText(reloaded: ReloadedStrategy): string {
  const changes = changeTexts(reloaded);
  const what = changes.length === 0 ? 'nothing has changed' : changes.join(', ');
  return `strategy ${reloaded.strategy} was reloaded: ${what}`;
}

/** Why a version is refused. */
export interface Fault {
  readonly reason: string;
  readonly code?: string | undefined;
}

/** Returns why a version of a strategy cannot do `what`, with the place of its fault. */
export function faultText(
  name: string, what: string, file: string | undefined,
  { reason, place, code }: Fault & { readonly place?: string | undefined },
): Fault {
  return {
    code, reason: `the new version of strategy ${name} cannot ${what}: ${reason} (${place ?? basename(file ?? name)}); `
      + 'correct it, and reload again',
  };
}

function shown(value: unknown): string {
  return value === null ? 'left out' : printable(typeof value === 'string' ? value : stringifyJson(value), VALUE_SHOWN);
}
