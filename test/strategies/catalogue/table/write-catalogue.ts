import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_DIR } from '../../../../src/core/code-files.ts';
import { catalogueEntry, catalogueNames } from '../catalogue.ts';
import { MARKETS } from './markets.ts';
import { CATALOGUE_DIR, cataloguePage } from './page.ts';
import { pictureOf, pictureStamp, stampIn } from './picture.ts';

// Writes the page and the pictures that catalogue-page.test.ts holds against the strategies: the pictures that are
// older than their strategy, and those of the strategies that the arguments name.

const asked = new Set(process.argv.slice(2));
const pictures = join(PROJECT_DIR, CATALOGUE_DIR, 'pictures');
mkdirSync(pictures, { recursive: true });
const entries = await Promise.all(catalogueNames().map(catalogueEntry));
writeFileSync(join(PROJECT_DIR, CATALOGUE_DIR, 'catalogue.md'), cataloguePage(entries));
for (const entry of entries) {
  const file = join(pictures, `${entry.name}.svg`);
  const market = MARKETS[entry.name];
  if (market === undefined) throw new Error(`table/markets.ts: add a market for ${entry.name}`);
  const known = existsSync(file) ? stampIn(readFileSync(file, 'utf8')) : undefined;
  if (known !== pictureStamp(entry, market) || asked.has(entry.name))
    writeFileSync(file, await pictureOf(entry, market));
}
const names = new Set(entries.map(({ name }) => `${name}.svg`));
for (const file of readdirSync(pictures)) if (!names.has(file)) rmSync(join(pictures, file));
