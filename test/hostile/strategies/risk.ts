import { hostile } from './attack.ts';
import type { Act, Acts, Hands } from './attack.ts';

// Attacks on risk by ordinary proposals that it must refuse, each with its code.

const UNKNOWN = 'Hosti1eMint1111111111111111111111111111111';
const TOO_MUCH = 5_000_000_000n;

interface Change {
  readonly inputMint?: string;
  readonly outputMint?: string;
  readonly amount?: unknown;
  readonly slippageBps?: number;
  readonly limit?: bigint;
  readonly key?: string;
}

const swap = ({ pair, name }: Hands, change: Change): object => ({
  kind: 'swap', inputMint: pair.quote.mint, outputMint: pair.base.mint, amount: TOO_MUCH, reason: name, ...change,
});

const proposes = (change: Change | ((hands: Hands) => Change), times = 1): Act => (hands) => {
  for (let n = 0; n < times; n++) hands.propose(swap(hands, typeof change === 'function' ? change(hands) : change));
};

/** The attacks of this file, by name. */
export const RISK_ATTACKS: Acts = {
  'oversize': proposes({}),
  'oversize-as-all-of-another-token': proposes(({ pair }) => (
    { inputMint: pair.base.mint, outputMint: pair.quote.mint, amount: 'all' })),
  'neighbours-holding': proposes(({ pair }) => (
    { inputMint: pair.base.mint, outputMint: pair.quote.mint, amount: 1_000_000n })),
  'unknown-mint': proposes({ outputMint: UNKNOWN }),
  'unknown-mint-spent': proposes({ inputMint: UNKNOWN }),
  'mint-of-another-form': proposes({ outputMint: '../../journal.sqlite' }),
  'prototype-as-mint': proposes({ outputMint: '__proto__' }),
  'same-mint': proposes(({ pair }) => ({ outputMint: pair.quote.mint })),
  'slippage-of-everything': proposes({ slippageBps: 10_000, amount: 1_000_000n }),
  'largest-amount': proposes({ amount: (1n << 127n) - 1n }),
  'beyond-the-largest-token-amount': proposes({ amount: 1n << 64n }),
  'key-of-a-neighbour': proposes({ key: 'slot-1' }),
  'spam': proposes({}, 300),
};

export default hostile('hostile-risk', RISK_ATTACKS);
