import { expect } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { amount } from '../../src/core/amount.ts';
import type { Json } from '../../src/core/json.ts';
import { isHealth, watch } from './feeds.ts';
import type { Play, Trap } from './trap.ts';
import type { Trader } from './trader.ts';
import { newTrader } from './trader.ts';
import type { TrapFixture } from './trap-fixture.ts';
import { PAST_EXPIRY_BLOCKS, BUILD, ORDER, SOL, USDC } from './trap-fixture.ts';

type Change = (fixture: TrapFixture, trader: Trader) =>
  { readonly set?: Readonly<Record<string, Json>>; readonly remove?: readonly string[] };

const refused = (what: string, code: RegExp, change: Change, profiles?: Play['profiles']): Play => ({
  says: `an order ${what} is refused before anything is signed`,
  ...(profiles === undefined ? {} : { profiles }),
  async play(fixture) {
    const trader = await newTrader(fixture);
    await fixture.fault({ path: ORDER, fault: { kind: 'patch', ...change(fixture, trader) } });
    await trader.refused(code);
  },
});

export const anotherAnswer: Trap = {
  number: 12,
  title:
    'the answer is to another question: other mints, another amount, another taker, another payer, another request',
  plays: [
    refused('for another input', /^SERVICE_MALFORMED$/, (fixture) =>
      ({ set: { '/inputMint': fixture.mint('ANCHR') } })),
    refused('for another output', /^SERVICE_MALFORMED$/, (fixture) =>
      ({ set: { '/outputMint': fixture.mint('PEARL') } })),
    refused(
      'for another amount', /^SERVICE_MALFORMED$/, () => ({ set: { '/inAmount': '20000001' } }), ['reference', 'live'],
    ),
    refused('for another taker', /^SERVICE_MALFORMED$/, (fixture) =>
      ({ set: { '/taker': fixture.sandbox.addresses.wallet.address } })),
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
      async play(fixture) {
        const [trader, other] = [await newTrader(fixture), await newTrader(fixture)];
        const theirs =
          await fixture.get(ORDER, { inputMint: USDC, outputMint: SOL, amount: '20000000', taker: other.address });
        await fixture.fault({
          path: ORDER, fault: { kind: 'patch', set: { '/transaction': theirs.body.transaction } }, times: 1,
        });
        await trader.refused(/^SIGN_REFUSED$/);
        await fixture.fault({
          path: ORDER,
          fault: { kind: 'patch', set: { '/transaction': Buffer.from('no transaction').toString('base64') } }, times: 1,
        });
        await trader.refused(/^CHAIN_TRANSACTION_INVALID$/);
      },
    },
    {
      says: 'bytes of another order of ours, ten times as large, move nothing: they never land under this request',
      async play(fixture) {
        const trader = await newTrader(fixture);
        const large = await fixture.get(ORDER, {
          inputMint: USDC, outputMint: SOL, amount: '200000000', taker: trader.address, slippageBps: 50,
          excludeRouters: 'rfqz',
        });
        await fixture.fault({ path: ORDER, fault: {
          kind: 'patch',
          set: { '/transaction': large.body.transaction, '/lastValidBlockHeight': large.body.lastValidBlockHeight },
        }, times: 1 });
        const { last } = await trader.carryOut(trader.intent(), {
          onOutcome: ({ state }) => { if (state === 'submitted') void fixture.passSlots(PAST_EXPIRY_BLOCKS); },
        });
        expect(['abandoned', 'expired']).toContain(last.state);
        expect(fixture.held(trader.address, USDC)).toBe(2_000_000_000n);
      },
    },
    {
      says: 'a foreign request id: /execute knows no such order, and the bytes are followed to their expiry',
      async play(fixture) {
        const trader = await newTrader(fixture);
        await fixture.fault({
          path: ORDER, fault: { kind: 'patch', set: { '/requestId': '019a0000-0000-7000-8000-000000000000' } },
          times: 1,
        });
        const trace = await trader.carryOut(trader.intent(), {
          onOutcome: ({ state }) => { if (state === 'submitted') void fixture.passSlots(PAST_EXPIRY_BLOCKS); },
        });
        expect(trace.outcomes.find(({ state }) => state === 'submitted')).toMatchObject({ code: '-1' });
        expect(trace.last.state).toBe('expired');
        expect([trace.requoted, trace.signatures]).toEqual([0, 1]);
        expect(fixture.held(trader.address, USDC)).toBe(2_000_000_000n);
      },
    },
    {
      says: 'a build for another amount or mint is refused as well',
      async play(fixture) {
        const trader = await newTrader(fixture);
        for (const set of [
          { '/inAmount': '20000001' }, { '/outputMint': fixture.mint('PEARL') }, { '/inputMint': SOL },
        ]) {
          await fixture.fault({ path: BUILD, fault: { kind: 'patch', set }, times: 1 });
          await trader.refused(/^SERVICE_MALFORMED$/, trader.intent({ route: 'build' }));
        }
      },
    },
    {
      says: 'a feed that gets a price for something else says so, and gives no price',
      async play(fixture) {
        await fixture.fault({ path: ORDER, fault: { kind: 'patch', set: { '/inAmount': '20000001' } } });
        const watched = watch(fixture, fixture.connect(), [
          { kind: 'quote', inputMint: USDC, outputMint: SOL, amount: 20_000_000n as Amount, everyMs: 1_000 },
        ]);
        await watched.until((event) => isHealth(event, 'down', 'SERVICE_MALFORMED'));
        expect(watched.events.filter(({ kind }) => kind === 'quote')).toEqual([]);
        await fixture.clearFaults();
        expect(await watched.until(({ kind }) => kind === 'quote')).toMatchObject({ inAmount: amount(20_000_000n) });
      },
    },
  ],
};
