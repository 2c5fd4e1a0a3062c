import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../core/errors.ts';
import { startSandbox, type SandboxOptions } from './sandbox.ts';

// The parent holds the other end of standard input: that end closes when the parent ends for any reason, and this
// process ends too.
process.stdin.on('end', () => process.exit(0)).on('error', () => process.exit(0));
// Ctrl-C and a closed terminal reach the whole process group; the parent still needs its chain to drain, and ends it
// afterwards.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
// The options are the first line, in JSON. The parent may write it long after it started this process. What most
// configurations ask for is made meanwhile.
const USUAL: SandboxOptions = { seed: 7, dialect: 'neutral' };
const options = once(createInterface({ input: process.stdin }), 'line') as Promise<[string]>;
const usual = startSandbox(USUAL);
// The one that takes it sees the failure.
usual.catch(() => undefined);
const wanted = JSON.parse((await options)[0]) as SandboxOptions;
try {
  const isUsual = isDeepStrictEqual(wanted, USUAL);
  if (!isUsual) void usual.then((sandbox) => sandbox.close(), () => undefined);
  const { addresses } = await (isUsual ? usual : startSandbox(wanted));
  process.stdout.write(`${JSON.stringify(addresses)}\n`);
  // The parent ends this process by a signal, and then nothing would be kept for the next start.
  flushCompileCache();
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(1);
}
