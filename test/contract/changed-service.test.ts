import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import type { Json } from '../../src/core/json.ts';
import { startOptionsFixture, type OptionsFixture } from '../daemon/run/swap-options-fixture.ts';
import { changedMember, startChangingProxy, type Change, type ChangingProxy } from './changing-proxy.ts';

// The real executor, and a signer with all its rules, in front of a service that differs in one thing from ours.

let proxy: ChangingProxy;
let fixture: OptionsFixture;
beforeAll(async () => {
  fixture = await startOptionsFixture({
    serviceThrough: async (baseUrl) => {
      proxy = await startChangingProxy(baseUrl);
      return proxy.baseUrl;
    },
  });
});
afterAll(async () => {
  await fixture.close();
  proxy.close();
});
beforeEach(() => { proxy.change = {}; });

/** Twenty members that decide nothing, each in a form that cannot be read, or that the reference does not have. */
const MEMBERS: readonly (readonly [name: string, value: Json])[] = [
  ['percent', 66.67], ['bps', 'most'], ['usdValue', 'NaN'], ['label', { odd: 1 }], ['ammKey', 7], ['rentFeePayer', 7],
  ['routePlan', 'none'], ['swapMode', 7], ['platformFee', 'none'], ['contextSlot', -1], ['slippageBps', 'a few'],
  ['feeMint', 'none'], ['signatureFeeLamports', 'free'], ['prioritizationFeeLamports', -1], ['rentFeeLamports', 1.5],
  ['gasless', 'no'], ['totalTime', 'NaN'], ['swapUsdValue', {}], ['mode', []], ['swapEvents', 'none'],
];
const ROUTES = ['order', 'build'] as const;

async function landed(route: (typeof ROUTES)[number], change: Change, amountIn = 20_000_000n): Promise<unknown> {
  proxy.change = change;
  const { last: { state, code, reason } } =
    await fixture.swap({ swap: `  route: ${route}` }, { amountIn: amountIn as Amount });
  return state === 'confirmed' ? state : { state, code, reason };
}

test.each(ROUTES)('by /%s every swap lands where one optional member of the answers is odd', async (route) => {
  const ends = [];
  for (const [name, value] of MEMBERS)
    ends.push([name, await landed(route, changedMember(name, value))]);
  expect(ends).toEqual(MEMBERS.map(([name]) => [name, 'confirmed']));
});

/** The threshold rounded up, as the public router computes it: quoted - floor(quoted × bps / 10,000). */
const ROUNDED_UP: Change = {
  answer: (path, answer) => {
    if (path !== '/swap/v2/build') return;
    const quoted = BigInt(answer['outAmount'] as string);
    answer['otherAmountThreshold'] = String(quoted - quoted * BigInt(answer['slippageBps'] as number) / 10_000n);
  },
};

/** A tip in each order of a wallet, which the wallet did not ask for. */
const TIPPED: Change = {
  query: (path, query) => {
    if (path === '/swap/v2/order' && query.has('taker')) query.set('bundleTipLamports', '100000');
  },
};

test.each(ROUTES.flatMap((route) => [
  [route, 'the threshold is rounded up', ROUNDED_UP], [route, 'the service adds a tip', TIPPED],
] as const))('by /%s 20 swaps of 20 land where %s', async (route, _name, change) => {
  const ends = [];
  for (let swap = 0n; swap < 20n; swap++) ends.push(await landed(route, change, 20_000_000n + swap * 7_919n));
  expect(ends).toEqual(Array<string>(20).fill('confirmed'));
});
