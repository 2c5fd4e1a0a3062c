import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importsOf } from '../../src/core/source-imports.ts';
import { SOL, USDC } from '../market/tokens.ts';
import { writeSwings } from '../research/trials/trial-setup.ts';
import type { Playground } from './gannet.ts';
import { createPlayground, jsonLines, PROJECT } from './gannet.ts';

const OWN = `import { filter, map } from 'rxjs';
import { z } from 'zod';
import { amount, defineStrategy, pair, quotes } from 'gannet';
import { SMA } from 'gannet/indicators';

const mean: SMA = new SMA(3);
export default defineStrategy({
  name: 'own', summary: 'Buys where nothing is held.',
  params: z.strictObject({ pair: pair(), size: amount() }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '1s' }) }),
  run: ({ price }, p, ctx) => price.pipe(
    filter(() => ctx.available(p.pair.base) === 0n && ctx.openIntents() === 0),
    map(({ price: paid }) => ctx.buy(p.pair, p.size, \`at \${paid}, mean \${mean.add(paid)}\`)),
  ),
});
`;
const YAML = `mode: paper
tokens: { SOL: ${SOL.mint}, USDC: ${USDC.mint} }
backtest: { balances: { USDC: "1000" } }
control: { port: 0 }
strategies:
  - { use: ./own.ts, name: own, budget: "500 USDC", params: { pair: SOL/USDC, size: "25 USDC" } }
`;

/** A test of an author, whose RxJS and zod are installed beside the copies of the package. */
const TWO_COPIES = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catchError, combineLatest, map, merge, mergeMap, Observable, of, share, switchMap, take } from 'rxjs';
import { z } from 'zod';
import {
  cooldown, defineStrategy, hysteresis, indicate, interval, pair, quotes, timeout, timer, whenFlat,
} from 'gannet';
import { SMA } from 'gannet/indicators';
import { testStrategy } from 'gannet/testing';
import { Observable as Bundled } from 'BUNDLED';

