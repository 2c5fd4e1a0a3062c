import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as sdk from '../../../src/strategy/index.ts';
import * as testing from '../../../src/testing/index.ts';
import { PROJECT_DIR } from '../../../src/core/code-files.ts';
import { referencePage } from './reference-page.ts';

describe('docs/strategies/reference.md', () => {
  const page = referencePage();

  it('equals the page written from the docstrings: npm run docs:reference', () => {
    expect(readFileSync(join(PROJECT_DIR, 'docs', 'strategies', 'reference.md'), 'utf8')).toBe(page);
  });

  it('has every value that an author can import, with a declaration', () => {
    for (const name of [...Object.keys(sdk), ...Object.keys(testing)])
      expect(page).toMatch(new RegExp(`\n### ${name}\n\n\\S[\\s\\S]*?\n\`\`\`ts\n\\w+ ${name}\\b`));
  });
});
