import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PROJECT_DIR } from '../../../src/core/code-files.ts';
import { referencePage } from './reference-page.ts';

// Writes the page that reference-page.test.ts holds against the docstrings.
const file = join(PROJECT_DIR, 'docs', 'strategies', 'reference.md');
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, referencePage());
