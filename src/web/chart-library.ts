import { readFileSync } from 'node:fs';
import { assetFile } from '../core/code-files.ts';

/** Returns the script of the chart library, with its licence at its beginning. It goes before the script of a page. */
export function chartLibrary(): string {
  return readFileSync(assetFile('chart-library.js'), 'utf8');
}
