import { describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { compareWallet } from '../../src/daemon/watch/wallet-watch.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import type { BalanceWorld } from '../../src/execution/input-balance.ts';
import { doubtOfBalance } from '../../src/execution/input-balance.ts';
import type { JournalledIntent } from '../../src/execution/ports.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL, USDC } from '../market/tokens.ts';
import { attemptOf, intentOf } from '../store/sample-journey.ts';

const SLOTS = { from: 10n, to: 10n };
const HELD = 1_000_000_000n;

/** A swap that is unknown, and was signed when the node said that the wallet has so much of its input. */
function unknownSwap(number: number, { inputMint, outputMint, inputBalance, quotedOut }: {
  readonly inputMint: Mint; readonly outputMint: Mint; readonly inputBalance: bigint; readonly quotedOut: bigint;
}): JournalledIntent {
  const intent = { ...intentOf(number), inputMint, outputMint, amountIn: 100n as Amount };
  const attempt = {
    ...attemptOf(intent.id), inputBalance: inputBalance as Amount, inputSlots: SLOTS, quotedOut: quotedOut as Amount,
  };
  return { intent, state: 'unknown', attempts: [attempt], attempt: attempt.number, spentLamports: 0n as never };
}

function worldOf(
  open: readonly JournalledIntent[], { present, booked }: { readonly present: bigint; readonly booked: bigint },
): BalanceWorld {
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
    for (const { intent, attempts: [attempt] } of [sale, purchase])
      expect(await doubtOfBalance(world, intent, attempt!)).toBeUndefined();
  });

  it('are still waited for where the other may hide that the input is gone', async () => {
    const [attempt] = sale.attempts;
    const signedRight = { ...attempt!, inputBalance: HELD as Amount };
    // 100 may be gone and up to 800 may have come.
    for (const present of [HELD + 1n, HELD + 700n]) {
      expect(await doubtOfBalance(worldOf([sale, purchase], { present, booked: HELD }), sale.intent, signedRight))
        .toMatchObject({ kind: 'open' });
    }
    expect(
      await doubtOfBalance(worldOf([sale, purchase], { present: HELD + 701n, booked: HELD }), sale.intent, signedRight),
    ).toBeUndefined();
  });
});

describe('issue 13.34: a swap that landed in a hole of the node’s history', () => {
  const WHOLE = 100_000_000n;
  const swap = (input: typeof SOL, output: typeof SOL): JournalledIntent => {
    const { intent, attempts: [attempt], ...rest } =
      unknownSwap(1, { inputMint: input.mint, outputMint: output.mint, inputBalance: HELD, quotedOut: 50n });
    return { ...rest, intent: { ...intent, amountIn: WHOLE as Amount }, attempts: [attempt!] };
  };

  it.each([
    ['nothing came besides', USDC, SOL, HELD - WHOLE],
    ['one unit of dust came', USDC, SOL, HELD - WHOLE + 1n],
    ['the deposit of an account came back', SOL, USDC, HELD - WHOLE - 5_000n + 2_039_280n],
  ])('is not proven dead where its input is gone and %s', async (_what, input, output, present) => {
    const { intent, attempts: [attempt] } = swap(input, output);
    const world = worldOf([], { present, booked: HELD });
    expect(await doubtOfBalance(world, intent, attempt!)).toMatchObject({ kind: 'disagrees' });
    const said = { kind: 'failed', signature: 's', slot: 20n, feeLamports: 5_000n as never } as const;
    expect(await doubtOfBalance(world, intent, attempt!, said)).toMatchObject({ kind: 'disagrees' });
  });

  it('is not proven dead by a withdrawal of many times its size', async () => {
    const { intent, attempts: [attempt] } = swap(USDC, SOL);
    const present = HELD - WHOLE - 6n * WHOLE;
    const ledger = new Map([[USDC.mint, HELD as Amount]]);
    const commands = await compareWallet({
      wallet: 'us', isOwn: () => false, clock: new VirtualClock(0),
      chain: {
        balances: async () => new Map([[USDC.mint, present as Amount]]), newestTransactions: async () => [],
        landedSwap: async () => undefined,
      },
      ledger: () => ({ balances: ledger, version: 1, open: [intent] }),
    });
    for (const { mint, change } of commands!) ledger.set(mint, (ledger.get(mint)! + BigInt(change)) as Amount);
    expect(ledger.get(USDC.mint)).toBe(present + WHOLE);
    expect(await doubtOfBalance(worldOf([], { present, booked: ledger.get(USDC.mint)! }), intent, attempt!))
      .toMatchObject({ kind: 'disagrees' });
  });

  it('is dead where all of its input is there', async () => {
    for (const { intent, attempts: [attempt] } of [swap(USDC, SOL), swap(SOL, USDC)]) {
      expect(await doubtOfBalance(worldOf([], { present: HELD, booked: HELD }), intent, attempt!)).toBeUndefined();
      expect(await doubtOfBalance(worldOf([], { present: HELD + 1n, booked: HELD }), intent, attempt!)).toBeUndefined();
    }
  });
});
