import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { PROJECT_DIR } from '../../src/core/code-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'gannet-shared-modules-'));
afterAll(() => { rmSync(folder, { recursive: true }); });

function put(path: string, text: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function install(name: string, text: string): string {
  put(`node_modules/${name}/package.json`, `{ "name": "${name}", "version": "1.0.0", "type": "module" }`);
  return put(`node_modules/${name}/index.js`, text);
}

/** Says for each name whether it is Gannet's own module. */
const SCRIPT = `
const [mine, packaged] = process.argv.slice(1);
const { shareModules } = await import('${PROJECT_DIR}src/core/shared-modules.ts');
const own = {
  gannet: await import('${PROJECT_DIR}src/strategy/index.ts'),
  'gannet/indicators': await import('${PROJECT_DIR}src/strategy/technical-indicators.ts'),
  rxjs: await import('${import.meta.resolve('rxjs')}'), zod: await import('${import.meta.resolve('zod')}'),
  'rxjs/operators': await import('${import.meta.resolve('rxjs/operators')}'),
  'trading-signals': await import('${import.meta.resolve('trading-signals')}'),
};
const said = [];
for (const file of [mine, packaged]) {
  shareModules(file);
  const { taken, inner } = await import(file);
  said.push([...Object.keys(taken).filter((name) => taken[name] === own[name]), inner]);
}
const missing = await import(process.argv[3]).catch((error) => error.message);
console.log(JSON.stringify([...said, missing]));
`;

it('gives strategies Gannet’s own modules wherever they are, and other packages what is installed', async () => {
  for (const name of ['gannet', 'rxjs', 'zod', 'trading-signals']) install(name, `export const copy = '${name}';`);
  install('helper', "export { copy } from 'zod';");
  const taking = `import * as gannet from 'gannet'; import * as rxjs from 'rxjs'; import * as zod from 'zod';
import * as indicators from 'gannet/indicators'; import * as operators from 'rxjs/operators';
import * as signals from 'trading-signals'; export { copy as inner } from 'helper';
export const taken = { gannet, rxjs, zod, 'gannet/indicators': indicators, 'rxjs/operators': operators,
  'trading-signals': signals };`;
  const files = [put('mine.ts', taking), install('@author/packaged', taking),
    put('inside.ts', "import 'gannet/engine';")];
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', SCRIPT, ...files]);
  const all = ['gannet', 'rxjs', 'zod', 'gannet/indicators', 'rxjs/operators', 'trading-signals'];
  expect(JSON.parse(stdout)).toStrictEqual([[...all, 'zod'], [...all, 'zod'],
    'there is no "gannet/engine": import from "gannet" or "gannet/indicators"']);
});
