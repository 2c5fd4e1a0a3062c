import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { printable } from '../../core/text.ts';
import type { ControlRole } from './control-tokens.ts';

/** Where an order came from: a request to the control API, a command that works without the daemon, or Telegram. */
export type OrderOrigin = RequestOrigin | CommandOrigin | TelegramOrigin;

/** A request to the control API. What the system knows and what the client says are kept apart. */
interface RequestOrigin {
  readonly role: ControlRole;
  /** The client's, as a trusted proxy names it where one stands between. */
  readonly address: string;
  /** 0 for a client behind a proxy. */
  readonly port: number;
  /** The user id of the client's process, from the system; null for another machine, a proxy or another system. */
  readonly uid: number | null;
  /** The process and user that the client names; null for another client than the command line. */
  readonly says: { readonly pid: number; readonly user: string } | null;
}

/** A command that acts on the state directory itself. */
interface CommandOrigin {
  readonly role: 'command';
  readonly command: string;
  readonly pid: number;
  readonly uid: number | null;
  readonly user: string;
}

/** A command to a bot. Telegram vouches for user and chat. */
interface TelegramOrigin {
  readonly role: 'telegram';
  /** The name of the channel in the configuration. */
  readonly channel: string;
  readonly chat: number;
  readonly user: number;
}

/** The header in which the command line names its process and its user. */
export const CLIENT_HEADER = 'gannet-client';
const NAME_MAX = 64;

/** Returns the value of the header for this process. */
export function clientHeader(): string {
  return `${process.pid} ${encodeURIComponent(userName().slice(0, NAME_MAX))}`;
}

/** Returns the origin of a command in this process, such as `gannet run`. */
export function commandOrigin(command: string): OrderOrigin {
  return { role: 'command', command, pid: process.pid, uid: process.getuid?.() ?? null, user: userName() };
}

interface ClientSocket {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localPort?: number | undefined;
}

/** Returns the origin of a request. */
export function requestOrigin(role: ControlRole, { ip, socket, headers }: {
  /** The address of the client: of the socket, or what a trusted proxy says. */
  readonly ip: string;
  readonly socket: ClientSocket; readonly headers: Readonly<Record<string, unknown>>;
}): OrderOrigin {
  const says = saidClient(headers[CLIENT_HEADER]);
  if (ip !== socket.remoteAddress) return { role, address: printable(ip, NAME_MAX), port: 0, uid: null, says };
  return { role, address: ip, port: socket.remotePort ?? 0, uid: clientUid(socket) ?? null, says };
}

/** Returns an origin for people. */
export function originText(origin: OrderOrigin): string {
  if (origin.role === 'telegram')
    return `Telegram (user ${origin.user} in the chat ${origin.chat}, channel "${origin.channel}")`;
  const uid = origin.uid === null ? '' : `, user id ${origin.uid}`;
  if (origin.role === 'command')
    return `"${origin.command}" (process ${origin.pid} of ${printable(origin.user, NAME_MAX)}${uid})`;
  const { role, address, port, says } = origin;
  const client = says === null ? ''
    : `, by its own account process ${says.pid} of ${printable(says.user, NAME_MAX)}`;
  return `the ${role}’s token (from ${printable(address, NAME_MAX)}:${port}${uid}${client})`;
}

/** Returns an origin as the flat facts of an alert. */
export function originFacts(origin: OrderOrigin): Readonly<Record<string, string | number | null>> {
  if (origin.role === 'command' || origin.role === 'telegram') return { ...origin };
  const { says, ...rest } = origin;
  return { ...rest, pid: says?.pid ?? null, user: says?.user ?? null };
}

function saidClient(header: unknown): { readonly pid: number; readonly user: string } | null {
  const [, pid, user] = /^(\d{1,9}) ([\w.~%!*'()-]{0,600})$/.exec(typeof header === 'string' ? header : '') ?? [];
  if (pid === undefined || user === undefined) return null;
  try {
    return { pid: Number(pid), user: printable(decodeURIComponent(user), NAME_MAX) };
  } catch {
    return null;
  }
}

/** A user without an entry in the system's list has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** The system's list of connections, by process owner. */
const CONNECTIONS = ['/proc/self/net/tcp', '/proc/self/net/tcp6'] as const;

/** Returns the user id of the client's end of a connection; undefined where the system does not list it. */
function clientUid({ remoteAddress: address = '', remotePort = 0, localPort = 0 }: ClientSocket): number | undefined {
  const client = `${addressHex(address)}:${portHex(remotePort)}`;
  for (const file of CONNECTIONS) {
    const found = textOf(file).split('\n').map((line) => line.trim().split(/ +/))
      .find(([, local, remote]) => local === client && remote?.endsWith(`:${portHex(localPort)}`));
    if (found !== undefined) return Number(found[7]);
  }
  return undefined;
}

/** Returns an address as the system lists it: little-endian words. Of IPv6, the loopback address alone. */
function addressHex(address: string): string {
  if (address === '::1') return '00000000000000000000000001000000';
  return address.replace(/^::ffff:/, '').split('.').toReversed()
    .map((part) => Number(part).toString(16).padStart(2, '0')).join('').toUpperCase();
}

function portHex(port: number): string {
  return port.toString(16).padStart(4, '0').toUpperCase();
}

/** Empty on a system without this file. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
