import { existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import { replaceFile } from '../../recording/files/durable-write.ts';
import type { HostProfile } from '../../service/wire/host-profile.ts';
import { readHostProfileFile } from '../../service/wire/host-profile.ts';

/** Returns the place of a host's profile in a state directory. */
export function profilePath(stateDir: string, host: string): string {
  return join(resolve(stateDir), 'host-profiles', `${host.replace(/^https?:\/\//, '').replace(/[^\w.-]/g, '_')}.json`);
}

/**
 * Writes a profile for its owner alone, in place of the file as a whole: what a link there names stays as it is. A file
 * that a person named is replaced only where it is a profile of the same host. Throws USAGE.
 */
export function writeProfile(
  file: string, profile: HostProfile, { isNamed }: { readonly isNamed: boolean },
): void {
  if (isNamed) checkNamedPlace(file, profile.host);
  try {
    const folder = dirname(resolve(file));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    replaceFile(folder, basename(file), `${stringifyJson(profile, 2)}\n`);
  } catch (cause) {
    throw new GannetError('USAGE', `${file} cannot be written: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Checks that a file that a person named may be replaced: that there is none, or a profile, of `host` where one is
 * given. Throws USAGE.
 */
export function checkNamedPlace(file: string, host?: string): void {
  if (!existsSync(file)) return;
  let found: HostProfile;
  try {
    found = readHostProfileFile(file);
  } catch (cause) {
    if (isGannetError(cause)) throw new GannetError('USAGE', `--profile-out: ${cause.message}; name another file, or `
      + 'delete this one', { cause });
    throw new GannetError('USAGE', `--profile-out: ${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
  if (host !== undefined && found.host !== host) throw new GannetError('USAGE', `--profile-out: ${file} is the profile `
    + `of ${found.host}, not of ${host}: name another file`);
}
