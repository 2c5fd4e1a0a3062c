import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { fastify } from 'fastify';
import { GannetError, messageOf } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import { removeControlFile, writeControlFile } from './control-file.ts';
import { guard } from './control-guard.ts';
import { addLooks } from './control-looks.ts';
import { addOrders } from './control-orders.ts';
import type { Controlled } from './desk.ts';
import type { Log } from './log.ts';

/** More than any order takes. */
const BODY_MAX_BYTES = 16 * 1024;

/**
 * Serves the daemon's state on the loopback address, and takes the operator's orders. Every path but `/healthz` wants
 * the token; requests that a web page could make (a foreign Host or Origin) are refused before anything else.
 * Throws CONTROL_PORT_TAKEN.
 */
export async function startControlApi(options: Controlled & {
  readonly host: string;
  readonly port: number;
  readonly stateDir: string;
  /** From the environment; a random one where absent. */
  readonly token: string | undefined;
  readonly log: Log;
}): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const token = options.token ?? randomBytes(24).toString('base64url');
  const app = fastify({ bodyLimit: BODY_MAX_BYTES, logger: false });
  guard(app, { ...options, token, onAuthenticated: () => { options.desk()?.present(); } });
  app.setReplySerializer((payload) => stringifyJson(payload));
  addLooks(app, options);
  addOrders(app, options);
  const url = await listen(app, options);
  writeControlFile(options.stateDir, { url, token, pid: process.pid });
  return {
    url,
    close: async () => {
      removeControlFile(options.stateDir);
      await app.close();
    },
  };
}

async function listen(app: FastifyInstance, { host, port }: { readonly host: string; readonly port: number }): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (cause) {
    throw new GannetError('CONTROL_PORT_TAKEN', `the control API cannot listen on ${host}:${port}: ${messageOf(cause)}; set control.port to a free port`, { cause });
  }
}
