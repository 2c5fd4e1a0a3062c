import { Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js';
import { Subject } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Amount } from '../../../src/core/amount.ts';
import { GannetError } from '../../../src/core/errors.ts';
import type { Millis } from '../../../src/core/time.ts';
import type { WalletWatchOptions } from '../../../src/daemon/watch/ledger-comparison.ts';
import { compareWallet, watchWallet } from '../../../src/daemon/watch/ledger-comparison.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import type { Mint } from '../../../src/market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import type { Intent } from '../../../src/trading/intent.ts';
import type { AdjustWallet } from '../../../src/trading/engine-command.ts';
import type { ChainFixture } from '../../chain/chain-fixture.ts';
import { startChainFixture } from '../../chain/chain-fixture.ts';
import { advance } from '../../service/virtual-time.ts';

let fixture: ChainFixture;
beforeAll(async () => { fixture = await startChainFixture(); });
afterAll(async () => { await fixture.close(); });

interface Wallet extends WalletWatchOptions {
  readonly keypair: Keypair;
  /** The ledger; what it holds may be changed. */
  readonly books: Map<Mint, Amount>;
  /** Sends SOL elsewhere, as the wallet's owner may with another program. */
  pay(lamports: number): Promise<string>;
}

async function newWallet(overrides: Partial<WalletWatchOptions> = {}): Promise<Wallet> {
  const { keypair, address } = fixture.wallet();
  const books = new Map(await fixture.chain.balances(address));
  return {
    keypair, books, wallet: address, chain: fixture.chain, isOwn: () => false, clock: new VirtualClock(0),
    ledger: () => ({ balances: books, version: 1 }),
    pay: async (lamports) => {
      const transaction =
        new Transaction({ feePayer: keypair.publicKey, recentBlockhash: fixture.node.latestBlockhash().blockhash });
      transaction.add(
        SystemProgram.transfer({ fromPubkey: keypair.publicKey, toPubkey: new PublicKey(NEIGHBOUR), lamports }),
      );
      transaction.sign(keypair);
      expect(await fixture.chain.send(transaction.serialize())).toStrictEqual({ kind: 'accepted' });
      fixture.node.advanceSlots(4);
      return String((await fixture.chain.newestTransactions(address))[0]?.signature);
    },
    ...overrides,
  };
}

const NEIGHBOUR = Keypair.fromSeed(new Uint8Array(32).fill(77)).publicKey.toBase58();
const told = (commands: readonly AdjustWallet[] | undefined): unknown =>
  commands?.map(({ mint, change, cause }) => [mint, change, cause]);

