import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Server } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Subscription } from 'rxjs';
import { interval } from 'rxjs';
import type { ControlConfig } from '../../config/run-config.ts';
import { isLoopback } from '../../config/schema-fields.ts';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import type { Clock } from '../../core/time.ts';
import type { Log } from '../reporting/log.ts';

/** The files of the control API's own TLS. */
interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** A certificate with its key, as the files have them now. */
interface TlsMaterial {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** SHA-256 of the certificate, by which the command line knows it. */
  readonly fingerprint: string;
}

const CHECK_EVERY_MS = 60_000;
/** A group may read the key, such as one for certificates. Other users may not, and only the owner writes it. */
const NOT_PRIVATE = 0o027;
export const TLS_VERSION_MIN = 'TLSv1.2';

/** Reads certificate and key. Throws CONFIG_INVALID where they are missing, readable by others, or not a pair. */
export function readTls({ cert, key }: TlsFiles): TlsMaterial {
  try {
    const { mode } = statSync(key);
    if ((mode & NOT_PRIVATE) !== 0) throw new GannetError('CONFIG_INVALID', `control.tls: others may read or write the `
      + `key ${key} (mode ${(mode & 0o777).toString(8).padStart(4, '0')}); run: chmod 600 ${key}`);
    const material = { cert: readFileSync(cert), key: readFileSync(key) };
    createSecureContext({ ...material, minVersion: TLS_VERSION_MIN });
    return { ...material, fingerprint: new X509Certificate(material.cert).fingerprint256 };
  } catch (cause) {
    if (isGannetError(cause)) throw cause;
    throw new GannetError('CONFIG_INVALID', `control.tls: ${cert} and ${key} cannot be used: ${messageOf(cause)}; `
      + 'expected a certificate with its chain and the key to it, both as PEM', { cause });
  }
}

/**
 * Gives a server renewed files within a minute. Files that cannot be used are logged once, and the server goes on with
 * those before.
 */
export function reloadTls(server: Server, files: TlsFiles, { clock, log, onRenewed }: {
  readonly clock: Clock; readonly log: Log; readonly onRenewed: (fingerprint: string) => void;
}): Subscription {
  let known = stampOf(files);
  return interval(CHECK_EVERY_MS, clock).subscribe(() => {
    const now = stampOf(files);
    if (now === known) return;
    known = now;
    try {
      const { cert, key, fingerprint } = readTls(files);
      server.setSecureContext({ cert, key, minVersion: TLS_VERSION_MIN });
      log('info', 'the control API uses the renewed certificate');
      onRenewed(fingerprint);
    } catch (error) {
      log('error', 'the renewed certificate cannot be used; the control API goes on with the one before', { error });
    }
  });
}

/** Returns what to tell about a control API that others can reach without encryption; undefined where none can. */
export function plainWarning({ enabled, host, tls, trustedProxies }: ControlConfig): string | undefined {
  if (!enabled || isLoopback(host) || tls !== undefined || trustedProxies.length > 0) return undefined;
  return `the control API listens on ${host} without TLS, so others can read tokens and logins on the way: set `
    + 'control.tls, or listen on 127.0.0.1 behind a reverse proxy';
}

/** Changes with the files; a missing one counts too. */
function stampOf({ cert, key }: TlsFiles): string {
  return [cert, key].map((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? 'missing' : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
  }).join(' ');
}
