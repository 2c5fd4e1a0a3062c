import { expect } from 'vitest';
import type { BuildRequest } from '../../../../src/service/endpoints/swap-v2.ts';
import type { Case } from '../case.ts';
import { compose, sent } from '../compose.ts';
import { asked, buildOf, BUY_SOL, labelsOf, refusedByBoth, refusedByOurs, STRANGER } from '../scenes.ts';
import { tokenAccountOf } from '../transactions.ts';
import type { Answer, Query, Wallet, World } from '../world.ts';
import { SOL, USDC } from '../world.ts';

const PATH = '/swap/v2/build';
const SALE = { inputMint: SOL, outputMint: USDC, amount: '100000000' } as const;

/** Expects both sides to refuse a request that differs from a good one in what is given; lists are given as lists. */
function refused(
  world: World, change: Readonly<Record<string, string | number | readonly string[]>>, about: RegExp,
): Promise<void> {
  const taker = world.wallet.address;
  const wire = Object.fromEntries(Object.entries(change).map(([name, value]) =>
    [name, typeof value === 'object' ? value.join(',') : value]));
  return refusedByBoth(world, {
    theirs: () => world.get(PATH, { ...BUY_SOL, taker, ...wire }),
    ours: ({ swap }) => swap.build({ ...asked(BUY_SOL), taker, ...change }),
    about,
  });
}

/** Expects both sides to miss a parameter. */
function missed(world: World, name: 'inputMint' | 'outputMint' | 'amount' | 'taker'): Promise<void> {
  const { [name]: _theirs, ...query } = { ...BUY_SOL, taker: world.wallet.address };
  const { [name]: _ours, ...request } = { ...asked(BUY_SOL), taker: world.wallet.address };
  return refusedByBoth(world, {
    theirs: () => world.get(PATH, query), ours: ({ swap }) => swap.build(request as BuildRequest),
    about: new RegExp(name),
  });
}

/** Composes a build, lands it and returns what the chain says. */
async function played(
  world: World, build: Answer['body'], payer: Wallet, ...others: readonly Wallet[]
): Promise<unknown> {
  return sent(world, compose(build, payer.address), payer, ...others);
}

/** Returns the price of a compute unit that a build sets. */
const unitPrice = (build: Answer['body']): number =>
  Number(Buffer.from(build.computeBudgetInstructions[0].data, 'base64').readBigUInt64LE(1));

