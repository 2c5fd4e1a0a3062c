import { expect } from 'vitest';
import type { Case, FieldCheck } from '../../case.ts';
import { fieldCases } from '../../case.ts';
import { ADDRESS } from '../../scenes.ts';
import type { Answer } from '../../service-fixture.ts';
import { SOL } from '../../service-fixture.ts';
import type { TokenScene } from './token-record-scene.ts';
import { tokenScene, valueOf } from './token-record-scene.ts';

type Body = Answer['body'];

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

/** A text that may be null: one or the other in every record, and as our client has it. */
function nullableText(name: 'icon' | 'twitter' | 'telegram' | 'website' | 'discord' | 'instagram' | 'tiktok'
  | 'otherUrl' | 'dev' | 'issuer' | 'launchpad' | 'partnerConfig' | 'graduatedPool',
  says = 'a text or null, for some of each where the sandbox knows one', known = false): FieldCheck<TokenScene> {
  return [says, ({ tokens }) => {
    for (const { wire, read } of tokens) {
      expect(wire[name] === null || typeof wire[name] === 'string', `${wire.symbol}: ${wire[name]}`).toBe(true);
      expect(read[name] ?? null).toBe(wire[name]);
    }
    if (known) expect(new Set(tokens.map(({ wire }) => wire[name] === null))).toEqual(new Set([true, false]));
  }];
}

/** A number that is there for every token. */
function number(
  name: string, says: string, check: (token: TokenScene['tokens'][number], scene: TokenScene) => void,
): FieldCheck<TokenScene> {
  return [says, (scene) => {
    for (const token of scene.tokens) {
      expect(typeof token.wire[name], `${token.wire.symbol}`).toBe('number');
      expect(valueOf(token.read, name)).toBe(token.wire[name]);
      check(token, scene);
    }
  }];
}

/** A window of statistics, whole or thin. */
function statsWindow(
  name: 'stats5m' | 'stats1h' | 'stats6h' | 'stats24h' | 'stats7d' | 'stats30d',
): FieldCheck<TokenScene> {
  return ['numbers, as our client has them under the window', ({ sol }) => {
    const window = name.slice('stats'.length);
    const { stats7d, stats30d } = sol.read;
    const long: Readonly<Record<string, object | undefined>> = { stats7d, stats30d };
    expect(Object.keys(sol.wire[name]).length).toBeGreaterThan(0);
    for (const figure of Object.values(sol.wire[name])) expect(typeof figure).toBe('number');
    if (name in long) expect(long[name]).toEqual(sol.wire[name]);
    else for (const [field, figure] of Object.entries(sol.wire[name]))
      expect(valueOf(sol.read, `${window}.${field}`), field).toBe(figure);
  }];
}

