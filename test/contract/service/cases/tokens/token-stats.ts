import { expect } from 'vitest';
import type { Case, FieldCheck } from '../../case.ts';
import { fieldCases } from '../../case.ts';
import type { Answer } from '../../service-fixture.ts';
import type { TokenScene } from './token-record-scene.ts';
import { tokenScene, valueOf } from './token-record-scene.ts';

type Body = Answer['body'];

/** A figure of a whole day, which every token of some trade has. */
function figure(name: string, says: string, check: (stats: Body) => void): FieldCheck<TokenScene> {
  return [says, ({ tokens }) => {
    const traded = tokens.filter(({ wire }) => wire.stats24h !== undefined);
    expect(traded.length).toBeGreaterThan(5);
    for (const { wire, read } of traded) {
      expect(typeof wire.stats24h[name], wire.symbol).toBe('number');
      expect(valueOf(read, `24h.${name}`)).toBe(wire.stats24h[name]);
      check(wire.stats24h);
    }
  }];
}

const count = (name: string) => (stats: Body): void => {
  expect(Number.isSafeInteger(stats[name])).toBe(true);
  expect(stats[name]).toBeGreaterThanOrEqual(0);
};

const stats: Readonly<Record<string, FieldCheck<TokenScene>>> = {
  priceChange: figure('priceChange', 'percent, above -100', ({ priceChange }) =>
    expect(priceChange).toBeGreaterThan(-100)),
  holderChange: figure('holderChange', 'percent, above -100', ({ holderChange }) =>
    expect(holderChange).toBeGreaterThan(-100)),
  liquidityChange: figure('liquidityChange', 'percent, above -100', ({ liquidityChange }) =>
    expect(liquidityChange).toBeGreaterThan(-100)),
  volumeChange: figure('volumeChange', 'percent, from -100', ({ volumeChange }) =>
    expect(volumeChange).toBeGreaterThanOrEqual(-100)),
  buyVolume: figure('buyVolume', 'dollars', ({ buyVolume }) => expect(buyVolume).toBeGreaterThanOrEqual(0)),
  sellVolume: figure('sellVolume', 'dollars', ({ sellVolume }) => expect(sellVolume).toBeGreaterThanOrEqual(0)),
  buyOrganicVolume: figure('buyOrganicVolume', 'dollars, part of what was bought', ({ buyVolume, buyOrganicVolume }) =>
    expect(buyOrganicVolume).toBeLessThanOrEqual(buyVolume)),
  sellOrganicVolume: figure('sellOrganicVolume', 'dollars, part of what was sold', (
    { sellVolume, sellOrganicVolume },
  ) => expect(sellOrganicVolume).toBeLessThanOrEqual(sellVolume)),
  numBuys: figure('numBuys', 'a whole number', count('numBuys')),
  numSells: figure('numSells', 'a whole number', count('numSells')),
  numTraders: figure('numTraders', 'a whole number, no more than trades', (all) => {
    count('numTraders')(all);
    expect(all.numTraders).toBeLessThanOrEqual(all.numBuys + all.numSells);
  }),
  numOrganicBuyers: figure('numOrganicBuyers', 'a whole number', count('numOrganicBuyers')),
  numNetBuyers: figure('numNetBuyers', 'a whole number that may be below 0', ({ numNetBuyers }) =>
    expect(Number.isSafeInteger(numNetBuyers)).toBe(true)),
  'removed-likes': ['stand in no record, and nowhere in what our client has', ({ tokens }) => {
    for (const { wire, read } of tokens) {
      expect([wire.ctLikes, wire.smartCtLikes]).toEqual([undefined, undefined]);
      expect(Object.keys(read)).not.toEqual(expect.arrayContaining(['ctLikes']));
    }
  }],
};

export const tokenStatsCases: readonly Case[] = fieldCases({ prefix: 'stats', load: tokenScene }, stats);
