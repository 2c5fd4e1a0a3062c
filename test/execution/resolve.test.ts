import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { GannetError } from '../../src/core/errors.ts';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import type { LiveWorld } from '../../src/execution/journey.ts';
import type { OperatorWord } from '../../src/execution/resolve.ts';
import { resolveIntent } from '../../src/execution/resolve.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT } from '../../src/market/token.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import { isTerminal } from '../../src/trading/intent.ts';
import type { ExecutionWorld } from './execution-world.ts';
import { executionWorlds } from './execution-world.ts';
import { bookedWallet } from './ledger.ts';

const startExecutionWorld = executionWorlds();

const MAKERS_SIZE = 900_000_000n as Amount;
const A_LIFE_AND_MORE = 260;

let world: ExecutionWorld;
let before: Map<Mint, Amount>;

beforeEach(async () => {
  world = await startExecutionWorld({ slotMs: 10, late: 4 });
  before = await world.wallet();
});
afterEach(() => world.close());

/** Leaves an intent open in the journal, as a process that was killed would: sent or not, and of which nobody heard. */
async function leftOpen(intent: Intent, fate: 'landed' | 'lost' | 'failed'): Promise<void> {
  const gone = new Promise<never>(() => undefined);
  const left = Promise.withResolvers<void>();
  const service: LiveWorld['service'] = {
    ...world.service,
    execute: async (request) => {
      if (fate === 'failed') await world.scalePrice(intent.outputMint, 1.05);
      if (fate !== 'lost') await world.service.execute(request);
      left.resolve();
      return gone;
    },
  };
  const journey = createLiveExecutor({ ...world, service }).execute(intent).subscribe();
  await left.promise;
  journey.unsubscribe();
  // The transaction is confirmed a slot later.
  await world.passSlots(3);
}

const heed = (intentId: string, word: OperatorWord, withChain = true): Promise<Outcome> =>
  resolveIntent(
    { chain: withChain ? world.chain : undefined, owner: world.signer.address, journal: world.journal }, intentId, word,
  );
const refusal = expect.objectContaining({ name: 'GannetError', code: 'RESOLVE_REFUSED' });
const reason = 'looked it up';

/** What the next start books is what the chain holds. */
async function expectBooked(intent: Intent): Promise<void> {
  expect(world.journal.openIntents()).toStrictEqual([]);
  const outcomes = world.journal.unsettledOutcomes().map(({ outcome }) => outcome);
  expect(await world.wallet()).toStrictEqual(bookedWallet(before, [intent], outcomes));
}