const both = defineStrategy({
  name: 'both', summary: 'Mixes streams of two copies.', params: z.strictObject({ pair: pair() }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: { token: p.pair.quote, amount: 10_000_000n }, every: '1s' }) }),
  run: ({ price }, p, ctx) => {
    const shared = price.pipe(share());
    const size = { token: p.pair.quote, amount: 10_000_000n };
    const said = merge(
      shared.pipe(switchMap((quote) => timer(ctx, '2s').pipe(map(() => \`after \${quote.price.toFixed(0)}\`)))),
      shared.pipe(indicate(() => new SMA(2)), map(({ value }) => \`mean \${value.toFixed(0)}\`)),
      shared.pipe(map((quote) => quote.price), hysteresis(101, 99), map((isHigh) => \`high \${isHigh}\`)),
      combineLatest([shared, interval(ctx, '1s')]).pipe(
        take(1), map(([quote, n]) => \`both \${quote.price.toFixed(0)} \${n}\`)),
      shared.pipe(take(1), mergeMap(() => ctx.watch(quotes(p.pair, { amount: size, every: '1s' }))), take(1),
        map((quote) => \`watched \${quote.price.toFixed(0)}\`)),
      shared.pipe(timeout(ctx, '3s'), catchError((error: unknown) => of((error as Error).name))),
    ).pipe(mergeMap((text) => (typeof text === 'string' ? of(text) : [])));
    return merge(said.pipe(map((text) => ctx.alert('info', text))), shared.pipe(
      whenFlat(ctx, p.pair.base), cooldown(ctx, '10s', 'pause'), map(() => ctx.buy(p.pair, size, 'flat'))));
  },
});

test('streams of both copies run together', () => {
  assert.notEqual(Observable, Bundled);
  const run = testStrategy(both, { params: { pair: 'SOL/USDC' } });
  run.series('1s', { price: [100, 98, 102] }).advance('5s');
  assert.deepEqual(run.lines('alert', 'swap'), EXPECTED);
});
`;
const SAID = [
  '0s buy 10 USDC -> SOL "flat"', '1s info "both 100 0"', '1s info "mean 99"', '1s info "watched 98"',
  '2s info "mean 100"', '2s info "high true"', '4s info "after 102"', '5s info "TimeoutError"',
];

/** What is installed: the packages of the checkout that are no development dependencies, by their paths. */
interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

const TOP_LEVEL = /^node_modules\/(?:@[^/]+\/)?[^/]+$/;

let playground: Playground;
let installed: string;
let recording: string;

/** Packs the checkout, and lays the package out as npm does, without a registry: dependencies are linked. */
beforeAll(async () => {
  playground = createPlayground();
  recording = await writeSwings(playground.dir);
  playground.write('package.json', '{ "name": "mine", "type": "commonjs" }');
  playground.write('own.ts', OWN);
  playground.write('own.yaml', YAML);
  execFileSync('npm', ['pack', '--silent', '--pack-destination', playground.dir], { cwd: PROJECT, stdio: 'pipe' });
  installed = playground.path('node_modules', 'gannet');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', playground.path('gannet-0.2.0.tgz'), '-C', installed, '--strip-components', '1']);
  const { packages } = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')) as Lock;
  for (const [path, { dev = false }] of Object.entries(packages)) {
    const from = join(PROJECT, path);
    if (dev || !TOP_LEVEL.test(path) || !existsSync(from)) continue;
    mkdirSync(dirname(playground.path(path)), { recursive: true });
    if (spawnSync('cp', ['-al', from, playground.path(path)]).status !== 0)
      execFileSync('cp', ['-a', from, playground.path(path)]);
  }
  const commands = playground.path('node_modules', '.bin');
  mkdirSync(commands);
  symlinkSync('../gannet/bin/gannet', join(commands, 'gannet'));
  symlinkSync(process.execPath, join(commands, 'node'));
});
afterAll(() => playground.close());

function gannet(args: readonly string[], from = playground.path('node_modules', '.bin', 'gannet')): string {
  const ended = spawnSync(from, args, {
    cwd: playground.dir, encoding: 'utf8', env: { PATH: '/usr/bin:/bin', TMPDIR: playground.path('tmp') },
  });
  expect(ended.status, `${ended.stdout}\n${ended.stderr}`).toBe(0);
  return ended.stdout;
}

/** Returns the files that a file of the build can come to load by import, itself included. */
function loadedFrom(file: string, found: Set<string> = new Set()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const { specifier } of importsOf(readFileSync(file, 'utf8')))
    if (specifier?.startsWith('.') === true) loadedFrom(resolve(dirname(file), specifier), found);
  return found;
}

/** Makes a link, and the folders of it. */
function link(to: string, from: string): void {
  mkdirSync(dirname(from), { recursive: true });
  symlinkSync(relative(dirname(from), to), from);
}

describe('the package', () => {
  it('runs with the Node that it brings, and decides as the source does', () => {
    // The first is answered without Node, the second by the program.
    expect([gannet(['--version']), gannet(['--log-level', 'warn', '--version'])]).toStrictEqual(['0.2.0\n', '0.2.0\n']);
    const backtest = ['backtest', 'own.yaml', '--json', '--recording', recording, '--no-grid', '--report', 'own.html'];
    const hashes = [gannet(backtest), gannet(backtest, join(PROJECT, 'bin', 'gannet'))].map((text) =>
      (JSON.parse(text) as { readonly decisions: number; readonly decision_hash: string }));
    expect(hashes[0]!.decision_hash).toBe(hashes[1]!.decision_hash);
    expect(hashes[0]!.decisions).toBeGreaterThan(0);
    expect(playground.read('own.html')).toContain('startReport()');
    const swap = ['run', '--json', '--config', 'own.yaml', '--max-intents', '1', '--duration', '60s'];
    expect(jsonLines(gannet(swap))).toContainEqual(expect.objectContaining({
      type: 'intent', strategy: 'own', state: 'confirmed',
    }));
  });

  it('checks an author’s file by its types', () => {
    playground.write('wrong.ts', "import { quotes } from 'gannet';\nexport const wrong: number = quotes;\n");
    const checked = spawnSync(process.execPath, [join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc'),
      '--noEmit', '--strict', '--skipLibCheck', '--module', 'esnext', '--moduleResolution', 'bundler', '--target',
      'es2024', '--types', '', 'own.ts', 'wrong.ts'], { cwd: playground.dir, encoding: 'utf8' });
    expect(checked.stdout.split('\n').filter((line) => line.includes('error')))
      .toStrictEqual([expect.stringContaining('wrong.ts(2,14): error TS2322')]);
  });

  it('lets the process with the key load nothing but the signer’s code', () => {
    const sources = [...loadedFrom(join(installed, 'dist', 'signer.js'))].flatMap((file) => {
      const map = existsSync(`${file}.map`) ? readFileSync(`${file}.map`, 'utf8') : '{ "sources": [] }';
      return (JSON.parse(map) as { readonly sources: readonly string[] }).sources
        .map((path) => relative(installed, resolve(dirname(file), path)));
    });
    expect(sources).toContain('src/signer/sign.ts');
    expect(sources.filter((path) => !/^src\/(?:core|signer|solana)\//.test(path)
      && !/^src\/config\/(?:default-config|interpolate|config-issue|config-tree|yaml-source)\.ts$/.test(path)
      && !/^node_modules\/(?:base-x|bs58|dotenv|yaml)\//.test(path))).toStrictEqual([]);
  });

  it('is learned by the tutorial, whose blocks are followed to the letter', () => {
    const page = readFileSync(join(PROJECT, 'docs', 'strategies', 'tutorial.md'), 'utf8');
    const blocks = [...page.matchAll(/(?:`([\w./-]+)`:\n\n)?```(\w+)\n([\s\S]*?)```/g)];
    expect(blocks.map(([, , language]) => language))
      .toStrictEqual(['sh', 'ts', 'ts', 'sh', 'yaml', 'sh', 'sh', 'sh', 'sh']);
    let folder = playground.dir;
    let output = '';
    for (const [, file, language, text] of blocks) {
      if (language !== 'sh') {
        writeFileSync(join(folder, file!), text!);
        continue;
      }
      // The package and what it needs are installed above the folder; npx would find the same command there.
      const lines = text!.replace(/^npm install(?: \.\.\/gannet-0\.2\.0\.tgz)?$/gm, ':').replace(/^npx /gm, '');
      const ended = spawnSync('bash', ['-ec', `${lines}\npwd > "$PLACE"`], {
        cwd: folder, encoding: 'utf8', env: {
          PATH: `${playground.path('node_modules', '.bin')}:${process.env['PATH']}`, HOME: playground.path('tmp'),
          TMPDIR: playground.path('tmp'), PLACE: playground.path('place'), npm_config_offline: 'true',
        },
      });
      expect(ended.status, `${text}\n${ended.stdout}\n${ended.stderr}`).toBe(0);
      folder = playground.read('place').trim();
      output += ended.stdout;
    }
    expect(output).toMatch(/pass 5\n[\s\S]*is valid: live[\s\S]*falls \(falls\.ts\): no check failed/);
    expect(output).toMatch(/all decisions are the same: \d+ from \d+ events/);
    expect(readFileSync(join(folder, 'state', 'falls.html'), 'utf8')).toContain('startReport()');
  });

  it('runs an author’s tests with a second RxJS, in folders of npm and in linked ones of pnpm', () => {
    const linked = playground.path('linked');
    const modules = join(linked, 'node_modules');
    const store = join(modules, '.pnpm');
    // Each package has a folder of the store with links beside it; the project has links to what it asked for.
    const stored = (name: string): string => join(store, `${name.replace('/', '+')}@1`, 'node_modules', name);
    const { packages } = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')) as Lock;
    const names = Object.keys(packages).filter((path) => TOP_LEVEL.test(path) && existsSync(playground.path(path)))
      .map((path) => path.replace('node_modules/', ''));
    for (const name of [...names, 'gannet']) {
      mkdirSync(dirname(stored(name)), { recursive: true });
      expect(spawnSync('cp', ['-al', playground.path('node_modules', name), stored(name)]).status).toBe(0);
      link(stored(name), join(store, 'node_modules', name));
    }
    const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as
      Readonly<Record<'dependencies' | 'optionalDependencies', Readonly<Record<string, string>>>>;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies }))
      if (names.includes(name)) link(stored(name), join(stored('gannet'), '..', name));
    for (const name of ['gannet', 'rxjs', 'zod']) link(stored(name), join(modules, name));
    for (const [folder, home] of [['npm', playground.dir], ['linked', linked]] as const) {
      const bundled = join(home, 'node_modules', 'gannet', 'dist', 'rxjs.js');
      writeFileSync(join(home, 'two.test.mts'), TWO_COPIES.replace('BUNDLED', bundled)
        .replace('EXPECTED', JSON.stringify(SAID)));
      const tested = spawnSync(process.execPath, ['--test', 'two.test.mts'], { cwd: home, encoding: 'utf8', env: {} });
      expect(tested.stdout, folder).toMatch(/pass 1\n[\s\S]*fail 0/);
    }
    for (const file of ['own.ts', 'own.yaml']) writeFileSync(join(linked, file), playground.read(file));
    const command = join(modules, 'gannet', 'bin', 'gannet');
    expect(gannet(['strategy', 'describe', join(linked, 'own.ts')], command)).toContain('Buys where nothing is held.');
    const backtest = ['backtest', join(linked, 'own.yaml'), '--json', '--recording', recording, '--no-grid'];
    const [linkedHash, hash] = [gannet(backtest, command), gannet(backtest)].map((text) =>
      (JSON.parse(text) as { readonly decision_hash: string }).decision_hash);
    expect(linkedHash).toBe(hash);
  });

  it('says what to do where the platform’s Node is missing', () => {
    const alone = playground.path('alone');
    for (const folder of ['bin', 'tools']) mkdirSync(join(alone, folder), { recursive: true });
    playground.write('alone/bin/gannet', readFileSync(join(installed, 'bin', 'gannet'), 'utf8'));
    for (const tool of ['uname', 'dirname', 'readlink']) symlinkSync(`/usr/bin/${tool}`, join(alone, 'tools', tool));
    const { status, stderr } = spawnSync('/bin/sh', [join(alone, 'bin', 'gannet'), 'status'], {
      encoding: 'utf8', env: { PATH: join(alone, 'tools') },
    });
    expect([status, stderr]).toStrictEqual([2, expect.stringMatching(
      /^gannet needs Node 26: its package node-linux-\w+ is missing, so install gannet again with "npm install /,
    )]);
  });
});
