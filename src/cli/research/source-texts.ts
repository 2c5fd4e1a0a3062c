import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the source files of a folder, each under its path from there, sorted; packages in it are left out. */
export function sourceTexts(folder: string): string[] {
  return globSync('**/*.{ts,mts,cts,js,mjs,cjs}', { cwd: folder, exclude: (path) => path.endsWith('node_modules') })
    .toSorted()
    .map((path) => `${path}\n${readFileSync(join(folder, path), 'utf8')}`);
}
