import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { GannetError } from '../../src/core/errors.ts';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import type { ExecutorPorts } from '../../src/execution/ports.ts';
import type { Resolution } from '../../src/execution/operator-resolution.ts';
import { resolveIntent } from '../../src/execution/operator-resolution.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT } from '../../src/market/token.ts';
import type { UnreadableTransaction } from '../../src/trading/attempt.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import { isTerminal } from '../../src/trading/intent.ts';
import type { ExecutionFixture } from './execution-fixture.ts';
import { executionFixtures } from './execution-fixture.ts';
import { bookedWallet } from './ledger.ts';

const startExecutionFixture = executionFixtures();

const MAKERS_SIZE = 900_000_000n as Amount;
const A_LIFE_AND_MORE = 260;

let fixture: ExecutionFixture;
let before: Map<Mint, Amount>;

beforeEach(async () => {
  fixture = await startExecutionFixture({ slotMs: 10, late: 4 });
  before = await fixture.wallet();
});
afterEach(() => fixture.close());

/** Leaves an intent open in the journal, as a process that was killed would: sent or not, and without a report. */
async function leftOpen(intent: Intent, fate: 'landed' | 'lost' | 'failed'): Promise<void> {
  const gone = new Promise<never>(() => undefined);
  const left = Promise.withResolvers<void>();
  const service: ExecutorPorts['service'] = {
    ...fixture.service,
    execute: async (request) => {
      if (fate === 'failed') await fixture.scalePrice(intent.outputMint, 1.05);
      if (fate !== 'lost') await fixture.service.execute(request);
      left.resolve();
      return gone;
    },
  };
  const subscription = createLiveExecutor({ ...fixture, service }).execute(intent).subscribe();
  await left.promise;
  subscription.unsubscribe();
  // The transaction is confirmed a slot later.
  await fixture.passSlots(3);
}

const resolveAs = (intentId: string, word: Resolution, withChain = true): Promise<Outcome> =>
  resolveIntent(
    { chain: withChain ? fixture.chain : undefined, owner: fixture.signer.address, journal: fixture.journal }, intentId,
    word,
  );
const refusal = expect.objectContaining({ name: 'GannetError', code: 'RESOLVE_REFUSED' });
const reason = 'checked it';
const UNREADABLE: UnreadableTransaction =
  { kind: 'unreadable', signature: 'unread', reason: 'the node does not give its version', mayBeOwn: true };

/** What the next start books is what the chain holds. */
async function expectBooked(intent: Intent): Promise<void> {
  expect(fixture.journal.openIntents()).toStrictEqual([]);
  const outcomes = fixture.journal.unsettledOutcomes().map(({ outcome }) => outcome);
  expect(await fixture.wallet()).toStrictEqual(bookedWallet(before, [intent], outcomes));
}

