import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { isWalletKey } from '../../signer/key-shape.ts';
import type { StrategyPlaces } from '../../config/strategy-file.ts';
import { isGannetName, isSharedPackage } from '../../core/shared-modules.ts';
import { PROJECT_DIR } from '../../core/code-files.ts';
import type { SourceFile } from '../trials/strategy-source.ts';
import { packageFile, sourcePaths, strategyFiles } from '../trials/strategy-source.ts';

const MODULE = /\.[cm]?[jt]s$/;
const DATA = /\.json$/;
const PACKAGES = `${sep}node_modules${sep}`;

/**
 * Returns the files that strategies need to run: their own, the modules and JSON files that these import, and packages.
 * The imports are read from the text, and the text may be hostile. So a file counts only where it lies in the package
 * of the strategy, or in its folder, and has neither the name of a hidden file nor the form of a wallet's key.
 * A strategy that cannot be found adds nothing: loading it says why.
 */
export async function strategyGrants(
  uses: readonly string[], places: StrategyPlaces, { stateDir }: { readonly stateDir?: string | undefined } = {},
): Promise<string[]> {
  const granted = new Set<string>();
  for (const use of uses) {
    const { files } = await strategyFiles(use, places).catch(() => ({ files: [] }));
    const [own] = files;
    if (own === undefined) continue;
    const home = homeOf(own.from);
    const description = join(home, 'package.json');
    if (existsSync(description)) granted.add(description);
    for (const file of files) {
      if (file !== own && !isOwnCode(file, { home, stateDir })) continue;
      granted.add(file.from);
      for (const specifier of file.specifiers)
        for (const path of packageGrants(specifier, file.from)) granted.add(path);
    }
  }
  return [...granted];
}

/** The folder of the nearest package.json, or else the strategy's own folder. */
function homeOf(file: string): string {
  const own = dirname(file);
  for (let folder = own; dirname(folder) !== folder; folder = dirname(folder))
    if (existsSync(join(folder, 'package.json'))) return folder;
  return own;
}

function isOwnCode({ from, text }: SourceFile, { home, stateDir }: {
  readonly home: string; readonly stateDir: string | undefined;
}): boolean {
  if (!isWithin(home, from) || (stateDir !== undefined && isWithin(stateDir, from))) return false;
  if (relative(home, from).split(sep).some((part) => part.startsWith('.'))) return false;
  return MODULE.test(from) || (DATA.test(from) && !isWalletKey(text));
}

function isWithin(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`) && !inside.startsWith(sep);
}

function packageGrants(specifier: string, from: string): string[] {
  // It comes from Gannet, whose own code every box may read.
  if (isGannetName(specifier) || isSharedPackage(specifier)) return [];
  const description = packageFile(specifier, from);
  if (description === undefined) return [];
  const folder = dirname(description);
  const installed = folder.indexOf(PACKAGES);
  if (installed >= 0) return [folder.slice(0, installed + PACKAGES.length - 1)];
  // A linked package is a working folder, in which more than code may lie.
  return join(folder, sep) === join(PROJECT_DIR, sep) ? []
    : [description, ...sourcePaths(folder).map((path) => join(folder, path))];
}
