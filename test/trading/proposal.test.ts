import { describe, expect, it } from 'vitest';
import { readProposal } from '../../src/trading/proposal.ts';
import { buy } from './states.ts';

const alert = { kind: 'alert', level: 'info', message: 'notice' };

describe('a valid proposal', () => {
  it.each([
    ['a swap', buy()],
    ['a swap of all', buy({ amount: 'all' })],
    [
      'a swap of a fraction',
      buy({ amount: { fraction: 0.5 }, route: 'build', key: 'k', limit: 1n as never, slippageBps: 50 as never }),
    ],
    ['a swap with a tag', buy({ tag: 'level 3' })],
    ['an alert', alert],
    ['an alert with data', { ...alert, data: { market: 'M', probability: 0.5, seen: true, amount: 5n, none: null } }],
  ])('%s', (_what, value) => {
    expect(readProposal(value)).toEqual(value);
  });
});

describe('an invalid proposal', () => {
  it.each([
    ['nothing', undefined],
    ['null', null],
    ['text', 'buy'],
    ['another kind', { kind: 'order' }],
    ['no mint', { ...buy(), inputMint: undefined }],
    ['an amount as a double', { ...buy(), amount: 25_000_000 }],
    ['an amount as text', { ...buy(), amount: '25' }],
    ['a fraction that is no number', { ...buy(), amount: { fraction: Number.NaN } }],
    ['a limit as a double', { ...buy(), limit: 5 }],
    ['half a basis point', { ...buy(), slippageBps: 0.5 }],
    ['negative slippage', { ...buy(), slippageBps: -1 }],
    ['slippage that is no number', { ...buy(), slippageBps: Number.NaN }],
    ['an unknown route', { ...buy(), route: 'teleport' }],
    ['a key that is no text', { ...buy(), key: 7 }],
    ['a tag that is no text', { ...buy(), tag: 7 }],
    ['a tag that is too long', { ...buy(), tag: 'x'.repeat(201) }],
    ['no reason', { ...buy(), reason: undefined }],
    ['an alert without message', { kind: 'alert', level: 'info' }],
    ['data that is no number', { ...alert, data: { probability: Number.NaN } }],
    ['data that is an object', { ...alert, data: { book: { yes: [] } } }],
    ['data that is a function', { ...alert, data: { why: () => 'because' } }],
    ['data that is no record', { ...alert, data: 'x' }],
  ])('%s', (_what, value) => {
    expect(readProposal(value)).toMatch(/^expected /);
  });
});