describe('an operator’s word on an intent that is open while no daemon runs', () => {
  it.each([
    ['of our own fee', undefined], ['that a maker paid for', MAKERS_SIZE],
  ])('“landed” books what the chain says of the transaction (%s)', async (_who, size) => {
    const intent = world.intent(size === undefined ? {} : { amountIn: size });
    await leftOpen(intent, 'landed');
    const outcome = await heed(intent.id, { as: 'landed', signature: world.landed[0]!.signature, reason });
    expect(outcome).toMatchObject({
      state: 'confirmed', code: 'OPERATOR_RESOLVED', reason, signature: world.landed[0]!.signature,
      fill: { amountIn: intent.amountIn },
    });
    await expectBooked(intent);
    expect(world.journal.listIntents({ limit: 1 })[0])
      .toMatchObject({ state: 'confirmed', attempts: [{ state: 'confirmed' }] });
  });

  it('“landed” is refused for a transaction that is another’s, that the chain does not have, and without a chain', async () => {
    const [open, other] = [world.intent(), world.intent({ amountIn: 21_000_000n as Amount })];
    await leftOpen(open, 'landed');
    await leftOpen(other, 'landed');
    const [, foreign] = world.landed;
    const as = 'landed';
    await expect(heed(open.id, { as, signature: foreign!.signature, reason })).rejects.toEqual(refusal);
    await expect(heed(open.id, { as, signature: '5'.repeat(88), reason })).rejects.toThrow();
    await expect(heed(open.id, { as, signature: foreign!.signature, reason }, false)).rejects.toThrow(/give an RPC/);
    expect(world.journal.openIntents().map(({ intent, state }) => [intent.id, state]))
      .toStrictEqual([[open.id, 'signed'], [other.id, 'signed']]);
  });

  it('“landed” of a transaction that failed is a failure with its fee', async () => {
    const intent = world.intent();
    await leftOpen(intent, 'failed');
    const outcome = await heed(intent.id, { as: 'landed', signature: world.landed[0]!.signature, reason });
    expect(outcome).toMatchObject({ state: 'failed', code: '6001' });
    await expectBooked(intent);
  });

  it.each(['expired', 'failed', 'abandoned'] as const)('“%s” is refused where the chain has it landed', async (as) => {
    for (const intent of [world.intent(), world.intent({ amountIn: MAKERS_SIZE })]) {
      await leftOpen(intent, 'landed');
      await world.passSlots(A_LIFE_AND_MORE);
      await expect(heed(intent.id, { as, reason })).rejects.toThrow(/swapped as/);
    }
    expect(world.journal.openIntents()).toHaveLength(2);
  });

  it.each(
    ['expired', 'failed', 'abandoned'] as const,
  )('“%s” is refused while the bytes may still land, and taken once they cannot', async (as) => {
    const intent = world.intent();
    await leftOpen(intent, 'lost');
    await expect(heed(intent.id, { as, reason })).rejects.toThrow(/may still land/);
    await world.passSlots(A_LIFE_AND_MORE);
    expect(await heed(intent.id, { as, reason })).toMatchObject({ state: as, code: 'OPERATOR_RESOLVED', reason });
    await expectBooked(intent);
    await expect(heed(intent.id, { as, reason })).rejects.toThrow(/no open intent/);
  });

  it('“expired” is refused of what failed on the chain, “failed” books its fee', async () => {
    const intent = world.intent();
    await leftOpen(intent, 'failed');
    await world.passSlots(A_LIFE_AND_MORE);
    await expect(heed(intent.id, { as: 'expired', reason })).rejects.toThrow(/only be resolved as failed/);
    const outcome = await heed(intent.id, { as: 'failed', reason });
    expect(outcome.feeLamports).toBeGreaterThanOrEqual(5_000n);
    await expectBooked(intent);
  });

  it('is all there is where no chain can be asked', async () => {
    const intent = world.intent();
    await leftOpen(intent, 'lost');
    expect(await heed(intent.id, { as: 'expired', reason: 'the provider is gone\u001b[2J' }, false))
      .toMatchObject({ state: 'expired', reason: expect.not.stringContaining('\u001b') as string });
    await expectBooked(intent);
  });

  it('of which nothing is signed can only be abandoned', async () => {
    const intent = world.intent();
    world.journal.intentApproved(intent);
    await expect(heed(intent.id, { as: 'expired', reason })).rejects.toThrow(/only be abandoned/);
    await expect(heed(intent.id, { as: 'landed', signature: '5'.repeat(88), reason }))
      .rejects.toThrow(/nothing was signed/);
    expect(await heed(intent.id, { as: 'abandoned', reason })).toMatchObject({ state: 'abandoned', attempt: 1 });
  });

  it('is held against a look that comes after the end of its life: what landed in between is found', async () => {
    const intent = world.intent();
    await leftOpen(intent, 'landed');
    await world.passSlots(A_LIFE_AND_MORE);
    // A node that finds nothing until it has said how far it is.
    let saysHeight = false;
    const lagging: LiveWorld['chain'] = {
      ...world.chain,
      finalizedBlockHeight: async () => {
        const height = await world.chain.finalizedBlockHeight();
        saysHeight = true;
        return height;
      },
      signatureStatus: async (signature, search) =>
        (saysHeight ? world.chain.signatureStatus(signature, search) : undefined),
    };
    await expect(resolveIntent(
      { chain: lagging, owner: world.signer.address, journal: world.journal }, intent.id, { as: 'expired', reason },
    )).rejects.toThrow(/swapped as/);
  });

  it.each(
    ['expired', 'failed', 'abandoned'] as const,
  )('“%s” is refused where no node finds it but the wallet lacks what it would have swapped, unless the operator knows where that went', async (as) => {
    const intent = world.intent();
    await leftOpen(intent, 'landed');
    await world.passSlots(A_LIFE_AND_MORE);
    const forgetful: LiveWorld['chain'] = { ...world.chain, signatureStatus: async () => undefined };
    const say = (word: OperatorWord): Promise<Outcome> =>
      resolveIntent({ chain: forgetful, owner: world.signer.address, journal: world.journal }, intent.id, word);
    await expect(say({ as, reason }))
      .rejects.toThrow(/it would have swapped 20000000 of \w+; .* say so with --despite-balance/);
    expect(world.journal.openIntents()).toHaveLength(1);
    expect(await say({ as, reason, despite: 'balance' })).toMatchObject({ state: as });
  });

  it('“expired” is refused while another swap under way may have brought what the wallet has', async () => {
    const intent = world.intent();
    await leftOpen(intent, 'landed');
    await leftOpen(
      world.intent({ inputMint: SOL_MINT, outputMint: intent.inputMint, amountIn: 500_000_000n as Amount }), 'landed',
    );
    await world.passSlots(A_LIFE_AND_MORE);
    const forgetful: LiveWorld['chain'] = { ...world.chain, signatureStatus: async () => undefined };
    const heard = resolveIntent(
      { chain: forgetful, owner: world.signer.address, journal: world.journal }, intent.id, { as: 'expired', reason },
    );
    await expect(heard).rejects.toThrow(/may have brought what the wallet has/);
  });

  it('“landed” of an attempt that failed and was followed by another says nothing of the intent', async () => {
    const intent = world.intent();
    const executor = createLiveExecutor({ ...world, mayTryAgain: undefined, service: {
      ...world.service,
      execute: async (request) => {
        // The first fails, the second is never sent.
        if (world.landed.length > 0) return { status: 'failed', code: -1_000 };
        await world.scalePrice(SOL_MINT, 1.02);
        return world.service.execute(request);
      },
    } });
    const second = Promise.withResolvers<void>();
    const journey = executor.execute(intent)
      .subscribe(({ attempt, state }) => { if (attempt === 2 && state === 'submitted') second.resolve(); });
    await second.promise;
    journey.unsubscribe();
    const [first] = world.landed;
    expect(first!.succeeded).toBe(false);
    await expect(heed(intent.id, { as: 'landed', signature: first!.signature, reason }))
      .rejects.toThrow(/attempt 2 is what is open/);
    await world.passSlots(A_LIFE_AND_MORE);
    await heed(intent.id, { as: 'expired', reason });
    await expectBooked(intent);
  });

  it('is not taken where the node does not answer', async () => {
    const intent = world.intent();
    await leftOpen(intent, 'lost');
    const away: LiveWorld['chain'] =
      { ...world.chain, signatureStatus: async () => { throw new GannetError('CHAIN_UNREACHABLE', 'no connection'); } };
    await expect(resolveIntent(
      { chain: away, owner: world.signer.address, journal: world.journal }, intent.id, { as: 'expired', reason },
    )).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    expect(world.journal.openIntents()).toHaveLength(1);
  });
});

