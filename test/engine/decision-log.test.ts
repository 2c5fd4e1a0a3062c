import { createHash } from 'node:crypto';
import { map } from 'rxjs';
import { expect, it } from 'vitest';
import { DecisionLog } from '../../src/engine/decision-log.ts';
import { buyingSol, PURCHASE } from '../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../market/tokens.ts';
import { start, strategy } from './runs.ts';

/** The chain as the interface describes it, reckoned apart from the code: SHA-256 over the last hash and the text. */
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

it('chains decisions over their canonical text, from 32 zero bytes', () => {
  const buying = strategy('diver', ({ price }, context) => price!.pipe(map((_, n) => (n === 0
    ? context.alert('warning', 'Grüße', { probability: 0.5, amount: 9_007_199_254_740_993n })
    : context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, 'dip', { key: 'slot-7' })))));
  const run = start([buying]);
  for (const at of [10, 20, 30]) run.engine.accept(buyingSol(150_000, at), at);

  const swap = `{"amount":"25000000","inputMint":"${USDC.mint}","key":"slot-7","kind":"swap","outputMint":"${SOL.mint}","reason":"dip"}`;
  const expected = chain([
    '{"at":10,"code":null,"proposal":{"data":{"amount":"9007199254740993","probability":0.5},"kind":"alert","level":"warning","message":"Grüße"},"seq":2,"strategy":"diver","verdict":"approved"}',
    `{"at":20,"code":null,"proposal":${swap},"seq":4,"strategy":"diver","verdict":"approved"}`,
    `{"at":30,"code":"KEY_REPEATED","proposal":${swap},"seq":6,"strategy":"diver","verdict":"denied"}`,
  ]);
  expect(run.logged.map(({ h }) => h)).toEqual(expected);
  expect(run.engine.decisionHash).toBe(expected[2]);
});

it('begins with zeros and changes with every part of a decision', () => {
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

it('depends on the order of decisions', () => {
  const [one, other] = [new DecisionLog(), new DecisionLog()];
  one.append(decisionOf(1));
  one.append(decisionOf(2));
  other.append(decisionOf(2));
  other.append(decisionOf(1));
  expect(one.hash).not.toBe(other.hash);
  expect([one.count, other.count]).toEqual([2, 2]);
});
