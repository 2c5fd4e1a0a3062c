import { expect, it } from 'vitest';
import type { Amount, Lamports } from '../../src/core/amount.ts';
import { stringifyJson } from '../../src/core/json.ts';
import type { Outcome } from '../../src/trading/intent.ts';
import { readOutcome } from '../../src/trading/intent.ts';
import { approve, buy, fillOf, outcome, stateWith } from './states.ts';

const intent = approve(stateWith(), buy());

it.each<Outcome>([
  outcome(intent, 'building'),
  outcome(intent, 'signed', {
    router: 'iris', quotedOut: 18_446_744_073_709_551_615n as Amount, signature: 's',
    lastValidBlockHeight: 9_007_199_254_740_993n, feePayer: 'f',
  }),
  outcome(intent, 'failed', { code: '6001', reason: 'slippage', feeLamports: 5_000n as Lamports }),
  outcome(intent, 'confirmed', { fill: fillOf(intent, 0n) }),
  outcome(intent, 'confirmed', { fill: fillOf(intent, 9_007_199_254_740_993n) }),
])('an outcome is what it was after being written and read: %#', (original) => {
  expect(readOutcome(stringifyJson(original))).toEqual(original);
});
