import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { PROJECT_DIR } from '../../../../src/core/code-files.ts';
import type { CatalogueEntry } from '../catalogue.ts';
import { catalogueEntry, catalogueNames } from '../catalogue.ts';
import { MARKETS } from './markets.ts';
import { CATALOGUE_DIR, cataloguePage } from './page.ts';
import { pictureStamp, stampIn } from './picture.ts';

const FOLDER = join(PROJECT_DIR, CATALOGUE_DIR);
const NAMES = catalogueNames();
const MOST_BYTES = 15_000;

let entries: readonly CatalogueEntry[];
beforeAll(async () => { entries = await Promise.all(NAMES.map(catalogueEntry)); });

describe('the catalogue in docs/strategies', () => {
  it('equals the page generated from the strategies', () => {
    const page = readFileSync(join(FOLDER, 'catalogue.md'), 'utf8');
    expect(page === cataloguePage(entries), 'run: npm run docs:catalogue').toBe(true);
  });

  it('has one market and one small picture for each strategy, as young as its code', () => {
    expect(Object.keys(MARKETS).toSorted()).toEqual(NAMES);
    expect(readdirSync(join(FOLDER, 'pictures')).toSorted()).toEqual(NAMES.map((name) => `${name}.svg`));
    for (const entry of entries) {
      const svg = readFileSync(join(FOLDER, 'pictures', `${entry.name}.svg`), 'utf8');
      expect(stampIn(svg), `run: npm run docs:catalogue (for ${entry.name})`)
        .toBe(pictureStamp(entry, MARKETS[entry.name]!));
      expect(Buffer.byteLength(svg), entry.name).toBeLessThan(MOST_BYTES);
    }
  });

  it('shows each strategy doing something', () => {
    for (const name of NAMES) {
      const svg = readFileSync(join(FOLDER, 'pictures', `${name}.svg`), 'utf8');
      expect(svg).toMatch(new RegExp(`<title>${name}: (?!0 purchases, 0 sales, 0 alerts)`));
    }
  });
});
