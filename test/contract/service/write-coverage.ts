import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CASES } from './cases/index.ts';
import { coveragePage } from './coverage.ts';
import { ROWS } from './rows/index.ts';

// Writes the page that coverage.test.ts holds against the suite.
const page = fileURLToPath(new URL('../../../docs/service-coverage.md', import.meta.url));
mkdirSync(new URL('.', `file://${page}`), { recursive: true });
writeFileSync(page, coveragePage(ROWS, CASES));