describe('an operator’s word on an intent under way', () => {
  it('ends its journey: what comes of it is told once, and nothing is sent any more', async () => {
    const intent = world.intent();
    let posts = 0;
    const lost: LiveWorld['service'] = {
      ...world.service,
      execute: async () => {
        posts += 1;
        return { status: 'failed', code: -1_000 };
      },
    };
    // Nobody can prove it: the node's height stands still, so only a person can say.
    const chain: LiveWorld['chain'] = { ...world.chain, tokenBalance: async (owner, mint) => {
      const held = await world.chain.tokenBalance(owner, mint);
      return posts === 0 ? held : { ...held, amount: 0n as Amount };
    } };
    const executor = createLiveExecutor({ ...world, service: lost, chain });
    const outcomes: Outcome[] = [];
    const done = new Promise<void>((resolve, reject) => { executor.execute(intent)
      .subscribe({ next: (outcome) => { outcomes.push(outcome); }, error: reject, complete: resolve }); });
    await expect.poll(() => outcomes.at(-1)?.state).toBe('submitted');
    await world.passSlots(A_LIFE_AND_MORE);
    await expect.poll(() => outcomes.at(-1)?.code).toBe('PROOF_DISAGREES');
    const outcome = await executor.resolve(intent.id, { as: 'expired', reason, despite: 'balance' });
    await done;
    expect(outcome).toBe(outcomes.at(-1));
    expect(outcomes.filter(({ state }) => isTerminal(state))).toStrictEqual([outcome]);
    const sent = posts;
    await world.passSlots(20);
    expect(posts).toBe(sent);
    await expect(executor.resolve(intent.id, { as: 'expired', reason })).rejects.toEqual(refusal);
    expect(world.journal.openIntents()).toStrictEqual([]);
  });
});
