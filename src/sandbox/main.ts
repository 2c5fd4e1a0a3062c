import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { messageOf } from '../core/errors.ts';
import { startSandbox, type SandboxOptions } from './sandbox.ts';

// The parent holds the other end of standard input: that end closes when the parent ends for any reason, and this
// process ends too.
process.stdin.on('end', () => process.exit(0)).on('error', () => process.exit(0));
// Ctrl-C and a closed terminal reach the whole process group; the parent still needs its chain to drain, and ends it
// afterwards.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
// The options are the first line, in JSON. The parent may write it long after it started this process.
const [line] = await once(createInterface({ input: process.stdin }), 'line') as [string];
try {
  const { addresses } = await startSandbox(JSON.parse(line) as SandboxOptions);
  process.stdout.write(`${JSON.stringify(addresses)}\n`);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(1);
}
