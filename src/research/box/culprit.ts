import { basename, extname } from 'node:path';
import { printable } from '../../core/text.ts';

/**
 * Names, for people, the strategy that a place in the code belongs to: those of `names` whose file it is, or all where
 * none is known to be. `uses` has the file of each.
 */
export function culprit(
  names: readonly string[], uses: ReadonlyMap<string, string>, place: string | undefined,
): string {
  const file = place === undefined ? undefined : withoutEnding(place.replace(/:\d+:\d+$/, ''));
  const there = names.filter((name) => withoutEnding(basename(uses.get(name) ?? '')) === file);
  const meant = [...new Set(there.length > 0 ? there : names)];
  const told = printable(meant.join(', '));
  if (meant.length === 0) return 'a strategy';
  return meant.length === 1 ? `strategy ${told}` : `one of the strategies ${told}`;
}

function withoutEnding(file: string): string {
  return file.slice(0, file.length - extname(file).length);
}
