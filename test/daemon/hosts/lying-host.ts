import { readSync, writeSync } from 'node:fs';
import { deserialize } from 'node:v8';

// A process that answers as none of the project's does. Its first question says how.

const CHANNEL = 3;

function read(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length;) {
    const count = readSync(CHANNEL, bytes, at, length - at, null);
    if (count === 0) process.exit(0);
    at += count;
  }
  return bytes;
}

function receive(): { readonly n: number; readonly question?: { readonly name?: string } } {
  return deserialize(read(read(4).readUInt32LE())) as ReturnType<typeof receive>;
}

function send(text: string | Buffer, length = Buffer.byteLength(text)): void {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(length);
  for (const part of [head, Buffer.from(text)]) for (let at = 0; at < part.length;) at += writeSync(CHANNEL, part, at);
}

const effects = (n: number, list: unknown[]): string => JSON.stringify({ n, effects: list, faults: [] });
const alert = (message: unknown, data?: unknown): unknown =>
  ({ kind: 'propose', proposal: { kind: 'alert', level: 'info', message, data } });

const BOOK = { kind: 'order-book', marketId: 'M', everyMs: 1_000 };
const watch = (specs: unknown[], id = 1): unknown => ({ kind: 'watch', id, specs });

const LIES: Readonly<Record<string, (n: number) => void>> = {
  honest: (n) => { send(effects(n, [alert('fine')])); },
  'no JSON': () => { send('{"n":'); },
  'bytes that are no text': () => { send(Buffer.from([0xff, 0xfe, 0x00])); },
  'a nested text': () => { send('['.repeat(500_000)); },
  'a giant frame': () => { send('x', 0xffff_fff0); },
  'an empty frame': () => { send(''); },
  'the answer to another call': (n) => { send(effects(n + 1, [])); },
  'an earlier answer again': (n) => { send(effects(n - 1, [])); send(effects(n, [])); },
  'null': () => { send('null'); },
  'effects that are no list': (n) => { send(JSON.stringify({ n, effects: { length: 1 }, faults: [] })); },
  'an unknown effect': (n) => { send(effects(n, [{ kind: 'sign', message: 'x' }])); },
  'a proposal of another kind': (n) => { send(effects(n, [{ kind: 'propose', proposal: { kind: 'transfer' } }])); },
  'an amount that is no number': (n) => { send(effects(n, [{
    kind: 'propose', proposal: {
      kind: 'swap', inputMint: 'a', outputMint: 'b', amount: { bigint: '1e9' }, reason: 'x',
    },
  }])); },
  'a text that is too long': (n) => { send(effects(n, [alert('y'.repeat(5_000))])); },
  'the holding of no token': (n) => { send(JSON.stringify({ n, asks: 'holding', mint: { toString: 'x' } })); },
  'an unknown question': (n) => { send(JSON.stringify({ n, asks: 'wallet' })); },
  'a timer without a delay': (n) => { send(effects(n, [{ kind: 'schedule', id: 1, delay: -1 }])); },
  'a timer without an id': (n) => { send(effects(n, [{ kind: 'schedule', id: 1.5, delay: 1 }])); },
  'a watch of no feeds': (n) => { send(effects(n, [watch([])])); },
  'a watch of too many feeds': (n) => { send(effects(n, [watch(Array.from({ length: 33 }, () => BOOK))])); },
  'a watch of a foreign kind': (n) => { send(effects(n, [watch([{ ...BOOK, kind: 'key-file' }])])); },
  'a watch of no mint': (n) => { send(effects(n, [watch([{ kind: 'token-stats', mint: 'x', everyMs: 1 }])])); },
  'a watch without an id': (n) => { send(effects(n, [watch([BOOK], 0)])); },
  'the end of a watch without an id': (n) => { send(effects(n, [{ kind: 'unwatch', id: '1' }])); },
  'a fault of no instance': (n) => {
    send(JSON.stringify({ n, effects: [], faults: [{ id: 'x', code: 'STRATEGY_ASYNC' }] }));
  },
  'a place that is no place': (n) => {
    send(effects(n, [{ kind: 'fail', message: 'x', place: '\u001b[2J:1:1' }]));
  },
  'a flood of questions': (n) => { for (;;) send(JSON.stringify({ n, asks: 'open-intents' })); },
  'a flood between calls': (n) => {
    send(effects(n, [alert('fine')]));
    for (;;) send(effects(n, []));
  },
  'half a frame': () => { send('x', 100); },
  'a prototype': (n) => {
    send(`{"n":${n},"faults":[],"effects":[{"kind":"propose","proposal":{`
      + '"kind":"alert","level":"info","message":"fine",'
      + '"__proto__":{"polluted":true},"data":{"__proto__":"x","constructor":"y"}}}]}');
  },
  'an end': () => { process.exit(5); },
};

const asked = receive();
const lie = LIES[asked.question?.name ?? 'honest']!;
send(JSON.stringify({ n: asked.n, said: '{}', effects: [], faults: [] }));
for (;;) lie(receive().n);
