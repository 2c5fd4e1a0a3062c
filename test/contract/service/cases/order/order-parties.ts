import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { asked, BUY_SOL, execute, landed, MAKERS_ONLY, orderOf, STRANGER } from '../../scenes.ts';
import { tokenAccountOf } from '../../transactions.ts';
import { SOL, USDC } from '../../service-fixture.ts';
import { ORDER, orderRefused } from './order-refused.ts';

/** Enough for a maker to be interested. */
const LARGE = { inputMint: USDC, outputMint: SOL, amount: '500000000' } as const;

export const orderPartyCases: readonly Case[] = [
  {
    covers: ['order.receiver', 'order.receiver-gets-tokens', 'order.receiver-account-is-made'],
    says: 'tokens reach the receiver\'s associated account, which the transaction makes where there is none',
    async play(fixture) {
      const [taker, receiver] = [await fixture.newWallet({ [SOL]: '2000000000' }), await fixture.newWallet()];
      const order = await orderOf(fixture, {
        inputMint: SOL, outputMint: USDC, amount: '100000000', taker: taker.address, receiver: receiver.address,
      });
      expect(order.rentFeeLamports).toBe(2_039_280);
      await landed(fixture, order, taker);
      expect(fixture.held(receiver.address, USDC)).toBe(BigInt(order.outAmount));
      expect(fixture.held(taker.address, USDC)).toBe(0n);
      const again = await orderOf(fixture, {
        inputMint: SOL, outputMint: USDC, amount: '100000000', taker: taker.address, receiver: receiver.address,
      });
      expect(again.rentFeeLamports).toBe(0);
      const read = await fixture.service.swap.order({
        ...asked({ inputMint: SOL, outputMint: USDC, amount: '100000000' }), taker: taker.address,
        receiver: receiver.address,
      });
      expect(read.transaction).toBeInstanceOf(Uint8Array);
    },
  },
  {
    covers: ['order.receiver-is-not-taker', 'error.receiver-is-taker'],
    says: 'a receiver who is the taker is refused by both sides',
    play: (fixture) =>
      orderRefused(fixture, { taker: fixture.wallet.address, receiver: fixture.wallet.address }, /receiver/),
  },
  {
    covers: ['order.receiver-gets-sol'],
    says: 'SOL reaches the receiver as SOL, to the lamport',
    async play(fixture) {
      const [taker, receiver] =
        [await fixture.newWallet({ [SOL]: '50000000', [USDC]: '100000000' }), await fixture.newWallet()];
      const order = await orderOf(fixture, { ...BUY_SOL, taker: taker.address, receiver: receiver.address });
      await landed(fixture, order, taker);
      expect(fixture.held(receiver.address, SOL)).toBe(BigInt(order.outAmount));
      expect(await tokenAccountOf(fixture, receiver.address, SOL)).toBeUndefined();
    },
  },
  {
    covers: ['order.receiver-no-wrapped-sol'],
    says: 'a receiver that is a token account, of wrapped SOL or another mint, is refused',
    async play(fixture) {
      const { maker } = await fixture.control('/sandbox/state');
      for (const [mint, query] of [
        [SOL, BUY_SOL], [USDC, { inputMint: SOL, outputMint: USDC, amount: '100000000' }],
      ] as const) {
        const receiver = await tokenAccountOf(fixture, maker, mint);
        expect(receiver).toBeDefined();
        const answer = await fixture.get(ORDER, { ...query, taker: fixture.wallet.address, receiver: receiver! });
        expect(answer.status, answer.text).toBe(400);
        expect(answer.body.error).toMatch(/receiver/);
      }
    },
  },
  {
    covers: ['order.receiver-without-rfq'],
    says: 'a receiver shuts makers out, at a size that a maker would have won',
    async play(fixture) {
      const taker = fixture.wallet.address;
      expect((await orderOf(fixture, { ...LARGE, taker, ...MAKERS_ONLY })).router).toBe('rfqz');
      expect((await orderOf(fixture, { ...LARGE, taker, receiver: STRANGER })).router).not.toBe('rfqz');
      const alone = await fixture.get(ORDER, { ...LARGE, taker, receiver: STRANGER, ...MAKERS_ONLY });
      expect([alone.status, alone.body.error]).toEqual([400, 'Failed to get quotes']);
    },
  },
  {
    covers: ['order.referralAccount', 'order.referral-together', 'error.referral-account-alone'],
    says: 'a referral\'s fee reaches the account named; account or fee alone is refused by both sides',
    async play(fixture) {
      const referrer = await fixture.newWallet({ [USDC]: '1' });
      const order = await orderOf(fixture, {
        inputMint: SOL, outputMint: USDC, amount: '100000000', taker: fixture.wallet.address,
        referralAccount: referrer.address, referralFee: 200,
      });
      expect(order).toMatchObject({ referralAccount: referrer.address, feeBps: 200, mode: 'manual' });
      const { outputAmountResult, totalOutputAmount } = await landed(fixture, order, fixture.wallet);
      const fee = BigInt(outputAmountResult) - BigInt(totalOutputAmount);
      expect(fee).toBe((BigInt(outputAmountResult) * 200n) / 10_000n);
      expect(fixture.held(referrer.address, USDC)).toBe(fee + 1n);
      await orderRefused(fixture, { referralAccount: referrer.address }, /referral/);
      await orderRefused(fixture, { referralFee: 100 }, /referral/);
    },
  },
  {
    covers: ['order.referral-without-rfq'],
    says: 'a referral shuts makers out',
    async play(fixture) {
      const query = { inputMint: SOL, outputMint: USDC, amount: '3000000000' };
      const referral = { referralAccount: (await fixture.newWallet({ [USDC]: '1' })).address, referralFee: 60 };
      expect((await orderOf(fixture, { ...query, ...MAKERS_ONLY })).router).toBe('rfqz');
      expect((await orderOf(fixture, { ...query, ...referral })).router).not.toBe('rfqz');
      expect((await fixture.get(ORDER, { ...query, ...referral, ...MAKERS_ONLY })).status).toBe(400);
    },
  },
  {
    covers: ['order.referralFee', 'limit.referralFee'],
    says: 'a referral\'s fee is a number of 50 to 255 basis points, of which whole ones are taken; 49 and 256 are '
      + 'refused by both sides',
    async play(fixture) {
      const referralAccount = (await fixture.newWallet({ [USDC]: '1' })).address;
      const sale = { inputMint: SOL, outputMint: USDC, amount: '100000000' };
      for (const referralFee of [50, 255])
        expect((await orderOf(fixture, { ...sale, referralAccount, referralFee })).platformFee.feeBps)
          .toBe(referralFee);
      expect((await orderOf(fixture, { ...sale, referralAccount, referralFee: 100.5 })).platformFee.feeBps).toBe(100);
      for (const referralFee of [50, 100.5]) {
        expect((await fixture.service.swap.order({ ...asked(sale), referralAccount, referralFee })).referralAccount)
          .toBe(referralAccount);
      }
      for (const referralFee of [49, 49.9, 255.1, 256])
        await orderRefused(fixture, { referralAccount, referralFee }, /referralFee/);
    },
  },
  {
    covers: ['order.payer'],
    says: 'a payer pays signatures, priority and rent; the taker keeps every lamport of his own',
    async play(fixture) {
      const taker = await fixture.newWallet({ [SOL]: '5000000', [USDC]: '50000000' });
      const payer = await fixture.newWallet({ [SOL]: '1000000000' });
      const order = await orderOf(fixture, {
        inputMint: USDC, outputMint: fixture.mint('PEARL'), amount: '20000000', taker: taker.address,
        payer: payer.address,
      });
      expect([order.signatureFeePayer, order.prioritizationFeePayer, order.rentFeePayer])
        .toEqual([payer.address, payer.address, payer.address]);
      expect((await execute(fixture, order, taker)).body.code).toBe(-1_003);
      await landed(fixture, order, taker, payer);
      expect(fixture.held(taker.address, SOL)).toBe(5_000_000n);
      expect(1_000_000_000n - fixture.held(payer.address, SOL))
        .toBe(BigInt(order.signatureFeeLamports + order.prioritizationFeeLamports + order.rentFeeLamports));
      await orderRefused(fixture, { payer: '?' }, /payer/);
    },
  },
  {
    covers: ['order.payer-makes-gasless'],
    says: 'with a payer a taker without any SOL can swap',
    async play(fixture) {
      const taker = await fixture.newWallet({ [USDC]: '50000000' });
      const payer = await fixture.newWallet({ [SOL]: '1000000000' });
      const order = await orderOf(fixture, {
        inputMint: USDC, outputMint: fixture.mint('PEARL'), amount: '20000000', taker: taker.address,
        payer: payer.address,
      });
      expect(order.gasless).toBe(true);
      await landed(fixture, order, taker, payer);
      expect(fixture.held(taker.address, fixture.mint('PEARL'))).toBe(BigInt(order.outAmount));
    },
  },
];
