import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROJECT, createPlayground, type Playground } from '../e2e/gannet.ts';
import { codeVersion, filesOf } from './tested-code.ts';

let playground: Playground;
beforeAll(() => { playground = createPlayground(); });
afterAll(async () => { await playground.close(); });

describe('the code that daemon campaigns test', () => {
  it('includes everything that a run loads', async () => {
    const [trace, loaded] = [playground.path('trace.mjs'), playground.path('loaded.txt')];
    writeFileSync(trace, `
      import { appendFileSync } from 'node:fs';
      import { registerHooks } from 'node:module';
      registerHooks({ load(url, context, next) {
        appendFileSync(${JSON.stringify(loaded)}, url + '\\n');
        return next(url, context);
      } });
    `);
    const ended = await playground.run(['run', '--json', '--duration', '1s', '--state-dir', playground.path('state')], {
      environment: { NODE_OPTIONS: `--import=${pathToFileURL(trace).href}` },
    });
    expect(ended).toMatchObject({ code: 0 });
    const own = new Set(readFileSync(loaded, 'utf8').split('\n').filter((url) => url.startsWith('file:')).map((url) =>
      relative(PROJECT, fileURLToPath(url))));
    const source = [...own].filter((path) => path.startsWith('src/'));
    expect(source).toContain('src/daemon/run/daemon.ts');
    const known = new Set(filesOf('daemon'));
    expect(source.filter((path) => !known.has(path))).toEqual([]);
  });

  it('includes the signer and the embedded chain, but neither reports nor sweeps', () => {
    const sources = filesOf('daemon');
    expect(sources).toEqual(expect.arrayContaining([
      'src/signer/channel/server.ts', 'src/sandbox/chain/pools.ts', 'src/sandbox/program/swap.so',
      'src/strategy/index.ts',
    ]));
    expect(sources.filter((path) => /^src\/report\/|sweep|lookahead/.test(path))).toEqual([]);
    expect(filesOf('policy')).toContain('src/signer/policy/policy.ts');
    expect(filesOf('policy').filter((path) => !sources.includes(path))).toEqual([]);
    expect(codeVersion('daemon').digest).not.toBe(codeVersion('everything').digest);
  });
});
