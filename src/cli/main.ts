import { keepProcess } from './output/terminal.ts';
import { main } from './program.ts';

const done = keepProcess(process.argv.includes('--json'));
process.exitCode = await main(process.argv);
done();
// Everything is closed by now. If something still keeps the process open, a supervisor must not wait for it.
setTimeout(() => process.exit(), 3_000).unref();
