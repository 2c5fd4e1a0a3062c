import { hostile, member, quietly, reach, take } from './attack.ts';
import type { Acts, Hands } from './attack.ts';

// Attacks on processes: starting some, signalling others, and changing what this one may do.

await reach('child_process', 'cluster', 'fs', 'inspector', 'repl', 'trace_events', 'worker_threads');

const markBy = ({ aim, name }: Hands): string => `touch ${aim.marks}/${name}`;

/** Returns the code of a thread that leaves a mark. */
const thread = ({ aim, name }: Hands): string =>
  `require('node:fs').writeFileSync(${JSON.stringify(`${aim.marks}/${name}`)}, 'written by a thread')`;

/** Calls a member of process, if it is still there. */
function called(name: string, ...given: readonly unknown[]): string {
  const result = member(process, name)(...given);
  return `called process.${name}: ${String(result)}`;
}

function signalled(pid: number): string | undefined {
  return member(process, 'kill')(pid, 0) === true ? `can signal process ${pid}` : undefined;
}

/** The attacks of this file, by name. */
export const PROCESS_ATTACKS: Acts = {
  'spawn': (hands) => {
    take('child_process').spawn('sh', ['-c', markBy(hands)]).on('error', () => undefined);
  },
  'exec-sync': (hands) => {
    take('child_process').execSync(markBy(hands));
    return 'started a shell';
  },
  'fork': ({ aim, name }) => {
    take('child_process').fork('-e', [thread({ aim, name } as Hands)], { execArgv: [] }).on('error', () => undefined);
  },
  'cluster': () => {
    take('cluster').setupPrimary({ exec: import.meta.filename });
    const worker = take('cluster').fork();
    worker.on('error', () => undefined).process.kill();
    return `forked ${worker.id}`;
  },
  'worker': (hands) => {
    new (take('worker_threads').Worker)(thread(hands), { eval: true }).on('error', () => undefined);
  },
  'worker-without-options': (hands) => {
    new (take('worker_threads').Worker)(thread(hands), { eval: true, execArgv: [], env: {} })
      .on('error', () => undefined);
  },
  'message-to-other-threads': () => {
    const { isMainThread, parentPort, workerData } = take('worker_threads');
    if (parentPort === null && isMainThread) return undefined;
    parentPort?.postMessage(workerData);
    return 'runs in a thread';
  },
  'signal-to-the-parent': () => signalled(process.ppid),
  'signal-to-all': () => signalled(-1),
  'signal-to-a-neighbour': ({ aim }) => {
    member(process, 'kill')(aim.victim, 'SIGKILL');
    return 'killed another process';
  },
  'signal-without-process-kill': ({ aim }) => {
    const result = member(process, '_kill')(aim.victim, 9);
    return result === 0 ? 'killed another process' : undefined;
  },
  'debug-signal': () => called('_debugProcess', process.ppid),
  'execve': (hands) => called('execve', '/bin/sh', ['sh', '-c', markBy(hands)], {}),
  'open-inspector': () => {
    const { close, open, url } = take('inspector');
    open(0, '127.0.0.1');
    const address = url();
    close();
    return address;
  },
  'inspector-session': () => new Promise((resolve, reject) => {
    const session = new (take('inspector').Session)();
    session.connect();
    session.post('Runtime.evaluate', { expression: '1 + 1' }, (error, given) => {
      if (error === null) resolve(given);
      else reject(error);
    });
  }),
  'inspector-of-the-parent': () => {
    process.emit('SIGUSR1');
    const { Session } = take('inspector');
    const session = new Session();
    session.connectToMainThread();
    return 'connected to another thread';
  },
  'repl': () => {
    const server = take('repl').start({ input: process.stdin, output: process.stdout });
    server.close();
    return 'started a console';
  },
  'traces': () => {
    const tracing = take('trace_events').createTracing({ categories: ['node.fs.sync'] });
    tracing.enable();
    tracing.disable();
    return 'traced Node';
  },
  'binding-of-processes': (hands) => {
    const { Process } = member(process, 'binding')('process_wrap') as { readonly Process: new () => {
      spawn(options: object): number;
    } };
    const status = new Process().spawn({ file: '/bin/sh', args: ['sh', '-c', markBy(hands)], stdio: [] });
    return status === 0 ? 'started a shell' : undefined;
  },
  'linked-binding': () => called('_linkedBinding', 'fs'),
  'other-user': () => called('setuid', 65_534),
  'other-groups': () => called('setgroups', [0]),
  'folder-changed': () => called('chdir', '/'),
  'mask-changed': () => called('umask', 0),
  'permission-dropped': () => {
    const drop = member(process, 'permission', 'drop');
    drop('fs.read');
    return 'changed its permissions';
  },
  'permission-replaced': ({ aim }) => {
    Object.defineProperty(process, 'permission', { value: { has: () => true } });
    return take('fs').readFileSync(aim.keyFile, 'utf8');
  },
  'options-changed': ({ aim }) => {
    process.execArgv.length = 0;
    Reflect.set(process.env, 'NODE_OPTIONS', '--allow-child-process');
    return take('fs').readFileSync(aim.keyFile, 'utf8');
  },
  'title-changed': () => {
    process.title = 'gannet signer';
    return quietly(() => take('fs').readFileSync('/proc/self/cmdline', 'utf8'));
  },
  'active-handles': () => {
    const handles = member(process, '_getActiveHandles')() as unknown[];
    return handles.length === 0 ? undefined : `holds ${handles.length} handles of the process`;
  },
  'other-messages': () => called('send', { kind: 'stop' }),
  'abort': () => called('abort'),
  'exit-of-the-system': () => called('reallyExit', 7),
};

export default hostile('hostile-processes', PROCESS_ATTACKS);
