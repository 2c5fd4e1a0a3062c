import { createHash } from 'node:crypto';
import { map } from 'rxjs';
import { expect, it } from 'vitest';
import { DecisionLog } from '../../src/engine/decision-log.ts';
import { PURCHASE, buyingSol } from '../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../market/tokens.ts';
import { start, strategy } from './runs.ts';
import * as fc from 'fast-check';
import { canonicalJson } from '../../src/core/json.ts';
import type { Decision } from '../../src/trading/step.ts';

/** The chain as the interface describes it, computed independently: SHA-256 over the last hash and the text. */
function chain(texts: readonly string[]): string[] {
  let last: Buffer = Buffer.alloc(32);
  return texts.map((text) => {
    last = createHash('sha256').update(last).update(text, 'utf8').digest();
    return last.toString('hex');
  });
}

const decisionOf = (seq: number) => ({
  seq, at: 5, strategy: 'diver', proposal: { kind: 'alert', level: 'info', message: 'x' }, verdict: 'approved',
  code: null,
} as const);

it('the decision hash chains canonical texts from 32 zero bytes', () => {
  const buying = strategy('diver', ({ price }, context) => price!.pipe(map((_, n) => (n === 0
    ? context.alert('warning', 'Grüße', { probability: 0.5, amount: 9_007_199_254_740_993n })
    : context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, 'dip', { key: 'slot-7' })))));
  const run = start([buying]);
  for (const at of [10, 20, 30]) run.engine.accept(buyingSol(150_000, at), at);

  const swap = `{"amount":"25000000","inputMint":"${USDC.mint}","key":"slot-7","kind":"swap",`
    + `"outputMint":"${SOL.mint}","reason":"dip"}`;
  const expected = chain([
    '{"at":10,"code":null,"proposal":{"data":{"amount":"9007199254740993","probability":0.5},"kind":"alert",'
      + '"level":"warning","message":"Grüße"},"seq":2,"strategy":"diver","verdict":"approved"}',
    `{"at":20,"code":null,"proposal":${swap},"seq":4,"strategy":"diver","verdict":"approved"}`,
    `{"at":30,"code":"KEY_REPEATED","proposal":${swap},"seq":6,"strategy":"diver","verdict":"denied"}`,
  ]);
  expect(run.logged.map(({ h }) => h)).toEqual(expected);
  expect(run.engine.decisionHash).toBe(expected[2]);
});

it('the decision hash starts with zeros and changes with every member of a decision', () => {
  expect(new DecisionLog().hash).toBe('0'.repeat(64));
  const decision = {
    seq: 1, at: 5, strategy: 'diver', proposal: { kind: 'alert', level: 'info', message: 'x' }, verdict: 'approved',
    code: null,
  } as const;
  const hashOf = (change: object): string => new DecisionLog().append({ ...decision, ...change }).h;
  const changes = [
    {}, { seq: 2 }, { at: 6 }, { strategy: 'other' }, { proposal: { ...decision.proposal, message: 'y' } },
    { verdict: 'denied' }, { code: 'TRADING_HALTED' },
  ];
  expect(new Set(changes.map(hashOf)).size).toBe(changes.length);
  expect(hashOf({})).toBe(hashOf({}));
});

it('the decision hash depends on the order of decisions', () => {
  const [one, other] = [new DecisionLog(), new DecisionLog()];
  one.append(decisionOf(1));
  one.append(decisionOf(2));
  other.append(decisionOf(2));
  other.append(decisionOf(1));
  expect(one.hash).not.toBe(other.hash);
  expect([one.count, other.count]).toEqual([2, 2]);
});

const TEXT = fc.oneof(
  fc.string({ unit: 'binary' }), fc.string(), fc.constantFrom('', '"', '\\', '\u2028', '\ud800', 'é', '\u0000'),
);
const NUMBER =
  fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, -0, NaN, Infinity, -Infinity, 2 ** 53, 1e21, 5e-324));
/** A member that is present, undefined, or absent. */
const maybe = (value: fc.Arbitrary<unknown>) => fc.oneof(value, fc.constant(undefined));

const SWAP = fc.record({
  kind: fc.constant('swap'), inputMint: TEXT, outputMint: TEXT, reason: TEXT,
  amount: fc.oneof(fc.bigInt({ min: -1n, max: 2n ** 70n }), fc.constant('all'), fc.record({ fraction: NUMBER })),
  limit: maybe(fc.bigInt()), slippageBps: maybe(NUMBER), route: maybe(fc.constantFrom('order', 'build')),
  key: maybe(TEXT), tag: maybe(TEXT),
}, { requiredKeys: ['kind', 'inputMint', 'outputMint', 'reason', 'amount'] });
const ALERT = fc.record({
  kind: fc.constant('alert'), level: TEXT, message: TEXT,
  data: maybe(fc.dictionary(TEXT, fc.oneof(TEXT, NUMBER, fc.bigInt(), fc.boolean(), fc.constant(null)))),
}, { requiredKeys: ['kind', 'level', 'message'] });
/** Proposals with members of a strategy's own. */
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

it('the decision hash equals that of canonical JSON for every decision, and throws where canonical JSON does', () => {
  fc.assert(fc.property(DECISION, (decision) => {
    expect(outcomeOf(() => new DecisionLog().append(decision).h))
      .toBe(outcomeOf(() => chain([canonicalJson(decision)])[0]!));
  }), { numRuns: 2_000 });
});
