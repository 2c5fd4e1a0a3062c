import { PublicKey } from '@solana/web3.js';
import { expect } from 'vitest';
import type { QuoteSwapRequest } from '../../../../../src/service/endpoints/swap-v1.ts';
import type { Case } from '../../case.ts';
import { sent } from '../../compose.ts';
import { refusedByOurs, STRANGER } from '../../scenes.ts';
import { viewOf } from '../../transactions.ts';
import type { Answer } from '../../service-fixture.ts';
import { SOL, USDC } from '../../service-fixture.ts';
import { BUY, landedV1, ourQuote, quoteOf, REFUSED, SALE, swapOf, V1_SWAP, v1Refused } from './v1-scenes.ts';

type Body = Answer['body'];

/** Returns how many token accounts a transaction makes. */
const created = (body: Body): number =>
  viewOf(body.swapTransaction).programs.filter((program) => program.startsWith('ATokenGP')).length;

export const v1SwapCases: readonly Case[] = [
  {
    covers: ['v1-swap./swap/v1/swap', 'purpose.v1-quote-then-swap', 'v1-swap.quoteResponse'],
    says: 'a quote goes back as it came and becomes a transaction; unknown members of it are no hindrance, a missing '
      + 'quote is',
    async play(fixture) {
      const user = await fixture.newWallet({ [SOL]: '1000000000' });
      const quote = await quoteOf(fixture, SALE);
      const answer = await fixture.post(V1_SWAP, {
        userPublicKey: user.address, quoteResponse: { ...quote, someday: { more: ['1', 2] } },
      });
      expect(answer.status, answer.text).toBe(200);
      expect(await landedV1(fixture, answer.body, user)).toBeNull();
      expect(fixture.held(user.address, USDC)).toBe(BigInt(quote.outAmount));
      const ours =
        await fixture.service.swapV1.swap({
          userPublicKey: user.address, quoteResponse: await ourQuote(fixture, SALE),
        });
      expect(await sent(fixture, Buffer.from(ours.transaction).toString('base64'), user)).toBeNull();
      expect(REFUSED).toContain((await fixture.post(V1_SWAP, { userPublicKey: user.address })).status);
      await refusedByOurs(
        fixture, ({ swapV1 }) => swapV1.swap({ userPublicKey: user.address } as QuoteSwapRequest), /quoteResponse/,
      );
    },
  },
  {
    covers: ['v1-quote-answer.threshold-is-not-used'],
    says: '/swap makes its threshold of the slippage: a quote whose own threshold cannot be met still lands',
    async play(fixture) {
      const user = await fixture.newWallet({ [SOL]: '1000000000' });
      const quote = await quoteOf(fixture, SALE);
      const answer = await fixture.post(V1_SWAP, {
        userPublicKey: user.address, quoteResponse: { ...quote, otherAmountThreshold: quote.outAmount },
      });
      expect(answer.status, answer.text).toBe(200);
      // Another trader takes a little of the pool first: the output falls below the quote, and stays within its
      // slippage.
      await landedV1(
        fixture, await swapOf(fixture, { ...SALE, amount: '50000000' }, { userPublicKey: fixture.wallet.address }),
        fixture.wallet,
      );
      expect(await landedV1(fixture, answer.body, user)).toBeNull();
      expect(fixture.held(user.address, USDC)).toBeLessThan(BigInt(quote.outAmount));
    },
  },
  {
    covers: ['v1-swap.userPublicKey'],
    says: 'a V1 swap without its user, or with one that is no address, is refused by both sides',
    async play(fixture) {
      for (const userPublicKey of [undefined, 'me']) await v1Refused(fixture, SALE, { userPublicKey }, /userPublicKey/);
      const { accounts } =
        viewOf((await swapOf(fixture, SALE, { userPublicKey: fixture.wallet.address })).swapTransaction);
      expect(accounts[0]).toBe(fixture.wallet.address);
    },
  },
  {
    covers: ['v1-swap.payer'],
    says: 'a payer pays fees and rent of a V1 swap',
    async play(fixture) {
      const user = await fixture.newWallet({ [SOL]: '5000000', [USDC]: '50000000' });
      const payer = await fixture.newWallet({ [SOL]: '1000000000' });
      const body = await swapOf(fixture, { ...BUY, outputMint: fixture.mint('PEARL') }, {
        userPublicKey: user.address, payer: payer.address,
      });
      expect(viewOf(body.swapTransaction).accounts[0]).toBe(payer.address);
      expect(await landedV1(fixture, body, user, payer)).toBeNull();
      expect(fixture.held(user.address, SOL)).toBe(5_000_000n);
      expect(1_000_000_000n - fixture.held(payer.address, SOL)).toBeGreaterThan(2_039_280n);
      await v1Refused(fixture, SALE, { payer: '?' }, /payer/);
    },
  },
  {
    covers: ['v1-swap.trackingAccount'],
    says: 'a tracking account stands in the transaction, which is found by it',
    async play(fixture) {
      const body = await swapOf(fixture, SALE, { userPublicKey: fixture.wallet.address, trackingAccount: STRANGER });
      expect(viewOf(body.swapTransaction).accounts).toContain(STRANGER);
      expect(await landedV1(fixture, body, fixture.wallet)).toBeNull();
      const { result } =
        await fixture.rpc('getSignaturesForAddress', [new PublicKey(STRANGER).toBase58(), { commitment: 'confirmed' }]);
      expect(result).toHaveLength(1);
      await v1Refused(fixture, SALE, { trackingAccount: '?' }, /trackingAccount/);
    },
  },
  {
    covers: ['v1-swap.asLegacyTransaction'],
    says: 'a quote for a legacy transaction makes one, any other quote a versioned one; a mixture is refused',
    async play(fixture) {
      const user = await fixture.newWallet({ [SOL]: '1000000000' });
      const unversioned = { ...SALE, asLegacyTransaction: true };
      const body = await swapOf(fixture, unversioned, { userPublicKey: user.address, asLegacyTransaction: true });
      expect([
        viewOf(body.swapTransaction).version,
        viewOf((await swapOf(fixture, SALE, { userPublicKey: user.address })).swapTransaction).version,
      ]).toEqual(['legacy', 0]);
      expect(await landedV1(fixture, body, user)).toBeNull();
      const quoteResponse = await ourQuote(fixture, SALE);
      await refusedByOurs(
        fixture, ({ swapV1 }) => swapV1.swap({ userPublicKey: user.address, quoteResponse, asLegacyTransaction: true }),
        /asLegacyTransaction/,
      );
    },
  },
  {
    covers: ['v1-swap.skipUserAccountsRpcCalls'],
    says:
      'without a check of the accounts, they are created in the transaction even where they exist, and the swap still '
        + 'lands',
    async play(fixture) {
      const user = await fixture.newWallet({ [SOL]: '1000000000', [USDC]: '1' });
      const [checked, unchecked] = [
        await swapOf(fixture, SALE, { userPublicKey: user.address }),
        await swapOf(fixture, SALE, { userPublicKey: user.address, skipUserAccountsRpcCalls: true }),
      ];
      expect(created(unchecked)).toBeGreaterThanOrEqual(created(checked));
      expect(created(unchecked)).toBeGreaterThanOrEqual(2);
      expect(await landedV1(fixture, unchecked, user)).toBeNull();
      await v1Refused(fixture, SALE, { skipUserAccountsRpcCalls: 'maybe' }, /skipUserAccountsRpcCalls/);
    },
  },
  {
    covers: ['v1-swap.dynamicSlippage'],
    says: 'a slippage that is estimated takes the place of the quote\'s',
    async play(fixture) {
      const userPublicKey = fixture.wallet.address;
      const body = await swapOf(fixture, { ...SALE, slippageBps: 9_999 }, { userPublicKey, dynamicSlippage: true });
      expect(body.dynamicSlippageReport.slippageBps).toBeLessThan(9_999);
      await v1Refused(fixture, SALE, { dynamicSlippage: 'maybe' }, /dynamicSlippage/);
    },
  },
];