const records: Readonly<Record<string, FieldCheck<TokenScene>>> = {
  id: ['the mint', ({ tokens }) => {
    for (const { wire, read } of tokens) expect([wire.id, read.id]).toEqual([expect.stringMatching(ADDRESS), wire.id]);
  }],
  name: ['a text', ({ tokens, sol }) => {
    for (const { wire } of tokens) expect(wire.name).toMatch(/\w/);
    expect(sol.read.name).toBe(sol.wire.name);
  }],
  symbol: ['a text, not of one token alone', ({ tokens }) => {
    for (const { wire, read } of tokens) expect(read.symbol).toBe(wire.symbol);
    expect(tokens.filter(({ wire }) => wire.symbol === 'PEARL')).toHaveLength(2);
  }],
  icon: nullableText('icon', 'an address or null', true),
  decimals: ['the decimals of the mint on the chain', ({ tokens }) => {
    for (const { wire, read, onChain } of tokens)
      expect([wire.decimals, read.decimals]).toEqual([onChain.decimals, onChain.decimals]);
  }],
  tokenProgram: ['the program that owns the mint, the standard or the extended one', ({ tokens }) => {
    for (const { wire, read, onChain } of tokens)
      expect([wire.tokenProgram, read.tokenProgram]).toEqual([onChain.program, onChain.program]);
    expect(new Set(tokens.map(({ wire }) => wire.tokenProgram)).size).toBe(2);
  }],
  createdAt: ['date and time', ({ tokens }) => {
    for (const { wire, read } of tokens) {
      expect(wire.createdAt).toMatch(ISO);
      expect(read.createdAt).toBe(Date.parse(wire.createdAt));
    }
  }],
  twitter: nullableText('twitter'),
  telegram: nullableText('telegram'),
  website: nullableText('website', 'an address or null', true),
  discord: nullableText('discord'),
  instagram: nullableText('instagram'),
  tiktok: nullableText('tiktok'),
  otherUrl: nullableText('otherUrl'),
  dev: nullableText('dev', 'a wallet or null', true),
  mintAuthority: ['who can mint, on the chain too; missing or null where no one can', ({ tokens }) => {
    for (const { wire, read, onChain } of tokens) expect([wire.mintAuthority ?? null, read.mintAuthority ?? null])
      .toEqual([onChain.mintAuthority, onChain.mintAuthority]);
    expect(new Set(tokens.map(({ onChain }) => onChain.mintAuthority === null)).size).toBe(2);
  }],
  freezeAuthority: ['who can freeze, on the chain too; missing or null where no one can', ({ tokens }) => {
    for (const { wire, read, onChain } of tokens) expect([wire.freezeAuthority ?? null, read.freezeAuthority ?? null])
      .toEqual([onChain.freezeAuthority, onChain.freezeAuthority]);
    expect(new Set(tokens.map(({ onChain }) => onChain.freezeAuthority === null)).size).toBe(2);
  }],
  issuer: nullableText('issuer', 'a name or null', true),
  circSupply: number('circSupply', 'whole tokens, no more than there are', ({ wire }) =>
    expect(wire.circSupply).toBeLessThanOrEqual(wire.totalSupply)),
  totalSupply: number('totalSupply', 'whole tokens', ({ wire }) => expect(wire.totalSupply).toBeGreaterThan(0)),
  launchpad: nullableText('launchpad', 'a name or null', true),
  partnerConfig: nullableText('partnerConfig'),
  graduatedPool: nullableText('graduatedPool', 'a pool or null', true),
  graduatedAt: ['date and time where there is a pool it graduated to, else null', ({ tokens }) => {
    for (const { wire, read } of tokens) {
      expect(wire.graduatedAt === null).toBe(wire.graduatedPool === null);
      expect(read.graduatedAt).toBe(wire.graduatedAt === null ? undefined : Date.parse(wire.graduatedAt));
    }
  }],
  holderCount: number('holderCount', 'a whole number', ({ wire }) =>
    expect(Number.isSafeInteger(wire.holderCount)).toBe(true)),
  fdv: number('fdv', 'all tokens at the price', ({ wire }) =>
    expect(wire.fdv / (wire.usdPrice * wire.totalSupply)).toBeCloseTo(1, 6)),
  mcap: number('mcap', 'the circulating tokens at the price', ({ wire }) =>
    expect(wire.mcap / (wire.usdPrice * wire.circSupply)).toBeCloseTo(1, 6)),
  usdPrice: number('usdPrice', 'the market\'s price', ({ wire, usd }) => expect(wire.usdPrice / usd).toBeCloseTo(1, 9)),
  priceBlockId: number('priceBlockId', 'a block of late', ({ wire }, { slot }) =>
    expect(Math.abs(slot - wire.priceBlockId)).toBeLessThan(10)),
  liquidity: number('liquidity', 'dollars, above 0', ({ wire }) => expect(wire.liquidity).toBeGreaterThan(0)),
  fees: number('fees', 'dollars, not below 0', ({ wire }) => expect(wire.fees).toBeGreaterThanOrEqual(0)),
  'apy.platformEarn': ['a number for what can be lent, and no apy for the rest', ({ tokens }) => {
    const lent = tokens.filter(({ wire }) => wire.apy !== undefined);
    expect(lent.length).toBeGreaterThan(0);
    expect(lent.length).toBeLessThan(tokens.length);
    for (const { wire, read } of tokens) expect(read.platformEarn).toBe(wire.apy?.platformEarn);
    for (const { wire } of lent) expect(wire.apy).toEqual({ platformEarn: expect.any(Number) });
  }],
  stats5m: statsWindow('stats5m'),
  stats1h: statsWindow('stats1h'),
  stats6h: statsWindow('stats6h'),
  stats24h: statsWindow('stats24h'),
  stats7d: statsWindow('stats7d'),
  stats30d: statsWindow('stats30d'),
  'long-windows-are-thin': ['priceChange stands in both, and nothing beside it but volumes', ({ tokens }) => {
    for (const { wire } of tokens) {
      for (const window of ['stats7d', 'stats30d']) {
        expect(wire[window]).toHaveProperty('priceChange');
        for (const field of Object.keys(wire[window])) expect(field).toMatch(/^priceChange$|[vV]olume/);
      }
    }
  }],
  'firstPool.id': ['the pool that was first', ({ tokens }) => {
    for (const { wire, read } of tokens) {
      expect(wire.firstPool.id).toMatch(ADDRESS);
      expect(read.firstPool?.id).toBe(wire.firstPool.id);
    }
  }],
  'firstPool.createdAt': ['date and time', ({ tokens }) => {
    for (const { wire, read } of tokens) {
      expect(wire.firstPool.createdAt).toMatch(ISO);
      expect(read.firstPool?.createdAt).toBe(Date.parse(wire.firstPool.createdAt));
    }
  }],
  'audit-is-conditional': ['some records lack members that others have, and our client lives with none',
    ({ tokens }) => {
      const shapes = new Set(tokens.map(({ wire }) => Object.keys(wire.audit).toSorted().join()));
      expect(shapes.size).toBeGreaterThan(1);
      for (const { wire, read } of tokens) expect(read.audit).toMatchObject(wire.audit);
    }],
  'audit.isSus': ['true for a suspicious token, and missing for others', ({ tokens }) => {
    expect(new Set(tokens.map(({ wire }) => wire.audit.isSus))).toEqual(new Set([true, undefined]));
    for (const { wire, read } of tokens) expect(read.audit.isSus).toBe(wire.audit.isSus);
  }],
  'audit.mintAuthorityDisabled': ['true where the chain has no mint authority', ({ tokens }) => {
    for (const { wire, read, onChain } of tokens) {
      expect(wire.audit.mintAuthorityDisabled === true).toBe(onChain.mintAuthority === null);
      expect(read.audit.mintAuthorityDisabled).toBe(wire.audit.mintAuthorityDisabled);
    }
  }],
  'audit.freezeAuthorityDisabled': ['true where the chain has no freeze authority', ({ tokens }) => {
    for (const { wire, read, onChain } of tokens) {
      expect(wire.audit.freezeAuthorityDisabled === true).toBe(onChain.freezeAuthority === null);
      expect(read.audit.freezeAuthorityDisabled).toBe(wire.audit.freezeAuthorityDisabled);
    }
  }],
  'audit.topHoldersPercentage': ['percent, 0 to 100', ({ tokens }) => {
    for (const { wire, read } of tokens) {
      expect(wire.audit.topHoldersPercentage).toBeGreaterThanOrEqual(0);
      expect(wire.audit.topHoldersPercentage).toBeLessThanOrEqual(100);
      expect(read.audit.topHoldersPercentage).toBe(wire.audit.topHoldersPercentage);
    }
  }],
  'audit.devBalancePercentage': ['percent, 0 to 100, where there is a developer', ({ tokens }) => {
    const known = tokens.filter(({ wire }) => wire.audit.devBalancePercentage !== undefined);
    expect(known.length).toBeGreaterThan(0);
    for (const { wire, read } of known) {
      expect(wire.audit.devBalancePercentage).toBeGreaterThanOrEqual(0);
      expect(wire.audit.devBalancePercentage).toBeLessThanOrEqual(100);
      expect(read.audit.devBalancePercentage).toBe(wire.audit.devBalancePercentage);
    }
  }],
  'audit.devMints': ['how many tokens the developer made', ({ tokens }) => {
    const known = tokens.filter(({ wire }) => wire.audit.devMints !== undefined);
    expect(known.length).toBeGreaterThan(0);
    for (const { wire, read } of known)
      expect([Number.isSafeInteger(wire.audit.devMints), read.audit.devMints]).toEqual([true, wire.audit.devMints]);
  }],
  organicScore: number('organicScore', '0 to 100', ({ wire }) => {
    expect(wire.organicScore).toBeGreaterThanOrEqual(0);
    expect(wire.organicScore).toBeLessThanOrEqual(100);
  }),
  organicScoreLabel: ['high, medium or low, in the order of the scores', ({ tokens }) => {
    const ranked = tokens.toSorted((a, b) => b.wire.organicScore - a.wire.organicScore)
      .map(({ wire }) => wire.organicScoreLabel);
    expect(ranked)
      .toEqual(ranked.toSorted((a, b) => ['high', 'medium', 'low'].indexOf(a) - ['high', 'medium', 'low'].indexOf(b)));
    for (const { wire, read } of tokens) {
      expect(['high', 'medium', 'low']).toContain(wire.organicScoreLabel);
      expect(read.organicScoreLabel).toBe(wire.organicScoreLabel);
    }
  }],
  isVerified: ['true, or false, null or missing', ({ tokens }) => {
    const flags = tokens.map(({ wire }) => wire.isVerified ?? false);
    expect(new Set(flags)).toEqual(new Set([true, false]));
    for (const [place, { read }] of tokens.entries()) expect(read.isVerified ?? false).toBe(flags[place]);
  }],
  tags: ['a list of texts, or null', ({ tokens, sol }) => {
    for (const { wire, read } of tokens) expect(read.tags).toEqual(wire.tags ?? []);
    expect(sol.wire.tags).toContain('verified');
  }],
  updatedAt: ['date and time', ({ tokens }) => {
    for (const { wire, read } of tokens) {
      expect(wire.updatedAt).toMatch(ISO);
      expect(read.updatedAt).toBe(Date.parse(wire.updatedAt));
    }
  }],
};

