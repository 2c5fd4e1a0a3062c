import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { importStrategy } from '../../config/strategy-file.ts';
import { GannetError } from '../../core/errors.ts';
import { PROJECT_DIR } from '../project.ts';
import type { PackageImports } from './imported-packages.ts';
import { importedPackages } from './imported-packages.ts';
import type { ThreadSetup, ThreadStrategy } from './thread-setup.ts';

/** The code of a strategy. */
export interface StrategyCode {
  /** Its file and those that it imports from beside it. */
  readonly text: string;
  /** The packages that these import, with their versions. */
  readonly packages: readonly string[];
}

/** Returns the code of a strategy. Throws STRATEGY_INVALID where its file is gone. */
export async function strategyText(use: string, places: ThreadSetup['places']): Promise<StrategyCode> {
  const imported = await importStrategy(use, places);
  if (typeof imported === 'string') throw new GannetError('STRATEGY_INVALID', imported);
  const files = filesFrom(imported.file, new Set());
  return { text: files.map(({ text }) => text).join('\n'), packages: importedPackages(files) };
}

/** Returns the SHA-256 of a strategy's code, hex; packages are not in it. Throws STRATEGY_INVALID where its file is gone. */
export async function strategyHash(use: string, places: ThreadSetup['places']): Promise<string> {
  return createHash('sha256').update((await strategyText(use, places)).text).digest('hex');
}

/** Throws STRATEGY_INVALID where the code of a strategy is another than when the command began: what it decided would be put down to that. */
export async function refuseOtherCode({ name, use, codeHash }: Pick<ThreadStrategy, 'name' | 'use' | 'codeHash'>, places: ThreadSetup['places']): Promise<void> {
  if (codeHash === undefined || await strategyHash(use, places) === codeHash) return;
  throw new GannetError('STRATEGY_INVALID', `the code of strategy ${name} was changed while the command ran; start it again`);
}

interface SourceFile extends PackageImports {
  readonly text: string;
}

const IMPORT = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*["']([^"'\n]+)["']/g;
const RELATIVE = /^\.{1,2}\//;

/** A file with those that it imports from beside it; what is the project's own is looked at as a whole. */
function filesFrom(file: string, seen: Set<string>): SourceFile[] {
  if (seen.has(file) || file.startsWith(join(PROJECT_DIR, 'src'))) return [];
  seen.add(file);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // What only looks like an import names no file; one that is really missing keeps the strategy from being loaded at all.
    return [];
  }
  const named = [...text.matchAll(IMPORT)].map(([, path]) => path!);
  const beside = named.filter((path) => RELATIVE.test(path));
  return [{ from: file, text, specifiers: named.filter((path) => !RELATIVE.test(path)) }, ...beside.flatMap((path) => filesFrom(resolve(dirname(file), path), seen))];
}
