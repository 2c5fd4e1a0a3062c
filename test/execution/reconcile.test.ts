import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { GannetError } from '../../src/core/errors.ts';
import type { ExecutorPorts } from '../../src/execution/ports.ts';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import type { Mint } from '../../src/market/token.ts';
import type { JournalStore } from '../../src/store/journal.ts';
import { openJournal } from '../../src/store/journal.ts';
import type { Intent, IntentState, Outcome } from '../../src/trading/intent.ts';
import { canTransition, isTerminal } from '../../src/trading/intent.ts';
import type { ExecutionFixture } from './execution-fixture.ts';
import { collect, executionFixtures } from './execution-fixture.ts';
import { bookedWallet } from './ledger.ts';

const startExecutionFixture = executionFixtures();

/** Where a process can be when it is killed, and the state that its journal then shows. */
type Moment = 'approved' | 'building' | 'written down' | 'signed' | 'submitted' | 'unknown';
/** What had become of the bytes by then. */
type Fate = 'not sent' | 'landed';

const MAKERS_SIZE = 900_000_000n as Amount;
const A_LIFE_AND_MORE = 260;
const SWAP_KINDS = [
  ['through the service', { route: 'order' }],
  ['through the RPC', { route: 'build' }],
  ['filled by a maker', { route: 'order', amountIn: MAKERS_SIZE }],
] as const;

let fixture: ExecutionFixture;
let journal: JournalStore;
let before: Map<Mint, Amount>;

beforeEach(async () => {
  fixture = await startExecutionFixture({ slotMs: 10, late: 4 });
  before = await fixture.wallet();
  // The next process has a connection of its own.
  journal = openJournal({ path: fixture.journalPath, clock: fixture.clock });
});
afterEach(async () => {
  journal.close();
  await fixture.close();
});

/** Resolves at the moment from which a process does nothing any more, as if it had been killed there. */
async function killedAt(moment: Moment, fate: Fate, intent: Intent): Promise<void> {
  if (moment === 'approved') {
    fixture.journal.intentApproved(intent);
    return;
  }
  const { chain, service, journal: journalled } = fixture;
  let isGone = false;
  let gone: (() => void) | undefined;
  const end = new Promise<void>((resolve) => { gone = resolve; });
  const kill = (): void => {
    isGone = true;
    gone?.();
  };
  /** A process that is gone gets no answer, and asks nothing. */
  const whileRunning = <T>(ask: () => Promise<T>): Promise<T> => (isGone ? new Promise<T>(() => undefined) : ask());
  const killInstead = <T>(): Promise<T> => {
    kill();
    return new Promise<T>(() => undefined);
  };
  const send = <T>(ask: () => Promise<T>, lost: T): Promise<T> => whileRunning(async () => {
    const answer = fate === 'landed' ? await ask() : lost;
    if (moment === 'signed') return killInstead();
    if (moment === 'unknown') throw new GannetError('SERVICE_TIMEOUT', 'no complete answer within 30000 ms');
    return answer;
  });
  const dying: ExecutorPorts = {
    ...fixture,
    chain: {
      ...chain,
      send: (transaction) =>
        send(() => chain.send(transaction), { kind: 'rejected', code: '-32002', message: 'Blockhash not found' }),
      finalizedBlockHeight: () => whileRunning(() => chain.finalizedBlockHeight()),
      findBySigner: (asked) => whileRunning(() => chain.findBySigner(asked)),
      isBlockhashValid: (blockhash) => whileRunning(() => chain.isBlockhashValid(blockhash)),
      signatureStatus: (signature, options) => whileRunning(() => chain.signatureStatus(signature, options)),
      landedSwap: (asked) => whileRunning(() => chain.landedSwap(asked)),
      tokenBalance: (owner, mint) => whileRunning(() => chain.tokenBalance(owner, mint)),
    },
    service: {
      order: (request) => (moment === 'building' ? killInstead() : service.order(request)),
      build: (request) => (moment === 'building' ? killInstead() : service.build(request)),
      execute: (request) => send(() => service.execute(request), { status: 'failed', code: -1_000 }),
    },
    journal: {
      intentApproved: (approved) => { journalled.intentApproved(approved); },
      attemptSigned: (attempt) => { journalled.attemptSigned(attempt); },
      transition: (outcome) => {
        if (moment === 'written down' && outcome.state === 'signed') {
          kill();
          throw new ProcessGone();
        }
        journalled.transition(outcome);
        if (outcome.state === moment && (moment === 'submitted' || moment === 'unknown')) kill();
      },
      openIntents: () => journalled.openIntents(),
      isSigned: (signature) => journalled.isSigned(signature),
      movesSince: (attempt, mint) => journalled.movesSince(attempt, mint),
      proofOf: (attempt) => journalled.proofOf(attempt),
      keepProof: (attempt, progress) => { journalled.keepProof(attempt, progress); },
    },
  };
  createLiveExecutor(dying).execute(intent)
    .subscribe({ error: (error: unknown) => { expect(error).toBeInstanceOf(ProcessGone); } });
  await end;
}

class ProcessGone extends Error {}

/** Starts the next process: it resolves what the journal shows as open, and then nothing may be open. */
async function recover(parts: Partial<ExecutorPorts> = {}): Promise<Outcome[]> {
  const executor = createLiveExecutor({ ...fixture, ...parts, journal });
  const open = journal.openIntents().map(({ intent, state }) => ({ intent, state }));
  const outcomes = await collect(executor.reconcile(open));
  expect(journal.openIntents()).toStrictEqual([]);
  expect(await collect(executor.reconcile([]))).toStrictEqual([]);
  return outcomes;
}

