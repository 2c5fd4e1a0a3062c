import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { readHere } from '../../src/config/strategies/read-here.ts';
import { strategyViolations } from '../../src/config/strategies/code-rules.ts';
import { PROJECT_DIR } from '../../src/core/code-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'gannet-strategy-code-'));
afterAll(() => { rmSync(folder, { recursive: true }); });

async function placesIn(text: string): Promise<string[]> {
  const file = join(folder, 'strategy.ts');
  writeFileSync(file, text);
  return (await strategyViolations(file))
    .map((found) => `${basename(found.file)}:${found.line}:${found.column}: ${found.message}`);
}

describe('the check of a strategy’s code', () => {
  it('names the place and the alternative of clock, chance, environment, I/O and own subscriptions', async () => {
    const found = await placesIn(`import { readFileSync } from 'node:fs';
import { debounceTime, map } from 'rxjs';
const now = Date.now();
  if (Math.random() > 0.5) fetch('http://127.0.0.1/');
const key = process.env.KEY;
price.subscribe(() => eval('1'));
new WebSocket('ws://127.0.0.1');
const late = import(name);
`);
    expect(found.map((text) => /^strategy\.ts:\d+:\d+/.exec(text)![0])).toStrictEqual([
      '1:1', '2:1', '3:13', '4:7', '4:28', '5:13', '6:6', '6:23', '7:5', '8:14',
    ].map((place) => `strategy.ts:${place}`));
    expect(found[1]).toBe('strategy.ts:2:1: it takes "debounceTime" from rxjs, which reads the wall clock; '
      + 'take it from "gannet", bound to ctx');
    expect(found[2]).toContain('it uses Date; take the time from');
  });

  it('lets indicators pass, and refuses what reads the wall clock beside them', async () => {
    expect(await placesIn(`import { EMA, isMonday } from 'trading-signals';
import { MACD } from '../src/strategy/technical-indicators.ts';
`)).toStrictEqual([
      'strategy.ts:1:1: it takes "isMonday" from trading-signals, which reads the wall clock; '
        + 'compute it from ctx.now()',
    ]);
  });

  it('refuses a part of Gannet that strategies do not get', async () => {
    expect(await placesIn("import { defineStrategy } from 'gannet';\nimport { RSI } from 'gannet/indicators';\n"))
      .toStrictEqual([]);
    expect(await placesIn("import { Engine } from 'gannet/dist/engine.js';\n")).toStrictEqual([
      'strategy.ts:1:1: there is no "gannet/dist/engine.js": import from "gannet" or "gannet/indicators"',
    ]);
  });

  it('is not fooled by comments, strings, templates, regular expressions and types', async () => {
    expect(await placesIn(`// Date.now() and process.env
/* fetch('x') */ const a = 'Math.random()'; const b = \`setTimeout \${a} await\`; const c = /process.env/;
import type { Stats } from 'node:fs';
const d = { at: 1 }.at; const e = run.process;
`)).toStrictEqual([]);
  });

  it('follows the local files that a strategy imports', async () => {
    writeFileSync(join(folder, 'part.ts'), 'export const at = performance.now();\n');
    expect(await placesIn("import { at } from './part.ts';\nexport { at };\n"))
      .toStrictEqual([expect.stringMatching(/^part\.ts:1:19: it uses performance; /)]);
  });

  it('refuses a run and fails config check, and no command that only reads', async () => {
    writeFileSync(join(folder, 'own.ts'), `import { EMPTY } from '${import.meta.resolve('rxjs')}';
import { z } from '${import.meta.resolve('zod')}';
import { defineStrategy } from '${PROJECT_DIR}src/strategy/index.ts';
export default defineStrategy({ name: 'own', summary: 'Reads the clock.', params: z.strictObject({}),
  inputs: () => ({}), run: () => { new Date(); return EMPTY; } });
`);
    writeFileSync(join(folder, 'bot.yaml'), 'strategies:\n  - { use: ./own.ts }\n');
    const issues = async (purpose: 'run' | 'check' | 'read'): Promise<string[]> => {
      const loaded = await loadConfig({
        file: 'bot.yaml', workingDir: folder, environment: {}, purpose, decimalsOf: async () => new Map(),
        strategyReader: readHere,
      });
      return loaded.ok ? [] : loaded.issues.map(({ line, path, message }) => `${line} ${path} ${message}`);
    };
    const refused = expect.stringMatching(/^2 strategies\[0\]\.use own\.ts:5:40: it uses Date; take the /) as string;
    expect(await issues('run')).toStrictEqual([refused]);
    expect(await issues('check')).toStrictEqual([refused]);
    expect(await issues('read')).toStrictEqual([]);
  });

  it('finds nothing in the project’s own strategies', async () => {
    const own = join(PROJECT_DIR, 'strategies');
    for (const file of readdirSync(own).filter((name) => name.endsWith('.ts')))
      expect(await strategyViolations(join(own, file)), file).toStrictEqual([]);
  });
});
