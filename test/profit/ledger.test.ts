import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Mint } from '../../src/market/token.ts';
import type { Booked } from '../../src/profit/ledger.ts';
import { ProfitLedger } from '../../src/profit/ledger.ts';
import { LotQueue } from '../../src/profit/lots.ts';
import type { SettledSwap } from '../../src/store/fill-records.ts';
import { FISH, KELP, SOL, USDC } from '../market/tokens.ts';
import { START, swapOf } from './swaps.ts';

const MINUTE = 60_000;
const BUDGET = { dip: { mint: USDC.mint, amount: 1_000_000_000n } };
const usdc = (whole: number): bigint => BigInt(Math.round(whole * 1e6));
const sol = (whole: number): bigint => BigInt(Math.round(whole * 1e9));

function ledgerOf(
  swaps: readonly SettledSwap[], budgets: ConstructorParameters<typeof ProfitLedger>[0] = BUDGET,
): Books {
  return booksOf(new ProfitLedger(budgets, []), swaps);
}

/** A ledger with what each swap meant. */
interface Books {
  readonly open: ProfitLedger['open'];
  readonly booked: readonly Booked[];
}

function booksOf(ledger: ProfitLedger, swaps: readonly SettledSwap[]): Books {
  const booked = swaps.map((swap) => ledger.add(swap));
  return { open: ledger.open, booked };
}

const buys = (pays: number, gets: number, at = 0): SettledSwap =>
  swapOf({ from: USDC.mint, to: SOL.mint, pays: usdc(pays), gets: sol(gets), at: START + at * MINUTE });
const sells = (pays: number, gets: number, at = 0): SettledSwap =>
  swapOf({ from: SOL.mint, to: USDC.mint, pays: sol(pays), gets: usdc(gets), at: START + at * MINUTE });
const profits = ({ booked }: Books): unknown[] => booked.flatMap(({ sale }) => (sale ? [sale.profit] : []));
const open = (ledger: Books): unknown[] =>
  ledger.open.map(({ piece: { quantity, cost } }) => [quantity, cost.currency]);

const other = (swap: SettledSwap): SettledSwap => ({ ...swap, strategy: 'other' });
const manual = (swap: SettledSwap, strategy: string): SettledSwap =>
  ({ ...swap, strategy, values: { ...swap.values!, isManual: true } });

describe('FIFO by examples that are computed by a person', () => {
  it('sells the oldest lot first, and a part of the next', () => {
    // 2 SOL for 300 USDC, then 1 SOL for 180. Of these 2.5 are sold for 450:
    // cost 300 + 180 / 2 = 390, profit 450 - 390 = 60; 0.5 SOL remain, which cost 180 - 90 = 90.
    const ledger = ledgerOf([buys(300, 2), buys(180, 1, 1), sells(2.5, 450, 2)]);
    expect(profits(ledger)).toStrictEqual([usdc(60)]);
    expect(open(ledger)).toStrictEqual([[sol(0.5), usdc(90)]]);
    const { sale, disposals } = ledger.booked[2]!;
    expect(sale).toMatchObject({ cost: usdc(390), proceeds: usdc(450), enteredAt: START });
    // In dollars: 2 of 2.5 bring 450 * 2 / 2.5 = 360, less 300 is 60; 0.5 bring 90, less 90 is 0.
    expect(disposals.map(({ piece, proceeds }) => [piece.quantity, piece.cost.usd, proceeds]))
      .toStrictEqual([[sol(2), usdc(300), usdc(360)], [sol(0.5), usdc(90), usdc(90)]]);
  });

  it('rounds down as it goes, and gives the remainder to the last unit of a lot', () => {
    // 3 units for 100: the first costs floor(100 / 3) = 33, two floor(200 / 3) = 66, all three 100: 33, 33, 34.
    const queue = new LotQueue();
    queue.add({ mint: SOL.mint, at: START, intentId: 'a', quantity: 3n, cost: { currency: 100n, usd: undefined } });
    expect([1n, 1n, 1n].map((one) => queue.take(one)[0]!.cost.currency)).toStrictEqual([33n, 33n, 34n]);
    expect(queue.open).toStrictEqual([]);
  });

  it('carries the cost from one position to another, and resets it in dollars', () => {
    // 1 SOL for 150 becomes 500 FISH when SOL is worth 200 dollars; these are sold for 210: 60 in all, 50 + 10 in
    // dollars.
    const swapped = swapOf({
      from: SOL.mint, to: FISH.mint, pays: sol(1), gets: 50_000_000n,
      values: { output: { microUsd: usdc(200), source: 'service' } },
    });
    const ledger = ledgerOf([
      buys(150, 1), swapped, swapOf({ from: FISH.mint, to: USDC.mint, pays: 50_000_000n, gets: usdc(210) }),
    ]);
    expect(profits(ledger)).toStrictEqual([usdc(60)]);
    const gains = ledger.booked.flatMap(({ disposals }) => disposals)
      .map(({ mint, piece, proceeds }) => [mint, proceeds! - piece.cost.usd!]);
    expect(gains).toStrictEqual([[USDC.mint, 0n], [SOL.mint, usdc(50)], [FISH.mint, usdc(10)]]);
  });

  it('knows no profit of what was not bought here, and goes on after it', () => {
    const ledger = ledgerOf([buys(150, 1), sells(3, 600), buys(100, 1), sells(1, 101)]);
    expect(profits(ledger)).toStrictEqual([undefined, usdc(1)]);
    expect(open(ledger)).toStrictEqual([]);
  });

  it('keeps the books of strategies apart', () => {
    const ledger = ledgerOf(
      [buys(100, 1), other(buys(200, 1)), other(sells(1, 150))], { ...BUDGET, other: BUDGET.dip },
    );
    expect(profits(ledger)).toStrictEqual([usdc(-50)]);
    expect(ledger.open.map(({ book }) => book)).toStrictEqual(['dip']);
  });

  it('counts manual swaps as one book, in USDC', () => {
    const old = { ...sells(0.5, 80), strategy: 'swap-120000-abc123', values: undefined };
    const ledger = ledgerOf([manual(buys(150, 1), 'swap-1'), old, manual(sells(0.5, 70), 'swap-2')]);
    expect(profits(ledger)).toStrictEqual([usdc(5), usdc(-5)]);
    expect(new Set(ledger.booked.map(({ book }) => book))).toStrictEqual(new Set(['manual swaps']));
  });

  it('counts what another receiver got as disposed of, not as profit', () => {
    const sent = swapOf({ from: SOL.mint, to: USDC.mint, pays: sol(1), gets: usdc(160), receiver: 'another wallet' });
    const ledger = ledgerOf([buys(150, 1), sent]);
    expect(profits(ledger)).toStrictEqual([]);
    expect(open(ledger)).toStrictEqual([]);
    expect(ledger.booked[1]).toMatchObject({ acquisition: undefined, disposals: [{ proceeds: usdc(160) }] });
  });

  it('drops the lots of a chain that is gone, and keeps its results', () => {
    const swaps = [buys(100, 1), sells(0.5, 60), buys(300, 1)];
    const ledger = booksOf(new ProfitLedger(BUDGET, [{ at: START, afterNumber: swaps[1]!.number }]), swaps);
    expect(profits(ledger)).toStrictEqual([usdc(10)]);
    expect(open(ledger)).toStrictEqual([[sol(1), usdc(300)]]);
    const over = booksOf(new ProfitLedger(BUDGET, [{ at: START, afterNumber: swaps[2]!.number }]), swaps);
    expect(over.open).toStrictEqual([]);
  });
});

