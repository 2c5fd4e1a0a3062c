import type { FastifyRequest } from 'fastify';

/** Browsers send a cookie to every port of a host, so each port has a name of its own. */
const NAME = 'gannet_session';
const HTTP_PORT = 80;
const SESSION_ID = /^[\w-]{43}$/;

function nameFor({ port }: Pick<FastifyRequest, 'port'>): string {
  return `${NAME}_${port ?? HTTP_PORT}`;
}

/** Returns the session's id in a request's cookies; undefined without one. */
export function sessionIdOf(request: FastifyRequest): string | undefined {
  const name = nameFor(request);
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const equals = pair.indexOf('=');
    if (pair.slice(0, equals).trim() !== name) continue;
    const value = pair.slice(equals + 1).trim();
    if (SESSION_ID.test(value)) return value;
  }
  return undefined;
}

/** Returns the header that gives a browser its session; without an id, the one that takes it away. */
export function sessionCookie(
  request: FastifyRequest, { id, isSecure }: { readonly id: string | undefined; readonly isSecure: boolean },
): string {
  const ends = `${isSecure ? '; Secure' : ''}${id === undefined ? '; Max-Age=0' : ''}`;
  return `${nameFor(request)}=${id ?? ''}; Path=/; HttpOnly; SameSite=Strict${ends}`;
}
