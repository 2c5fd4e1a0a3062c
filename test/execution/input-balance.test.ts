import { describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import type { BalanceWorld } from '../../src/execution/input-balance.ts';
import { doubtOfBalance } from '../../src/execution/input-balance.ts';
import type { JournalledIntent } from '../../src/execution/ports.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL, USDC } from '../market/tokens.ts';
import { attemptOf, intentOf } from '../store/sample-journey.ts';

const SLOTS = { from: 10n, to: 10n };
const HELD = 1_000_000_000n;

/** A swap that is unknown, and was signed when the node said that the wallet has so much of its input. */
function unknownSwap(number: number, { inputMint, outputMint, inputBalance, quotedOut }: { readonly inputMint: Mint; readonly outputMint: Mint; readonly inputBalance: bigint; readonly quotedOut: bigint }): JournalledIntent {
  const intent = { ...intentOf(number), inputMint, outputMint, amountIn: 100n as Amount };
  const attempt = { ...attemptOf(intent.id), inputBalance: inputBalance as Amount, inputSlots: SLOTS, quotedOut: quotedOut as Amount };
  return { intent, state: 'unknown', attempts: [attempt], attempt: attempt.number, spentLamports: 0n as never };
}

function worldOf(open: readonly JournalledIntent[], { present, booked }: { readonly present: bigint; readonly booked: bigint }): BalanceWorld {
  return {
    chain: { tokenBalance: async () => ({ amount: present as Amount, slot: 500n, lastSlot: 500n }) },
    journal: { openIntents: () => open, movesSince: () => [] },
    owner: 'us',
    ledger: () => booked as Amount,
  };
}

describe('issue 13.34: two unknown swaps in opposite directions, signed while a node said that the wallet is empty', () => {
  const sale = unknownSwap(1, { inputMint: USDC.mint, outputMint: SOL.mint, inputBalance: 0n, quotedOut: 50n });
  const purchase = unknownSwap(2, { inputMint: SOL.mint, outputMint: USDC.mint, inputBalance: 0n, quotedOut: 200n });

  it('do not wait for each other for ever where the wallet has more than the other could have brought', async () => {
    // The same lie emptied the ledger.
    const world = worldOf([sale, purchase], { present: HELD, booked: 0n });
    for (const { intent, attempts: [attempt] } of [sale, purchase]) expect(await doubtOfBalance(world, intent, attempt!)).toBeUndefined();
  });

  it('are still waited for where the other may hide that the input is gone', async () => {
    const [attempt] = sale.attempts;
    const signedRight = { ...attempt!, inputBalance: HELD as Amount };
    // 100 may be gone and up to 800 may have come.
    for (const present of [HELD + 1n, HELD + 700n]) {
      expect(await doubtOfBalance(worldOf([sale, purchase], { present, booked: HELD }), sale.intent, signedRight)).toMatchObject({ kind: 'open' });
    }
    expect(await doubtOfBalance(worldOf([sale, purchase], { present: HELD + 701n, booked: HELD }), sale.intent, signedRight)).toBeUndefined();
  });
});