export const buildCases: readonly Case[] = [
  {
    covers: ['build./swap/v2/build', 'purpose.build-composes', 'version.build-is-one-call', 'version.v2-instructions'],
    says: '/build answers 200 with a quote and instructions that land as a transaction of one\'s own',
    async play(world) {
      const taker = await world.newWallet({ [SOL]: '1000000000' });
      const answer = await world.get(PATH, { ...SALE, taker: taker.address });
      expect(answer.status).toBe(200);
      expect(await played(world, answer.body, taker)).toBeNull();
      expect(world.held(taker.address, USDC)).toBe(BigInt(answer.body.outAmount));
    },
  },
  {
    covers: ['build.exact-in-only', 'version.migration-swapMode'],
    says: 'a build is ExactIn; our client says so to whoever asks for a swapMode',
    async play(world) {
      const taker = world.wallet.address;
      expect((await buildOf(world, { ...SALE, taker })).swapMode).toBe('ExactIn');
      await refusedByOurs(
        world, ({ swap }) => swap.build({ ...asked(SALE), taker, swapMode: 'ExactOut' } as BuildRequest), /swapMode/,
      );
    },
  },
  ...(['inputMint', 'outputMint', 'amount', 'taker'] as const).map((name): Case => ({
    covers: [`build.${name}`, ...(name === 'taker' ? ['version.migration-taker'] : [])],
    says: `a build without ${name}, or with one that makes no sense, is refused by both sides`,
    async play(world) {
      await missed(world, name);
      const build = await buildOf(world, { ...BUY_SOL, taker: world.wallet.address });
      expect([build.inputMint, build.outputMint, build.inAmount]).toEqual([USDC, SOL, BUY_SOL.amount]);
      expect(build.swapInstruction.accounts.filter(({ isSigner }: { isSigner: boolean }) => isSigner)
        .map(({ pubkey }: { pubkey: string }) => pubkey))
        .toEqual([world.wallet.address]);
      expect((await world.get(PATH, { ...BUY_SOL, taker: world.wallet.address, [name]: '?' })).status).toBe(400);
    },
  })),
  {
    covers: ['build.slippageBps', 'limit.slippageBps', 'limit.slippageBps-default'],
    says: 'slippage of a build is 0 to 10000 whole basis points, 50 where none is given',
    async play(world) {
      const taker = world.wallet.address;
      const usual = await buildOf(world, { ...BUY_SOL, taker });
      expect(usual.slippageBps).toBe(50);
      expect(BigInt(usual.otherAmountThreshold)).toBe((BigInt(usual.outAmount) * 9_950n) / 10_000n);
      expect((await world.service.swap.build({ ...asked(BUY_SOL), taker })).slippageBps).toBe(50);
      for (const slippageBps of [0, 10_000])
        expect((await buildOf(world, { ...BUY_SOL, taker, slippageBps })).slippageBps).toBe(slippageBps);
      for (const slippageBps of [-1, 10_001, 0.5]) await refused(world, { slippageBps }, /slippageBps/);
    },
  },
  {
    covers: ['build.mode', 'version.migration-new'],
    says: 'mode is fast or left out: a dearer compute unit, a route that is no longer and no better; another word is refused by both sides',
    async play(world) {
      const taker = world.wallet.address;
      const long = { inputMint: world.mint('KELP'), outputMint: world.mint('BUOY'), amount: '5000000000', taker };
      const [usual, fast] = [await buildOf(world, long), await buildOf(world, { ...long, mode: 'fast' })];
      expect(unitPrice(fast)).toBeGreaterThan(unitPrice(usual) * 1.5);
      expect(fast.routePlan.length).toBeLessThanOrEqual(usual.routePlan.length);
      expect(BigInt(fast.outAmount)).toBeLessThanOrEqual(BigInt(usual.outAmount));
      expect((await world.service.swap.build({ ...asked(long), taker, mode: 'fast' })).outAmount)
        .toBe(BigInt(fast.outAmount));
      await refused(world, { mode: 'slow' }, /mode/);
    },
  },
  {
    covers: ['build.dexes'],
    says: 'dexes are the only markets of the route; a label that nobody has leaves none',
    async play(world) {
      const taker = world.wallet.address;
      for (const label of ['Tidepool', 'Lagoon']) {
        expect(new Set(labelsOf(await buildOf(world, { ...BUY_SOL, taker, dexes: label })))).toEqual(new Set([label]));
        const { routePlan } = await world.service.swap.build({ ...asked(BUY_SOL), taker, dexes: [label] });
        expect(new Set(routePlan?.map(({ swapInfo }) => swapInfo.label))).toEqual(new Set([label]));
      }
      const none = await world.get(PATH, { ...BUY_SOL, taker, dexes: 'lagoon' });
      expect([none.status, none.body.error]).toEqual([400, 'No routes found']);
    },
  },
  {
    covers: ['build.dexes-or-exclude-dexes', 'error.dexes-with-exclude-dexes'],
    says: 'dexes together with excludeDexes are refused by both sides',
    play: (world) => refused(world, { dexes: ['Lagoon'], excludeDexes: ['Tidepool'] }, /dexes/i),
  },
  {
    covers: ['build.excludeDexes'],
    says: 'the route keeps away from excluded markets',
    async play(world) {
      const taker = world.wallet.address;
      const [usual = ''] = labelsOf(await buildOf(world, { ...BUY_SOL, taker }));
      expect(labelsOf(await buildOf(world, { ...BUY_SOL, taker, excludeDexes: usual }))).not.toContain(usual);
      expect((await world.service.swap.build({ ...asked(BUY_SOL), taker, excludeDexes: [usual] })).outAmount)
        .toBeGreaterThan(0n);
    },
  },
  {
    covers: ['build.platformFeeBps', 'build.feeAccount', 'limit.platformFeeBps'],
    says: 'a platform fee reaches the fee account on the chain; 10001 basis points are refused by both sides',
    async play(world) {
      const taker = await world.newWallet({ [SOL]: '1000000000' });
      const platform = await world.newWallet({ [USDC]: '1' });
      const feeAccount = (await tokenAccountOf(world, platform.address, USDC))!;
      const plain = await buildOf(world, { ...SALE, taker: taker.address });
      const build = await buildOf(world, { ...SALE, taker: taker.address, platformFeeBps: 100, feeAccount });
      const fee = BigInt(plain.outAmount) / 100n;
      expect(BigInt(build.outAmount)).toBe(BigInt(plain.outAmount) - fee);
      expect(await played(world, build, taker)).toBeNull();
      expect(world.held(platform.address, USDC)).toBe(fee + 1n);
      expect(world.held(taker.address, USDC)).toBe(BigInt(build.outAmount));
      const read =
        await world.service.swap.build({ ...asked(SALE), taker: taker.address, platformFeeBps: 100, feeAccount });
      expect(read.outAmount).toBeLessThan(BigInt(plain.outAmount));
      await refused(world, { platformFeeBps: 10_001, feeAccount }, /platformFeeBps/);
    },
  },
  {
    covers: ['build.fee-needs-account', 'error.fee-without-account'],
    says: 'a fee above zero without feeAccount is refused by both sides; a fee of zero needs none',
    async play(world) {
      await refused(world, { platformFeeBps: 1 }, /feeAccount/);
      expect((await world.get(PATH, { ...BUY_SOL, taker: world.wallet.address, platformFeeBps: 0 })).status).toBe(200);
    },
  },
  {
    covers: ['build.maxAccounts', 'limit.maxAccounts'],
    says: 'maxAccounts of 1 to 64 bounds the accounts of the swap, 64 where it is left out; 0 and 65 are refused by both sides',
    async play(world) {
      const taker = world.wallet.address;
      const long = { inputMint: world.mint('KELP'), outputMint: world.mint('BUOY'), amount: '5000000000', taker };
      const [usual, most] = [await buildOf(world, long), await buildOf(world, { ...long, maxAccounts: 64 })];
      expect(most.outAmount).toBe(usual.outAmount);
      expect(usual.swapInstruction.accounts.length).toBeLessThanOrEqual(64);
      const tight = await world.get(PATH, { ...long, maxAccounts: 5 });
      expect([tight.status, tight.body.error]).toEqual([400, 'No routes found']);
      expect((await world.service.swap.build({ ...asked(long), taker, maxAccounts: 64 })).outAmount)
        .toBe(BigInt(usual.outAmount));
      for (const maxAccounts of [0, 65]) await refused(world, { maxAccounts }, /maxAccounts/);
    },
  },
  {
    covers: ['build.payer'],
    says: 'a payer pays the rent of the output\'s account; without one the taker does',
    async play(world) {
      const taker = await world.newWallet({ [SOL]: '5000000', [USDC]: '50000000' });
      const payer = await world.newWallet({ [SOL]: '1000000000' });
      const query = { inputMint: USDC, outputMint: world.mint('PEARL'), amount: '20000000', taker: taker.address };
      const build = await buildOf(world, { ...query, payer: payer.address });
      expect(await played(world, build, payer, taker)).toBeNull();
      expect(world.held(taker.address, SOL)).toBe(5_000_000n);
      expect(1_000_000_000n - world.held(payer.address, SOL)).toBeGreaterThan(2_039_280n);
      const own = await buildOf(world, { ...query, outputMint: world.mint('KELP') });
      expect(await played(world, own, taker)).toBeNull();
      expect(world.held(taker.address, SOL)).toBeLessThan(5_000_000n - 2_039_280n);
      await refused(world, { payer: '-' }, /payer/);
    },
  },
  {
    covers: ['build.wrapAndUnwrapSol'],
    says: 'SOL is wrapped and unwrapped unless told otherwise; then it comes out as wrapped SOL',
    async play(world) {
      const taker = await world.newWallet({ [SOL]: '50000000', [USDC]: '100000000' });
      const usual = await buildOf(world, { ...BUY_SOL, taker: taker.address });
      const before = world.held(taker.address, SOL);
      expect(await played(world, usual, taker)).toBeNull();
      expect(world.held(taker.address, SOL)).toBeGreaterThan(before + (BigInt(usual.outAmount) * 9n) / 10n);
      const wrapped = await buildOf(world, { ...BUY_SOL, taker: taker.address, wrapAndUnwrapSol: false });
      expect(wrapped.cleanupInstruction ?? null).toBeNull();
      expect(await played(world, wrapped, taker)).toBeNull();
      const { result } = await world.rpc(
        'getTokenAccountsByOwner', [taker.address, { mint: SOL }, { encoding: 'jsonParsed', commitment: 'confirmed' }],
      );
      expect(result.value[0].account.data.parsed.info.tokenAmount.amount).toBe(wrapped.outAmount);
      expect((
        await world.service.swap.build({ ...asked(BUY_SOL), taker: taker.address, wrapAndUnwrapSol: false })
      ).cleanupInstruction).toBeUndefined();
      await refused(world, { wrapAndUnwrapSol: 'maybe' }, /wrapAndUnwrapSol/);
    },
  },
  {
    covers: ['build.destinationTokenAccount'],
    says: 'the output reaches the token account named',
    async play(world) {
      const taker = await world.newWallet({ [SOL]: '1000000000' });
      const friend = await world.newWallet({ [USDC]: '1' });
      const destinationTokenAccount = (await tokenAccountOf(world, friend.address, USDC))!;
      const build = await buildOf(world, { ...SALE, taker: taker.address, destinationTokenAccount });
      expect(await played(world, build, taker)).toBeNull();
      expect(world.held(friend.address, USDC)).toBe(BigInt(build.outAmount) + 1n);
      expect(world.held(taker.address, USDC)).toBe(0n);
      expect(
        (await world.service.swap.build({ ...asked(SALE), taker: taker.address, destinationTokenAccount })).outAmount,
      ).toBeGreaterThan(0n);
    },
  },
  {
    covers: ['build.one-destination', 'error.two-destinations'],
    says: 'a token destination together with a native one is refused by both sides',
    play: (world) =>
      refused(world, { destinationTokenAccount: STRANGER, nativeDestinationAccount: STRANGER }, /destination/i),
  },
  {
    covers: ['build.nativeDestinationAccount'],
    says: 'SOL reaches the native destination as SOL, to the lamport; a destination of another output is refused by both sides',
    async play(world) {
      const taker = await world.newWallet({ [SOL]: '50000000', [USDC]: '100000000' });
      const friend = await world.newWallet();
      const build =
        await buildOf(world, { ...BUY_SOL, taker: taker.address, nativeDestinationAccount: friend.address });
      expect(await played(world, build, taker)).toBeNull();
      expect(world.held(friend.address, SOL)).toBe(BigInt(build.outAmount));
      expect((await world.service.swap.build(
        { ...asked(BUY_SOL), taker: taker.address, nativeDestinationAccount: friend.address },
      )).outAmount).toBeGreaterThan(0n);
      await refusedByBoth(world, {
        theirs: () => world.get(PATH, { ...SALE, taker: taker.address, nativeDestinationAccount: friend.address }),
        ours: ({ swap }) =>
          swap.build({ ...asked(SALE), taker: taker.address, nativeDestinationAccount: friend.address }),
        about: /nativeDestinationAccount/,
      });
    },
  },
  {
    covers: ['build.blockhashSlotsToExpiry', 'limit.blockhashSlotsToExpiry-of-build'],
    says: 'a blockhash lives as long as asked, 150 slots where nothing is asked; 0 and 301 are refused by both sides',
    async play(world) {
      const taker = await world.newWallet({ [SOL]: '1000000000' });
      const left = async (query: Query): Promise<number> => {
        const { blockhashWithMetadata } = await buildOf(world, { ...SALE, taker: taker.address, ...query });
        return blockhashWithMetadata.lastValidBlockHeight - world.sandbox.chain.blockHeight;
      };
      expect(await left({})).toBe(await left({ blockhashSlotsToExpiry: 150 }));
      for (const slots of [1, 30, 150])
        expect(await left({ blockhashSlotsToExpiry: slots })).toBeLessThanOrEqual(slots);
      expect(await left({ blockhashSlotsToExpiry: 30 })).toBeGreaterThan(20);
      const short = await buildOf(world, { ...SALE, taker: taker.address, blockhashSlotsToExpiry: 5 });
      await world.passSlots(6);
      const signed = await taker.sign(compose(short, taker.address));
      const late =
        await world.rpc('sendTransaction', [signed, { encoding: 'base64', preflightCommitment: 'processed' }]);
      expect(late.error.message).toMatch(/blockhash/i);
      for (const blockhashSlotsToExpiry of [0, 301])
        await refused(world, { blockhashSlotsToExpiry }, /blockhashSlotsToExpiry/);
      expect((await world.get(PATH, { ...SALE, taker: taker.address, blockhashSlotsToExpiry: 300 })).status).toBe(200);
    },
  },
  {
    covers: ['build.no-service-fee'],
    says: 'without a fee of one\'s own the whole output of the route is the taker\'s',
    async play(world) {
      const taker = await world.newWallet({ [SOL]: '1000000000' });
      const build = await buildOf(world, { ...SALE, taker: taker.address });
      expect(build.outAmount).toBe(build.routePlan.at(-1).swapInfo.outAmount);
      expect(await played(world, build, taker)).toBeNull();
      expect(world.held(taker.address, USDC)).toBe(BigInt(build.outAmount));
    },
  },
];
