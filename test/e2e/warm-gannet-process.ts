import { main } from '../../src/cli/program.ts';
import { runHere } from '../cli/in-process.ts';
import type { Ended, Order } from './warm-gannet.ts';

// Serves one command line after the other, each as a process of its own would run it beside no signer: the modules,
// which take most of the time of a start, are loaded once.

let said = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr'] as const) {
  process[name].write = (chunk: string | Uint8Array) => {
    said[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    return true;
  };
}

process.on('message', (order: Order) => {
  void serve(order).then((ended) => { process.send!(ended); });
});

// The process that gave the commands has ended.
process.on('disconnect', () => { process.exit(); });

async function serve({ args, cwd, environment }: Order): Promise<Ended> {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(cwd);
  said = { stdout: '', stderr: '' };
  const code = await main([process.execPath, 'gannet', ...args], { box: runHere });
  // A command listens until its process ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
  return { code, ...said };
}
