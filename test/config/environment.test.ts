import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEnvironment } from '../../src/config/environment.ts';
import { temporaryFolder } from './temporary-folder.ts';

describe('the environment', () => {
  it('is the process’s, then the first folder’s .env, then the next one’s', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'config'));
    await writeFile(join(folder, '.env'), 'A=folder\nB=folder\nC=folder\n');
    await writeFile(join(folder, 'config/.env'), 'A=config\nB="config # not a comment"\n');
    const variables = { A: 'process', D: '', E: undefined };
    const before = { ...process.env };
    expect(await readEnvironment({ variables, folders: [join(folder, 'config'), folder] })).toEqual({
      A: 'process', B: 'config # not a comment', C: 'folder', D: '',
    });
    expect(process.env).toEqual(before);
  });

  it('needs no .env', async () => {
    const folder = await temporaryFolder();
    expect(await readEnvironment({ variables: { A: '1' }, folders: [folder] })).toEqual({ A: '1' });
  });

  it('refuses a .env that cannot be read', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, '.env'));
    await expect(readEnvironment({ variables: {}, folders: [folder] })).rejects.toMatchObject({
      code: 'CONFIG_INVALID', message: expect.stringContaining(join(folder, '.env')) as string,
    });
  });
});
