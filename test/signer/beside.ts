import { launchBesideSigner } from '../../src/signer/launch.ts';

// A signer in a process of its own, beside a command of a test's choice: `node beside.ts <script> <its argument>
// <arguments of gannet …>`.

const [script, argument, ...args] = process.argv.slice(2);
launchBesideSigner({
  command: { args: [script!, argument!], variables: { PATH: process.env['PATH'] ?? '' } },
  args,
  environment: process.env,
  workingDir: process.cwd(),
});
