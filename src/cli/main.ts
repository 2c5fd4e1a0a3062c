import { keepProcess } from './own-process.ts';
import { main } from './program.ts';

const done = keepProcess(process.argv.includes('--json'));
process.exitCode = await main(process.argv);
done();
// Everything is closed by now. Should something still hold the process, a supervisor must not wait for it in vain.
setTimeout(() => process.exit(), 3_000).unref();
