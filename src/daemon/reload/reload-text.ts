import { stringifyJson } from '../../core/json.ts';
import { printable } from '../../core/text.ts';
import type { ReloadedStrategy } from './reloader.ts';

const HASH_SHOWN = 12;
const VALUE_SHOWN = 60;

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

function shown(value: unknown): string {
  return value === null ? 'left out' : printable(typeof value === 'string' ? value : stringifyJson(value), VALUE_SHOWN);
}
