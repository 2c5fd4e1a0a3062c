import diagnostics from 'node:diagnostics_channel';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Amount } from '../../../src/core/amount.ts';
import { buyingSol, sellingSol } from '../../market/events.ts';
import { approve, buy, confirm } from '../../trading/states.ts';
import { startControl } from '../control-fixture.ts';

const REASON = { reason: 'a test' };
const OUTCOME = { kind: 'outcome', intentId: 'diver-2', state: 'expired' } as never;

/** An order for each commanding route, the path it is sent to, and the action that the file names. */
const ORDERS: Readonly<Record<string, readonly [path: string, body: object, action: string]>> = {
  '/api/sell': ['/api/sell', { token: 'SOL', part: '50%' }, 'sell'],
  '/api/swap': ['/api/swap', { in: 'USDC', out: 'SOL', amount: '25' }, 'swap'],
  '/api/halt': ['/api/halt', REASON, 'halt'],
  '/api/resume': ['/api/resume', REASON, 'resume'],
  '/api/reduce-only': ['/api/reduce-only', REASON, 'reduce-only'],
  '/api/flatten': ['/api/flatten', REASON, 'flatten'],
  '/api/strategies/:name/stop': ['/api/strategies/diver/stop', REASON, 'halt'],
  '/api/strategies/:name/start': ['/api/strategies/diver/start', REASON, 'resume'],
  '/api/strategies/:name/reload': ['/api/strategies/diver/reload', {}, 'reload'],
  '/api/reload': ['/api/reload', {}, 'reload'],
  '/api/intents/:id/resolve': ['/api/intents/diver-2/resolve', { as: 'expired', reason: 'a test' }, 'resolve'],
  '/api/pause': ['/api/pause', { what: 'diver', ...REASON }, 'pause'],
  '/api/unpause': ['/api/unpause', { what: 'diver', ...REASON }, 'unpause'],
  '/api/stop': ['/api/stop', {}, 'stop'],
};

/**
 * Routes that order nothing: a question, logins to the page, and the presence of an operator, which any request shows.
 * order-audit.test.ts has the line that a presence writes where it ends a restriction.
 */
const OTHERS = ['/api/presence', '/api/preview', '/session', '/session/code'];

/** Adds to a list what an API of this test has beside routes that only read. */
function listenForRoutes(routes: string[]): void {
  const listener = (message: unknown): void => {
    const { fastify } = message as { readonly fastify: FastifyInstance };
    fastify.addHook('onRoute', ({ method, url }) => {
      if ([method].flat().some((name) => !['GET', 'HEAD', 'OPTIONS'].includes(name))) routes.push(url);
    });
  };
  diagnostics.subscribe('fastify.initialization', listener);
  onTestFinished(() => { diagnostics.unsubscribe('fastify.initialization', listener); });
}

describe('issue 19: the file of orders', () => {
  it('has a line with its origin for an order by each commanding route', async () => {
    const routes: string[] = [];
    listenForRoutes(routes);
    const { post, stateDir, engine, state } = await startControl({ resolve: async () => OUTCOME });
    expect(routes.filter((route) => !OTHERS.includes(route)).sort()).toEqual(Object.keys(ORDERS).sort());

    for (const quoted of [buyingSol(150_000, 1_000), sellingSol(150_000, 1_000)]) engine.accept(quoted, 1_000);
    confirm(state, approve(state, buy({ amount: 300_000_000n as Amount })), 2_000_000_000n);
    const file = `${stateDir}/orders.ndjson`;
    for (const [route, [path, body, action]] of Object.entries(ORDERS)) {
      rmSync(file, { force: true });
      await post(path, body);
      const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
      const [line] = lines.map((text) => JSON.parse(text) as Readonly<Record<string, unknown>>);
      expect(line, route).toMatchObject({
        action, run_id: 'a-run',
        origin: { role: 'operator', address: '127.0.0.1', port: expect.any(Number), uid: process.getuid!() },
      });
    }
  });
});
