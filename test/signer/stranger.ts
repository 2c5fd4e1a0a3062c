import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';

// What stands beside a signer in place of the daemon: writes the bytes of a file into its channel, tells in base64 what
// came back once that has closed, as many messages have come as were sent, or nothing comes any more, and ends with 7.

const channel = new Socket({ fd: 3 });
const got: Buffer[] = [];
let quiet: NodeJS.Timeout | undefined;
let patience: NodeJS.Timeout | undefined;
const tell = (how: string): void => {
  clearTimeout(quiet);
  clearTimeout(patience);
  process.stdout.write(`${how} ${Buffer.concat(got).toString('base64')}\n`, () => { process.exit(7); });
};
/** Returns how many whole messages bytes are, each behind its length; undefined where they are something else. */
function messagesIn(bytes: Buffer): number | undefined {
  let count = 0;
  let offset = 0;
  while (offset + 4 <= bytes.length) {
    offset += 4 + bytes.readUInt32BE(offset);
    count += 1;
  }
  return offset === bytes.length ? count : undefined;
}
const sent = readFileSync(process.argv[2]!);
patience = setTimeout(() => { tell('open'); }, 20_000);
channel.on('data', (bytes: Buffer) => {
  got.push(bytes);
  clearTimeout(quiet);
  const isAnswered = messagesIn(Buffer.concat(got)) === messagesIn(sent);
  // All is said; what comes on top of it, or instead of the rest, still has a while.
  quiet = setTimeout(() => { tell('open'); }, isAnswered ? 400 : 10_000);
});
channel.on('error', () => undefined);
channel.on('close', () => { tell('closed'); });
channel.write(sent);
