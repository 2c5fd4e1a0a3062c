import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dialect } from '../../src/service/wire/dialect.ts';
import { loadDialect } from '../../src/service/wire/dialect.ts';

/** Returns the dialect that a text describes, read from a file of this name. */
export function dialectOf(text: string, name = 'coast'): Dialect {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-dialect-'));
  try {
    writeFileSync(join(folder, `${name}.yaml`), text);
    return loadDialect(name, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
