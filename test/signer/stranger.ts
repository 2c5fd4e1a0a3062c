import { readFileSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import { createFrameReader, createFrameWriter } from '../../src/signer/channel/channel-frames.ts';

// What stands beside a signer in place of the daemon. It takes the key of the session, as a daemon does, and writes the
// bytes of a file into the channel. A JSON list is sent as requests of the session. It tells in base64 what came back
// once the channel has closed, or every request has its answer and nothing more comes, and ends with 7.

const key = Buffer.alloc(32);
readSync(3, key);
const channel = new Socket({ fd: 3 });
const got: string[] = [];
let quiet: NodeJS.Timeout | undefined;
let timeout: NodeJS.Timeout | undefined;
const tell = (how: string): void => {
  clearTimeout(quiet);
  clearTimeout(timeout);
  process.stdout.write(`${how} ${Buffer.from(got.join('\n')).toString('base64')}\n`, () => { process.exit(7); });
};
const bytes = readFileSync(process.argv[2]!);
const requests = bytes[0] === '['.charCodeAt(0) ? JSON.parse(bytes.toString('utf8')) as readonly unknown[] : [];
const read = createFrameReader(key, 'signer', (answer) => { got.push(JSON.stringify(answer)); });
timeout = setTimeout(() => { tell('open'); }, 30_000);
channel.on('data', (part: Buffer) => {
  read(part);
  clearTimeout(quiet);
  if (got.length < requests.length) return;
  quiet = setTimeout(() => { tell('open'); }, 400);
});
channel.on('error', () => undefined);
channel.on('close', () => { tell('closed'); });
if (requests.length === 0) channel.write(bytes);
else channel.write(Buffer.concat(requests.map(createFrameWriter(key, 'daemon'))));
