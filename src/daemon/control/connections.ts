import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ControlRole } from './control-tokens.ts';

/** Enough for fifty pages and the commands beside them. */
const CONNECTIONS_MAX = 256;

interface Held {
  readonly socket: Socket;
  /** Who has shown a token or a session on it; undefined until then. */
  role: ControlRole | undefined;
  /** Whether an answer to such a request is due. */
  isBusy: boolean;
}

/** The address and port of the other end: the same for a connection and the TLS upon it. */
type End = Pick<Socket, 'remoteAddress' | 'remotePort'>;

/**
 * Bounds the connections of a server. Where there are too many, one is closed for each that comes: the oldest of those
 * that have shown no token, then the oldest idle one, then the oldest of a viewer. So clients that send slowly, read
 * slowly or send nothing cannot keep an operator out, whatever address they come from. Only where operators' requests
 * hold every place, the new connection is closed.
 */
export class Connections {
  readonly #held = new Map<string, Held>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => { this.#add(socket); });
  }

  get size(): number {
    return this.#held.size;
  }

  /** Notes that a request with a right token or session has arrived on a connection. */
  admit(end: End, role: ControlRole): void {
    const held = this.#held.get(keyOf(end));
    if (held === undefined) return;
    held.role = role;
    held.isBusy = true;
  }

  /** Notes that the answer to a request is sent. */
  answered(end: End): void {
    const held = this.#held.get(keyOf(end));
    if (held !== undefined) held.isBusy = false;
  }

  #add(socket: Socket): void {
    const key = keyOf(socket);
    this.#held.set(key, { socket, role: undefined, isBusy: false });
    socket.on('close', () => { this.#held.delete(key); });
    if (this.#held.size <= CONNECTIONS_MAX) return;
    const surplus = this.#least();
    this.#held.delete(keyOf(surplus));
    surplus.destroy();
  }

  /** In the order of their arrival. The newest has shown nothing yet, so that there is always one. */
  #least(): Socket {
    const all = [...this.#held.values()];
    const newest = all.at(-1)!;
    const others = all.slice(0, -1);
    const least = others.find(({ role }) => role === undefined) ?? others.find(({ isBusy }) => !isBusy)
      ?? others.find(({ role }) => role === 'viewer') ?? newest;
    return least.socket;
  }
}

function keyOf({ remoteAddress = '', remotePort = 0 }: End): string {
  return `${remoteAddress} ${remotePort}`;
}
