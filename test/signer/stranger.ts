import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';

// What stands beside a signer in place of the daemon: writes the bytes of a file into its channel, tells in base64 what
// came back once that has closed, or every request has its answer and nothing more comes, and ends with 7.

const channel = new Socket({ fd: 3 });
const got: Buffer[] = [];
let quiet: NodeJS.Timeout | undefined;
let timeout: NodeJS.Timeout | undefined;
const tell = (how: string): void => {
  clearTimeout(quiet);
  clearTimeout(timeout);
  process.stdout.write(`${how} ${Buffer.concat(got).toString('base64')}\n`, () => { process.exit(7); });
};
const requests = (text: string): number => text.split('{"id":').length - 1;
const bytes = readFileSync(process.argv[2]!);
timeout = setTimeout(() => { tell('open'); }, 30_000);
channel.on('data', (part: Buffer) => {
  got.push(part);
  clearTimeout(quiet);
  if (requests(Buffer.concat(got).toString('latin1')) < requests(bytes.toString('latin1'))) return;
  quiet = setTimeout(() => { tell('open'); }, 400);
});
channel.on('error', () => undefined);
channel.on('close', () => { tell('closed'); });
channel.write(bytes);
