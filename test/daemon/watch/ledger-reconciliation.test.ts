import { Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { HistoryEntry } from '../../../src/chain/signer-search.ts';
import type { Amount, Lamports } from '../../../src/core/amount.ts';
import { GannetError } from '../../../src/core/errors.ts';
import { adjustmentAlerts } from '../../../src/daemon/reporting/alert-text.ts';
import type { KeptLedger } from '../../../src/daemon/watch/ledger-reconciliation.ts';
import { createWalletKeeper } from '../../../src/daemon/watch/ledger-reconciliation.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import type { UnreadableTransaction } from '../../../src/trading/attempt.ts';
import type { AdjustWallet } from '../../../src/trading/engine-command.ts';
import type { EngineState } from '../../../src/trading/engine-state.ts';
import { step } from '../../../src/trading/step.ts';
import type { ChainFixture } from '../../chain/chain-fixture.ts';
import { NEWER_MINT, startChainFixture } from '../../chain/chain-fixture.ts';
import { advance } from '../../service/virtual-time.ts';
import { intentOf } from '../../store/sample-intents.ts';
import { stateWith } from '../../trading/states.ts';

let fixture: ChainFixture;
beforeAll(async () => { fixture = await startChainFixture(); });
afterAll(async () => { await fixture.close(); });

interface Kept {
  readonly state: EngineState;
  readonly booked: AdjustWallet[];
  readonly waits: string[];
  readonly clock: VirtualClock;
  readonly node: { silent: boolean; asked: number; heights: number; more: bigint };
  readonly keypair: Keypair;
  /** Booked by swaps. */
  bookings: number;
  readonly journal: { behind: boolean };
  readonly ledger: KeptLedger & { ended: boolean };
  readonly keeper: ReturnType<typeof createWalletKeeper>;
  readonly address: string;
}

async function keep(): Promise<Kept> {
  const { address, keypair } = fixture.wallet();
  const clock = new VirtualClock(0);
  const state = stateWith({ wallet: await fixture.chain.balances(address) });
  const booked: AdjustWallet[] = [];
  const node = { silent: false, asked: 0, heights: 0, more: 0n };
  const journal = { behind: false };
  const keeper = createWalletKeeper({
    wallet: address, clock, onFault: () => undefined,
    chain: {
      ...fixture.chain,
      finalizedBlockHeight: async () => {
        node.heights += 1;
        return fixture.chain.finalizedBlockHeight();
      },
      balances: async (owner) => {
        node.asked += 1;
        if (node.silent) throw new GannetError('CHAIN_UNREACHABLE', 'no answer');
        const balances = await fixture.chain.balances(owner);
        return balances.set(SOL_MINT, ((balances.get(SOL_MINT) ?? 0n) + node.more) as Amount);
      },
    },
    journal: { isBehind: () => journal.behind, isOwnTransaction: () => false, lastLanded: () => undefined },
  });
  const ledger = {
    state, version: () => booked.length + kept.bookings, ended: false,
    accept: (command: AdjustWallet) => {
      booked.push(command);
      step(state, booked.length, 0, command);
    },
    hasEnded: () => ledger.ended,
  };
  const kept: Kept = { state, booked, waits: [], clock, node, journal, ledger, keeper, address, keypair, bookings: 0 };
  return kept;
}

const told = ({ booked }: Kept): unknown => booked.map(({ mint, change, cause }) => [mint, change, cause]);

describe('a ledger before the strategies run', () => {
  it('includes transfers between runs once it is settled, and books nothing twice', async () => {
    const at = await keep();
    fixture.node.fundToken({ owner: at.address, mint: USDC_MINT, amount: 5_000_000n });
    fixture.node.advanceSlots(4);
    await at.keeper.settle(at.ledger, () => undefined);
    await at.keeper.settle(at.ledger, () => undefined);
    expect(told(at)).toEqual([[USDC_MINT, '5000000', 'deposit']]);
    expect(at.state.portfolio.wallet.get(USDC_MINT)).toBe(5_000_000n);
  });

  it('waits for a node that does not answer, names the reason, and ends with the run', async () => {
    const at = await keep();
    at.node.silent = true;
    const settling = at.keeper.settle(at.ledger, (why) => { at.waits.push(why); });
    for (let second = 0; second < 6; second++) await advance(at.clock, 1_000);
    expect(at.waits.length).toBeGreaterThan(1);
    expect(new Set(at.waits)).toEqual(new Set(['no answer']));
    at.ledger.ended = true;
    await advance(at.clock, 2_000);
    await settling;
    expect(at.booked).toEqual([]);
  });

  it('waits for the disk while the journal is behind, and names that reason', async () => {
    const at = await keep();
    at.journal.behind = true;
    const settling = at.keeper.settle(at.ledger, (why) => { at.waits.push(why); });
    await advance(at.clock, 5_000);
    expect(new Set(at.waits)).toEqual(new Set([expect.stringContaining('journal')]));
    at.ledger.ended = true;
    await advance(at.clock, 2_000);
    await settling;
  });

  it('asks for the height of the chain before the balances, so that an earlier wrong answer is corrected', async () => {
    const at = await keep();
    await at.keeper.settle(at.ledger, () => undefined);
    expect(at.node.heights).toBe(at.node.asked);
    expect(at.node.asked).toBeGreaterThan(0);
  });

  it('settles as soon as the node answers again', async () => {
    const at = await keep();
    at.node.silent = true;
    fixture.node.airdrop(at.address, 9n);
    fixture.node.advanceSlots(4);
    const settling = at.keeper.settle(at.ledger, () => undefined);
    await advance(at.clock, 1_000);
    at.node.silent = false;
    const watched = expect.poll(async () => {
      await advance(at.clock, 1_000);
      return at.booked.length;
    }).toBe(1);
    await watched;
    await settling;
    expect(told(at)).toEqual([[SOL_MINT, '9', 'deposit']]);
  });
});

describe('a ledger while strategies run', () => {
  it('is compared with the chain every minute, but not while the journal is behind', async () => {
    const at = await keep();
    at.journal.behind = true;
    const watching = at.keeper.watch(at.ledger, (error) => { throw error; });
    onTestFinished(() => { watching.unsubscribe(); });
    await advance(at.clock, 121_000);
    expect(at.node.asked).toBe(0);
    at.journal.behind = false;
    await expect.poll(async () => {
      await advance(at.clock, 60_000);
      return at.node.asked;
    }).toBeGreaterThan(0);
  });
});

/** Sends SOL elsewhere with the wallet's own key, as another program of its owner may. */
async function pay(at: Kept, lamports: number): Promise<void> {
  const transaction =
    new Transaction({ feePayer: at.keypair.publicKey, recentBlockhash: fixture.node.latestBlockhash().blockhash });
  transaction.add(
    SystemProgram.transfer({ fromPubkey: at.keypair.publicKey, toPubkey: Keypair.generate().publicKey, lamports }),
  );
  transaction.sign(at.keypair);
  expect(await fixture.chain.send(transaction.serialize())).toStrictEqual({ kind: 'accepted' });
  fixture.node.advanceSlots(4);
}

async function watched(at: Kept, spanMs: number): Promise<void> {
  const watching = at.keeper.watch(at.ledger, (error) => { throw error; });
  onTestFinished(() => { watching.unsubscribe(); });
  for (let ms = 0; ms < spanMs; ms += 5_000) {
    await advance(at.clock, 5_000);
    await new Promise((resolve) => { setTimeout(resolve, 15); });
  }
}

describe('issue 13.36: the ledger is compared with the chain while swaps are open', () => {
  it('finds a withdrawal of 10 SOL within a minute, although a swap of other tokens stays unknown', async () => {
    const at = await keep();
    fixture.node.airdrop(at.address, 30_000_000_000n);
    fixture.node.advanceSlots(4);
    await at.keeper.settle(at.ledger, () => undefined);
    at.booked.length = 0;
    at.state.intents.add({
      intent: { ...intentOf(1), inputMint: USDC_MINT, outputMint: NEWER_MINT }, state: 'unknown',
    });
    await pay(at, 10_000_000_000);
    await watched(at, 65_000);
    await expect.poll(() => told(at)).toEqual([[SOL_MINT, '-10000005000', 'withdrawal']]);
  });

  it('counts only the loss beyond an open swap for a mint that the swap spends', async () => {
    const at = await keep();
    const intent = { ...intentOf(1), inputMint: SOL_MINT, outputMint: USDC_MINT, amountIn: 2_000_000_000n as Amount };
    at.state.intents.add({ intent, state: 'unknown' });
    await pay(at, 1_900_000_000);
    await watched(at, 60_000);
    expect(told(at)).toEqual([]);
    await pay(at, 3_000_000_000);
    await watched(at, 65_000);
    await expect.poll(() => told(at)).toEqual([[SOL_MINT, expect.stringMatching(/^-[34]\d{9}$/), 'withdrawal']]);
  });

  it('happens soon after the last swap has ended, not a minute later', async () => {
    const at = await keep();
    const watching = at.keeper.watch(at.ledger, (error) => { throw error; });
    onTestFinished(() => { watching.unsubscribe(); });
    await advance(at.clock, 10_000);
    expect(at.node.asked).toBe(0);
    at.bookings += 1;
    await expect.poll(async () => {
      if (at.clock.now() < 20_000) await advance(at.clock, 5_000);
      return at.node.asked;
    }).toBeGreaterThan(0);
    expect(at.clock.now()).toBeLessThanOrEqual(20_000);
  });

  it('books no difference that disappears within ten seconds', async () => {
    const at = await keep();
    at.node.more = 7n;
    await watched(at, 60_000);
    at.node.more = 0n;
    await watched(at, 60_000);
    expect(told(at)).toEqual([]);
  });
});

interface Payer {
  /** Takes so much of USDC from the chain's balance. */
  lose(amount: bigint): void;
  /** Lists a transaction that took so much of USDC. */
  list(signature: string, amount: bigint | UnreadableTransaction): void;
  pass(spanMs: number): Promise<void>;
  readonly told: unknown[];
}

/** A settled wallet of 100 units of USDC on a node whose history is made up. */
async function watchedPayer(): Promise<Payer> {
  const clock = new VirtualClock(0);
  const state = stateWith({ wallet: new Map([[USDC_MINT, 100n as Amount]]) });
  const history = [{ signature: 'first' } as HistoryEntry];
  const taken = new Map<string, bigint | UnreadableTransaction>();
  const told: unknown[] = [];
  let onChain = 100n;
  const ledger: KeptLedger = {
    state, version: () => told.length, hasEnded: () => false,
    accept: (command) => {
      told.push([command.cause, command.change]);
      step(state, told.length, 0, command);
    },
  };
  const keeper = createWalletKeeper({
    wallet: 'us', clock, onFault: (error) => { throw error; },
    journal: { isBehind: () => false, isOwnTransaction: () => false, lastLanded: () => undefined },
    chain: {
      balances: async () => new Map([[USDC_MINT, onChain as Amount]]),
      newestTransactions: async () => [...history],
      landedSwap: async ({ signature }) => {
        const amount = taken.get(signature) ?? 0n;
        return typeof amount === 'object' ? amount : {
          signature, slot: 1n, feeLamports: 0n as Lamports, rentLamports: 0n as Lamports,
          amountIn: amount as Amount, amountOut: 0n as Amount,
        };
      },
      finalizedBlockHeight: async () => 1n,
      signatureStatus: async () => undefined,
    },
  });
  await keeper.settle(ledger, () => undefined);
  const watching = keeper.watch(ledger, (error) => { throw error; });
  onTestFinished(() => { watching.unsubscribe(); });
  return {
    told,
    lose: (amount) => { onChain -= amount; },
    list(signature, amount) {
      history.unshift({ signature } as HistoryEntry);
      taken.set(signature, amount);
    },
    pass: async (spanMs) => { for (let ms = 0; ms < spanMs; ms += 1_000) await advance(clock, 1_000); },
  };
}

const unreadable = (mayBeOwn: boolean): UnreadableTransaction =>
  ({ kind: 'unreadable', signature: 'v2', reason: 'it has version 2', mayBeOwn });

describe('issue 31: a transaction of the wallet that cannot be read', () => {
  it('explains one loss that lasts, where its version is a later one, as a withdrawal', async () => {
    const payer = await watchedPayer();
    payer.list('v2', unreadable(false));
    payer.lose(5n);
    await payer.pass(62_000);
    expect(payer.told).toEqual([]);
    await payer.pass(90_000);
    expect(payer.told).toEqual([['withdrawal', '-5']]);
    payer.lose(7n);
    await payer.pass(150_000);
    expect(payer.told).toEqual([['withdrawal', '-5'], ['mismatch', '-7']]);
  });

  it('explains no loss where the node does not give it', async () => {
    const payer = await watchedPayer();
    payer.list('lost', unreadable(true));
    payer.lose(5n);
    await payer.pass(150_000);
    expect(payer.told).toEqual([['mismatch', '-5']]);
  });

  it('brings a deposit as any other one does', async () => {
    const payer = await watchedPayer();
    payer.list('v2', unreadable(false));
    payer.lose(-9n);
    await payer.pass(150_000);
    expect(payer.told).toEqual([['deposit', '9']]);
  });
});

describe('issue 13.36: a booked withdrawal', () => {
  it('does not explain a loss after ledger and chain have agreed again', async () => {
    const payer = await watchedPayer();
    payer.list('paid', 5n);
    payer.lose(5n);
    await payer.pass(150_000);
    expect(payer.told).toEqual([['withdrawal', '-5']]);
    payer.lose(5n);
    await payer.pass(150_000);
    expect(payer.told).toEqual([['withdrawal', '-5'], ['mismatch', '-5']]);
  });

  it('does not explain a further loss before they have agreed again, but a further withdrawal does', async () => {
    const payer = await watchedPayer();
    payer.list('paid', 5n);
    payer.lose(5n);
    while (payer.told.length === 0) await payer.pass(1_000);
    payer.lose(5n);
    await payer.pass(90_000);
    expect(payer.told).toEqual([['withdrawal', '-5'], ['mismatch', '-5']]);
    payer.list('again', 7n);
    payer.lose(7n);
    await payer.pass(90_000);
    expect(payer.told.at(-1)).toEqual(['withdrawal', '-7']);
  });
});

const adjust = (change: string, cause: AdjustWallet['cause']): AdjustWallet =>
  ({ kind: 'command', name: 'adjust-wallet', mint: USDC_MINT, change, cause, reason: 'why' });

const alertsAfter = (change: string, cause: AdjustWallet['cause']): unknown => {
  const state = stateWith({ wallet: new Map([[USDC_MINT, 600_000_000n as Amount]]) });
  step(state, 1, 0, adjust(change, cause));
  return adjustmentAlerts(state, adjust(change, cause)).map(({ level, message }) => `${level}: ${message}`);
};

describe('alerts on transfers by others', () => {
  it('name the kind of transfer with the matching level', () => {
    expect(alertsAfter('1', 'deposit'))
      .toEqual(['info: 0.000001 USDC came into the wallet: why. It is booked in the ledger']);
    expect(alertsAfter('-1000000', 'withdrawal'))
      .toEqual(['warning: 1 USDC left the wallet: why. It is booked in the ledger']);
    expect(alertsAfter('-1', 'mismatch'))
      .toEqual(['critical: the wallet lacks 0.000001 USDC: why. It is booked in the ledger']);
  });

  it('name the strategies whose books are no longer covered', () => {
    expect(alertsAfter('-200000000', 'withdrawal')).toEqual([
      expect.stringMatching(/^warning: 200 USDC left/), expect.stringMatching(
        /^warning: the wallet has 400 USDC, less than the 500 USDC in the books of diver: .*BALANCE_INSUFFICIENT/,
      ),
    ]);
  });
});
