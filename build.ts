import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { InputOptions, OutputOptions } from 'rolldown';
import { rolldown } from 'rolldown';
import { ASSETS, BUNDLED_PACKAGES, ENTRIES } from './src/core/code-files.ts';

// Makes `dist/`, which the package holds instead of `src/`: docs/package.md says what is in which file.

const ROOT = import.meta.dirname;
const DIST = join(ROOT, 'dist');
/** Packages that are loaded where they are installed: native, large, or never needed at a start. */
const INSTALLED = /^(?:@solana\/web3|apache-arrow|csv-parse|hyparquet|prom-client|trading-signals|litesvm-)/;
/** Node takes the ES5 build of RxJS, in over two hundred files. */
const RXJS = join(ROOT, 'node_modules', 'rxjs', 'dist', 'esm');

async function write(input: InputOptions, output: OutputOptions): Promise<void> {
  const bundle = await rolldown({ platform: 'node', cwd: ROOT, logLevel: 'warn', ...input });
  await bundle.write({ dir: DIST, format: 'esm', sourcemap: true, ...output });
  await bundle.close();
}

/** Everything but strategies and pages: files that several entries need become files of their own. */
async function buildProgram(): Promise<void> {
  const own = Object.entries(ENTRIES).map(([name, path]) => [name, join(ROOT, 'src', path)]);
  const packages = Object.entries(BUNDLED_PACKAGES).map(([name, file]) => [basename(file, '.js'), name]);
  await write({
    input: Object.fromEntries([...own, ...packages]),
    external: (id) => INSTALLED.test(id),
    resolve: { alias: { 'rxjs/operators': join(RXJS, 'operators', 'index.js'), 'rxjs': join(RXJS, 'index.js') } },
  }, { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' });
}

/** Each script of a page is one file without imports. */
async function buildPages(): Promise<void> {
  for (const [name, path] of Object.entries(ASSETS)) {
    if (path.endsWith('.ts')) {
      await write({ input: { [name]: join(ROOT, 'src', path) }, platform: 'neutral' }, { entryFileNames: '[name].js' });
    }
    else copyFileSync(join(ROOT, 'src', path), join(DIST, name));
  }
}

/** A strategy becomes what an author's package would hold: it imports Gannet and packages by their names. */
async function buildStrategies(): Promise<void> {
  const files = globSync('strategies/*.ts', { cwd: ROOT });
  const faces = new Map([[join(ROOT, 'src', ENTRIES.gannet), 'gannet'],
    [join(ROOT, 'src', ENTRIES.indicators), 'gannet/indicators']]);
  for (const file of files) await write({
    input: { [basename(file, '.ts')]: join(ROOT, file) },
    platform: 'neutral',
    plugins: [{
      name: 'names-of-gannet',
      resolveId(id, importer) {
        if (importer === undefined) return null;
        if (!id.startsWith('.')) return { id, external: true };
        const face = faces.get(join(importer, '..', id));
        return face === undefined ? null : { id: face, external: true };
      },
    }],
  }, { dir: join(DIST, 'strategies'), entryFileNames: '[name].js' });
}

rmSync(DIST, { recursive: true, force: true });
await buildProgram();
await buildPages();
await buildStrategies();
execFileSync(process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json'], {
  cwd: ROOT, stdio: 'inherit',
});
