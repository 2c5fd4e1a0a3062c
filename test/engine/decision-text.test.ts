import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson } from '../../src/core/json.ts';
import { createDecisionText } from '../../src/engine/decision-log.ts';
import type { Decision } from '../../src/trading/step.ts';

const TEXT = fc.oneof(
  fc.string({ unit: 'binary' }), fc.string(), fc.constantFrom('', '"', '\\', '\u2028', '\ud800', 'é', '\u0000'),
);
const NUMBER =
  fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, -0, NaN, Infinity, -Infinity, 2 ** 53, 1e21, 5e-324));
/** A member that is there, there as undefined, or not there. */
const maybe = (value: fc.Arbitrary<unknown>) => fc.oneof(value, fc.constant(undefined));

const SWAP = fc.record({
  kind: fc.constant('swap'), inputMint: TEXT, outputMint: TEXT, reason: TEXT,
  amount: fc.oneof(fc.bigInt({ min: -1n, max: 2n ** 70n }), fc.constant('all'), fc.record({ fraction: NUMBER })),
  limit: maybe(fc.bigInt()), slippageBps: maybe(NUMBER), route: maybe(fc.constantFrom('order', 'build')),
  key: maybe(TEXT),
}, { requiredKeys: ['kind', 'inputMint', 'outputMint', 'reason', 'amount'] });
const ALERT = fc.record({
  kind: fc.constant('alert'), level: TEXT, message: TEXT,
  data: maybe(fc.dictionary(TEXT, fc.oneof(TEXT, NUMBER, fc.bigInt(), fc.boolean(), fc.constant(null)))),
}, { requiredKeys: ['kind', 'level', 'message'] });
/** What a strategy adds of its own is decided on like everything else. */
const STRANGE = fc.tuple(SWAP, fc.dictionary(TEXT, fc.oneof(TEXT, fc.bigInt(), NUMBER)), fc.boolean())
  .map(([swap, more, isFirst]) => (isFirst ? { ...more, ...swap } : { ...swap, ...more, kind: 'swap' }));
const INHERITED = SWAP.map((swap) => Object.assign(Object.create({ key: 'inherited' }) as object, swap));

const DECISION = fc.record({
  seq: NUMBER, at: NUMBER, strategy: TEXT, proposal: fc.oneof(SWAP, ALERT, STRANGE, INHERITED),
  verdict: fc.constantFrom('approved', 'denied'), code: fc.oneof(fc.constant(null), TEXT),
}).map((decision) => decision as unknown as Decision);

const outcomeOf = (write: () => string): string => {
  try {
    return write();
  } catch (error) {
    return (error as Error).constructor.name;
  }
};

const decisionText = createDecisionText();

it('is byte for byte the canonical JSON, whatever is decided on, and throws where that does', () => {
  fc.assert(fc.property(DECISION, (decision) => {
    expect(outcomeOf(() => decisionText(decision))).toBe(outcomeOf(() => canonicalJson(decision)));
  }), { numRuns: 2_000 });
});
