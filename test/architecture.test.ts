import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  banViolations, nameViolations, needlessExceptions, packageTimeViolations, vendorViolations,
} from './architecture/bans.ts';
import type { SourceFile } from './architecture/layers.ts';
import { importCycles, importViolations, placeOf } from './architecture/layers.ts';
import { importsOf } from '../src/core/source-imports.ts';
import { folderViolations, lineViolations, unusedExports } from './architecture/readability.ts';
import { codeOf } from '../src/core/source-text.ts';
import { wordViolations } from './architecture/words.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};
const dependencies = new Set(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }));

function read(pattern: string | string[]): SourceFile[] {
  return globSync(pattern, { cwd: ROOT }).sort()
    .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(`${ROOT}/${path}`, 'utf8') }));
}

const product = read(['src/**/*.ts', 'strategies/**/*.ts']);
const tests = read('test/**/*.ts');
const recipes = read('docs/**/*.ts');

const checkImports = (path: string, text: string): string[] => importViolations({ path, text }, dependencies);

const checkStrategy = (text: string): string[] => packageTimeViolations({ path: 'strategies/a.ts', text });

/** Returns file and title of each test that a page names: the file in backquotes, then its titles in quotes. */
function testsNamedIn(page: string): [file: string, title: string][] {
  const flat = page.replaceAll('\n', ' ');
  return [...flat.matchAll(/`([\w./-]+\.test\.ts)`((?:(?:,| and)? "[^"]+")+)/g)].flatMap(([, file = '', titles = '']) =>
    [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']): [string, string] => [file, title]));
}

/** Returns the rows of a page's tables that state what stops an attack, and name no test. */
function unprovenRows(page: string): string[] {
  return page.split('\n').filter((line) => line.startsWith('| ')).filter((line) => {
    const [, , stops = '', , test = ''] = line.split('|').map((cell) => cell.trim());
    return stops !== '' && stops !== 'what stops it' && !test.includes('.test.ts` "');
  });
}

const registersHooks = ({ text }: SourceFile): boolean => /^(?:after|before)(?:All|Each)\(/m.test(codeOf(text));

describe('the project', () => {
  it('has files in every layer below the daemon, so that this suite checks something', () => {
    const places = new Set(product.map(({ path }) => placeOf(path)));
    expect([...places])
      .toEqual(expect.arrayContaining(['core', 'market', 'trading', 'strategy', 'engine', 'strategies', 'backtest']));
    expect(product.flatMap(({ text }) => importsOf(text)).length).toBeGreaterThan(product.length);
  });

  it('imports only downward, and never one adapter from another', () => {
    expect(product.flatMap((file) => importViolations(file, dependencies))).toEqual([]);
  });

  it('has no cycle of imports', () => {
    expect(importCycles(product)).toEqual([]);
  });

  it('reads clock, chance, environment and locale nowhere but at its edge', () => {
    expect([...product, ...tests].flatMap(banViolations)).toEqual([]);
  });

  it('grants no exception without a need', () => {
    expect(needlessExceptions(product)).toEqual([]);
  });

  it('takes no time from a package in a strategy', () => {
    expect(product.flatMap(packageTimeViolations)).toEqual([]);
  });

  it('names every file by its concept', () => {
    expect([...product, ...tests, ...recipes].flatMap(({ path }) => nameViolations(path))).toEqual([]);
  });

  it('registers no test hooks while a shared module is loaded', () => {
    expect(tests.filter((file) => !file.path.endsWith('.test.ts') && registersHooks(file)).map(({ path }) => path))
      .toEqual([]);
    expect(registersHooks(
      { path: 'test/world.ts', text: "import { afterAll } from 'vitest';\nafterAll(() => undefined);\n" },
    )).toBe(true);
  });

  it('has no line over 120 columns', () => {
    expect([...product, ...tests, ...recipes, ...read('build.ts')].flatMap(lineViolations)).toEqual([]);
  });

  it('has no folder of more than 25 files without a reason', () => {
    expect(folderViolations(product)).toEqual([]);
  });

  it('exports no name that only its own file or a test uses', () => {
    expect(unusedExports([...product, ...read('build.ts')], tests)).toEqual([]);
  });

  it('uses the words of the field in names, comments, messages, tests and documents', () => {
    const documents = read(['README.md', 'SECURITY.md', 'CHANGELOG.md', 'DECISIONS.md', 'docs/*.md']);
    expect([...product, ...tests, ...recipes, ...documents].flatMap(wordViolations)).toEqual([]);
  });

  it('documents only files and folders that exist', () => {
    const missing = read(['README.md', 'docs/*.md']).flatMap(({ path, text }) =>
      [...text.matchAll(/`((?:src|strategies|test|config)\/[\w./-]*)`/g)]
        .filter(([, named]) => !existsSync(`${ROOT}/${named}`)).map(([, named]) => `${path}: there is no ${named}`));
    expect(missing).toEqual([]);
  });

  it('names a test that exists for each claim of SECURITY.md', () => {
    const [document] = read(['SECURITY.md']);
    const named = testsNamedIn(document!.text);
    expect(named.length).toBeGreaterThan(50);
    const texts = new Map(tests.map(({ path, text }) => [path, text]));
    expect(named.filter(([file, title]) => texts.get(`test/${file}`)?.includes(title) !== true)).toEqual([]);
    expect(unprovenRows(document!.text)).toEqual([]);
  });

  it('names no vendor outside the dialects', () => {
    const texts = read(['{src,strategies,config,docs,test,bin}/**/*.*', 'bin/*', '*.md', '.env.example'])
      .filter(({ text }) => !text.includes('\0'));
    expect(texts.length).toBeGreaterThan(product.length);
    expect(texts.flatMap(vendorViolations)).toEqual([]);
  });
});

describe('the check of imports', () => {
  it.each([
    ['src/core/a.ts', `import { x } from '../market/quote.ts';`],
    ['src/core/a.ts', `import type { X } from '../trading/state.ts';`],
    ['src/core/a.ts', `import { Observable } from 'rxjs';`],
    ['src/core/a.ts', `import { hash } from 'node:crypto';`],
    ['src/core/a.ts', `import { DatabaseSync } from 'node:sqlite';`],
    ['src/core/file-lock.ts', `import { createServer } from 'node:net';`],
    ['src/market/a.ts', `import { map } from 'rxjs';`],
    ['src/trading/a.ts', `export { Engine } from '../engine/engine.ts';`],
    ['src/trading/a.ts', `export * from '../strategy/index.ts';`],
    ['src/trading/a.ts', `export type * from '../strategy/index.ts';`],
    ['src/strategy/a.ts', `import { step } from '../trading/step.ts';`],
    ['src/engine/a.ts', `import { readFileSync } from 'node:fs';`],
    ['src/engine/a.ts', `import { z } from 'zod';`],
    ['src/service/a.ts', `import { createRpc } from '../chain/rpc.ts';`],
    ['src/service/a.ts', `const rpc = import('../chain/rpc.ts');`],
    ['src/chain/a.ts', `const worker = new Worker(new URL('../signer/main.ts', import.meta.url));`],
    ['src/store/a.ts', `import '../recording/format.ts';`],
    ['src/recording/a.ts', `import type { Strategy } from '../strategy/define.ts';`],
    ['src/signer/a.ts', `import { amount } from '../market/token.ts';`],
    ['src/signer/a.ts', `import { Connection } from '@solana/web3.js';`],
    ['src/signer/a.ts', `import { unpackMint } from '@solana/spl-token';`],
    ['src/daemon/a.ts', `import { PublicKey } from '@solana/web3.js';`],
    ['src/service/a.ts', `const solana = await import('@solana/web3.js');`],
    ['src/signer/a.ts', `import { connect } from 'node:tls';`],
    ['src/execution/a.ts', `import { sign } from '../signer/sign.ts';`],
    ['src/execution/a.ts', `import { request } from 'undici';`],
    ['src/backtest/a.ts', `import { createSandbox } from '../sandbox/genesis.ts';`],
    ['src/sandbox/a.ts', `import { createTransport } from '../service/transport.ts';`],
    ['src/config/a.ts', `import { Engine } from '../engine/engine.ts';`],
    ['src/config/a.ts', `import { isIPv4, connect } from 'node:net';`],
    ['src/service/a.ts', `import { readConfig } from '../config/read.ts';`],
    ['src/daemon/a.ts', `import { main } from '../cli/main.ts';`],
    ['src/daemon/a.ts', `import { anything } from '../../test/engine/anything.ts';`],
    ['src/daemon/a.ts', `import { it } from 'vitest';`],
    ['src/daemon/a.ts', `import { readFileSync } from 'fs';`],
    ['src/service/a.ts', `import{createRpc}from"../chain/rpc.ts"`],
    ['src/service/a.ts', `import { createRpc } from '/somewhere/src/chain/rpc-client.ts';`],
    ['src/service/a.ts', `const loaded = import(path);`],
    ['src/main.ts', `import { Engine } from './engine/engine.ts';`],
    ['strategies/a.ts', `import { amount } from '../src/core/amount.ts';`],
    ['strategies/a.ts', `import { bollinger } from '../src/strategy/indicators/bollinger.ts';`],
    ['strategies/a.ts', `import { map } from 'rxjs/operators';`],
    ['strategies/a.ts', `import { isMonday } from 'trading-signals/util';`],
    ['src/daemon/a.ts', `import { RSI } from '../strategy/technical-indicators.ts';`],
    ['strategies/a.ts', `import { request } from 'undici';`],
    ['strategies/a.ts', `import { hash } from 'node:crypto';`],
  ])('refuses in %s: %s', (path, text) => {
    expect(checkImports(path, `// first line\n${text}\n`))
      .toEqual([expect.stringMatching(new RegExp(`^${path}:2: .+; .+`))]);
  });

  it.each([
    ['src/core/a.ts', `import type { SchedulerLike } from 'rxjs';`],
    ['src/core/file-lock.ts', `import { DatabaseSync } from 'node:sqlite';`],
    ['src/trading/a.ts', `import type { Observable } from 'rxjs';`],
    ['src/strategy/a.ts', `import type { Outcome } from '../trading/intent.ts';`],
    ['src/strategy/a.ts', `import * as rx from 'rxjs';`],
    ['src/engine/a.ts', `import { hash } from 'node:crypto';`],
    ['src/sandbox/a.ts', `import { orderSchema } from '../service/order-wire.ts';`],
    ['src/sandbox/a.ts', `import { orderSchema } from '../service/wire/order.ts';`],
    ['src/signer/a.ts', `import bs58 from 'bs58';`],
    ['src/config/a.ts', `import { isIPv4 } from 'node:net';`],
    ['src/daemon/a.ts', `const strategy = import(path);`],
    ['src/cli/a.ts', `import { start } from '../daemon/start.ts';`],
    ['strategies/pairs/a.ts', `import { spread } from './spread.ts';`],
    ['strategies/a.ts', `import { defineStrategy } from '../src/strategy/index.ts';`],
    ['strategies/a.ts', `import { defineStrategy } from 'gannet';\nimport { RSI } from 'gannet/indicators';`],
    ['strategies/a.ts', `import { RSI } from '../src/strategy/technical-indicators.ts';`],
    ['strategies/a.ts', `import { RSI } from 'trading-signals';`],
    ['src/strategy/a.ts', `import { RSI } from 'trading-signals';`],
    [
      'src/core/a.ts',
      `// import { x } from '../market/quote.ts';\nconst text = "import { x } from '../market/quote.ts'";`,
    ],
  ])('lets pass in %s: %s', (path, text) => {
    expect(checkImports(path, text)).toEqual([]);
  });

  it('reads clauses over several lines, with defaults, aliases and inline types', () => {
    const text = `import fallback, {\n  type A,\n  b as c, // why\n} from './x.ts';\nexport type { D } from './y.ts';`;
    expect(importsOf(text)).toEqual([
      { line: 1, column: 1, specifier: './x.ts', typeOnly: false, names: ['default', 'A', 'b'] },
      { line: 5, column: 1, specifier: './y.ts', typeOnly: true, names: ['D'] },
    ]);
  });

  it('finds a cycle over several files, and one that types close too', () => {
    const a = { path: 'src/core/a.ts', text: `import { b } from './b.ts';` };
    const b = { path: 'src/core/b.ts', text: `export { c } from './c.ts';` };
    const c = { path: 'src/core/c.ts', text: `import { a } from './a.ts';` };
    expect(importCycles([a, b, c])).toEqual(['src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts']);
    expect(importCycles([a, b, { ...c, text: `import type { A } from './a.ts';` }])).toHaveLength(1);
  });
});

const file = (path: string, text: string): SourceFile => ({ path, text });

describe('the check of readability', () => {
  it('refuses a line of 121 columns, and lets 120 pass', () => {
    expect(lineViolations(file('src/core/a.ts', `${'a'.repeat(120)}\n${'a'.repeat(121)}\n`)))
      .toEqual(['src/core/a.ts:2: the line has 121 columns; wrap it at 120']);
  });

  it('refuses a folder of 26 files, and an exception that is not needed', () => {
    const files = Array.from({ length: 26 }, (_, index) => file(`src/core/a${index}.ts`, ''));
    expect(folderViolations(files, new Map())).toEqual([expect.stringContaining('src/core holds 26 files')]);
    expect(folderViolations(files, new Map([['src/core', 'a reason']]))).toEqual([]);
    expect(folderViolations(files.slice(1), new Map([['src/core', 'a reason']]))).toHaveLength(1);
  });

  it('refuses an export without an importer, and one that only tests import', () => {
    const a = file('src/core/a.ts', 'export const one = 1;\nexport function two(): void {}\nexport type Three = 3;\n');
    const b = file('src/core/b.ts', "import { one } from './a.ts';\nimport type { Three } from './a.ts';\n");
    const test = file('test/core/a.test.ts', "import { two } from '../../src/core/a.ts';\n");
    expect(unusedExports([a, b], [], new Map()))
      .toEqual([expect.stringContaining('src/core/a.ts:2: no file imports "two"')]);
    expect(unusedExports([a, b], [test], new Map())).toEqual([expect.stringContaining('but tests')]);
    expect(unusedExports([a, b], [test], new Map([['src/core/a.ts#two', 'a reason']]))).toEqual([]);
    expect(unusedExports([a, b], [test], new Map([['src/core/a.ts#two', 'x'], ['src/core/a.ts#one', 'x']])))
      .toEqual([expect.stringContaining('src/core/a.ts#one needs no exception')]);
    expect(unusedExports([file('src/strategy/index.ts', 'export const one = 1;')], [], new Map())).toEqual([]);
  });

  it.each([
    ['src/core/desk.ts', '', 'desk'], ['src/core/a.ts', 'const swapWish = 1;', 'Wish'],
    ['src/core/a.ts', '// Nobody knows.', 'Nobody'], ['src/core/a.ts', 'const worldOf = 1;', 'world'],
    ['test/a.test.ts', "it('looks at it', () => {});", 'looks'], ['docs/a.md', 'sold by hand', 'by hand'],
    ['src/core/a.ts', 'const isAlive = true;', 'Alive'], ['src/core/a.ts', '/** It comes on anew. */', 'comes on'],
  ])('refuses in %s: %s', (path, text, word) => {
    expect(wordViolations(file(path, text))).toContainEqual(expect.stringContaining(`"${word}"`));
  });

  it.each([
    'look-up table', 'lookup', 'lookUp()', 'look-ahead', 'lookback', 'asLegacyTransaction', 'keepAlive', 'last look',
    'lastLookBps', 'board', 'aliveness', 'a legacy transaction',
  ])('lets pass: %s', (text) => {
    expect(wordViolations(file('src/core/a.ts', text))).toEqual([]);
  });
});

describe('the check of bans', () => {
  it.each([
    'const at = Date.now();', 'const at = new Date();', 'const at = performance.now();', 'setTimeout(go, 5);',
    'setInterval(go, 5);', 'setImmediate(go);', 'queueMicrotask(go);', 'const n = Math.random();',
    'const id = crypto.randomUUID();', 'const b = randomBytes(8);',
    'crypto.getRandomValues(bytes);', 'const home = process.env.HOME;', 'const f = async () => 1;', 'await go();',
    'go(Promise.resolve());', 'const f = new Intl.NumberFormat();', 'words.sort((a, b) => a.localeCompare(b));',
    'const s = n.toLocaleString();', 'fetch(url);',
    'const at = globalThis.performance;', 'const text = `at ${Date.now()}`;',
    'const wait = /x/.test(y) ? 1 : Date.now();',
  ])('refuses in the deterministic layers: %s', (text) => {
    for (const folder of ['src/core', 'src/market', 'src/trading', 'src/strategy', 'src/engine', 'strategies']) {
      expect(banViolations({ path: `${folder}/a.ts`, text: `\n${text}` })[0])
        .toMatch(new RegExp(`^${folder}/a\\.ts:2: .+ is banned here; .+`));
    }
  });

  it.each([
    '// Date.now() would be wrong here', 'const text = "await Date.now()";',
    'const text = `process.exit ${clock.now()}`;', 'state.process.step();', 'const pattern = /new Date/;',
    'import { asyncThing } from "./x.ts";', 'options.async = true;', 'service.fetch(url);',
  ])('lets pass in the deterministic layers: %s', (text) => {
    expect(banViolations({ path: 'src/engine/a.ts', text })).toEqual([]);
  });

  it.each(['const at = Date.now();', 'const at = new Date();', 'setTimeout(go, 5);', 'const at = performance.now();'])(
    'refuses where the Clock is a parameter, allows at the edge: %s', (text) => {
      for (const layer of [
        'service', 'chain', 'execution', 'signer', 'store', 'recording', 'backtest', 'config', 'sandbox',
      ]) {
        expect(banViolations({ path: `src/${layer}/a.ts`, text }), layer).toHaveLength(1);
      }
      expect(banViolations({ path: 'src/daemon/a.ts', text })).toEqual([]);
      expect(banViolations({ path: 'src/cli/a.ts', text })).toEqual([]);
    });

  it('refuses the global fetch at the edge too, and module mocks in tests', () => {
    expect(banViolations({ path: 'src/daemon/a.ts', text: 'fetch(url)' })).toHaveLength(1);
    expect(banViolations({ path: 'test/engine/a.test.ts', text: `vi.mock('../src/core/time.ts');` })).toHaveLength(1);
  });

  it('refuses the time operators and schedulers of RxJS in a strategy, however they are named', () => {
    expect(checkStrategy(`import { map, debounceTime, retry as again } from 'rxjs';`)).toEqual([
      expect.stringContaining('"debounceTime"'), expect.stringContaining('"retry"'),
    ]);
    expect(checkStrategy(`import * as rx from 'rxjs';`)).toHaveLength(1);
    expect(checkStrategy(`export { interval } from 'rxjs';`)).toHaveLength(1);
    expect(checkStrategy(`import { isMonday, RSI } from 'trading-signals';`)).toEqual([
      expect.stringContaining('"isMonday"'),
    ]);
    expect(checkStrategy(`import * as signals from 'trading-signals';`)).toHaveLength(1);
    expect(checkStrategy(`import { map, mergeMap } from 'rxjs';\nimport { interval } from '../src/strategy/index.ts';`))
      .toEqual([]);
  });

  it.each([
    'src/core/utils.ts', 'src/core/helpers/x.ts', 'src/common/x.ts', 'src/engine/order-manager.ts',
    'src/market/types.ts', 'src/core/orderBook.ts',
  ])(
    'refuses the name %s', (path) => {
      expect(nameViolations(path)).toHaveLength(1);
    });

  it('refuses a vendor in code, comments and prose, and finds none within other words', () => {
    const words = [
      ['Ju', 'piter'], ['j', 'up'], ['kal', 'shi'], ['forJ', 'itoBundle'], ['d', 'flow'], ['O', 'KX'],
      ['poly', 'market'], ['me', 'tis'],
    ]
      .map((pieces) => pieces.join(''));
    for (const word of words) {
      const [violation] = vendorViolations({ path: 'docs/a.md', text: `one\ntwo ${word} three` });
      expect(violation).toMatch(/^docs\/a\.md:2: .+; .+/);
      expect(vendorViolations({ path: 'config/dialects/live.yaml', text: word })).toEqual([]);
    }
    expect(vendorViolations({ path: 'docs/a.md', text: 'a book is read by its maximum; iris, rfqz, routerA' }))
      .toEqual([]);
  });

  it('keeps every offset when it blanks out what is not code', () => {
    const text = 'const a = `x ${b ? `y ${c}` : "}"} z`; // `\nconst d = /["`]/.test(e) / 2; /* " */ const f = "\\"";';
    const code = codeOf(text);
    expect(code).toHaveLength(text.length);
    expect(code.replace(/\s+/g, ' '))
      .toBe('const a = ` ${b ? ` ${c}` : " "} `; const d = / /.test(e) / 2; const f = " ";');
  });
});
