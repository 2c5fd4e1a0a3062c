// oxlint-disable no-await-in-loop
import { createRequire } from 'node:module';
import { writeSync } from 'node:fs';

// Tries what a process in a box must not be able to do, and writes what happened to each attempt into the channel. It
// runs without what a strategy host takes away from itself: what it cannot do, the box alone prevents.

const CHANNEL = 3;
const { canary, folder, tcp, udp, unix, parent } = JSON.parse(process.argv[2]!) as {
  readonly canary: string; readonly folder: string; readonly tcp: number; readonly udp: number; readonly unix: string;
  readonly parent: number;
};

type Listener = (value: unknown) => void;

const event = (target: { on(name: string, listener: Listener): unknown }, name: string): Promise<string> =>
  new Promise((resolve, reject) => {
    target.on(name, () => { resolve(name); });
    target.on('error', (error) => { reject(error); });
    setTimeout(() => { reject(new Error('nothing happened')); }, 300);
  });

const ATTEMPTS: Readonly<Record<string, () => unknown>> = {
  'read a file': async () => (await import('node:fs')).readFileSync(canary, 'utf8'),
  'read a file by a promise': async () => (await import('node:fs/promises')).readFile(canary, 'utf8'),
  'list a folder': async () => (await import('node:fs')).readdirSync(folder),
  'read the daemon’s environment': async () => (await import('node:fs')).readFileSync(`/proc/${parent}/environ`),
  'read the daemon’s memory': async () => (await import('node:fs')).openSync(`/proc/${parent}/mem`, 'r'),
  'read its own maps': async () => (await import('node:fs')).readFileSync('/proc/self/maps'),
  'follow a descriptor': async () => (await import('node:fs')).readFileSync('/proc/self/fd/3'),
  'write a file': async () => { (await import('node:fs')).writeFileSync(`${folder}/written`, 'x'); },
  'write a temporary file': async () => { (await import('node:fs')).writeFileSync('/tmp/gannet-probe', 'x'); },
  'link a file': async () => { (await import('node:fs')).symlinkSync(canary, `${folder}/link`); },
  'start a process': async () => (await import('node:child_process')).execFileSync('/bin/true'),
  'start a thread': async () => event(new (await import('node:worker_threads')).Worker('0', { eval: true }), 'online'),
  'start a cluster': async () => event((await import('node:cluster')).default.fork(), 'online'),
  'load a native module': () => { process.dlopen({ exports: {} }, canary); },
  'require a native module': () => createRequire(import.meta.url)('/none.node') as unknown,
  'open a database': () => createRequire(import.meta.url)('node:sqlite') as unknown,
  'open the inspector': async () => { (await import('node:inspector')).open(0); },
  'run WASI': async () => new (await import('node:wasi')).WASI({ version: 'preview1' }),
  'signal the daemon': () => process.kill(parent, 0),
  'become the superuser': () => { process.setuid!(0); },
  'connect by TCP': async () => event((await import('node:net')).connect(tcp, '127.0.0.1'), 'connect'),
  'connect to a socket file': async () => event((await import('node:net')).connect(unix), 'connect'),
  'send a datagram': async () => {
    const socket = (await import('node:dgram')).createSocket('udp4');
    const sent = event(socket, 'close');
    socket.send('x', udp, '127.0.0.1', () => undefined);
    return sent;
  },
  'fetch': async () => (await fetch(`http://127.0.0.1:${tcp}/`)).status,
  'listen': async () => event((await import('node:net')).createServer().listen(0), 'listening'),
  'resolve a name': async () => (await import('node:dns/promises')).resolve('example.com'),
};

const results: Record<string, string> = {};
for (const [name, attempt] of Object.entries(ATTEMPTS)) {
  try {
    results[name] = `succeeded: ${String(await attempt()).slice(0, 100)}`;
  } catch (error) {
    results[name] = `failed: ${error instanceof Error ? error.message.split('\n')[0]! : String(error)}`;
  }
}
results['environment'] = Object.keys(process.env).join(' ');
writeSync(CHANNEL, `${JSON.stringify(results)}\n`);
// It stays, so that its descriptors can be read.
setInterval(() => undefined, 1_000);
