import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { compose, sent } from '../../compose.ts';
import { STRANGER } from '../../scenes.ts';
import { tokenAccountOf, tokensIn } from '../../transactions.ts';
import type { Wallet, ServiceFixture } from '../../service-fixture.ts';
import { SOL, USDC } from '../../service-fixture.ts';
import { BUY, landedV1, quoteOf, REFUSED, SALE, swapOf, V1_SWAP, v1Refused } from './v1-scenes.ts';

/** Gives a wallet an account of wrapped SOL, by a build whose output stays wrapped. */
async function wrap(fixture: ServiceFixture, user: Wallet): Promise<void> {
  const build = await fixture.get('/swap/v2/build', { ...BUY, taker: user.address, wrapAndUnwrapSol: false });
  expect(await sent(fixture, compose(build.body, user.address), user)).toBeNull();
}

export const v1SwapAccountCases: readonly Case[] = [
  {
    covers: ['v1-swap.wrapAndUnwrapSol', 'v1-swap.wrapped-account-is-closed'],
    says: 'wrapped SOL is unwrapped and its account closed, as long as nothing else is said, even where it existed',
    async play(fixture) {
      const user = await fixture.newWallet({ [SOL]: '100000000', [USDC]: '100000000' });
      const quote = await quoteOf(fixture, BUY);
      const before = fixture.held(user.address, SOL);
      expect(await landedV1(fixture, await swapOf(fixture, BUY, { userPublicKey: user.address }), user)).toBeNull();
      expect(fixture.held(user.address, SOL) - before).toBeGreaterThan((BigInt(quote.outAmount) * 9n) / 10n);
      expect(await tokenAccountOf(fixture, user.address, SOL)).toBeUndefined();
      await v1Refused(fixture, SALE, { wrapAndUnwrapSol: 'maybe' }, /wrapAndUnwrapSol/);
    },
  },
  {
    covers: ['v1-swap.unwrapped-needs-account', 'v1-swap.wrapAndUnwrapSol'],
    says: 'without wrapping, the account of wrapped SOL has to exist and keeps the output',
    async play(fixture) {
      const user = await fixture.newWallet({ [SOL]: '100000000', [USDC]: '100000000' });
      const missing = await fixture.post(V1_SWAP, {
        userPublicKey: user.address, quoteResponse: await quoteOf(fixture, SALE), wrapAndUnwrapSol: false,
      });
      expect([missing.status, missing.body.error]).toEqual([400, expect.stringMatching(/wrapAndUnwrapSol/)]);
      await wrap(fixture, user);
      const account = await tokenAccountOf(fixture, user.address, SOL);
      const held = BigInt((await tokensIn(fixture, account!))!);
      const quote = await quoteOf(fixture, BUY);
      const body = await swapOf(fixture, BUY, { userPublicKey: user.address, wrapAndUnwrapSol: false });
      expect(await landedV1(fixture, body, user)).toBeNull();
      expect(BigInt((await tokensIn(fixture, account!))!) - held).toBe(BigInt(quote.outAmount));
    },
  },
  {
    covers: ['v1-swap.useSharedAccounts'],
    says: 'shared accounts or not, the swap gives the same, and no account for what is in between is left',
    async play(fixture) {
      const kelp = { inputMint: fixture.mint('KELP'), outputMint: USDC, amount: '5000000000', dexes: 'Tidepool' };
      for (const useSharedAccounts of [true, false, undefined]) {
        const user = await fixture.newWallet({ [SOL]: '100000000', [kelp.inputMint]: '5000000000' });
        const quote = await quoteOf(fixture, kelp);
        expect(quote.routePlan.length).toBeGreaterThan(1);
        expect(await landedV1(fixture, await swapOf(fixture, kelp, {
          userPublicKey: user.address, ...(useSharedAccounts === undefined ? {} : { useSharedAccounts }),
        }), user)).toBeNull();
        expect(fixture.held(user.address, USDC)).toBe(BigInt(quote.outAmount));
        expect(await tokenAccountOf(fixture, user.address, SOL)).toBeUndefined();
      }
      await v1Refused(fixture, SALE, { useSharedAccounts: 'maybe' }, /useSharedAccounts/);
    },
  },
  {
    covers: ['v1-swap.shared-accounts-may-fail', 'v1-swap.useSharedAccounts'],
    says: 'a market that does not go with shared accounts is refused with them, and taken without',
    async play(fixture) {
      const query = { inputMint: fixture.mint('CONCH'), outputMint: USDC, amount: '5000000', onlyDirectRoutes: true };
      const user = await fixture.newWallet({ [SOL]: '100000000', [query.inputMint]: '5000000' });
      const quoteResponse = await quoteOf(fixture, query);
      const shared =
        await fixture.post(V1_SWAP, { userPublicKey: user.address, quoteResponse, useSharedAccounts: true });
      expect([shared.status, shared.body])
        .toEqual([400, { error: expect.stringMatching(/useSharedAccounts/), errorCode: 'NOT_SUPPORTED' }]);
      const own = await fixture.post(V1_SWAP, { userPublicKey: user.address, quoteResponse, useSharedAccounts: false });
      expect(await landedV1(fixture, own.body, user)).toBeNull();
    },
  },
  {
    covers: ['v1-swap.feeAccount', 'v1-swap.fee-account-with-fee', 'v1-quote.fee-needs-account-at-swap'],
    says: 'a fee reaches its account on the chain; without the account, or with one of a third mint, it is refused',
    async play(fixture) {
      const user = await fixture.newWallet({ [SOL]: '1000000000' });
      const platform = await fixture.newWallet({ [USDC]: '1', [fixture.mint('PEARL')]: '1' });
      const feeAccount = await tokenAccountOf(fixture, platform.address, USDC);
      const charged = { ...SALE, platformFeeBps: 100 };
      const quote = await quoteOf(fixture, charged);
      expect(await landedV1(fixture, await swapOf(fixture, charged, { userPublicKey: user.address, feeAccount }), user))
        .toBeNull();
      expect(fixture.held(platform.address, USDC)).toBe(BigInt(quote.platformFee.amount) + 1n);
      expect(fixture.held(user.address, USDC)).toBe(BigInt(quote.outAmount));
      await v1Refused(fixture, charged, {}, /feeAccount/);
      const foreign = await fixture.post(V1_SWAP, {
        userPublicKey: user.address, quoteResponse: quote,
        feeAccount: await tokenAccountOf(fixture, platform.address, fixture.mint('PEARL')),
      });
      expect([REFUSED.includes(foreign.status), foreign.body.error])
        .toEqual([true, expect.stringMatching(/feeAccount/)]);
    },
  },
  {
    covers: ['v1-swap.destinationTokenAccount'],
    says: 'the output of a V1 swap reaches the token account named, else the user\'s own',
    async play(fixture) {
      const user = await fixture.newWallet({ [SOL]: '1000000000' });
      const friend = await fixture.newWallet({ [USDC]: '1' });
      const destinationTokenAccount = await tokenAccountOf(fixture, friend.address, USDC);
      const quote = await quoteOf(fixture, SALE);
      expect(await landedV1(
        fixture, await swapOf(fixture, SALE, { userPublicKey: user.address, destinationTokenAccount }), user,
      )).toBeNull();
      expect(fixture.held(friend.address, USDC)).toBe(BigInt(quote.outAmount) + 1n);
      expect(fixture.held(user.address, USDC)).toBe(0n);
      await v1Refused(fixture, SALE, { destinationTokenAccount: '?' }, /destinationTokenAccount/);
    },
  },
  {
    covers: ['v1-swap.one-destination'],
    says: 'both destinations of a V1 swap are refused by both sides',
    play: (fixture) => v1Refused(fixture, { ...BUY, instructionVersion: 'V2' },
      { destinationTokenAccount: STRANGER, nativeDestinationAccount: STRANGER }, /destination/i),
  },
  {
    covers: [
      'v1-swap.nativeDestinationAccount', 'v1-swap.native-destination-for-sol', 'v1-swap.native-destination-rent',
    ],
    says: 'SOL reaches a native destination as SOL, with V2 instructions, at least its rent; other outputs, V1 '
      + 'instructions and token accounts are refused',
    async play(fixture) {
      const user = await fixture.newWallet({ [SOL]: '100000000', [USDC]: '100000000' });
      const friend = await fixture.newWallet();
      const query = { ...BUY, instructionVersion: 'V2' };
      const quote = await quoteOf(fixture, query);
      const nativeDestinationAccount = friend.address;
      expect(await landedV1(
        fixture, await swapOf(fixture, query, { userPublicKey: user.address, nativeDestinationAccount }), user,
      )).toBeNull();
      expect(fixture.held(friend.address, SOL)).toBe(BigInt(quote.outAmount));
      await v1Refused(fixture, SALE, { nativeDestinationAccount }, /nativeDestinationAccount/);
      await v1Refused(fixture, BUY, { nativeDestinationAccount }, /nativeDestinationAccount/);
      const tokenAccount = await tokenAccountOf(fixture, user.address, USDC);
      const wrong = await fixture.post(V1_SWAP, {
        userPublicKey: user.address, quoteResponse: quote, nativeDestinationAccount: tokenAccount,
      });
      expect([wrong.status, wrong.body.error]).toEqual([400, expect.stringMatching(/nativeDestinationAccount/)]);
      const dust = { ...query, amount: '10000' };
      const poor = await fixture.post(V1_SWAP, {
        userPublicKey: user.address, quoteResponse: await quoteOf(fixture, dust),
        nativeDestinationAccount: (await fixture.newWallet()).address,
      });
      expect([poor.status, poor.body.error])
        .toEqual([400, expect.stringMatching(/nativeDestinationAccount.*lamports/)]);
    },
  },
];
