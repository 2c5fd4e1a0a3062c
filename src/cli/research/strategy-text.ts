import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { importStrategy } from '../../config/strategy-file.ts';
import { GannetError } from '../../core/errors.ts';
import { PROJECT_DIR } from '../project.ts';
import type { ThreadSetup } from './thread-setup.ts';

/** Returns the code of a strategy: its file and those that it imports from beside it. Throws STRATEGY_INVALID where its file is gone. */
export async function strategyText(use: string, places: ThreadSetup['places']): Promise<string> {
  const imported = await importStrategy(use, places);
  if (typeof imported === 'string') throw new GannetError('STRATEGY_INVALID', imported);
  return textsFrom(imported.file, new Set()).join('\n');
}

const RELATIVE_IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']/g;

/** A file with those that it imports from beside it; what is the project's own is looked at as a whole. */
function textsFrom(file: string, seen: Set<string>): string[] {
  if (seen.has(file) || file.startsWith(join(PROJECT_DIR, 'src'))) return [];
  seen.add(file);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // What only looks like an import names no file; one that is really missing keeps the strategy from being loaded at all.
    return [];
  }
  return [text, ...[...text.matchAll(RELATIVE_IMPORT)].flatMap(([, path]) => textsFrom(resolve(dirname(file), path!), seen))];
}
