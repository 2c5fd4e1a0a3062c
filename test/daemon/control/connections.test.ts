import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { Agent, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pageAssets } from '../../../src/dashboard/page-assets.ts';
import { startControl, TOKENS } from '../control-fixture.ts';

const HOST = 'Host: 127.0.0.1';
const [LARGEST] = [...pageAssets()].toSorted(([, one], [, other]) => other.body.length - one.body.length)[0]!;

/** What each kind of slow client sends once it is connected; none of them reads more than it is made to. */
const ATTACKS: Readonly<Record<string, (socket: Socket) => void>> = {
  'sends its headers slowly': (socket) => { socket.write(`GET /api/state HTTP/1.1\r\n${HOST}\r\nX-Slow: `); },
  'sends its body slowly': (socket) => {
    socket.write(`POST /session HTTP/1.1\r\n${HOST}\r\nContent-Type: application/json\r\n`
      + 'Content-Length: 9000\r\n\r\n{"');
  },
  'sends nothing after an answer': (socket) => { socket.write(`GET /healthz HTTP/1.1\r\n${HOST}\r\n\r\n`); },
  'sends nothing at all': () => undefined,
  'reads nothing': (socket) => {
    socket.pause();
    // The largest file of the page, more often than the system holds of it.
    socket.write(`GET ${LARGEST} HTTP/1.1\r\n${HOST}\r\n\r\n`.repeat(20));
  },
  'opens an event stream as a viewer and reads nothing': (socket) => {
    socket.pause();
    socket.write(`GET /api/events HTTP/1.1\r\n${HOST}\r\nAuthorization: Bearer ${TOKENS.viewer}\r\n\r\n`);
  },
};

const CLIENTS = 1_000;
/** As fast as clients of one machine come back once they are closed. */
const BACK_AFTER_MS = 300;

/** Keeps a thousand slow clients of this machine at a server; each comes back when it is closed. */
function attack(url: string): { readonly comers: () => number } {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let comers = 0;
  let isOver = false;
  const kinds = Object.values(ATTACKS);
  const come = (number: number): void => {
    if (isOver) return;
    const socket = connect(Number(port), hostname);
    comers += 1;
    sockets.add(socket);
    socket.on('connect', () => { kinds[number % kinds.length]!(socket); });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      setTimeout(() => { come(number); }, BACK_AFTER_MS);
    });
  };
  for (let number = 0; number < CLIENTS; number++) come(number);
  onTestFinished(() => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  });
  return { comers: () => comers };
}

/** Returns the largest number of connections that the servers of this process have held since then. */
function mostHeld(): () => number {
  const held = new Set<Socket>();
  let most = 0;
  const count = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    held.add(socket);
    socket.on('close', () => held.delete(socket));
    // The server closes another one for it meanwhile.
    setImmediate(() => { most = Math.max(most, [...held].filter(({ destroyed }) => !destroyed).length); });
  };
  subscribe('net.server.socket', count);
  onTestFinished(() => { unsubscribe('net.server.socket', count); });
  return () => most;
}

describe('issue 19.6: a thousand slow clients of the operator’s own address', () => {
  it('hold 256 connections at most, and an operator’s commands are served in the meantime', async () => {
    const { url, inputs } = await startControl();
    const most = mostHeld();
    const { comers } = attack(url);
    await expect.poll(() => comers(), { timeout: 20_000 }).toBeGreaterThan(2 * CLIENTS);
    const took: number[] = [];
    for (let time = 0; time < 10; time++) {
      const dispatcher = new Agent();
      const from = performance.now();
      const answer = await request(`${url}/api/halt`, {
        method: 'POST', body: '{}', dispatcher,
        headers: { authorization: `Bearer ${TOKENS.operator}`, 'content-type': 'application/json' },
      });
      await answer.body.dump();
      took.push(performance.now() - from);
      expect(answer.statusCode).toBe(200);
      await dispatcher.close();
      await new Promise((resolve) => { setTimeout(resolve, 100); });
    }
    expect(inputs.filter((input) => input.kind === 'command').length).toBeGreaterThanOrEqual(10);
    expect(Math.max(...took)).toBeLessThan(3_000);
    expect(most()).toBeGreaterThan(200);
    expect(most()).toBeLessThanOrEqual(256);
  }, 60_000);

  it('do not end the event stream of a page that is open', async () => {
    const { url } = await startControl();
    const stream = await request(`${url}/api/events`, {
      headers: { authorization: `Bearer ${TOKENS.operator}` }, dispatcher: new Agent(),
    });
    let frames = 0;
    stream.body.on('data', () => { frames += 1; });
    stream.body.on('error', () => { frames = Number.NaN; });
    const { comers } = attack(url);
    await expect.poll(() => comers(), { timeout: 20_000 }).toBeGreaterThan(2 * CLIENTS);
    expect(frames).toBeGreaterThan(0);
    expect(stream.body.destroyed).toBe(false);
    stream.body.destroy();
  }, 60_000);
});
