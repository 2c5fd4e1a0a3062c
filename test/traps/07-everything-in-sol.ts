import { expect } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import type { SwapProposal } from '../../src/trading/proposal.ts';
import { document } from '../e2e/gannet.ts';
import { propose, stateWith, strategySetup } from '../trading/states.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import { SOL, USDC } from './world.ts';

const ONE_SOL = 1_000_000_000n as Amount;
const RESERVE = 50_000_000n as Amount;
const TOKEN_ACCOUNT_RENT = 2_039_280n;
/** What is kept back for an account that may have to be opened: the dearer program's rent. */
const DEPOSIT = 2_074_080n;

export const everythingInSol: Trap = {
  number: 7,
  title: 'who sells all his SOL cannot pay for the sale: gas and the rent of accounts must stay',
  plays: [
    {
      says: 'a strategy that sells "all" is denied where the reserve would go too; what leaves the reserve lands, and enough is left for the way out',
      async play(world) {
        const trader = await newTrader(world, [[SOL, ONE_SOL]]);
        // Balances are read at "confirmed", a slot behind.
        await world.passSlots(2);
        const wallet = await world.chain.balances(trader.address);
        expect(wallet.get(SOL)).toBe(ONE_SOL);
        const stateOf = (budget: Amount): ReturnType<typeof stateWith> => stateWith({
          wallet, limits: { solReserve: RESERVE },
          strategies: [strategySetup('diver', { budget: { mint: SOL, amount: budget } })],
        });
        const sellAll: SwapProposal =
          { kind: 'swap', inputMint: SOL, outputMint: USDC, amount: 'all', reason: 'everything' };
        const { denial } = propose(stateOf(ONE_SOL), sellAll);
        expect(denial)
          .toMatchObject({ code: 'SOL_RESERVE', reason: expect.stringContaining('0.05 SOL stay untouched') });
        expect(propose(stateOf(ONE_SOL - RESERVE - DEPOSIT + 1n as Amount), sellAll).denial?.code).toBe('SOL_RESERVE');

        const { effect } = propose(stateOf(ONE_SOL - RESERVE - DEPOSIT as Amount), sellAll);
        if (effect?.kind !== 'execute') throw new Error('expected the swap to be approved');
        const { last } = await trader.carryOut({ ...trader.intent(), ...effect.intent, id: trader.intent().id });
        expect(last).toMatchObject({ state: 'confirmed', fill: { amountIn: ONE_SOL - RESERVE - DEPOSIT } });
        const left = world.held(trader.address, SOL);
        expect(left).toBe(RESERVE + DEPOSIT - last.fill!.feeLamports - last.fill!.rentLamports);
        expect(left).toBeGreaterThanOrEqual(RESERVE - last.fill!.feeLamports);
        const back = await trader.carryOut(trader.intent({ amountIn: 20_000_000n as Amount }));
        expect(back.last.state).toBe('confirmed');
      },
    },
    {
      says: 'where nobody kept a reserve the sale of everything is refused by both routes before anything is signed, and no fee is lost',
      async play(world) {
        const trader = await newTrader(world, [[SOL, ONE_SOL]]);
        for (const [amountIn, route] of [
          [ONE_SOL, 'order'], [ONE_SOL - 5_000n, 'order'], [ONE_SOL, 'build'], [ONE_SOL - 5_000n, 'build'],
        ] as const) {
          await trader.refused(
            route === 'order' ? /^ORDER_\w+_[123]$/ : /^(CHAIN_SIMULATION_FAILED|\d+|[A-Z]\w+)$/,
            trader.intent({ inputMint: SOL, outputMint: USDC, amountIn: amountIn as Amount, route }),
          );
        }
        expect(world.held(trader.address, SOL)).toBe(ONE_SOL);
      },
    },
    {
      says: 'the first purchase of a token also pays for its account: booked as a deposit, apart from the fee, and only once',
      async play(world) {
        const trader = await newTrader(world);
        const kelp = { outputMint: world.mint('KELP') };
        const first = await trader.carryOut(trader.intent(kelp));
        const second = await trader.carryOut(trader.intent(kelp));
        expect(first.last.fill).toMatchObject({ rentLamports: TOKEN_ACCOUNT_RENT });
        expect(second.last.fill).toMatchObject({ rentLamports: 0n });
        for (const { last } of [first, second]) expect(last.fill!.feeLamports).toBeLessThan(100_000n);
      },
    },
    {
      says: '"gannet swap" of all the SOL there is says what must stay, and swaps nothing',
      async play(world) {
        const all = await world.gannet(['swap', 'SOL', 'USDC', '1', '--json']);
        expect(all.code).toBe(1);
        expect(document(all)).toMatchObject({
          journey: [], denial: { code: 'SOL_RESERVE', reason: expect.stringContaining('stay untouched') },
        });
      },
    },
  ],
};
