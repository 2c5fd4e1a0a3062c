import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadText } from './load-text.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
/** Between them they have every key that there is. */
const GOOD = await Promise.all(['gannet.yaml', 'live.yaml'].map(async (file) => {
  const text = await readFile(join(CHECKOUT, 'config', file), 'utf8');
  return text.split('\n').filter((line) => !/^\s*(?:#|$)/.test(line)).join('\n');
}));

/** What people and editors do to a file, and what YAML stumbles over. */
const PIECES = ['\t', ':', ': ', '- ', '#', '"', "'", '{', '}', '[', ']', '&a ', '*a', '!!str ', '!x ', '|\n', '>-\n',
  '${', '${HOME}', '}', '<<: *a', '---\n', '...\n',
    '? ', '~', 'null', 'NO', '1e3', '0x10', '.inf', '-0', '99999999999999999999', '%YAML 1.1\n', '\0', '\uFEFF',
    '\u2028', '\uD800', '\uE000\uE001A\uE002', '\r\n', '__proto__: 1', 'constructor'];

const edit = fc.oneof(
  fc.record({
    kind: fc.constant('insert' as const), at: fc.nat(10_000),
    text: fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 8 })),
  }),
  fc.record({ kind: fc.constant('delete' as const), at: fc.nat(10_000), count: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ kind: fc.constant('copy-line' as const), from: fc.nat(200), to: fc.nat(200) }),
  fc.record({ kind: fc.constant('replace-value' as const), line: fc.nat(200), text: fc.constantFrom(
    ...PIECES, '{}', '[]', '5', 'x', '"5 USDC"', '-1', 'true', '{ kind: dead_man, after: 1d, scope: token }',
    '[{ kind: cooldown }]', '{ per_trade: "0" }',
  ) }),
);

function mutate(text: string, edits: readonly (typeof edit extends fc.Arbitrary<infer E> ? E : never)[]): string {
  return edits.reduce((current, change) => {
    const lines = current.split('\n');
    switch (change.kind) {
      case 'insert': {
        const at = change.at % (current.length + 1);
        return current.slice(0, at) + change.text + current.slice(at);
      }
      case 'delete': {
        const at = change.at % (current.length + 1);
        return current.slice(0, at) + current.slice(at + change.count);
      }
      case 'copy-line':
        return lines.toSpliced(change.to % lines.length, 0, lines[change.from % lines.length]!).join('\n');
      case 'replace-value': {
        const at = change.line % lines.length;
        return lines.with(at, lines[at]!.replace(/: .*$/, `: ${change.text}`)).join('\n');
      }
    }
  }, text);
}

describe('a good file, edited at random', () => {
  it('loads or has its faults said, each at a place of the file', async () => {
    await fc.assert(fc.asyncProperty(fc.constantFrom(...GOOD), fc.array(edit, { minLength: 1, maxLength: 4 }),
      async (good, edits) => {
        const text = mutate(good, edits);
        const result =
          await loadText(text, { purpose: 'check', environment: { HOME: '/home/bird', GANNET_API_KEY: 'k' } });
        if (result.ok) return;
        const lines = text.split(/\r\n|\r|\n/);
        expect(result.issues.length).toBeGreaterThan(0);
        for (const { file, line, column, message } of result.issues) {
          expect(file).toBe('bot.yaml');
          expect(line).toBeGreaterThanOrEqual(1);
          expect(line).toBeLessThanOrEqual(lines.length);
          expect(column).toBeGreaterThanOrEqual(1);
          expect(message).toMatch(/^[^\n]{8,}$/);
        }
      }), { numRuns: 250, seed: 20_261_120 });
  });
});
