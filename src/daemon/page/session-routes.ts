import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import type { PageSession } from '../../dashboard/page-state.ts';
import type { Guard } from '../control/control-guard.ts';
import { CODE_PATH, fault, issueText, SESSION_PATH } from '../control/control-guard.ts';
import { sessionIdOf } from './session-cookie.ts';
import type { PageLogin, PageSessions } from './sessions.ts';
import { CODE_MAX_MS } from './sessions.ts';

const SECRET = z.string().min(1).max(500);
const LOGIN = z.union([z.strictObject({ token: SECRET }), z.strictObject({ code: SECRET })]);
const NOTHING = z.strictObject({});

/** Adds the paths by which a browser logs in and out. */
export function addSessions(
  app: FastifyInstance, { sessions, guard: { refuse, callerOf, cookie }, publicUrl, onEnd }: {
    readonly sessions: PageSessions; readonly guard: Guard;
    /** Where browsers find the page, if not at the address of the API. */
    readonly publicUrl: string | undefined;
    /** Called with a session that has ended before its time. */
    readonly onEnd: (login: PageLogin) => void;
  },
): void {
  app.post(SESSION_PATH, async (request, reply) => {
    const body = LOGIN.safeParse(request.body);
    if (!body.success) {
      return reply.code(400).send(fault('BAD_REQUEST', 'expected {"token": "…"} or {"code": "…"}'));
    }
    const opened = 'token' in body.data ? sessions.openByToken(body.data.token) : sessions.openByCode(body.data.code);
    if (opened === undefined) {
      return refuse(request, reply, 'token' in body.data
        ? fault('UNAUTHORIZED', 'this is not the token of the operator or of a viewer')
        : fault('CODE_UNUSABLE', 'this login link was used before, or is older than ten minutes; "gannet page" makes a '
          + 'new one'));
    }
    // A login ends the session before it, so a browser never goes on with a session that another party has set.
    end(sessionIdOf(request));
    return reply.header('set-cookie', cookie(request, opened.id)).send(sessionAnswer(opened.login));
  });
  app.get(SESSION_PATH, async (request, reply) => {
    const { login } = callerOf(request);
    return login === undefined ? noSession(reply) : sessionAnswer(login);
  });
  app.delete(SESSION_PATH, async (request, reply) => {
    if (callerOf(request).login === undefined) return noSession(reply);
    end(sessionIdOf(request));
    return reply.header('set-cookie', cookie(request, undefined)).send({ ok: true });
  });
  app.post(CODE_PATH, async (request, reply) => {
    const body = NOTHING.safeParse(request.body);
    if (!body.success) return reply.code(400).send(fault('BAD_REQUEST', issueText(body.error)));
    const { role, login } = callerOf(request);
    if (login !== undefined) {
      return reply.code(403).send(fault('FORBIDDEN', 'a session makes no login code: "gannet page" does'));
    }
    return { code: sessions.makeCode(role), role, valid_ms: CODE_MAX_MS, page_url: publicUrl };
  });

  function end(id: string | undefined): void {
    const login = id === undefined ? undefined : sessions.end(id);
    if (login !== undefined) onEnd(login);
  }
}

function sessionAnswer({ role, csrf }: PageLogin): PageSession {
  return { role, csrf };
}

function noSession(reply: FastifyReply): FastifyReply {
  return reply.code(401).send(fault('NO_SESSION', 'log in first'));
}
