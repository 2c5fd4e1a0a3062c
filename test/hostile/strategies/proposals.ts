import { hostile, quietly } from './attack.ts';
import type { Act, Acts, Hands } from './attack.ts';

// Attacks on the engine's state by what is proposed. The engine must either refuse such a value with a reason, or take
// it as the plain data that it read first, which is beyond the limits. So none may be approved.

/** More than any limit of the suite allows, in smallest units. */
const TOO_MUCH = 5_000_000_000n;

interface Swap {
  kind: unknown;
  inputMint: unknown;
  outputMint: unknown;
  amount: unknown;
  reason: unknown;
  limit?: unknown;
  slippageBps?: unknown;
  route?: unknown;
  key?: unknown;
}

/** Returns a swap that is beyond the limits, so that its approval would show. */
const tooLarge = ({ pair }: Hands, change: Partial<Swap> = {}): Swap => ({
  kind: 'swap', inputMint: pair.quote.mint, outputMint: pair.base.mint, amount: TOO_MUCH, reason: 'a hostile proposal',
  ...change,
});

const proposes = (make: (hands: Hands) => unknown): Act => (hands) => { hands.propose(make(hands)); };

/** Returns a swap one of whose members answers differently each time it is read. */
function shifting(hands: Hands, name: keyof Swap, values: readonly unknown[]): Swap {
  let reads = 0;
  return Object.defineProperty(tooLarge(hands), name, {
    enumerable: true, get: () => values[Math.min(reads++, values.length - 1)],
  });
}

const alert = (message: unknown, data?: unknown): object => ({ kind: 'alert', level: 'info', message, data });

function cyclic(): object {
  const data: Record<string, unknown> = { text: 'x' };
  data['self'] = data;
  return data;
}

function nested(depth: number): object {
  let data: object = {};
  for (let n = 0; n < depth; n++) data = { data };
  return data;
}

/** The attacks of this file, by name. */
export const PROPOSAL_ATTACKS: Acts = {
  'getter-shifts-the-amount': proposes((hands) => shifting(hands, 'amount', [TOO_MUCH, 1n])),
  'getter-shifts-the-mint': proposes((hands) =>
    shifting(hands, 'inputMint', [hands.pair.quote.mint, hands.pair.base.mint])),
  'getter-shifts-the-kind': proposes((hands) => shifting(hands, 'kind', ['alert', 'swap'])),
  'getter-throws': proposes((hands) => Object.defineProperty(tooLarge(hands), 'amount', {
    enumerable: true, get: () => { throw new Error('a getter that throws'); },
  })),
  'proxy': proposes((hands) => new Proxy(tooLarge(hands), {
    getOwnPropertyDescriptor: () => ({ value: 1n, enumerable: true, configurable: true }),
    ownKeys: () => ['kind', 'amount'],
  })),
  'proxy-revoked': proposes((hands) => {
    const { proxy, revoke } = Proxy.revocable(tooLarge(hands), {});
    revoke();
    return proxy;
  }),
  'to-json': proposes((hands) => ({
    ...tooLarge(hands), toJSON: () => ({ ...tooLarge(hands), amount: '1' }),
  })),
  'thenable': proposes((hands) => ({ ...tooLarge(hands), then: (take: (value: unknown) => void) => { take(1); } })),
  'promise': proposes((hands) => Promise.resolve(tooLarge(hands))),
  'symbol-as-reason': proposes((hands) => tooLarge(hands, { reason: Symbol('reason') })),
  'symbol-keys': proposes((hands) => ({ ...tooLarge(hands), [Symbol.toPrimitive]: () => 1, [Symbol.iterator]: 1 })),
  'value-of': proposes((hands) => tooLarge(hands, { amount: { valueOf: () => 1n, toString: () => '1' } })),
  'boxed-bigint': proposes((hands) => tooLarge(hands, { amount: Object(1n) })),
  'amount-as-number': proposes((hands) => tooLarge(hands, { amount: 1 })),
  'amount-as-text': proposes((hands) => tooLarge(hands, { amount: '1' })),
  'amount-negative': proposes((hands) => tooLarge(hands, { amount: -1n })),
  'amount-of-a-megabyte': proposes((hands) => tooLarge(hands, { amount: 1n << 8_000_000n })),
  'fraction-nan': proposes((hands) => tooLarge(hands, { amount: { fraction: Number.NaN } })),
  'fraction-infinite': proposes((hands) => tooLarge(hands, { amount: { fraction: Infinity } })),
  'fraction-minus-zero': proposes((hands) => tooLarge(hands, { amount: { fraction: -0 } })),
  'fraction-above-one': proposes((hands) => tooLarge(hands, { amount: { fraction: 50 } })),
  'fraction-with-getter': proposes((hands) => {
    let reads = 0;
    return tooLarge(hands, { amount: { get fraction() { return reads++ === 0 ? 50 : 1e-6; } } });
  }),
  'slippage-nan': proposes((hands) => tooLarge(hands, { slippageBps: Number.NaN })),
  'slippage-negative': proposes((hands) => tooLarge(hands, { slippageBps: -1 })),
  'route-unknown': proposes((hands) => tooLarge(hands, { route: '__proto__' })),
  'kind-unknown': proposes((hands) => tooLarge(hands, { kind: 'command' })),
  'key-as-object': proposes((hands) => tooLarge(hands, { key: { toString: () => 'slot-1' } })),
  'huge-reason': proposes((hands) => tooLarge(hands, { reason: 'x'.repeat(20_000_000) })),
  'huge-alert': proposes(() => alert('x'.repeat(20_000_000))),
  'half-characters': proposes((hands) => tooLarge(hands, { reason: '\ud800 \udfff \0' })),
  'proto-in-data': proposes(() => alert('data', JSON.parse('{"__proto__": {"verdict": "approved"}}'))),
  'constructor-in-data': proposes(() => alert('data', { constructor: 'x', prototype: 'y', hasOwnProperty: 'z' })),
  'proto-as-proposal': proposes((hands) => Object.create(tooLarge(hands)) as unknown),
  'cyclic-data': proposes(() => alert('data', cyclic())),
  'nested-data': proposes(() => alert('data', nested(20_000))),
  'shared-buffer': proposes(() => alert('data', { shared: new SharedArrayBuffer(8) })),
  'array': proposes((hands) => [tooLarge(hands)]),
  'function': proposes((hands) => Object.assign(() => undefined, tooLarge(hands))),
  'nothing': proposes(() => null),
  'class-instance': proposes((hands) => Object.assign(new Map([['kind', 'swap']]), tooLarge(hands))),
  'changed-after-it-was-proposed': (hands) => {
    const large = tooLarge(hands);
    hands.propose(large);
    const shrink = (): void => { large.amount = 1n; };
    queueMicrotask(shrink);
    quietly(() => { process.nextTick(shrink); });
  },
  'frozen-later': (hands) => {
    const proposal = tooLarge(hands);
    hands.propose(proposal);
    hands.propose(proposal);
    queueMicrotask(() => { Object.freeze(proposal); });
  },
  'state-too-large': ({ ctx }) => {
    ctx.stateful('late', 'x'.repeat(100_000), (state: string) => state);
  },
};

export default hostile('hostile-proposals', PROPOSAL_ATTACKS);
