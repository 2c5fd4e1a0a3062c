import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { dialectNames, loadDialect } from '../../src/service/wire/dialect.ts';
import { GENESIS, issuesOf } from './load-text.ts';
import { temporaryFolder } from './temporary-folder.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const STRATEGIES = 'strategies: [{ use: book-watch, params: { market: TIDE, level: 0.6, rearm: 0.5 } }]\n';
const NAMES = dialectNames();
const HOSTED = NAMES.flatMap((dialect) => loadDialect(dialect).hosts.map((host) => [dialect, host] as const));
const text = (host: string, dialect: string): string =>
  `service: { base_url: "https://${host}", dialect: ${dialect} }\n${STRATEGIES}`;
const reading = { purpose: 'read' } as const;

describe('the dialect of a configuration', () => {
  it('lists hosts in at least one file', () => {
    expect(HOSTED.length).toBeGreaterThan(0);
  });

  it.each(HOSTED)('may be %s for a host that is listed as its own', async (dialect, host) => {
    for (const written of [host, host.toUpperCase(), `${host}.`, `${host}:8443/with/a/path`])
      expect(await issuesOf(text(written, dialect), reading), written).toEqual([]);
  });

  it.each(HOSTED)('other than %s is refused for a host that is listed there, which is named', async (dialect, host) => {
    for (const other of NAMES.filter((name) => !loadDialect(name).hosts.includes(host))) {
      const said =
        `the host of service.base_url speaks the dialect "${dialect}", not "${other}": write dialect: ${dialect}`;
      expect(await issuesOf(text(host, other), reading))
        .toEqual([`bot.yaml:1:${text(host, other).indexOf(other, text(host, other).indexOf('dialect:')) + 1} `
          + `service.dialect: ${said}`]);
      const overridden = await issuesOf(`service: { dialect: ${other} }\n${STRATEGIES}`, {
        ...reading, overrides: { baseUrl: `https://${host}` },
      });
      expect(overridden).toEqual([expect.stringContaining(said)]);
    }
  });

  it('may be any for an unknown host, and for the embedded service', async () => {
    for (const name of NAMES) {
      expect(await issuesOf(text('swap.example', name), reading)).toEqual([]);
      expect(await issuesOf(`service: { dialect: ${name} }\n${STRATEGIES}`)).toEqual([]);
    }
  });

  it('is refused with file, line and column where its own file is invalid', async () => {
    const folder = await temporaryFolder();
    await cp(join(CHECKOUT, 'config/dialects'), join(folder, 'config/dialects'), { recursive: true });
    await writeFile(join(folder, 'config/dialects/broken.yaml'), 'dialect: broken\nruoters: {}\n');
    await writeFile(join(folder, 'bot.yaml'), 'service: { dialect: broken }\nstrategies: [{ use: ./none.ts }]\n');
    const result = await loadConfig({
      file: 'bot.yaml', workingDir: folder, environment: {}, ...GENESIS, projectDir: folder,
    });
    if (result.ok) throw new Error('expected a refusal');
    expect(result.issues[0]).toMatchObject({
      path: 'service.dialect', line: 1, column: 21, message: expect.stringMatching(
        /broken\.yaml:\d+:\d+ .*unknown key "ruoters"; did you mean "routers"\?/,
      ) as string,
    });
  });
});
