import type { FastifyRequest } from 'fastify';

/** The names by which the control API may be asked, and the origins of its own page. */
export interface OwnNames {
  /** Returns whether a request's Host is one of the names, and its Origin, where it has one, that of the own page. */
  admits(request: FastifyRequest): boolean;
  /** Returns whether a browser reaches this page through TLS: its cookies then never travel without. */
  isSecure(request: FastifyRequest): boolean;
}

const DEFAULT_PORTS = { 'http:': 80, 'https:': 443 } as const;

/**
 * Returns the names of the API: those of this machine, and those of `allowedHosts`, which a reverse proxy forwards and
 * browsers reach by https alone.
 */
export function ownNames({ host, allowedHosts, isTls }: {
  readonly host: string; readonly allowedHosts: readonly string[]; readonly isTls: boolean;
}): OwnNames {
  const local: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]', host]);
  const allowed: ReadonlySet<string> = new Set(allowedHosts);
  const scheme = isTls ? 'https:' : 'http:';
  const isAllowed = ({ hostname }: FastifyRequest): boolean => allowed.has(hostname.toLowerCase());
  return {
    admits: (request) => {
      const { headers: { origin }, hostname, port } = request;
      if (!local.has(hostname) && !isAllowed(request)) return false;
      if (origin === undefined) return true;
      const url = URL.canParse(origin) ? new URL(origin) : undefined;
      if (url === undefined) return false;
      const own = local.has(hostname) ? scheme : 'https:';
      const names = local.has(hostname) ? local : new Set([hostname.toLowerCase()]);
      // Another port of this machine belongs to another program, so its pages are foreign.
      return url.protocol === own && names.has(url.hostname)
        && Number(url.port || DEFAULT_PORTS[own]) === (port ?? DEFAULT_PORTS[own]);
    },
    isSecure: (request) => isTls || isAllowed(request),
  };
}
