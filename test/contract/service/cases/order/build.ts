import { expect } from 'vitest';
import type { BuildRequest } from '../../../../../src/service/endpoints/swap-v2.ts';
import type { Case } from '../../case.ts';
import { compose, sent } from '../../compose.ts';
import { asked, buildOf, BUY_SOL, labelsOf, refusedByBoth, refusedByOurs, STRANGER } from '../../scenes.ts';
import { tokenAccountOf } from '../../transactions.ts';
import type { Answer, Query, Wallet, ServiceFixture } from '../../service-fixture.ts';
import { SOL, USDC } from '../../service-fixture.ts';

const PATH = '/swap/v2/build';
const SALE = { inputMint: SOL, outputMint: USDC, amount: '100000000' } as const;

/** Expects both sides to refuse a request that differs from a good one in what is given; lists are given as lists. */
function refused(
  fixture: ServiceFixture, change: Readonly<Record<string, string | number | readonly string[]>>, about: RegExp,
): Promise<void> {
  const taker = fixture.wallet.address;
  const wire = Object.fromEntries(Object.entries(change).map(([name, value]) =>
    [name, typeof value === 'object' ? value.join(',') : value]));
  return refusedByBoth(fixture, {
    theirs: () => fixture.get(PATH, { ...BUY_SOL, taker, ...wire }),
    ours: ({ swap }) => swap.build({ ...asked(BUY_SOL), taker, ...change }),
    about,
  });
}

/** Expects both sides to miss a parameter. */
function missed(fixture: ServiceFixture, name: 'inputMint' | 'outputMint' | 'amount' | 'taker'): Promise<void> {
  const { [name]: _theirs, ...query } = { ...BUY_SOL, taker: fixture.wallet.address };
  const { [name]: _ours, ...request } = { ...asked(BUY_SOL), taker: fixture.wallet.address };
  return refusedByBoth(fixture, {
    theirs: () => fixture.get(PATH, query), ours: ({ swap }) => swap.build(request as BuildRequest),
    about: new RegExp(name),
  });
}

/** Composes a build, lands it and returns what the chain says. */
async function played(
  fixture: ServiceFixture, build: Answer['body'], payer: Wallet, ...others: readonly Wallet[]
): Promise<unknown> {
  return sent(fixture, compose(build, payer.address), payer, ...others);
}

/** Returns the price of a compute unit that a build sets. */
const unitPrice = (build: Answer['body']): number =>
  Number(Buffer.from(build.computeBudgetInstructions[0].data, 'base64').readBigUInt64LE(1));