describe('resolving an open intent while no daemon runs', () => {
  it.each([
    ['of our own fee', undefined], ['that a maker paid for', MAKERS_SIZE],
  ])('“landed” books what the chain says of the transaction (%s)', async (_who, size) => {
    const intent = fixture.intent(size === undefined ? {} : { amountIn: size });
    await leftOpen(intent, 'landed');
    const outcome = await resolveAs(intent.id, { as: 'landed', signature: fixture.landed[0]!.signature, reason });
    expect(outcome).toMatchObject({
      state: 'confirmed', code: 'OPERATOR_RESOLVED', reason, signature: fixture.landed[0]!.signature,
      fill: { amountIn: intent.amountIn },
    });
    await expectBooked(intent);
    expect(fixture.journal.listIntents({ limit: 1 })[0])
      .toMatchObject({ state: 'confirmed', attempts: [{ state: 'confirmed' }] });
  });

  it('refuses “landed” for a foreign or missing transaction, and without a chain', async () => {
    const [open, other] = [fixture.intent(), fixture.intent({ amountIn: 21_000_000n as Amount })];
    await leftOpen(open, 'landed');
    await leftOpen(other, 'landed');
    const [, foreign] = fixture.landed;
    const as = 'landed';
    await expect(resolveAs(open.id, { as, signature: foreign!.signature, reason })).rejects.toEqual(refusal);
    await expect(resolveAs(open.id, { as, signature: '5'.repeat(88), reason })).rejects.toThrow();
    await expect(resolveAs(open.id, { as, signature: foreign!.signature, reason }, false))
      .rejects.toThrow(/give an RPC/);
    expect(fixture.journal.openIntents().map(({ intent, state }) => [intent.id, state]))
      .toStrictEqual([[open.id, 'signed'], [other.id, 'signed']]);
  });

  it('books “landed” of a failed transaction as a failure with its fee', async () => {
    const intent = fixture.intent();
    await leftOpen(intent, 'failed');
    const outcome = await resolveAs(intent.id, { as: 'landed', signature: fixture.landed[0]!.signature, reason });
    expect(outcome).toMatchObject({ state: 'failed', code: '6001' });
    await expectBooked(intent);
  });

  it.each(
    ['expired', 'failed', 'abandoned'] as const,
  )('refuses “%s” where the swap landed on the chain', async (as) => {
    for (const intent of [fixture.intent(), fixture.intent({ amountIn: MAKERS_SIZE })]) {
      await leftOpen(intent, 'landed');
      await fixture.passSlots(A_LIFE_AND_MORE);
      await expect(resolveAs(intent.id, { as, reason })).rejects.toThrow(/swapped as/);
    }
    expect(fixture.journal.openIntents()).toHaveLength(2);
  });

  it.each(
    ['expired', 'failed', 'abandoned'] as const,
  )('“%s” is refused while the bytes may still land, and taken once they cannot', async (as) => {
    const intent = fixture.intent();
    await leftOpen(intent, 'lost');
    await expect(resolveAs(intent.id, { as, reason })).rejects.toThrow(/may still land/);
    await fixture.passSlots(A_LIFE_AND_MORE);
    expect(await resolveAs(intent.id, { as, reason })).toMatchObject({ state: as, code: 'OPERATOR_RESOLVED', reason });
    await expectBooked(intent);
    await expect(resolveAs(intent.id, { as, reason })).rejects.toThrow(/no open intent/);
  });

  it('does not take “landed” for a transaction that cannot be read, and names another node as the way', async () => {
    const intent = fixture.intent();
    await leftOpen(intent, 'landed');
    const { signature } = fixture.landed[0]!;
    const chain = { ...fixture.chain, signaturesOf: async () => ({ ...UNREADABLE, signature }) };
    const ports = { chain, owner: fixture.signer.address, journal: fixture.journal };
    await expect(resolveIntent(ports, intent.id, { as: 'landed', signature, reason }))
      .rejects.toThrow(/cannot be read: the node does not give its version; ask a node that gives it, as --rpc-url/);
  });

  it('refuses “expired” for a failure on the chain, whose fee “failed” books', async () => {
    const intent = fixture.intent();
    await leftOpen(intent, 'failed');
    await fixture.passSlots(A_LIFE_AND_MORE);
    await expect(resolveAs(intent.id, { as: 'expired', reason })).rejects.toThrow(/only be resolved as failed/);
    const outcome = await resolveAs(intent.id, { as: 'failed', reason });
    expect(outcome.feeLamports).toBeGreaterThanOrEqual(5_000n);
    await expectBooked(intent);
  });

  it('accepts the operator’s statement where there is no chain to check', async () => {
    const intent = fixture.intent();
    await leftOpen(intent, 'lost');
    expect(await resolveAs(intent.id, { as: 'expired', reason: 'the provider is gone\u001b[2J' }, false))
      .toMatchObject({ state: 'expired', reason: expect.not.stringContaining('\u001b') as string });
    await expectBooked(intent);
  });

  it('allows only “abandoned” for an unsigned attempt', async () => {
    const intent = fixture.intent();
    fixture.journal.intentApproved(intent);
    await expect(resolveAs(intent.id, { as: 'expired', reason })).rejects.toThrow(/only be abandoned/);
    await expect(resolveAs(intent.id, { as: 'landed', signature: '5'.repeat(88), reason }))
      .rejects.toThrow(/nothing was signed/);
    expect(await resolveAs(intent.id, { as: 'abandoned', reason })).toMatchObject({ state: 'abandoned', attempt: 1 });
  });

  it('searches after the expiry, so that a landing in between is found', async () => {
    const intent = fixture.intent();
    await leftOpen(intent, 'landed');
    await fixture.passSlots(A_LIFE_AND_MORE);
    // A node that finds nothing until it has said how far it is.
    let saysHeight = false;
    const lagging: ExecutorPorts['chain'] = {
      ...fixture.chain,
      finalizedBlockHeight: async () => {
        const height = await fixture.chain.finalizedBlockHeight();
        saysHeight = true;
        return height;
      },
      signatureStatus: async (signature, search) =>
        (saysHeight ? fixture.chain.signatureStatus(signature, search) : undefined),
    };
    await expect(resolveIntent(
      { chain: lagging, owner: fixture.signer.address, journal: fixture.journal }, intent.id, { as: 'expired', reason },
    )).rejects.toThrow(/swapped as/);
  });

  it.each(
    ['expired', 'failed', 'abandoned'] as const,
  )('refuses “%s” where the wallet lacks the input, unless the operator knows the reason', async (as) => {
    const intent = fixture.intent();
    await leftOpen(intent, 'landed');
    await fixture.passSlots(A_LIFE_AND_MORE);
    const forgetful: ExecutorPorts['chain'] = { ...fixture.chain, signatureStatus: async () => undefined };
    const say = (word: Resolution): Promise<Outcome> =>
      resolveIntent({ chain: forgetful, owner: fixture.signer.address, journal: fixture.journal }, intent.id, word);
    await expect(say({ as, reason }))
      .rejects.toThrow(/it would have swapped 20000000 of \w+; .* add --despite-balance/);
    expect(fixture.journal.openIntents()).toHaveLength(1);
    expect(await say({ as, reason, despite: 'balance' })).toMatchObject({ state: as });
  });

  it('refuses “expired” while another open swap may explain the balance', async () => {
    const intent = fixture.intent();
    await leftOpen(intent, 'landed');
    await leftOpen(
      fixture.intent({ inputMint: SOL_MINT, outputMint: intent.inputMint, amountIn: 500_000_000n as Amount }), 'landed',
    );
    await fixture.passSlots(A_LIFE_AND_MORE);
    const forgetful: ExecutorPorts['chain'] = { ...fixture.chain, signatureStatus: async () => undefined };
    const heard = resolveIntent(
      { chain: forgetful, owner: fixture.signer.address, journal: fixture.journal }, intent.id,
      { as: 'expired', reason },
    );
    await expect(heard).rejects.toThrow(/may have brought the wallet's/);
  });

  it('refuses “landed” for a failed earlier attempt', async () => {
    const intent = fixture.intent();
    const executor = createLiveExecutor({ ...fixture, mayTryAgain: undefined, service: {
      ...fixture.service,
      execute: async (request) => {
        // The first fails, the second is never sent.
        if (fixture.landed.length > 0) return { status: 'failed', code: -1_000 };
        await fixture.scalePrice(SOL_MINT, 1.02);
        return fixture.service.execute(request);
      },
    } });
    const second = Promise.withResolvers<void>();
    const subscription = executor.execute(intent)
      .subscribe(({ attempt, state }) => { if (attempt === 2 && state === 'submitted') second.resolve(); });
    await second.promise;
    subscription.unsubscribe();
    const [first] = fixture.landed;
    expect(first!.succeeded).toBe(false);
    await expect(resolveAs(intent.id, { as: 'landed', signature: first!.signature, reason }))
      .rejects.toThrow(/attempt 2 is what is open/);
    await fixture.passSlots(A_LIFE_AND_MORE);
    await resolveAs(intent.id, { as: 'expired', reason });
    await expectBooked(intent);
  });

  it('fails where the node does not answer', async () => {
    const intent = fixture.intent();
    await leftOpen(intent, 'lost');
    const away: ExecutorPorts['chain'] =
      {
        ...fixture.chain, signatureStatus: async () => { throw new GannetError('CHAIN_UNREACHABLE', 'no connection'); },
      };
    await expect(resolveIntent(
      { chain: away, owner: fixture.signer.address, journal: fixture.journal }, intent.id, { as: 'expired', reason },
    )).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    expect(fixture.journal.openIntents()).toHaveLength(1);
  });
});

describe('resolving an intent under way', () => {
  it('ends its execution: the outcome is reported once, and nothing more is sent', async () => {
    const intent = fixture.intent();
    let posts = 0;
    const lost: ExecutorPorts['service'] = {
      ...fixture.service,
      execute: async () => {
        posts += 1;
        return { status: 'failed', code: -1_000 };
      },
    };
    // It cannot be proven: the node's height stands still, so only a person can say.
    const chain: ExecutorPorts['chain'] = { ...fixture.chain, tokenBalance: async (owner, mint) => {
      const held = await fixture.chain.tokenBalance(owner, mint);
      return posts === 0 ? held : { ...held, amount: 0n as Amount };
    } };
    const executor = createLiveExecutor({ ...fixture, service: lost, chain });
    const outcomes: Outcome[] = [];
    const done = new Promise<void>((resolve, reject) => { executor.execute(intent)
      .subscribe({ next: (outcome) => { outcomes.push(outcome); }, error: reject, complete: resolve }); });
    await expect.poll(() => outcomes.at(-1)?.state).toBe('submitted');
    await fixture.passSlots(A_LIFE_AND_MORE);
    await expect.poll(() => outcomes.at(-1)?.code).toBe('PROOF_DISAGREES');
    const outcome = await executor.resolve(intent.id, { as: 'expired', reason, despite: 'balance' });
    await done;
    expect(outcome).toBe(outcomes.at(-1));
    expect(outcomes.filter(({ state }) => isTerminal(state))).toStrictEqual([outcome]);
    const sent = posts;
    await fixture.passSlots(20);
    expect(posts).toBe(sent);
    await expect(executor.resolve(intent.id, { as: 'expired', reason })).rejects.toEqual(refusal);
    expect(fixture.journal.openIntents()).toStrictEqual([]);
  });
});
