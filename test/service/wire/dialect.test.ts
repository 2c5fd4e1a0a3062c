import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { UNKNOWN_MARK, dialectNames, loadDialect } from '../../../src/service/wire/dialect.ts';
import { clientOf, json, listen } from '../loopback.ts';
import { ASKED, orderAnswer } from '../answers.ts';
import { dialectOf } from '../dialect-text.ts';

const coast = dialectOf([
  'dialect: coast', 'routers: { iris: [tern, petrel], rfqz: skua, routerA: auk }', 'providers: { provider_a: heron }',
  'query: { excludeRouters: without }', 'fields: { priceImpact: impact, platformEarn: coastEarn }',
  'paths: { /ultra/v1/search: /find/tokens, /tokens/v2: /shells }', '',
].join('\n'));
const neutral = loadDialect('neutral');

describe('a dialect', () => {
  test('names parameters, routers and members as its host does, and gives them back in neutral words', async () => {
    const { priceImpact: impact, ...rest } = orderAnswer({ router: 'petrel', swapType: 'tern' });
    const server = await listen(json({ ...rest, impact }));
    const order = await clientOf(server, { dialect: coast }).swap.order({ ...ASKED, excludeRouters: ['iris', 'rfqz'] });
    expect(server.received[0]!.query.get('without')).toBe('tern,skua');
    expect(order).toMatchObject({ router: 'iris', priceImpact: -0.001 });
  });

  test('asks where its host listens', async () => {
    const server = await listen(json([]));
    await clientOf(server, { dialect: coast }).tokens.search(['SOL']);
    expect(server.received[0]!.path).toBe('/find/tokens');
    expect(coast.toWire.path('/tokens/v2/tag')).toBe('/shells/tag');
    expect(coast.toWire.path('/tokens/v22/tag')).toBe('/tokens/v22/tag');
    expect(coast.fromWire.path('/shells/tag')).toBe('/tokens/v2/tag');
  });

  test('passes words it does not know', () => {
    expect(coast.fromWire.router('gull')).toBe('gull');
    expect(coast.toWire.queryValue('provider', 'provider_b')).toBe('provider_b');
    expect(coast.toWire.queryName('amount')).toBe('amount');
    expect(coast.toWire.path('/swap/v2/order')).toBe('/swap/v2/order');
  });

  test('renames members at any depth, and routers and providers where they stand, in both directions', () => {
    const neutralWords = {
      list: [{ platformEarn: 1, other: null, router: 'rfqz' }], text: 'platformEarn', provider: 'provider_a',
      label: 'iris',
    };
    const wire = coast.toWire.json(neutralWords);
    expect(wire).toEqual({
      list: [{ coastEarn: 1, other: null, router: 'skua' }], text: 'platformEarn', provider: 'heron', label: 'iris',
    });
    expect(coast.fromWire.json(wire)).toEqual(neutralWords);
  });

  test('is read by its host alone: neutral words that the host does not use mean nothing to it', () => {
    const { heard } = coast;
    expect(heard.queryValue('excludeRouters', 'tern,petrel, skua')).toBe('iris,iris,rfqz');
    expect(heard.queryValue('excludeRouters', 'iris,gull')).toBe(`${UNKNOWN_MARK}iris,gull`);
    expect([heard.queryName('without'), heard.queryName('excludeRouters'), heard.queryName('amount')])
      .toEqual(['excludeRouters', `${UNKNOWN_MARK}excludeRouters`, 'amount']);
    expect(heard.json({ impact: 1, priceImpact: 2, router: 'rfqz', provider: 'heron' }))
      .toEqual({
        priceImpact: 1, [`${UNKNOWN_MARK}priceImpact`]: 2, router: `${UNKNOWN_MARK}rfqz`, provider: 'provider_a',
      });
    expect(heard.path('/find/tokens')).toBe('/ultra/v1/search');
    expect(heard.path('/tokens/v2/tag').startsWith('/tokens')).toBe(false);
    expect(neutral.heard.json({ router: 'iris', platformEarn: 1 })).toEqual({ router: 'iris', platformEarn: 1 });
    expect(neutral.heard.path('/tokens/v2/tag')).toBe('/tokens/v2/tag');
  });

  test('takes its host’s own word where a member beside it has the neutral name', () => {
    for (const answer of [{ coastEarn: 5, platformEarn: 99 }, { platformEarn: 99, coastEarn: 5 }])
      expect(coast.fromWire.json(answer)).toEqual({ platformEarn: 5 });
  });

  test('leaves words alone that are keys of a map or names of something else', () => {
    const answer = {
      addressesByLookupTableAddress: { tern: ['skua'] }, routePlan: [{ swapInfo: { label: 'tern' } }], symbol: 'heron',
      taker: 'petrel', routers: ['tern'],
    };
    expect(coast.fromWire.json(answer)).toEqual(answer);
  });

  test('called neutral changes nothing', () => {
    const answer = { priceImpact: 1, platformEarn: 2, router: 'iris' };
    expect(neutral.fromWire.json(answer)).toBe(answer);
    expect(neutral.routers).toEqual(['iris', 'rfqz', 'routerA', 'routerB']);
    expect(neutral.providers).toEqual(['provider_a', 'provider_b']);
    for (const router of neutral.routers) expect(neutral.toWire.router(router)).toBe(router);
  });

  test.each(
    dialectNames(),
  )('%s knows every router and provider of the reference, and what it says can be read back', (name) => {
    const { toWire, fromWire, routers, providers } = loadDialect(name);
    expect(routers).toEqual(neutral.routers);
    expect(providers).toEqual(neutral.providers);
    const words = fc.constantFrom(
      'router', 'provider', 'platformEarn', 'bundleTipLamports', 'amount', 'iris', 'rfqz', 'routerA', 'provider_a',
    );
    const { value } = fc.letrec<{ value: Json; object: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 }, words, fc.integer(), fc.constant(null), fc.array(tie('value'), { maxLength: 3 }),
        tie('object'),
      ),
      object: fc.dictionary(words, tie('value'), { maxKeys: 4 }),
    }));
    fc.assert(fc.property(value, (document) => {
      expect(fromWire.json(toWire.json(document))).toEqual(document);
    }));
  });

  test.each([
    ['an unknown key', 'dialect: x\nrouter: { a: b }\n', 'x.yaml:1:1', 'did you mean "routers"'],
    ['a value of the wrong kind', 'dialect: x\nquery:\n  a: 5\n', 'x.yaml:3:6', 'query.a'],
    [
      'one word for two', 'dialect: x\nrouters: { iris: [tern, gull], rfqz: gull }\n', 'x.yaml:2:38',
      '"gull" already stands for iris',
    ],
    ['a path that is none', 'dialect: x\npaths: { /a: b }\n', 'x.yaml:2:14', 'expected a path'],
    ['broken YAML', 'dialect: x\nrouters: {\n', 'x.yaml:', ''],
    ['no name', 'routers: {}\n', 'x.yaml:1:1', 'dialect'],
  ])('with %s is refused with its place', (_name, text, place, words) => {
    expect(() => dialectOf(text, 'x'))
      .toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(words) as string }));
    expect(() => dialectOf(text, 'x')).toThrow(place);
  });

  test.each([
    ['nowhere', 'CONFIG_NOT_FOUND'], ['../../package', 'CONFIG_INVALID'], ['', 'CONFIG_INVALID'],
  ])('named "%s" is %s', (name, code) => {
    expect(() => loadDialect(name)).toThrow(expect.objectContaining({ code }));
  });
});
