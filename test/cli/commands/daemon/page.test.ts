import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { pageCommand } from '../../../../src/cli/commands/daemon/page.ts';
import { controlFilePath } from '../../../../src/daemon/control/control-file.ts';
import { runCommand } from '../../in-process.ts';
import { startTestApi } from '../../../daemon/control-fixture.ts';
import { temporaryFolder } from '../../../store/fixtures.ts';

async function logIn(link: unknown): Promise<unknown> {
  const [url, code] = String(link).split('/#login=');
  const { body } = await request(`${url}/session`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ code }),
  });
  return body.json();
}

const refused = (message: RegExp): object =>
  ({ code: 'CONTROL_UNREACHABLE', message: expect.stringMatching(message) });

describe('gannet page', () => {
  it('prints a link that logs an operator in, once', async () => {
    const stateDir = temporaryFolder();
    const { url } = await startTestApi({ stateDir });
    const { code, document, text } = await runCommand(pageCommand, ['page'], { stateDir });
    expect([code, document]).toEqual([0, {
      url, login_url: expect.stringMatching(/\/#login=[\w-]{22}$/), role: 'operator', valid_ms: 600_000,
    }]);
    expect(text).toMatch(/^ {2}http:\S+\n {2}logs an operator in once, within 10m; keep it to yourself\n$/);
    expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(await logIn(document['login_url'])).toMatchObject({ role: 'operator' });
    expect(await logIn(document['login_url'])).toMatchObject({ error: { code: 'CODE_UNUSABLE' } });
  });

  it('links to control.public_url where browsers reach the page through a proxy', async () => {
    const stateDir = temporaryFolder();
    await startTestApi({ stateDir, publicUrl: 'https://gannet.example.com' });
    const { document } = await runCommand(pageCommand, ['page'], { stateDir });
    expect(document).toMatchObject({
      url: 'https://gannet.example.com',
      login_url: expect.stringMatching(/^https:\/\/gannet\.example\.com\/#login=[\w-]{22}$/),
    });
  });

  it('logs a viewer in where only a viewer’s control file is there', async () => {
    const stateDir = temporaryFolder();
    await startTestApi({ stateDir });
    rmSync(controlFilePath(stateDir));
    const { document, text } = await runCommand(pageCommand, ['page'], { stateDir });
    expect(text).toContain('logs a viewer, who only reads, in once');
    expect(await logIn(document['login_url'])).toMatchObject({ role: 'viewer' });
  });

  it('says that no daemon runs, or that one has gone', async () => {
    const stateDir = temporaryFolder();
    await expect(runCommand(pageCommand, ['page'], { stateDir }))
      .rejects.toMatchObject(refused(/no daemon runs with the state directory/));
    const api = await startTestApi({ stateDir });
    const file = readFileSync(controlFilePath(stateDir));
    await api.close();
    writeFileSync(controlFilePath(stateDir), file, { mode: 0o600 });
    await expect(runCommand(pageCommand, ['page'], { stateDir })).rejects.toMatchObject(refused(/does not answer/));
  });
});