describe('a comparison of the ledger with the chain', () => {
  it('finds nothing while they agree', async () => {
    expect(await compareWallet(await newWallet())).toStrictEqual([]);
  });

  it('books a transfer from outside as a deposit, to the unit', async () => {
    const wallet = await newWallet();
    fixture.node.fundToken({ owner: wallet.wallet, mint: USDC_MINT, amount: 123_456_789n });
    fixture.node.airdrop(wallet.wallet, 5n);
    fixture.node.advanceSlots(4);
    expect(told(await compareWallet(wallet)))
      .toStrictEqual([[SOL_MINT, '5', 'deposit'], [USDC_MINT, '123456789', 'deposit']]);
  });

  it('books a foreign payment with its fee as a withdrawal', async () => {
    const wallet = await newWallet();
    await wallet.pay(2_000_000_000);
    expect(told(await compareWallet(wallet))).toStrictEqual([[SOL_MINT, '-2000005000', 'withdrawal']]);
  });

  it('books a loss without a transaction as a mismatch', async () => {
    const wallet = await newWallet();
    wallet.books.set(SOL_MINT, (wallet.books.get(SOL_MINT)! + 7n) as Amount);
    expect(told(await compareWallet(wallet))).toStrictEqual([[SOL_MINT, '-7', 'mismatch']]);
  });

  it('books a loss larger than the foreign payments as a mismatch', async () => {
    const wallet = await newWallet();
    await wallet.pay(1_000_000);
    wallet.books.set(SOL_MINT, (wallet.books.get(SOL_MINT)! + 1n) as Amount);
    expect(told(await compareWallet(wallet))).toStrictEqual([[SOL_MINT, '-1005001', 'mismatch']]);
  });

  it('explains no loss by our own transactions, nor by any before our last one', async () => {
    const own = new Set<string>();
    const wallet = await newWallet({ isOwn: (signature) => own.has(signature) });
    await wallet.pay(3_000_000);
    own.add(await wallet.pay(1_000_000));
    expect(told(await compareWallet(wallet))).toStrictEqual([[SOL_MINT, '-4010000', 'mismatch']]);
  });

  it('issue 13.38: finds foreign payments since both agreed, although our own swaps landed later', async () => {
    const own = new Set<string>();
    const agreed: { at?: string } = {};
    const wallet = await newWallet({ isOwn: (signature) => own.has(signature), agreedAt: () => agreed.at });
    const isBooked = async (): Promise<void> => {
      wallet.books.clear();
      for (const [mint, amount] of await fixture.chain.balances(wallet.wallet)) wallet.books.set(mint, amount);
    };
    await wallet.pay(7_000_000);
    await isBooked();
    agreed.at = await wallet.pay(1_000_000);
    own.add(agreed.at);
    await isBooked();
    await wallet.pay(3_000_000);
    const before = wallet.books.get(SOL_MINT)!;
    own.add(await wallet.pay(2_000_000));
    // Of the two the ledger has booked its own swap.
    wallet.books.set(SOL_MINT, (before - 2_005_000n) as Amount);
    expect(told(await compareWallet(wallet))).toStrictEqual([[SOL_MINT, '-3005000', 'withdrawal']]);
    // What was paid out before both agreed explains nothing.
    wallet.books.set(SOL_MINT, (wallet.books.get(SOL_MINT)! + 7_005_000n) as Amount);
    expect(told(await compareWallet(wallet))).toStrictEqual([[SOL_MINT, '-10010000', 'mismatch']]);
  });

  it('is postponed while swaps are open, and after a booking in between', async () => {
    const wallet = await newWallet();
    fixture.node.airdrop(wallet.wallet, 5n);
    fixture.node.advanceSlots(4);
    expect(await compareWallet({ ...wallet, ledger: () => undefined })).toBeUndefined();
    let version = 0;
    const moving = (): ReturnType<WalletWatchOptions['ledger']> => ({ balances: wallet.books, version: version++ });
    expect(await compareWallet({ ...wallet, ledger: moving })).toBeUndefined();
  });

  it('ignores a mint with two different readings', async () => {
    const wallet = await newWallet();
    let reading = 0;
    const balances = async (owner: string): Promise<ReadonlyMap<Mint, Amount>> => {
      reading += 1;
      return new Map([...(await fixture.chain.balances(owner)), [USDC_MINT, BigInt(reading) as Amount]]);
    };
    expect(await compareWallet({ ...wallet, chain: { ...fixture.chain, balances } })).toEqual([]);
  });

  it('issue 13.36: finds a loss although others send dust of another token all the time', async () => {
    let dust = 0n;
    const held = new Map([[SOL_MINT, 10_000_001_000n as Amount]]);
    const commands = await compareWallet({
      wallet: 'us', isOwn: () => false, clock: new VirtualClock(0), ledger: () => ({ balances: held, version: 1 }),
      chain: {
        balances: async () => new Map([
          [SOL_MINT, 1_000n as Amount], ['Spam1111111111111111111111111111111111111111' as Mint, ++dust as Amount],
        ]), newestTransactions: async () => [], landedSwap: async () => undefined,
      },
    });
    expect(commands).toMatchObject([{ mint: SOL_MINT, change: '-10000000000', cause: 'mismatch' }]);
  });
});

