import dgram from 'node:dgram';
import dns from 'node:dns';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { printable } from '../../core/text.ts';
import type { Arrived } from './trap-functions.ts';
import { trapClass, trapFunction, trapFunctions } from './trap-functions.ts';

/** Tells `reached` what of the network somebody reaches for, at each way to it: a connection that is kept open would be asked again without being made. */
export function trapNetwork(reached: (what: string) => void): void {
  const arrived: Arrived = (name, args) => {
    reached(`${name}${targetOf(args)}`);
    return args;
  };
  for (const owner of [http, https]) for (const name of ['request', 'get']) trapFunction(owner, name, arrived);
  for (const [owner, name] of [[http2, 'connect'], [net, 'connect'], [net, 'createConnection'], [tls, 'connect'], [dgram, 'createSocket']] as const) trapFunction(owner, name, arrived);
  trapFunctions(dns, arrived);
  trapFunctions(dns.promises, arrived, { promises: true });
  trapFunction(globalThis, 'fetch', arrived, { promises: true });
  trapFunction(net.Socket.prototype, 'connect', arrived);
  trapClass(globalThis, 'WebSocket', arrived);
}

/** Addresses are printed for people; what is none stays unsaid. */
function targetOf([first]: readonly unknown[]): string {
  if (typeof first === 'string' || first instanceof URL) return ` ${printable(String(first), 80)}`;
  return first instanceof Request ? ` ${printable(first.url, 80)}` : '';
}
