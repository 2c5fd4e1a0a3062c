import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openHosts } from '../../src/daemon/hosts/strategy-hosts.ts';
import { systemClock } from '../../src/daemon/watch/system-clock.ts';
import { GENESIS } from './load-text.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { temporaryFolder } from './temporary-folder.ts';

const SDK = JSON.stringify(join(import.meta.dirname, '../../src/strategy/index.ts'));
const RXJS = JSON.stringify(import.meta.resolve('rxjs'));
const ZOD = JSON.stringify(import.meta.resolve('zod'));
const SPEC = '{ kind: "order-book", marketId: "TIDE", everyMs: 5000 }';

/** The text of a strategy that is honest but for one of its parts. */
function strategy({ first = '', params = 'z.strictObject({})', inputs = '() => ({})' }: {
  readonly first?: string; readonly params?: string; readonly inputs?: string;
}): string {
  return `import { NEVER } from ${RXJS}; import { z } from ${ZOD}; import { defineStrategy } from ${SDK};
    ${first}
    export default defineStrategy({
      name: 'own', summary: 'Waits.', params: ${params}, inputs: ${inputs}, run: () => NEVER,
    });`;
}

/** The name of a file, its text, and what is said of it: at its name, or at its parameters. */
const ATTACKS: readonly (readonly [string, string, { readonly use: RegExp } | { readonly params: RegExp }])[] = [
  ['reads-a-file', strategy({ first: 'import { readFileSync } from "node:fs"; readFileSync("/etc/passwd");' }),
    { use: /^strategy "\.\/reads-a-file\.ts" cannot be loaded: reads-a-file\.ts: the module node:fs is not avail/ }],
  ['takes-the-environment',
    strategy({ first: 'if (process.env.GANNET_TEST_SECRET === undefined) throw new Error("0");' }),
      { use: /^strategy "\.\/takes-the-environment\.ts" cannot be loaded: takes-the-environment\.ts:\d+:\d+: 0$/ }],
  ['patches', strategy({
    first: 'Object.prototype.patched = 1; Array.prototype.map = () => []; JSON.stringify = () => "{}";',
  }), { use: /^strategy "\.\/patches\.ts" cannot be (?:used|read|loaded): / }],
  ['exits', strategy({ first: 'process.exit(0);' }), { use: /^strategy "\.\/exits\.ts" cannot be (?:read|loaded): / }],
  ['crashes',
    strategy({ first: 'process.nextTick(() => { throw new Error("late"); });', inputs: '() => { for (;;); }' }),
      { use: /^strategy "\.\/crashes\.ts" cannot be read: / }],
  ['fills-the-memory', strategy({ first: 'const all = []; for (;;) all.push(new Array(100000).fill(all.length));' }),
    { use: /^strategy "\.\/fills-the-memory\.ts" cannot be read: / }],
  ['never-loads', 'for (;;);', { use: /^strategy "\.\/never-loads\.ts" cannot be read: / }],
  ['waits-for-ever', 'await new Promise(() => undefined);', { use: /^strategy "\.\/waits-for-ever\.ts" cannot be / }],
  ['watches-everything', strategy({
    inputs: `() => Object.fromEntries(Array.from({ length: 10000 }, (_, i) => ["i" + i, { spec: ${SPEC} }]))`,
  }),
    { use: /^strategy "\.\/watches-everything\.ts" cannot be used: it declares 10000 inputs, expected at most 1000$/ }],
  ['throws-in-inputs', strategy({ inputs: '() => { throw new Error("\\u001b[2J ashore"); }' }),
    { params: /^strategy own failed on these parameters: \\u001b\[2J ashore$/ }],
  ['speaks-to-the-terminal', strategy({
    params: 'z.custom(() => false, { message: "expected \\u001b]0;owned\\u0007" })',
  }), { params: /^expected \\u001b\]0;owned\\u0007$/ }],
];

const hosts = openHosts({ clock: systemClock, loadMs: 800 });
afterAll(() => hosts.close());

describe('a strategy whose file attacks as it is read', () => {
  it('is refused by its name, without harm to the process or to the honest ones', async () => {
    const folder = await temporaryFolder();
    for (const [name, text] of ATTACKS) await writeFile(join(folder, `${name}.ts`), text);
    const uses = ATTACKS.map(([name], index) => `  - { name: s${index}, use: ./${name}.ts }\n`);
    const honest = '  - { use: book-watch, params: { market: TIDE, level: 2, rearm: 0.5 } }\n';
    await writeFile(join(folder, 'bot.yaml'), `strategies:\n${uses.join('')}${honest}`);
    const before = { map: Array.prototype.map, stringify: JSON.stringify };
    const loaded = await loadConfig({
      ...GENESIS, file: 'bot.yaml', workingDir: folder, environment: {}, strategyReader: hosts,
    });
    expect(loaded.ok).toBe(false);
    const issues = loaded.ok ? [] : loaded.issues;
    // What their text shows comes beside that.
    const said = issues.filter(({ message }) => !/^[\w-]+\.ts:\d+:\d+: /.test(message))
      .map(({ path, message }) => ({ path, message }));
    expect(said).toEqual([
      ...ATTACKS.map(([, , where], index) => {
        const [part, message] = Object.entries(where)[0] as [string, RegExp];
        return { path: `strategies[${index}].${part}`, message: expect.stringMatching(message) as string };
      }),
      { path: `strategies[${ATTACKS.length}].params.level`, message: expect.stringContaining('got 2') as string },
    ]);
    expect({ map: Array.prototype.map, stringify: JSON.stringify }).toEqual(before);
    expect({}).not.toHaveProperty('patched');
  }, 60_000);
});