/** The cases of every statement about a token's record. */
export const tokenRecordCases: readonly Case[] = [
  ...fieldCases({ prefix: 'token', load: tokenScene }, records),
  {
    covers: ['state.organic-score-labels', 'limit.organicScore'],
    says: 'organic scores are 0 to 100, and the sandbox has a token of each label',
    async play(fixture) {
      const { body } = await fixture.get('/ultra/v1/search', {
        query: fixture.sandbox.addresses.tokens.map(({ mint }) => mint).join(','),
      });
      expect(new Set(body.map(({ organicScoreLabel }: Body) => organicScoreLabel)))
        .toEqual(new Set(['high', 'medium', 'low']));
      for (const { organicScore } of body) expect(organicScore >= 0 && organicScore <= 100).toBe(true);
    },
  },
  {
    covers: ['version.removed-likes'],
    says: 'a record that still carries the removed likes is read without them',
    async play(fixture) {
      const { body } = await fixture.get('/ultra/v1/search', { query: SOL });
      const stale = JSON.stringify(fixture.dialect.toWire.json([{ ...body[0], ctLikes: 7, smartCtLikes: 3 }]));
      await fixture.fault({ match: { path: '/ultra/v1/search' }, fault: { kind: 'malformed', body: stale }, times: 1 });
      const { records: [record] } = await fixture.service.tokens.search([SOL]);
      expect(record?.id).toBe(SOL);
      expect(JSON.stringify(record)).not.toMatch(/ctLikes/i);
    },
  },
];
