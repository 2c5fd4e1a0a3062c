import { expect } from 'vitest';
import type { Case } from '../case.ts';
import { compose, sent } from '../compose.ts';
import { STRANGER } from '../scenes.ts';
import { tokenAccountOf, tokensIn } from '../transactions.ts';
import type { Wallet, World } from '../world.ts';
import { SOL, USDC } from '../world.ts';
import { BUY, landedV1, quoteOf, REFUSED, SALE, swapOf, V1_SWAP, v1Refused } from './v1-scenes.ts';

/** Gives a wallet an account of wrapped SOL, by a build whose output stays wrapped. */
async function wrap(world: World, user: Wallet): Promise<void> {
  const build = await world.get('/swap/v2/build', { ...BUY, taker: user.address, wrapAndUnwrapSol: false });
  expect(await sent(world, compose(build.body, user.address), user)).toBeNull();
}

export const v1SwapAccountCases: readonly Case[] = [
  {
    covers: ['v1-swap.wrapAndUnwrapSol', 'v1-swap.wrapped-account-is-closed'],
    says: 'wrapped SOL is unwrapped and its account closed, as long as nothing else is said, even where it existed',
    async play(world) {
      const user = await world.newWallet({ [SOL]: '100000000', [USDC]: '100000000' });
      const quote = await quoteOf(world, BUY);
      const before = world.held(user.address, SOL);
      expect(await landedV1(world, await swapOf(world, BUY, { userPublicKey: user.address }), user)).toBeNull();
      expect(world.held(user.address, SOL) - before).toBeGreaterThan((BigInt(quote.outAmount) * 9n) / 10n);
      expect(await tokenAccountOf(world, user.address, SOL)).toBeUndefined();
      await v1Refused(world, SALE, { wrapAndUnwrapSol: 'maybe' }, /wrapAndUnwrapSol/);
    },
  },
  {
    covers: ['v1-swap.unwrapped-needs-account', 'v1-swap.wrapAndUnwrapSol'],
    says: 'without wrapping, the account of wrapped SOL has to exist and keeps the output',
    async play(world) {
      const user = await world.newWallet({ [SOL]: '100000000', [USDC]: '100000000' });
      const missing = await world.post(V1_SWAP, {
        userPublicKey: user.address, quoteResponse: await quoteOf(world, SALE), wrapAndUnwrapSol: false,
      });
      expect([missing.status, missing.body.error]).toEqual([400, expect.stringMatching(/wrapAndUnwrapSol/)]);
      await wrap(world, user);
      const account = await tokenAccountOf(world, user.address, SOL);
      const held = BigInt((await tokensIn(world, account!))!);
      const quote = await quoteOf(world, BUY);
      const body = await swapOf(world, BUY, { userPublicKey: user.address, wrapAndUnwrapSol: false });
      expect(await landedV1(world, body, user)).toBeNull();
      expect(BigInt((await tokensIn(world, account!))!) - held).toBe(BigInt(quote.outAmount));
    },
  },
  {
    covers: ['v1-swap.useSharedAccounts'],
    says: 'shared accounts or not, the swap gives the same, and no account for what is in between is left',
    async play(world) {
      const kelp = { inputMint: world.mint('KELP'), outputMint: USDC, amount: '5000000000', dexes: 'Tidepool' };
      for (const useSharedAccounts of [true, false, undefined]) {
        const user = await world.newWallet({ [SOL]: '100000000', [kelp.inputMint]: '5000000000' });
        const quote = await quoteOf(world, kelp);
        expect(quote.routePlan.length).toBeGreaterThan(1);
        expect(await landedV1(world, await swapOf(world, kelp, {
          userPublicKey: user.address, ...(useSharedAccounts === undefined ? {} : { useSharedAccounts }),
        }), user)).toBeNull();
        expect(world.held(user.address, USDC)).toBe(BigInt(quote.outAmount));
        expect(await tokenAccountOf(world, user.address, SOL)).toBeUndefined();
      }
      await v1Refused(world, SALE, { useSharedAccounts: 'maybe' }, /useSharedAccounts/);
    },
  },
  {
    covers: ['v1-swap.shared-accounts-may-fail', 'v1-swap.useSharedAccounts'],
    says: 'a market that does not go with shared accounts is refused with them, and taken without',
    async play(world) {
      const query = { inputMint: world.mint('CONCH'), outputMint: USDC, amount: '5000000', onlyDirectRoutes: true };
      const user = await world.newWallet({ [SOL]: '100000000', [query.inputMint]: '5000000' });
      const quoteResponse = await quoteOf(world, query);
      const shared = await world.post(V1_SWAP, { userPublicKey: user.address, quoteResponse, useSharedAccounts: true });
      expect([shared.status, shared.body])
        .toEqual([400, { error: expect.stringMatching(/useSharedAccounts/), errorCode: 'NOT_SUPPORTED' }]);
      const own = await world.post(V1_SWAP, { userPublicKey: user.address, quoteResponse, useSharedAccounts: false });
      expect(await landedV1(world, own.body, user)).toBeNull();
    },
  },
  {
    covers: ['v1-swap.feeAccount', 'v1-swap.fee-account-with-fee', 'v1-quote.fee-needs-account-at-swap'],
    says: 'a fee reaches its account on the chain; without the account, or with one of a third mint, it is refused',
    async play(world) {
      const user = await world.newWallet({ [SOL]: '1000000000' });
      const platform = await world.newWallet({ [USDC]: '1', [world.mint('PEARL')]: '1' });
      const feeAccount = await tokenAccountOf(world, platform.address, USDC);
      const charged = { ...SALE, platformFeeBps: 100 };
      const quote = await quoteOf(world, charged);
      expect(await landedV1(world, await swapOf(world, charged, { userPublicKey: user.address, feeAccount }), user))
        .toBeNull();
      expect(world.held(platform.address, USDC)).toBe(BigInt(quote.platformFee.amount) + 1n);
      expect(world.held(user.address, USDC)).toBe(BigInt(quote.outAmount));
      await v1Refused(world, charged, {}, /feeAccount/);
      const foreign = await world.post(V1_SWAP, {
        userPublicKey: user.address, quoteResponse: quote,
        feeAccount: await tokenAccountOf(world, platform.address, world.mint('PEARL')),
      });
      expect([REFUSED.includes(foreign.status), foreign.body.error])
        .toEqual([true, expect.stringMatching(/feeAccount/)]);
    },
  },
  {
    covers: ['v1-swap.destinationTokenAccount'],
    says: 'the output of a V1 swap reaches the token account named, else the user\'s own',
    async play(world) {
      const user = await world.newWallet({ [SOL]: '1000000000' });
      const friend = await world.newWallet({ [USDC]: '1' });
      const destinationTokenAccount = await tokenAccountOf(world, friend.address, USDC);
      const quote = await quoteOf(world, SALE);
      expect(await landedV1(
        world, await swapOf(world, SALE, { userPublicKey: user.address, destinationTokenAccount }), user,
      )).toBeNull();
      expect(world.held(friend.address, USDC)).toBe(BigInt(quote.outAmount) + 1n);
      expect(world.held(user.address, USDC)).toBe(0n);
      await v1Refused(world, SALE, { destinationTokenAccount: '?' }, /destinationTokenAccount/);
    },
  },
  {
    covers: ['v1-swap.one-destination'],
    says: 'both destinations of a V1 swap are refused by both sides',
    play: (world) => v1Refused(world, { ...BUY, instructionVersion: 'V2' },
      { destinationTokenAccount: STRANGER, nativeDestinationAccount: STRANGER }, /destination/i),
  },
  {
    covers: [
      'v1-swap.nativeDestinationAccount', 'v1-swap.native-destination-for-sol', 'v1-swap.native-destination-rent',
    ],
    says: 'SOL reaches a native destination as SOL, with V2 instructions, at least its rent; other outputs, V1 instructions and token accounts are refused',
    async play(world) {
      const user = await world.newWallet({ [SOL]: '100000000', [USDC]: '100000000' });
      const friend = await world.newWallet();
      const query = { ...BUY, instructionVersion: 'V2' };
      const quote = await quoteOf(world, query);
      const nativeDestinationAccount = friend.address;
      expect(await landedV1(
        world, await swapOf(world, query, { userPublicKey: user.address, nativeDestinationAccount }), user,
      )).toBeNull();
      expect(world.held(friend.address, SOL)).toBe(BigInt(quote.outAmount));
      await v1Refused(world, SALE, { nativeDestinationAccount }, /nativeDestinationAccount/);
      await v1Refused(world, BUY, { nativeDestinationAccount }, /nativeDestinationAccount/);
      const tokenAccount = await tokenAccountOf(world, user.address, USDC);
      const wrong = await world.post(V1_SWAP, {
        userPublicKey: user.address, quoteResponse: quote, nativeDestinationAccount: tokenAccount,
      });
      expect([wrong.status, wrong.body.error]).toEqual([400, expect.stringMatching(/nativeDestinationAccount/)]);
      const dust = { ...query, amount: '10000' };
      const poor = await world.post(V1_SWAP, {
        userPublicKey: user.address, quoteResponse: await quoteOf(world, dust),
        nativeDestinationAccount: (await world.newWallet()).address,
      });
      expect([poor.status, poor.body.error])
        .toEqual([400, expect.stringMatching(/nativeDestinationAccount.*lamports/)]);
    },
  },
];
