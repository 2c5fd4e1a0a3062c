import { execFileSync } from 'node:child_process';
import {
  existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { profilePath, writeProfile } from '../../../src/daemon/rehearsal/profile-file.ts';
import { readHostProfileFile } from '../../../src/service/wire/host-profile.ts';
import { HOST_PROFILE } from '../../sandbox/service/live/host-profile-fixture.ts';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'gannet-profile-file-'));
  onTestFinished(() => { rmSync(made, { recursive: true, force: true }); });
  return made;
}

describe('the file of a host’s profile', () => {
  it('is for its owner alone, also in place of one that others may read', () => {
    const file = join(folder(), 'deep', 'host.json');
    writeProfile(file, HOST_PROFILE, { isNamed: true });
    expect(readHostProfileFile(file)).toEqual(HOST_PROFILE);
    expect([file, dirname(file)].map((place) => statSync(place).mode & 0o777)).toEqual([0o600, 0o700]);
    rmSync(file);
    writeFileSync(file, JSON.stringify(HOST_PROFILE), { mode: 0o644 });
    writeProfile(file, HOST_PROFILE, { isNamed: true });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(file))).toEqual(['host.json']);
  });

  it('replaces a link, and leaves what the link names as it is', () => {
    const place = folder();
    const [file, victim, missing] = ['host.json', 'victim', 'missing'].map((name) => join(place, name));
    writeFileSync(victim!, 'precious');
    symlinkSync(victim!, file!);
    writeProfile(file!, HOST_PROFILE, { isNamed: false });
    expect(readFileSync(victim!, 'utf8')).toBe('precious');
    rmSync(file!);
    symlinkSync(missing!, file!);
    writeProfile(file!, HOST_PROFILE, { isNamed: true });
    expect(existsSync(missing!)).toBe(false);
    expect(readHostProfileFile(file!)).toEqual(HOST_PROFILE);
  });

  it.each([
    ['a device without end', () => '/dev/zero'],
    ['a device without content', () => '/dev/null'],
    ['a folder', () => folder()],
    ['a pipe without a writer', () => {
      const pipe = join(folder(), 'pipe');
      execFileSync('mkfifo', [pipe]);
      return pipe;
    }],
    ['another file', () => {
      const file = join(folder(), 'notes.txt');
      writeFileSync(file, 'precious');
      return file;
    }],
    ['the profile of another host', () => {
      const file = join(folder(), 'other.json');
      writeFileSync(file, JSON.stringify({ ...HOST_PROFILE, host: 'https://other.example' }));
      return file;
    }],
  ])('is not written where a person names %s', (_, place) => {
    const message = expect.stringMatching(/^--profile-out: /) as string;
    expect(() => { writeProfile(place(), HOST_PROFILE, { isNamed: true }); })
      .toThrow(expect.objectContaining({ code: 'USAGE', message }));
  });

  it.each([
    'https://host.example', 'http://[::1]:8080', 'https://..', 'https://host.example/../../etc/passwd',
    'http://10.0.0.1:65535', 'https://\u001b[2J',
  ])('of %s stands directly in its folder', (host) => {
    const path = profilePath('/state', host);
    expect(dirname(path)).toBe('/state/host-profiles');
    expect(basename(path)).toMatch(/^[\w.-]+\.json$/);
  });
});
