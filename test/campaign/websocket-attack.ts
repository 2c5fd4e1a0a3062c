import { WebSocket, type RawData } from 'ws';
import { parseJson } from '../../src/core/json.ts';
import type { Choose } from './choose.ts';
import { RPC_METHODS, spoiledBody, SUBSCRIPTIONS, validCall } from './rpc-requests.ts';
import type { FuzzFixture } from './fuzz-fixture.ts';

const METHODS = { ...RPC_METHODS, ...SUBSCRIPTIONS };
const GOODBYE = 'goodbye';

/**
 * Sends a few messages over a websocket of its own, spoiled ones and good ones, and at last a ping. Returns what was
 * wrong with the answers, nothing where all was well. A client that is cut off for what it sent is well served.
 */
export async function attackWebsocket(
  url: string, options: { choose: Choose; fixture: FuzzFixture; messages: number; timeoutMs: number },
): Promise<string[]> {
  const { choose, fixture, messages, timeoutMs } = options;
  const socket = new WebSocket(url);
  // A connection that breaks also closes.
  socket.on('error', () => undefined);
  const violations: string[] = [];
  let isOpen = false;
  let isAnswered = false;
  socket.on('message', (data: RawData) => {
    const text = (data as Buffer).toString('utf8');
    const violation = violationIn(text);
    if (violation !== undefined) violations.push(violation);
    isAnswered ||= text.includes(GOODBYE);
    if (isAnswered) socket.close();
  });
  socket.on('open', () => {
    isOpen = true;
    for (let i = 0; i < messages; i++) {
      const text = choose.chance(0.3) ? JSON.stringify(validCall(choose, fixture, METHODS, i))
        : spoiledBody(choose, fixture, METHODS, i);
      socket.send(text, { binary: choose.chance(0.1) });
    }
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: GOODBYE, method: 'ping' }));
  });
  const timeout = setTimeout(() => socket.terminate(), timeoutMs);
  const code = await new Promise<number>((resolve) => socket.on('close', resolve));
  clearTimeout(timeout);
  if (!isOpen) violations.push('the websocket did not open');
  // 1009: a message that was too long; 1007: one that was no UTF-8.
  else if (!isAnswered && code !== 1009 && code !== 1007)
    violations.push(`the websocket ended with ${code} before the last answer`);
  return violations;
}

function violationIn(text: string): string | undefined {
  const answer = parseJson(text);
  if (typeof answer !== 'object' || answer === null || !('jsonrpc' in answer) || answer['jsonrpc'] !== '2.0')
    return `no JSON-RPC: ${text.slice(0, 200)}`;
  if ('method' in answer) return undefined;
  if (!('id' in answer) || 'result' in answer === 'error' in answer)
    return `neither result nor error: ${text.slice(0, 200)}`;
  return text.includes('"code":-32603') ? `an internal error: ${text.slice(0, 200)}` : undefined;
}
