import { hostile, quietly, reach, take } from './attack.ts';
import type { Act, Acts, Hands } from './attack.ts';

// Attacks on the channel between the daemon and the process of a strategy. The code that writes answers is out of
// reach, but the built-in methods that it calls are not: what they are changed to is what the daemon reads.

await reach('fs');

const HEAD_BYTES = 4;

/** A message as the process would have sent it. */
interface Message {
  readonly n?: number;
  readonly effects?: unknown[];
  readonly faults?: unknown[];
}

/** The bytes that go out in place of a message. */
interface Forged {
  readonly body: string;
  /** What the head says of its length; by default the truth. */
  readonly length?: number;
}

/** Replaces every answer from now on. */
function forge(make: (message: Message, text: string) => Forged): void {
  const { byteLength } = Buffer;
  const prototype = Buffer.prototype as unknown as Record<string, (...given: unknown[]) => unknown>;
  const { write, writeUInt32LE } = prototype;
  const { parse } = JSON;
  let forged: Forged | undefined;
  // In the order of their calls: the length, the head, the body.
  Buffer.byteLength = (text, encoding) => {
    forged = quietly(() => make(parse(String(text)) as Message, String(text)));
    return byteLength(forged?.body ?? text, encoding);
  };
  prototype['writeUInt32LE'] = function head(this: unknown, length: unknown, at: unknown) {
    return Reflect.apply(writeUInt32LE!, this, [forged?.length ?? length, at ?? 0]);
  };
  prototype['write'] = function body(this: unknown, text: unknown, at: unknown, ...rest: unknown[]) {
    return Reflect.apply(write!, this, [forged?.body ?? text, at, ...rest]);
  };
}

const forges = (make: (message: Message, hands: Hands, text: string) => Forged): Act => (hands) => {
  forge((message, text) => make(message, hands, text));
};

const json = (message: object): Forged => ({ body: JSON.stringify(message) });

const tooMuch = ({ pair }: Hands): object => ({
  kind: 'swap', inputMint: pair.quote.mint, outputMint: pair.base.mint, amount: { bigint: '5000000000' },
  reason: 'forged',
});

/** The attacks of this file, by name. */
export const CHANNEL_ATTACKS: Acts = {
  'answer-of-a-neighbour': forges((message, hands) => json({
    ...message, id: 1, strategy: 'neighbour-order', verdict: 'approved',
    effects: [
      ...message.effects ?? [],
      {
        kind: 'propose', id: 1, strategy: 'neighbour-order',
        proposal: { ...tooMuch(hands), strategy: 'neighbour-order' },
      },
    ],
  })),
  'answer-for-another-call': forges((message) => json({ ...message, n: (message.n ?? 0) + 1 })),
  'answer-deep': forges(() => ({ body: '['.repeat(400_000) })),
  'answer-of-another-form': forges(() => ({ body: 'null' })),
  'answer-with-prototypes': forges((message) => ({
    body: `{"__proto__": {"kind": "effects"}, "n": ${message.n ?? 0}, "constructor": {}, "effects": [], "faults": []}`,
  })),
  'answer-with-escapes': forges((message) => json({
    ...message, effects: [{ kind: 'fail', message: 'x\u001b[2J', place: '\u001b[2J:1:1' }],
  })),
  'answer-with-other-kinds': forges((message) => json({
    ...message, effects: [{ kind: 'command', name: 'set-trading-state', state: 'halted' }],
  })),
  'answer-with-bad-timers': forges((message) => json({
    ...message, effects: [{ kind: 'schedule', id: -1, delay: -1 }, { kind: 'schedule', id: 1e308, delay: 1 }],
  })),
  'answer-before-the-question': forges((message, _hands, text) => {
    const next = JSON.stringify({ ...message, n: (message.n ?? 0) + 1, effects: [], faults: [] });
    const head = String.fromCharCode(next.length & 0x7f, next.length >> 7 & 0x7f, 0, 0);
    return { body: `${text}${head}${next}`, length: text.length };
  }),
  'frame-without-end': forges((_message, _hands, text) => ({ body: text, length: 0xff_ff_ff_ff })),
  'frame-cut-off': forges((_message, _hands, text) => ({ body: text, length: text.length + 1_000 })),
  'faults-of-a-neighbour': forges((message) => json({
    ...message, faults: [1, 2, 3, 4, 5].map((id) => ({ id, reason: 'a forged fault', place: 'dca.ts:1:1' })),
  })),
  'questions-without-end': ({ ctx }) => {
    for (let n = 0; n < 20_000; n++) ctx.openIntents();
  },
  'channel-closed': () => {
    const { closeSync } = take('fs');
    for (let fd = 3; fd < 8 + HEAD_BYTES; fd++) quietly(() => { closeSync(fd); });
    return 'closed its descriptors';
  },
  'channel-flooded': () => {
    const { writeSync } = take('fs');
    for (let n = 0; n < 1_000; n++) writeSync(3, '\0'.repeat(65_536));
    return 'wrote to its channel';
  },
  'standard-error-flooded': () => { for (;;) process.stderr.write('x'.repeat(65_536)); },
  'signals-ignored': () => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
    for (let n = 0; n < 1;) n *= 2;
  },
};

export default hostile('hostile-channel', CHANNEL_ATTACKS);
