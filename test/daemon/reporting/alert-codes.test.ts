import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const textOf = (path: string): string => readFileSync(`${ROOT}/${path}`, 'utf8');
const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, code = '']) => code);

/** Returns the codes in the objects of alerts in a source. */
function codesIn(text: string): string[] {
  return text.includes("kind: 'alert'")
    ? found(text, /(?:\bdata\b[^\n]*|level: '\w+', )\bcode: '([A-Z_]+)'/g) : [];
}

function codesOfSource(): Set<string> {
  const daemon = globSync('src/daemon/**/*.ts', { cwd: ROOT }).map(textOf);
  const operator = /const NEEDS_OPERATOR = \{([^}]*)\}/.exec(textOf('src/trading/intent.ts'))?.[1] ?? '';
  return new Set([
    ...daemon.flatMap(codesIn),
    ...found(textOf('src/daemon/watch/absence.ts'), /#(?:tell|alert|over)\('([A-Z_]+)'/g),
    ...found(textOf('src/daemon/watch/absence.ts'), /^ {2}([A-Z_]+): \{$/gm),
    ...found(textOf('src/trading/protections/catalogue.ts'), /code: '([A-Z_]+)'/g),
    ...[...daemon, textOf('src/engine/strategy-host.ts')]
      .flatMap((text) => found(text, /code: '(STRATEGY_(?!UNKNOWN)[A-Z_]+)'/g)),
    ...found(textOf('src/chain/node-pool.ts'), /\bcode: '(NODES?_[A-Z]+)'/g),
    ...found(operator, /\b([A-Z_]{4,}):/g),
  ]);
}

describe('the codes of alerts', () => {
  it('are each in the table of docs/operations/alerts.md, and no other ones', () => {
    const page = textOf('docs/operations/alerts.md');
    const described = found(page, /^\| `([A-Z_]+)` \|/gm);
    expect(codesOfSource().size).toBeGreaterThan(35);
    expect(described.toSorted()).toEqual([...codesOfSource()].toSorted());
    const cells = page.split('\n').filter((line) => /^\| `[A-Z_]+` \|/.test(line))
      .map((line) => line.split(' | ').length);
    expect(Math.min(...cells)).toBeGreaterThanOrEqual(4);
  });
});