/** A swap of any size between USDC and two tokens; what a book does not hold is not sold. */
const move = fc.record({
  from: fc.constantFrom(USDC.mint, FISH.mint, KELP.mint), to: fc.constantFrom(USDC.mint, FISH.mint, KELP.mint),
  part: fc.integer({ min: 1, max: 1_000 }), gets: fc.bigInt({ min: 1n, max: 10n ** 12n }),
  parts: fc.integer({ min: 1, max: 4 }),
});
type Move = typeof move extends fc.Arbitrary<infer T> ? T : never;

/** Carries moves out with balances, as the chain would; `split` divides each sale. */
function carriedOut(moves: readonly Move[], split: boolean): { ledger: Books; balances: Map<Mint, bigint> } {
  const balances = new Map<Mint, bigint>([[USDC.mint, BUDGET.dip.amount]]);
  const swaps: SettledSwap[] = [];
  const swap = (from: Mint, to: Mint, pays: bigint, gets: bigint): void => {
    balances.set(from, balances.get(from)! - pays);
    balances.set(to, (balances.get(to) ?? 0n) + gets);
    swaps.push(swapOf({ from, to, pays, gets }));
  };
  for (const { from, to, part, gets, parts } of moves) {
    const pays = ((balances.get(from) ?? 0n) * BigInt(part)) / 1_000n;
    if (from === to || pays === 0n) continue;
    const count = split && to === USDC.mint && pays >= 4n && gets >= 4n ? BigInt(parts) : 1n;
    for (let at = 0n; at < count; at++) {
      const share = (whole: bigint): bigint => (whole * (at + 1n)) / count - (whole * at) / count;
      swap(from, to, share(pays), share(gets));
    }
  }
  return { ledger: ledgerOf(swaps), balances };
}

const sums = ({ booked, open: lots }: Books): unknown => [
  booked.reduce((sum, { sale }) => sum + (sale?.profit ?? 0n), 0n),
  lots.reduce((sum, { piece }) => sum + piece.cost.currency!, 0n),
  booked.flatMap(({ disposals }) => disposals).reduce((sum, { proceeds = 0n }) => sum + proceeds, 0n),
];

describe('FIFO for any swaps', () => {
  const moves = fc.array(move, { maxLength: 40 });
  const price = fc.bigInt({ min: 0n, max: 10n ** 9n });

  it('holds in its lots what the balances are', () => {
    fc.assert(fc.property(moves, (all) => {
      const { ledger, balances } = carriedOut(all, true);
      for (const mint of [FISH.mint, KELP.mint]) {
        const held = ledger.open.filter(({ piece }) => piece.lot.mint === mint)
          .reduce((sum, { piece }) => sum + piece.quantity, 0n);
        expect(held).toBe(balances.get(mint) ?? 0n);
      }
    }));
  });

  it('splits the change of value into realised and unrealised, to the unit and at any price', () => {
    fc.assert(fc.property(moves, price, price, (all, fish, kelp) => {
      const { ledger, balances } = carriedOut(all, true);
      const worth = new Map([[FISH.mint, fish], [KELP.mint, kelp]]);
      const value = [...worth].reduce((sum, [mint, one]) => sum + (balances.get(mint) ?? 0n) * one, 0n);
      const realised = ledger.booked.reduce((sum, { sale }) => sum + (sale?.profit ?? 0n), 0n);
      const unrealised = ledger.open.reduce(
        (sum, { piece }) => sum + piece.quantity * worth.get(piece.lot.mint)! - piece.cost.currency!, 0n,
      );
      expect(balances.get(USDC.mint)! + value - BUDGET.dip.amount).toBe(realised + unrealised);
    }));
  });

  it('comes to the same when sales are split', () => {
    fc.assert(fc.property(moves, (all) => {
      const [whole, parts] = [false, true].map((split) => carriedOut(all, split).ledger);
      expect(sums(parts!)).toStrictEqual(sums(whole!));
    }));
  });
});
