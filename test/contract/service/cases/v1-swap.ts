import { PublicKey } from '@solana/web3.js';
import { expect } from 'vitest';
import type { QuoteSwapRequest } from '../../../../src/service/endpoints/swap-v1.ts';
import type { Case } from '../case.ts';
import { sent } from '../compose.ts';
import { refusedByOurs, STRANGER } from '../scenes.ts';
import { look } from '../transactions.ts';
import type { Answer } from '../world.ts';
import { SOL, USDC } from '../world.ts';
import { BUY, landedV1, ourQuote, quoteOf, REFUSED, SALE, swapOf, V1_SWAP, v1Refused } from './v1-scenes.ts';

type Body = Answer['body'];

/** Returns how many token accounts a transaction makes. */
const created = (body: Body): number =>
  look(body.swapTransaction).programs.filter((program) => program.startsWith('ATokenGP')).length;

export const v1SwapCases: readonly Case[] = [
  {
    covers: ['v1-swap./swap/v1/swap', 'purpose.v1-quote-then-swap', 'v1-swap.quoteResponse'],
    says: 'a quote goes back as it came and becomes a transaction; unknown members of it are no hindrance, a missing quote is',
    async play(world) {
      const user = await world.newWallet({ [SOL]: '1000000000' });
      const quote = await quoteOf(world, SALE);
      const answer = await world.post(V1_SWAP, {
        userPublicKey: user.address, quoteResponse: { ...quote, someday: { more: ['1', 2] } },
      });
      expect(answer.status, answer.text).toBe(200);
      expect(await landedV1(world, answer.body, user)).toBeNull();
      expect(world.held(user.address, USDC)).toBe(BigInt(quote.outAmount));
      const ours =
        await world.service.swapV1.swap({ userPublicKey: user.address, quoteResponse: await ourQuote(world, SALE) });
      expect(await sent(world, Buffer.from(ours.transaction).toString('base64'), user)).toBeNull();
      expect(REFUSED).toContain((await world.post(V1_SWAP, { userPublicKey: user.address })).status);
      await refusedByOurs(
        world, ({ swapV1 }) => swapV1.swap({ userPublicKey: user.address } as QuoteSwapRequest), /quoteResponse/,
      );
    },
  },
  {
    covers: ['v1-quote-answer.threshold-is-not-used'],
    says: '/swap makes its threshold of the slippage: a quote whose own threshold cannot be met still lands',
    async play(world) {
      const user = await world.newWallet({ [SOL]: '1000000000' });
      const quote = await quoteOf(world, SALE);
      const answer = await world.post(V1_SWAP, {
        userPublicKey: user.address, quoteResponse: { ...quote, otherAmountThreshold: quote.outAmount },
      });
      expect(answer.status, answer.text).toBe(200);
      // Somebody takes a little of the pool first: the output falls below the quote, and stays within its slippage.
      await landedV1(
        world, await swapOf(world, { ...SALE, amount: '50000000' }, { userPublicKey: world.wallet.address }),
        world.wallet,
      );
      expect(await landedV1(world, answer.body, user)).toBeNull();
      expect(world.held(user.address, USDC)).toBeLessThan(BigInt(quote.outAmount));
    },
  },
  {
    covers: ['v1-swap.userPublicKey'],
    says: 'a V1 swap without its user, or with one that is no address, is refused by both sides',
    async play(world) {
      for (const userPublicKey of [undefined, 'me']) await v1Refused(world, SALE, { userPublicKey }, /userPublicKey/);
      const { accounts } = look((await swapOf(world, SALE, { userPublicKey: world.wallet.address })).swapTransaction);
      expect(accounts[0]).toBe(world.wallet.address);
    },
  },
  {
    covers: ['v1-swap.payer'],
    says: 'a payer pays fees and rent of a V1 swap',
    async play(world) {
      const user = await world.newWallet({ [SOL]: '5000000', [USDC]: '50000000' });
      const payer = await world.newWallet({ [SOL]: '1000000000' });
      const body = await swapOf(world, { ...BUY, outputMint: world.mint('PEARL') }, {
        userPublicKey: user.address, payer: payer.address,
      });
      expect(look(body.swapTransaction).accounts[0]).toBe(payer.address);
      expect(await landedV1(world, body, user, payer)).toBeNull();
      expect(world.held(user.address, SOL)).toBe(5_000_000n);
      expect(1_000_000_000n - world.held(payer.address, SOL)).toBeGreaterThan(2_039_280n);
      await v1Refused(world, SALE, { payer: '?' }, /payer/);
    },
  },
  {
    covers: ['v1-swap.trackingAccount'],
    says: 'a tracking account stands in the transaction, which is found by it',
    async play(world) {
      const body = await swapOf(world, SALE, { userPublicKey: world.wallet.address, trackingAccount: STRANGER });
      expect(look(body.swapTransaction).accounts).toContain(STRANGER);
      expect(await landedV1(world, body, world.wallet)).toBeNull();
      const { result } =
        await world.rpc('getSignaturesForAddress', [new PublicKey(STRANGER).toBase58(), { commitment: 'confirmed' }]);
      expect(result).toHaveLength(1);
      await v1Refused(world, SALE, { trackingAccount: '?' }, /trackingAccount/);
    },
  },
  {
    covers: ['v1-swap.asLegacyTransaction'],
    says: 'a legacy transaction is made of a legacy quote, a versioned one of any other; a mixture is refused',
    async play(world) {
      const user = await world.newWallet({ [SOL]: '1000000000' });
      const legacy = { ...SALE, asLegacyTransaction: true };
      const body = await swapOf(world, legacy, { userPublicKey: user.address, asLegacyTransaction: true });
      expect([
        look(body.swapTransaction).version,
        look((await swapOf(world, SALE, { userPublicKey: user.address })).swapTransaction).version,
      ]).toEqual(['legacy', 0]);
      expect(await landedV1(world, body, user)).toBeNull();
      const quoteResponse = await ourQuote(world, SALE);
      await refusedByOurs(
        world, ({ swapV1 }) => swapV1.swap({ userPublicKey: user.address, quoteResponse, asLegacyTransaction: true }),
        /asLegacyTransaction/,
      );
    },
  },
  {
    covers: ['v1-swap.skipUserAccountsRpcCalls'],
    says:
      'without looking at accounts, they are made in the transaction even where they exist, and the swap still lands',
    async play(world) {
      const user = await world.newWallet({ [SOL]: '1000000000', [USDC]: '1' });
      const [looked, blind] = [
        await swapOf(world, SALE, { userPublicKey: user.address }),
        await swapOf(world, SALE, { userPublicKey: user.address, skipUserAccountsRpcCalls: true }),
      ];
      expect(created(blind)).toBeGreaterThanOrEqual(created(looked));
      expect(created(blind)).toBeGreaterThanOrEqual(2);
      expect(await landedV1(world, blind, user)).toBeNull();
      await v1Refused(world, SALE, { skipUserAccountsRpcCalls: 'maybe' }, /skipUserAccountsRpcCalls/);
    },
  },
  {
    covers: ['v1-swap.dynamicSlippage'],
    says: 'a slippage that is estimated takes the place of the quote\'s',
    async play(world) {
      const userPublicKey = world.wallet.address;
      const body = await swapOf(world, { ...SALE, slippageBps: 9_999 }, { userPublicKey, dynamicSlippage: true });
      expect(body.dynamicSlippageReport.slippageBps).toBeLessThan(9_999);
      await v1Refused(world, SALE, { dynamicSlippage: 'maybe' }, /dynamicSlippage/);
    },
  },
];
