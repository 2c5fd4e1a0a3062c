import { messageOf } from '../core/errors.ts';
import { startSandbox, type SandboxOptions } from './sandbox.ts';

// The options come as one argument in JSON. The parent holds the other end of standard input: that end closes when the
// parent ends for any reason, and this process ends too.
const options = JSON.parse(process.argv[2] ?? '{}') as SandboxOptions;
process.stdin.on('end', () => process.exit(0)).on('error', () => process.exit(0)).resume();
// Ctrl-C and a closed terminal reach the whole process group; the parent still needs its chain to drain, and ends it
// afterwards.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
try {
  const { addresses } = await startSandbox(options);
  process.stdout.write(`${JSON.stringify(addresses)}\n`);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(1);
}
