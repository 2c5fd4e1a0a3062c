import { expect } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import type { SwapProposal } from '../../src/trading/proposal.ts';
import { document } from '../e2e/gannet.ts';
import { propose, stateWith, strategySetup } from '../trading/states.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import { SOL, USDC } from './trap-fixture.ts';

const ONE_SOL = 1_000_000_000n as Amount;
const RESERVE = 50_000_000n as Amount;
const TOKEN_ACCOUNT_RENT = 2_039_280n;
/** What is kept back for an account that may have to be opened: the dearer program's rent. */
const DEPOSIT = 2_074_080n;

export const everythingInSol: Trap = {
  number: 7,
  title: 'a sale of all SOL cannot pay for itself: gas and the rent of accounts must stay',
  plays: [
    {
      says:
        'a sale of "all" is denied where it would use the reserve; a smaller one lands and leaves enough SOL for exits',
      async play(fixture) {
        const trader = await newTrader(fixture, [[SOL, ONE_SOL]]);
        // Balances are read at "confirmed", a slot behind.
        await fixture.passSlots(2);
        const wallet = await fixture.chain.balances(trader.address);
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
        const left = fixture.held(trader.address, SOL);
        expect(left).toBe(RESERVE + DEPOSIT - last.fill!.feeLamports - last.fill!.rentLamports);
        expect(left).toBeGreaterThanOrEqual(RESERVE - last.fill!.feeLamports);
        const back = await trader.carryOut(trader.intent({ amountIn: 20_000_000n as Amount }));
        expect(back.last.state).toBe('confirmed');
      },
    },
    {
      says: 'without a reserve, both routes refuse the sale of all SOL before the signature, without a fee',
      async play(fixture) {
        const trader = await newTrader(fixture, [[SOL, ONE_SOL]]);
        for (const [amountIn, route] of [
          [ONE_SOL, 'order'], [ONE_SOL - 5_000n, 'order'], [ONE_SOL, 'build'], [ONE_SOL - 5_000n, 'build'],
        ] as const) {
          await trader.refused(
            route === 'order' ? /^ORDER_\w+_[123]$/ : /^(CHAIN_SIMULATION_FAILED|\d+|[A-Z]\w+)$/,
            trader.intent({ inputMint: SOL, outputMint: USDC, amountIn: amountIn as Amount, route }),
          );
        }
        expect(fixture.held(trader.address, SOL)).toBe(ONE_SOL);
      },
    },
    {
      says: 'the first purchase of a token pays for its account: one deposit, booked apart from the fee',
      async play(fixture) {
        const trader = await newTrader(fixture);
        const kelp = { outputMint: fixture.mint('KELP') };
        const first = await trader.carryOut(trader.intent(kelp));
        const second = await trader.carryOut(trader.intent(kelp));
        expect(first.last.fill).toMatchObject({ rentLamports: TOKEN_ACCOUNT_RENT });
        expect(second.last.fill).toMatchObject({ rentLamports: 0n });
        for (const { last } of [first, second]) expect(last.fill!.feeLamports).toBeLessThan(100_000n);
      },
    },
    {
      says: '"gannet swap" of all the SOL there is says what must stay, and swaps nothing',
      async play(fixture) {
        const all = await fixture.gannet(['swap', 'SOL', 'USDC', '1', '--json']);
        expect(all.code).toBe(1);
        expect(document(all)).toMatchObject({
          journey: [], denial: { code: 'SOL_RESERVE', reason: expect.stringContaining('stay untouched') },
        });
      },
    },
  ],
};
