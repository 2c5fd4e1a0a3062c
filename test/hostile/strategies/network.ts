import { hostile, reach, take } from './attack.ts';
import type { Act, Acts, Hands } from './attack.ts';

// Attacks that send something out. What counts is what arrives at a listener, so most of them return nothing.

await reach('dgram', 'dns', 'fs', 'http', 'http2', 'https', 'net', 'tls');

const HOST = '127.0.0.1';

function portOf({ aim, name }: Hands): number {
  return aim.tcp[name] ?? 0;
}

const ignore = (): void => undefined;

/** Imports a package or module by its name, so that no reader of the text recognises it. */
async function load(name: string): Promise<Readonly<Record<string, unknown>>> {
  return await import(name) as Readonly<Record<string, unknown>>;
}

/** Returns a class of a package, to be constructed with an address. */
async function constructed(name: string, member: string, ...given: readonly unknown[]): Promise<undefined> {
  const found = (await load(name))[member];
  if (typeof found !== 'function') throw new TypeError(`${name} has no ${member}`);
  const made = Reflect.construct(found, given) as { on?(event: string, heard: () => void): void; onerror?: unknown };
  made.on?.('error', ignore);
  return undefined;
}

const byGlobal = (member: string, ...given: readonly unknown[]): undefined => {
  const found: unknown = Reflect.get(globalThis, member);
  if (typeof found !== 'function') throw new TypeError(`there is no ${member}`);
  const made = Reflect.construct(found, given) as { onerror?: unknown };
  made.onerror = ignore;
  return undefined;
};

const tcp: Act = (hands) => {
  const socket = take('net').connect(portOf(hands), HOST, () => { socket.end(hands.name); }).on('error', ignore);
};

const listening: Act = ({ name }) => new Promise((resolve, reject) => {
  const server = take('net').createServer();
  server.on('error', reject).listen(0, HOST, () => {
    server.close();
    resolve(`${name} listens`);
  });
});

const dnsQuery: Act = ({ aim, name }) => {
  const resolver = new (take('dns').promises.Resolver)({ timeout: 500, tries: 1 });
  resolver.setServers([`${HOST}:${aim.udp}`]);
  resolver.resolve4(`${name}.example`).catch(ignore);
};

/** The attacks of this file, by name. */
export const NETWORK_ATTACKS: Acts = {
  'tcp': tcp,
  'tls': (hands) => {
    take('tls').connect({ port: portOf(hands), host: HOST, servername: `${hands.name}.example` }).on('error', ignore);
  },
  'http': (hands) => { take('http').get(`http://${HOST}:${portOf(hands)}/${hands.name}`).on('error', ignore); },
  'https': (hands) => { take('https').get(`https://${HOST}:${portOf(hands)}/`).on('error', ignore); },
  'http2': (hands) => { take('http2').connect(`http://${HOST}:${portOf(hands)}`).on('error', ignore); },
  'fetch': (hands) => { fetch(`http://${HOST}:${portOf(hands)}/${hands.name}`).catch(ignore); },
  'fetch-at-once': async (hands) => (await fetch(`http://${HOST}:${portOf(hands)}/${hands.name}`)).status,
  'websocket': (hands) => byGlobal('WebSocket', `ws://${HOST}:${portOf(hands)}/${hands.name}`),
  'event-source': (hands) =>
    constructed('undici', 'EventSource', `http://${HOST}:${portOf(hands)}/${hands.name}`),
  'undici': async (hands) => {
    const { request } = await load('undici') as { readonly request: (url: string) => Promise<unknown> };
    await request(`http://${HOST}:${portOf(hands)}/${hands.name}`);
  },
  'ws': (hands) => constructed('ws', 'WebSocket', `ws://${HOST}:${portOf(hands)}/${hands.name}`),
  'udp': ({ aim, name }) => {
    const socket = take('dgram').createSocket('udp4').on('error', ignore);
    socket.send(name, aim.udp, HOST, () => { socket.close(); });
  },
  'dns': dnsQuery,
  'dns-lookup': () => new Promise((resolve, reject) => {
    take('dns').lookup('localhost', (error, address) => {
      if (error === null) resolve(address);
      else reject(error);
    });
  }),
  'unix-socket': ({ aim, name }) => {
    const socket = take('net').connect(aim.unix, () => { socket.end(name); }).on('error', ignore);
  },
  'listening': listening,
  'descriptors-as-sockets': ({ name }) => {
    const { Socket } = take('net');
    const sent: number[] = [];
    for (let fd = 8; fd < 64; fd++) {
      try {
        if (!take('fs').fstatSync(fd).isSocket()) continue;
        new Socket({ fd }).on('error', ignore).end(name);
        sent.push(fd);
      } catch {
        // Not open, or no socket that can be used.
      }
    }
    return sent.length === 0 ? undefined : `wrote to the sockets ${sent.join(' ')}`;
  },
};

export default hostile('hostile-network', NETWORK_ATTACKS);
