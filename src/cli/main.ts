import { signerConnection } from '../signer/channel/connection.ts';
import { takeHandedOn } from '../signer/command-process.ts';
import { prepareSandbox } from '../sandbox/spawn.ts';
import { seemsEmbedded } from './seems-embedded.ts';

// The channel to the signer is taken before anything else is loaded, so that no other code finds the session's key.
const handedOn = takeHandedOn(process.env);
const connectSigner = handedOn === undefined || handedOn.signer === false ? undefined
  : signerConnection(handedOn.signer);
// Its process loads its code while this one loads the rest of the program. One without use is ended later.
if (seemsEmbedded(process.argv.slice(2))) prepareSandbox();
const program = import('./program.ts');
// Where it cannot be loaded, the line that needs it says why.
program.catch(() => undefined);
const { keepProcess, refuseOutdated } = await import('./kept-process.ts');

const args = [...process.argv];
// Strategies may run in this process. They see no argument, so that none tells them which command runs them.
process.argv.splice(2);
const json = args.includes('--json');
const done = keepProcess(json);
const { main } = await program.catch((error: unknown) => refuseOutdated(error, json, done));
process.exitCode = await main(args, { handedOn, connectSigner });
done();
// Everything is closed by now. If something still keeps the process open, a supervisor must not wait for it.
setTimeout(() => process.exit(), 3_000).unref();
