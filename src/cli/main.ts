import { main } from './program.ts';

process.exitCode = await main(process.argv);
// Everything is closed by now. Should something still hold the process, a supervisor must not wait for it in vain.
setTimeout(() => process.exit(), 3_000).unref();
