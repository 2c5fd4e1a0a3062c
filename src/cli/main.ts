import { signerConnection } from '../signer/channel/connection.ts';
import { takeHandedOn } from '../signer/command-process.ts';

// The channel to the signer is taken before anything else is loaded, so that no other code finds the session's key.
const handedOn = takeHandedOn(process.env);
const connectSigner = handedOn === undefined || handedOn.signer === false ? undefined
  : signerConnection(handedOn.signer);
const [{ keepProcess }, { main }] = await Promise.all([import('./output/terminal.ts'), import('./program.ts')]);

const args = [...process.argv];
// Strategies may run in this process. They see no argument, so that none tells them which command runs them.
process.argv.splice(2);
const done = keepProcess(args.includes('--json'));
process.exitCode = await main(args, { handedOn, connectSigner });
done();
// Everything is closed by now. If something still keeps the process open, a supervisor must not wait for it.
setTimeout(() => process.exit(), 3_000).unref();
