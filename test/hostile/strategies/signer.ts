import { hostile, member, quietly, reach, take } from './attack.ts';
import type { Acts, Hands } from './attack.ts';

// Attacks on the signer over descriptors: messages, messages that were seen before, floods, and on its process.

await reach('fs', 'net');

const FIRST = 3;
const LAST = 64;

/** A message of the signer's protocol: its length, then JSON. */
function frame(message: object): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

/** Returns the sockets that this process inherited, from the fourth descriptor on. */
function sockets(): number[] {
  const { fstatSync } = take('fs');
  const found: number[] = [];
  for (let fd = FIRST; fd < LAST; fd++) if (quietly(() => fstatSync(fd).isSocket()) === true) found.push(fd);
  return found;
}

function written(bytes: Buffer, times = 1): string | undefined {
  const { writeSync } = take('fs');
  const took = sockets().filter((fd) => {
    for (let n = 0; n < times; n++) if (quietly(() => writeSync(fd, bytes)) === undefined) return false;
    return true;
  });
  return took.length === 0 ? undefined : `wrote to the sockets ${took.join(' ')}`;
}

const request = ({ aim }: Hands, id: number): object => ({
  id, kind: 'sign', transaction: Buffer.alloc(200, 1).toString('base64'),
  terms: { inputMint: aim.marks, outputMint: aim.marks, amount: '1', minimumOut: '1', route: 'order' },
});

/** The attacks of this file, by name. */
export const SIGNER_ATTACKS: Acts = {
  'message-to-the-signer': (hands) => written(frame(request(hands, 1))),
  'message-described': (hands) => written(frame({ id: 1, kind: 'describe', name: hands.name })),
  'message-replayed': (hands) => written(frame(request(hands, 1)), 2),
  'message-flood': () => written(frame({ id: 1, kind: 'address' }), 2_000),
  'message-endless': () => written(Buffer.from([0xff, 0xff, 0xff, 0xff])),
  'signer-stopped': () => {
    const { readFileSync, readdirSync } = take('fs');
    const signer = readdirSync('/proc').find((pid) => /^\d+$/.test(pid)
      && quietly(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('src/signer/main.ts')) === true);
    if (signer === undefined) return undefined;
    return member(process, 'kill')(Number(signer), 0) === true ? `can signal the signer ${signer}` : undefined;
  },
  'sockets-by-path': () => {
    const lines = take('fs').readFileSync('/proc/net/unix', 'utf8').split('\n');
    return lines.filter((line) => line.includes('gannet')).join(' ') || 'read the sockets of the machine';
  },
};

export default hostile('hostile-signer', SIGNER_ATTACKS);
