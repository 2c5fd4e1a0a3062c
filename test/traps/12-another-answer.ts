import { expect } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { amount } from '../../src/core/amount.ts';
import type { Json } from '../../src/core/json.ts';
import { isHealth, watch } from './feeds.ts';
import type { Play, Trap } from './trap.ts';
import type { Trader } from './trader.ts';
import { newTrader } from './trader.ts';
import type { TrapWorld } from './world.ts';
import { A_LIFE_AND_MORE, BUILD, ORDER, SOL, USDC } from './world.ts';

type Change = (world: TrapWorld, trader: Trader) =>
  { readonly set?: Readonly<Record<string, Json>>; readonly remove?: readonly string[] };

const refused = (what: string, code: RegExp, change: Change, profiles?: Play['profiles']): Play => ({
  says: `an order ${what} is refused before anything is signed`,
  ...(profiles === undefined ? {} : { profiles }),
  async play(world) {
    const trader = await newTrader(world);
    await world.fault({ path: ORDER, fault: { kind: 'patch', ...change(world, trader) } });
    await trader.refused(code);
  },
});

export const anotherAnswer: Trap = {
  number: 12,
  title:
    'the answer is to another question: other mints, another amount, another taker, another payer, another request',
  plays: [
    refused('for another input', /^SERVICE_MALFORMED$/, (world) => ({ set: { '/inputMint': world.mint('ANCHR') } })),
    refused('for another output', /^SERVICE_MALFORMED$/, (world) => ({ set: { '/outputMint': world.mint('PEARL') } })),
    refused(
      'for another amount', /^SERVICE_MALFORMED$/, () => ({ set: { '/inAmount': '20000001' } }), ['reference', 'live'],
    ),
    refused('for another taker', /^SERVICE_MALFORMED$/, (world) =>
      ({ set: { '/taker': world.sandbox.addresses.wallet.address } })),
    refused('without a request id', /^ORDER_INCOMPLETE$/, () => ({ remove: ['/requestId'] })),
    refused('without the height at which it dies', /^ORDER_INCOMPLETE$/, () => ({ remove: ['/lastValidBlockHeight'] })),
    refused('with a height that is not its blockhash’s', /^SIGN_REFUSED$/, () =>
      ({ set: { '/lastValidBlockHeight': '450000000' } })),
    refused('that promises less than the slippage allows', /^SLIPPAGE_EXCEEDS_MAX$/, () =>
      ({ set: { '/otherAmountThreshold': '1' } })),
    refused('that promises at least more than it expects', /^SERVICE_MALFORMED$/, () =>
      ({ set: { '/otherAmountThreshold': '999999999999' } })),
    refused('that takes more than max_fee_bps', /^FEE_EXCEEDS_MAX$/, () => ({ set: { '/feeBps': 31 } })),
    {
      says: 'bytes that are for another wallet, or no transaction at all, are not signed',
      async play(world) {
        const [trader, other] = [await newTrader(world), await newTrader(world)];
        const theirs =
          await world.get(ORDER, { inputMint: USDC, outputMint: SOL, amount: '20000000', taker: other.address });
        await world.fault({
          path: ORDER, fault: { kind: 'patch', set: { '/transaction': theirs.body.transaction } }, times: 1,
        });
        await trader.refused(/^SIGN_REFUSED$/);
        await world.fault({
          path: ORDER,
          fault: { kind: 'patch', set: { '/transaction': Buffer.from('no transaction').toString('base64') } }, times: 1,
        });
        await trader.refused(/^CHAIN_TRANSACTION_INVALID$/);
      },
    },
    {
      says: 'bytes of another order of ours, ten times as large, move nothing: they never land under this request',
      async play(world) {
        const trader = await newTrader(world);
        const large = await world.get(ORDER, {
          inputMint: USDC, outputMint: SOL, amount: '200000000', taker: trader.address, slippageBps: 50,
          excludeRouters: 'rfqz',
        });
        await world.fault({ path: ORDER, fault: {
          kind: 'patch',
          set: { '/transaction': large.body.transaction, '/lastValidBlockHeight': large.body.lastValidBlockHeight },
        }, times: 1 });
        const { last } = await trader.carryOut(trader.intent(), {
          onOutcome: ({ state }) => { if (state === 'submitted') void world.passSlots(A_LIFE_AND_MORE); },
        });
        expect(['abandoned', 'expired']).toContain(last.state);
        expect(world.held(trader.address, USDC)).toBe(2_000_000_000n);
      },
    },
    {
      says: 'a request id that is not the order’s cannot be seen before it is used: /execute knows no such order, and the bytes are followed until they are dead',
      async play(world) {
        const trader = await newTrader(world);
        await world.fault({
          path: ORDER, fault: { kind: 'patch', set: { '/requestId': '019a0000-0000-7000-8000-000000000000' } },
          times: 1,
        });
        const journey = await trader.carryOut(trader.intent(), {
          onOutcome: ({ state }) => { if (state === 'submitted') void world.passSlots(A_LIFE_AND_MORE); },
        });
        expect(journey.outcomes.find(({ state }) => state === 'submitted')).toMatchObject({ code: '-1' });
        expect(journey.last.state).toBe('expired');
        expect([journey.requoted, journey.signatures]).toEqual([0, 1]);
        expect(world.held(trader.address, USDC)).toBe(2_000_000_000n);
      },
    },
    {
      says: 'a build for another amount or mint is refused as well',
      async play(world) {
        const trader = await newTrader(world);
        for (const set of [
          { '/inAmount': '20000001' }, { '/outputMint': world.mint('PEARL') }, { '/inputMint': SOL },
        ]) {
          await world.fault({ path: BUILD, fault: { kind: 'patch', set }, times: 1 });
          await trader.refused(/^SERVICE_MALFORMED$/, trader.intent({ route: 'build' }));
        }
      },
    },
    {
      says: 'a feed that gets a price for something else says so, and gives no price',
      async play(world) {
        await world.fault({ path: ORDER, fault: { kind: 'patch', set: { '/inAmount': '20000001' } } });
        const watched = watch(world, world.connect(), [
          { kind: 'quote', inputMint: USDC, outputMint: SOL, amount: 20_000_000n as Amount, everyMs: 1_000 },
        ]);
        await watched.until((event) => isHealth(event, 'down', 'SERVICE_MALFORMED'));
        expect(watched.events.filter(({ kind }) => kind === 'quote')).toEqual([]);
        await world.clearFaults();
        expect(await watched.until(({ kind }) => kind === 'quote')).toMatchObject({ inAmount: amount(20_000_000n) });
      },
    },
  ],
};