describe('the wallet watch', () => {
  it('reports a fault of the node and goes on', async () => {
    const clock = new VirtualClock(0);
    const faults: string[] = [];
    const commands: AdjustWallet[] = [];
    let turn = 0;
    const balances = (): Promise<ReadonlyMap<Mint, Amount>> => {
      turn += 1;
      return turn === 1 ? Promise.reject(new GannetError('CHAIN_UNREACHABLE', 'no answer'))
        : Promise.resolve(new Map([[SOL_MINT, 9n as Amount]]));
    };
    watchWallet({
      wallet: 'wallet', clock, everyMs: 60_000, isOwn: () => false, ledger: () => ({ balances: new Map(), version: 1 }),
      chain: { balances, newestTransactions: () => Promise.resolve([]), landedSwap: () => Promise.resolve(undefined) },
      onFault: ({ message }) => { faults.push(message); },
    }).subscribe((command) => { commands.push(command); });
    await advance(clock, 120_000);
    expect(faults).toStrictEqual(['no answer']);
    expect(told(commands)).toStrictEqual([[SOL_MINT, '9', 'deposit']]);
  });

  it('compares soon after a hint, and after the end of a swap that is open meanwhile', async () => {
    const clock = new VirtualClock(0);
    const hints$ = new Subject<unknown>();
    const checks: Millis[] = [];
    let open: readonly Intent[] = [];
    watchWallet({
      wallet: 'wallet', clock, hints$, isOwn: () => false, ledger: () => ({ balances: new Map(), version: 1, open }),
      onFault: (error) => { throw error; },
      chain: {
        balances: async () => {
          checks.push(clock.now());
          return new Map();
        },
        newestTransactions: async () => [], landedSwap: async () => undefined,
      },
    }).subscribe();
    await advance(clock, 12_000);
    hints$.next('notified');
    await advance(clock, 8_000);
    expect(checks).toStrictEqual([15_000]);
    open = [{ id: 'open', inputMint: SOL_MINT, outputMint: USDC_MINT, amountIn: 1n } as Intent];
    for (let i = 0; i < 300; i++) {
      hints$.next('notified');
      await advance(clock, 100);
    }
    expect(checks).toStrictEqual([15_000]);
    open = [];
    await advance(clock, 5_000);
    expect(checks).toStrictEqual([15_000, 55_000]);
    // A flood of hints leads to comparisons at the usual distance.
    for (let i = 0; i < 600; i++) {
      hints$.next('notified');
      await advance(clock, 100);
    }
    expect(checks.length).toBeLessThanOrEqual(2 + 6);
  });

  it('issue 13.34: checks an unexplained loss again soon, but no longer after ten minutes', async () => {
    const clock = new VirtualClock(0);
    const whole = new Map([[SOL_MINT, 9n as Amount]]);
    const ledger = new Map(whole);
    const commands: [Millis, ...unknown[]][] = [];
    const checks: Millis[] = [];
    let version = 1;
    let isLying = true;
    const balances = (): Promise<ReadonlyMap<Mint, Amount>> => {
      checks.push(clock.now());
      return Promise.resolve(isLying ? new Map() : whole);
    };
    watchWallet({
      wallet: 'wallet', clock, isOwn: () => false, ledger: () => ({ balances: ledger, version }),
      onFault: (error) => { throw error; },
      chain: { balances, newestTransactions: () => Promise.resolve([]), landedSwap: () => Promise.resolve(undefined) },
    }).subscribe((command) => {
      commands.push([clock.now(), ...told([command]) as unknown[]]);
      ledger.set(command.mint, (ledger.get(command.mint)! + BigInt(command.change)) as Amount);
      version += 1;
    });
    await advance(clock, 85_000);
    expect(commands).toStrictEqual([[70_000, [SOL_MINT, '-9', 'mismatch']]]);
    isLying = false;
    await advance(clock, 30_000);
    expect(commands.slice(1)).toStrictEqual([[100_000, [SOL_MINT, '9', 'deposit']]]);
    await advance(clock, 600_000);
    const before = checks.length;
    await advance(clock, 600_000);
    expect(checks).toHaveLength(before + 10);
  });
});
