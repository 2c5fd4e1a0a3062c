import { WebSocket, type RawData } from 'ws';
import { parseJson } from '../../src/core/json.ts';
import type { Choose } from './choose.ts';
import { RPC_METHODS, spoiledBody, SUBSCRIPTIONS, validCall } from './rpc-requests.ts';
import type { FuzzWorld } from './world.ts';

const METHODS = { ...RPC_METHODS, ...SUBSCRIPTIONS };
const GOODBYE = 'goodbye';

/**
 * Sends a few messages over a websocket of its own, spoiled ones and good ones, and at last a ping. Returns what was
 * wrong with the answers, nothing where all was well. A client that is cut off for what it sent is well served.
 */
export async function attackWebsocket(
  url: string, options: { choose: Choose; world: FuzzWorld; messages: number; timeoutMs: number },
): Promise<string[]> {
  const { choose, world, messages, timeoutMs } = options;
  const socket = new WebSocket(url);
  // A connection that breaks also closes.
  socket.on('error', () => undefined);
  const complaints: string[] = [];
  let isOpen = false;
  let isAnswered = false;
  socket.on('message', (data: RawData) => {
    const text = (data as Buffer).toString('utf8');
    const complaint = complaintOf(text);
    if (complaint !== undefined) complaints.push(complaint);
    isAnswered ||= text.includes(GOODBYE);
    if (isAnswered) socket.close();
  });
  socket.on('open', () => {
    isOpen = true;
    for (let i = 0; i < messages; i++) {
      const text = choose.chance(0.3) ? JSON.stringify(validCall(choose, world, METHODS, i))
        : spoiledBody(choose, world, METHODS, i);
      socket.send(text, { binary: choose.chance(0.1) });
    }
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: GOODBYE, method: 'ping' }));
  });
  const patience = setTimeout(() => socket.terminate(), timeoutMs);
  const code = await new Promise<number>((resolve) => socket.on('close', resolve));
  clearTimeout(patience);
  if (!isOpen) complaints.push('the websocket did not open');
  // 1009: a message that was too long; 1007: one that was no UTF-8.
  else if (!isAnswered && code !== 1009 && code !== 1007)
    complaints.push(`the websocket ended with ${code} before the last answer`);
  return complaints;
}

function complaintOf(text: string): string | undefined {
  const answer = parseJson(text);
  if (typeof answer !== 'object' || answer === null || !('jsonrpc' in answer) || answer['jsonrpc'] !== '2.0')
    return `no JSON-RPC: ${text.slice(0, 200)}`;
  if ('method' in answer) return undefined;
  if (!('id' in answer) || 'result' in answer === 'error' in answer)
    return `neither result nor error: ${text.slice(0, 200)}`;
  return text.includes('"code":-32603') ? `an internal error: ${text.slice(0, 200)}` : undefined;
}