function expectOneEnd(start: IntentState, outcomes: readonly Outcome[]): void {
  let state = start;
  for (const outcome of outcomes) {
    expect(canTransition(state, outcome.state), `${state} to ${outcome.state}`).toBe(true);
    ({ state } = outcome);
  }
  expect(outcomes.filter((outcome) => isTerminal(outcome.state))).toHaveLength(1);
  expect(isTerminal(state)).toBe(true);
}

/** The wallet's signer, without its hand: a recovery signs nothing. */
const neverSigning = (): ExecutorPorts['signer'] => ({
  address: fixture.signer.address,
  sign: () => { throw new Error('a recovery signs nothing'); },
});

describe.each(SWAP_KINDS)('after a kill, a swap %s', (_name, kind) => {
  it.each(['approved', 'building'] as const)('that was %s is abandoned, since nothing was signed', async (moment) => {
    const intent = fixture.intent(kind);
    await killedAt(moment, 'not sent', intent);
    const outcomes = await recover({ signer: neverSigning() });
    expectOneEnd(moment, outcomes);
    expect(outcomes).toMatchObject([{ intentId: intent.id, state: 'abandoned', code: 'RESTARTED' }]);
    expect(fixture.landed).toStrictEqual([]);
    expect(await fixture.wallet()).toStrictEqual(before);
  });

  it.each([
    ['written down', 'not sent'], ['signed', 'not sent'], ['signed', 'landed'], ['submitted', 'not sent'],
    ['submitted', 'landed'], ['unknown', 'not sent'], ['unknown', 'landed'],
  ] as const)('that was %s and %s is brought to an end by the same bytes, and lands once', async (moment, fate) => {
    const intent = fixture.intent(kind);
    await killedAt(moment, fate, intent);
    expect(fixture.landed).toHaveLength(fate === 'landed' ? 1 : 0);
    const [open] = journal.openIntents();
    expect(open!.state).toBe(moment === 'written down' ? 'building' : moment);
    const outcomes = await recover({ signer: neverSigning() });
    expectOneEnd(open!.state, outcomes);
    expect(outcomes.at(-1)).toMatchObject({ intentId: intent.id, state: 'confirmed' });
    expect(fixture.landed).toStrictEqual([{ signature: outcomes.at(-1)!.signature, succeeded: true }]);
    expect(await fixture.wallet()).toStrictEqual(bookedWallet(before, [intent], outcomes));
  });

  it.each(
    ['written down', 'signed', 'submitted', 'unknown'] as const,
  )('that was %s, and was never sent, has expired once its time is over', async (moment) => {
    const intent = fixture.intent(kind);
    await killedAt(moment, 'not sent', intent);
    await fixture.passSlots(A_LIFE_AND_MORE);
    const outcomes = await recover({ signer: neverSigning() });
    expect(outcomes.at(-1)).toMatchObject({ intentId: intent.id, state: 'expired' });
    expect(fixture.landed).toStrictEqual([]);
    expect(await fixture.wallet()).toStrictEqual(before);
  });

  it.each(
    ['signed', 'unknown'] as const,
  )('that was %s, and had landed, is found though its time is over', async (moment) => {
    const intent = fixture.intent(kind);
    await killedAt(moment, 'landed', intent);
    await fixture.passSlots(A_LIFE_AND_MORE);
    const outcomes = await recover({ signer: neverSigning() });
    expect(outcomes.at(-1)).toMatchObject({ state: 'confirmed', signature: fixture.landed[0]!.signature });
    expect(fixture.landed).toHaveLength(1);
    expect(await fixture.wallet()).toStrictEqual(bookedWallet(before, [intent], outcomes));
  });
});

const unanswered = (): Promise<never> => new Promise(() => undefined);

describe('a recovery', () => {
  it('resolves all open intents, each on its own', async () => {
    const intents = SWAP_KINDS.map(([, kind]) => fixture.intent(kind));
    for (const intent of intents) await killedAt('written down', 'not sent', intent);
    const outcomes = await recover();
    for (const intent of intents) {
      expect(outcomes.filter((outcome) => outcome.intentId === intent.id && isTerminal(outcome.state))
        .map(({ state }) => state))
        .toStrictEqual(['confirmed']);
    }
    expect(fixture.landed).toHaveLength(intents.length);
    expect(await fixture.wallet()).toStrictEqual(bookedWallet(before, intents, outcomes));
  });

  it('may be killed itself, and the next one continues', async () => {
    const intent = fixture.intent();
    await killedAt('signed', 'not sent', intent);
    for (let kill = 0; kill < 3; kill++) {
      const [open] = fixture.journal.openIntents();
      createLiveExecutor({
        ...fixture, service: { ...fixture.service, execute: unanswered },
        chain: { ...fixture.chain, findBySigner: unanswered, signatureStatus: unanswered },
      }).reconcile([open!]).subscribe();
    }
    const outcomes = await recover();
    expect(outcomes.at(-1)!.state).toBe('confirmed');
    expect(fixture.landed).toHaveLength(1);
  });

  it('waits for an unreachable node, and reports the outcome as unknown', async () => {
    const intent = fixture.intent({ route: 'build' });
    await killedAt('signed', 'landed', intent);
    let asked = 0;
    const chain: ExecutorPorts['chain'] = {
      ...fixture.chain,
      send: (transaction) => {
        asked += 1;
        if (asked === 1) throw new GannetError('CHAIN_UNREACHABLE', 'no connection to the node');
        return fixture.chain.send(transaction);
      },
    };
    const outcomes = await recover({ chain });
    expect(outcomes.map(({ state }) => state)).toEqual(expect.arrayContaining(['unknown', 'confirmed']));
    expect(fixture.landed).toHaveLength(1);
  });
});