export const buildCases: readonly Case[] = [
  {
    covers: ['build./swap/v2/build', 'purpose.build-composes', 'version.build-is-one-call', 'version.v2-instructions'],
    says: '/build answers 200 with a quote and instructions that land as a transaction of one\'s own',
    async play(fixture) {
      const taker = await fixture.newWallet({ [SOL]: '1000000000' });
      const answer = await fixture.get(PATH, { ...SALE, taker: taker.address });
      expect(answer.status).toBe(200);
      expect(await played(fixture, answer.body, taker)).toBeNull();
      expect(fixture.held(taker.address, USDC)).toBe(BigInt(answer.body.outAmount));
    },
  },
  {
    covers: ['build.exact-in-only', 'version.migration-swapMode'],
    says: 'a build is ExactIn; our client says so where a swapMode is asked for',
    async play(fixture) {
      const taker = fixture.wallet.address;
      expect((await buildOf(fixture, { ...SALE, taker })).swapMode).toBe('ExactIn');
      await refusedByOurs(
        fixture, ({ swap }) => swap.build({ ...asked(SALE), taker, swapMode: 'ExactOut' } as BuildRequest), /swapMode/,
      );
    },
  },
  ...(['inputMint', 'outputMint', 'amount', 'taker'] as const).map((name): Case => ({
    covers: [`build.${name}`, ...(name === 'taker' ? ['version.migration-taker'] : [])],
    says: `a build without ${name}, or with one that makes no sense, is refused by both sides`,
    async play(fixture) {
      await missed(fixture, name);
      const build = await buildOf(fixture, { ...BUY_SOL, taker: fixture.wallet.address });
      expect([build.inputMint, build.outputMint, build.inAmount]).toEqual([USDC, SOL, BUY_SOL.amount]);
      expect(build.swapInstruction.accounts.filter(({ isSigner }: { isSigner: boolean }) => isSigner)
        .map(({ pubkey }: { pubkey: string }) => pubkey))
        .toEqual([fixture.wallet.address]);
      expect((await fixture.get(PATH, { ...BUY_SOL, taker: fixture.wallet.address, [name]: '?' })).status).toBe(400);
    },
  })),
  {
    covers: ['build.slippageBps', 'limit.slippageBps', 'limit.slippageBps-default'],
    says: 'slippage of a build is 0 to 10000 whole basis points, 50 where none is given',
    async play(fixture) {
      const taker = fixture.wallet.address;
      const usual = await buildOf(fixture, { ...BUY_SOL, taker });
      expect(usual.slippageBps).toBe(50);
      expect(BigInt(usual.otherAmountThreshold)).toBe((BigInt(usual.outAmount) * 9_950n) / 10_000n);
      expect((await fixture.service.swap.build({ ...asked(BUY_SOL), taker })).slippageBps).toBe(50);
      for (const slippageBps of [0, 10_000])
        expect((await buildOf(fixture, { ...BUY_SOL, taker, slippageBps })).slippageBps).toBe(slippageBps);
      for (const slippageBps of [-1, 10_001, 0.5]) await refused(fixture, { slippageBps }, /slippageBps/);
    },
  },
  {
    covers: ['build.mode', 'version.migration-new'],
    says: 'mode is fast or left out: a dearer compute unit, a route that is no longer and no better; another word is '
      + 'refused by both sides',
    async play(fixture) {
      const taker = fixture.wallet.address;
      const long = { inputMint: fixture.mint('KELP'), outputMint: fixture.mint('BUOY'), amount: '5000000000', taker };
      const [usual, fast] = [await buildOf(fixture, long), await buildOf(fixture, { ...long, mode: 'fast' })];
      expect(unitPrice(fast)).toBeGreaterThan(unitPrice(usual) * 1.5);
      expect(fast.routePlan.length).toBeLessThanOrEqual(usual.routePlan.length);
      expect(BigInt(fast.outAmount)).toBeLessThanOrEqual(BigInt(usual.outAmount));
      expect((await fixture.service.swap.build({ ...asked(long), taker, mode: 'fast' })).outAmount)
        .toBe(BigInt(fast.outAmount));
      await refused(fixture, { mode: 'slow' }, /mode/);
    },
  },
  {
    covers: ['build.dexes'],
    says: 'dexes are the only markets of the route; an unknown label leaves none',
    async play(fixture) {
      const taker = fixture.wallet.address;
      for (const label of ['Tidepool', 'Lagoon']) {
        expect(new Set(labelsOf(await buildOf(fixture, { ...BUY_SOL, taker, dexes: label }))))
          .toEqual(new Set([label]));
        const { routePlan } = await fixture.service.swap.build({ ...asked(BUY_SOL), taker, dexes: [label] });
        expect(new Set(routePlan?.map(({ swapInfo }) => swapInfo.label))).toEqual(new Set([label]));
      }
      const none = await fixture.get(PATH, { ...BUY_SOL, taker, dexes: 'lagoon' });
      expect([none.status, none.body.error]).toEqual([400, 'No routes found']);
    },
  },
  {
    covers: ['build.dexes-or-exclude-dexes', 'error.dexes-with-exclude-dexes'],
    says: 'dexes together with excludeDexes are refused by both sides',
    play: (fixture) => refused(fixture, { dexes: ['Lagoon'], excludeDexes: ['Tidepool'] }, /dexes/i),
  },
  {
    covers: ['build.excludeDexes'],
    says: 'the route keeps away from excluded markets',
    async play(fixture) {
      const taker = fixture.wallet.address;
      const [usual = ''] = labelsOf(await buildOf(fixture, { ...BUY_SOL, taker }));
      expect(labelsOf(await buildOf(fixture, { ...BUY_SOL, taker, excludeDexes: usual }))).not.toContain(usual);
      expect((await fixture.service.swap.build({ ...asked(BUY_SOL), taker, excludeDexes: [usual] })).outAmount)
        .toBeGreaterThan(0n);
    },
  },
  {
    covers: ['build.platformFeeBps', 'build.feeAccount', 'limit.platformFeeBps'],
    says: 'a platform fee reaches the fee account on the chain; 10001 basis points are refused by both sides',
    async play(fixture) {
      const taker = await fixture.newWallet({ [SOL]: '1000000000' });
      const platform = await fixture.newWallet({ [USDC]: '1' });
      const feeAccount = (await tokenAccountOf(fixture, platform.address, USDC))!;
      const plain = await buildOf(fixture, { ...SALE, taker: taker.address });
      const build = await buildOf(fixture, { ...SALE, taker: taker.address, platformFeeBps: 100, feeAccount });
      const fee = BigInt(plain.outAmount) / 100n;
      expect(BigInt(build.outAmount)).toBe(BigInt(plain.outAmount) - fee);
      expect(await played(fixture, build, taker)).toBeNull();
      expect(fixture.held(platform.address, USDC)).toBe(fee + 1n);
      expect(fixture.held(taker.address, USDC)).toBe(BigInt(build.outAmount));
      const read =
        await fixture.service.swap.build({ ...asked(SALE), taker: taker.address, platformFeeBps: 100, feeAccount });
      expect(read.outAmount).toBeLessThan(BigInt(plain.outAmount));
      await refused(fixture, { platformFeeBps: 10_001, feeAccount }, /platformFeeBps/);
    },
  },
  {
    covers: ['build.fee-needs-account', 'error.fee-without-account'],
    says: 'a fee above zero without feeAccount is refused by both sides; a fee of zero needs none',
    async play(fixture) {
      await refused(fixture, { platformFeeBps: 1 }, /feeAccount/);
      expect((await fixture.get(PATH, { ...BUY_SOL, taker: fixture.wallet.address, platformFeeBps: 0 })).status)
        .toBe(200);
    },
  },
  {
    covers: ['build.maxAccounts', 'limit.maxAccounts'],
    says: 'maxAccounts of 1 to 64 bounds the accounts of the swap, 64 where it is left out; 0 and 65 are refused by '
      + 'both sides',
    async play(fixture) {
      const taker = fixture.wallet.address;
      const long = { inputMint: fixture.mint('KELP'), outputMint: fixture.mint('BUOY'), amount: '5000000000', taker };
      const [usual, most] = [await buildOf(fixture, long), await buildOf(fixture, { ...long, maxAccounts: 64 })];
      expect(most.outAmount).toBe(usual.outAmount);
      expect(usual.swapInstruction.accounts.length).toBeLessThanOrEqual(64);
      const tight = await fixture.get(PATH, { ...long, maxAccounts: 5 });
      expect([tight.status, tight.body.error]).toEqual([400, 'No routes found']);
      expect((await fixture.service.swap.build({ ...asked(long), taker, maxAccounts: 64 })).outAmount)
        .toBe(BigInt(usual.outAmount));
      for (const maxAccounts of [0, 65]) await refused(fixture, { maxAccounts }, /maxAccounts/);
    },
  },
  {
    covers: ['build.payer'],
    says: 'a payer pays the rent of the output\'s account; without one the taker does',
    async play(fixture) {
      const taker = await fixture.newWallet({ [SOL]: '5000000', [USDC]: '50000000' });
      const payer = await fixture.newWallet({ [SOL]: '1000000000' });
      const query = { inputMint: USDC, outputMint: fixture.mint('PEARL'), amount: '20000000', taker: taker.address };
      const build = await buildOf(fixture, { ...query, payer: payer.address });
      expect(await played(fixture, build, payer, taker)).toBeNull();
      expect(fixture.held(taker.address, SOL)).toBe(5_000_000n);
      expect(1_000_000_000n - fixture.held(payer.address, SOL)).toBeGreaterThan(2_039_280n);
      const own = await buildOf(fixture, { ...query, outputMint: fixture.mint('KELP') });
      expect(await played(fixture, own, taker)).toBeNull();
      expect(fixture.held(taker.address, SOL)).toBeLessThan(5_000_000n - 2_039_280n);
      await refused(fixture, { payer: '-' }, /payer/);
    },
  },
  {
    covers: ['build.wrapAndUnwrapSol'],
    says: 'SOL is wrapped and unwrapped unless told otherwise; then it comes out as wrapped SOL',
    async play(fixture) {
      const taker = await fixture.newWallet({ [SOL]: '50000000', [USDC]: '100000000' });
      const usual = await buildOf(fixture, { ...BUY_SOL, taker: taker.address });
      const before = fixture.held(taker.address, SOL);
      expect(await played(fixture, usual, taker)).toBeNull();
      expect(fixture.held(taker.address, SOL)).toBeGreaterThan(before + (BigInt(usual.outAmount) * 9n) / 10n);
      const wrapped = await buildOf(fixture, { ...BUY_SOL, taker: taker.address, wrapAndUnwrapSol: false });
      expect(wrapped.cleanupInstruction ?? null).toBeNull();
      expect(await played(fixture, wrapped, taker)).toBeNull();
      const { result } = await fixture.rpc(
        'getTokenAccountsByOwner', [taker.address, { mint: SOL }, { encoding: 'jsonParsed', commitment: 'confirmed' }],
      );
      expect(result.value[0].account.data.parsed.info.tokenAmount.amount).toBe(wrapped.outAmount);
      expect((
        await fixture.service.swap.build({ ...asked(BUY_SOL), taker: taker.address, wrapAndUnwrapSol: false })
      ).cleanupInstruction).toBeUndefined();
      await refused(fixture, { wrapAndUnwrapSol: 'maybe' }, /wrapAndUnwrapSol/);
    },
  },
  {
    covers: ['build.destinationTokenAccount'],
    says: 'the output reaches the token account named',
    async play(fixture) {
      const taker = await fixture.newWallet({ [SOL]: '1000000000' });
      const friend = await fixture.newWallet({ [USDC]: '1' });
      const destinationTokenAccount = (await tokenAccountOf(fixture, friend.address, USDC))!;
      const build = await buildOf(fixture, { ...SALE, taker: taker.address, destinationTokenAccount });
      expect(await played(fixture, build, taker)).toBeNull();
      expect(fixture.held(friend.address, USDC)).toBe(BigInt(build.outAmount) + 1n);
      expect(fixture.held(taker.address, USDC)).toBe(0n);
      expect(
        (await fixture.service.swap.build({ ...asked(SALE), taker: taker.address, destinationTokenAccount })).outAmount,
      ).toBeGreaterThan(0n);
    },
  },
  {
    covers: ['build.one-destination', 'error.two-destinations'],
    says: 'a token destination together with a native one is refused by both sides',
    play: (fixture) =>
      refused(fixture, { destinationTokenAccount: STRANGER, nativeDestinationAccount: STRANGER }, /destination/i),
  },
  {
    covers: ['build.nativeDestinationAccount'],
    says: 'SOL reaches the native destination as SOL, to the lamport; a destination of another output is refused by '
      + 'both sides',
    async play(fixture) {
      const taker = await fixture.newWallet({ [SOL]: '50000000', [USDC]: '100000000' });
      const friend = await fixture.newWallet();
      const build =
        await buildOf(fixture, { ...BUY_SOL, taker: taker.address, nativeDestinationAccount: friend.address });
      expect(await played(fixture, build, taker)).toBeNull();
      expect(fixture.held(friend.address, SOL)).toBe(BigInt(build.outAmount));
      expect((await fixture.service.swap.build(
        { ...asked(BUY_SOL), taker: taker.address, nativeDestinationAccount: friend.address },
      )).outAmount).toBeGreaterThan(0n);
      await refusedByBoth(fixture, {
        theirs: () => fixture.get(PATH, { ...SALE, taker: taker.address, nativeDestinationAccount: friend.address }),
        ours: ({ swap }) =>
          swap.build({ ...asked(SALE), taker: taker.address, nativeDestinationAccount: friend.address }),
        about: /nativeDestinationAccount/,
      });
    },
  },
  {
    covers: ['build.blockhashSlotsToExpiry', 'limit.blockhashSlotsToExpiry-of-build'],
    says: 'a blockhash lives as long as asked, 150 slots where nothing is asked; 0 and 301 are refused by both sides',
    async play(fixture) {
      const taker = await fixture.newWallet({ [SOL]: '1000000000' });
      const left = async (query: Query): Promise<number> => {
        const { blockhashWithMetadata } = await buildOf(fixture, { ...SALE, taker: taker.address, ...query });
        return blockhashWithMetadata.lastValidBlockHeight - fixture.sandbox.chain.blockHeight;
      };
      expect(await left({})).toBe(await left({ blockhashSlotsToExpiry: 150 }));
      for (const slots of [1, 30, 150])
        expect(await left({ blockhashSlotsToExpiry: slots })).toBeLessThanOrEqual(slots);
      expect(await left({ blockhashSlotsToExpiry: 30 })).toBeGreaterThan(20);
      const short = await buildOf(fixture, { ...SALE, taker: taker.address, blockhashSlotsToExpiry: 5 });
      await fixture.passSlots(6);
      const signed = await taker.sign(compose(short, taker.address));
      const late =
        await fixture.rpc('sendTransaction', [signed, { encoding: 'base64', preflightCommitment: 'processed' }]);
      expect(late.error.message).toMatch(/blockhash/i);
      for (const blockhashSlotsToExpiry of [0, 301])
        await refused(fixture, { blockhashSlotsToExpiry }, /blockhashSlotsToExpiry/);
      expect((await fixture.get(PATH, { ...SALE, taker: taker.address, blockhashSlotsToExpiry: 300 })).status)
        .toBe(200);
    },
  },
  {
    covers: ['build.no-service-fee'],
    says: 'without a fee of one\'s own the whole output of the route is the taker\'s',
    async play(fixture) {
      const taker = await fixture.newWallet({ [SOL]: '1000000000' });
      const build = await buildOf(fixture, { ...SALE, taker: taker.address });
      expect(build.outAmount).toBe(build.routePlan.at(-1).swapInfo.outAmount);
      expect(await played(fixture, build, taker)).toBeNull();
      expect(fixture.held(taker.address, USDC)).toBe(BigInt(build.outAmount));
    },
  },
];
