import { describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { compareWallet } from '../../src/daemon/watch/ledger-comparison.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import { balanceObjection } from '../../src/execution/input-balance.ts';
import type { JournalledIntent } from '../../src/execution/ports.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL, USDC } from '../market/tokens.ts';
import { temporaryJournal } from '../store/fixtures.ts';
import { attemptOf, FILL, intentOf, outcomeOf } from '../store/sample-intents.ts';

type BalancePorts = Parameters<typeof balanceObjection>[0];

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

function portsOf(
  open: readonly JournalledIntent[], { present, booked }: { readonly present: bigint; readonly booked: bigint },
): BalancePorts {
  return {
    chain: { tokenBalance: async () => ({ amount: present as Amount, slot: 500n, lastSlot: 500n }) },
    journal: { openIntents: () => open, movesSince: () => [] },
    owner: 'us',
    ledger: () => booked as Amount,
  };
}

describe('issue 13.34: two unknown swaps in opposite directions, signed on a wrong balance of 0', () => {
  const sale = unknownSwap(1, { inputMint: USDC.mint, outputMint: SOL.mint, inputBalance: 0n, quotedOut: 50n });
  const purchase = unknownSwap(2, { inputMint: SOL.mint, outputMint: USDC.mint, inputBalance: 0n, quotedOut: 200n });

  it('do not wait for each other where the wallet has more than the other could have bought', async () => {
    // The same lie emptied the ledger.
    const ports = portsOf([sale, purchase], { present: HELD, booked: 0n });
    for (const { intent, attempts: [attempt] } of [sale, purchase])
      expect(await balanceObjection(ports, intent, attempt!)).toBeUndefined();
  });

  it('still wait where the other may hide that the input is gone', async () => {
    const [attempt] = sale.attempts;
    const signedRight = { ...attempt!, inputBalance: HELD as Amount };
    // 100 may be gone and up to 800 may have come.
    for (const present of [HELD + 1n, HELD + 700n]) {
      expect(await balanceObjection(portsOf([sale, purchase], { present, booked: HELD }), sale.intent, signedRight))
        .toMatchObject({ kind: 'open' });
    }
    expect(
      await balanceObjection(
        portsOf([sale, purchase], { present: HELD + 701n, booked: HELD }), sale.intent, signedRight,
      ),
    ).toBeUndefined();
  });
});

describe('issue 13.34: a swap that landed in a gap of the node’s history', () => {
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
    const ports = portsOf([], { present, booked: HELD });
    expect(await balanceObjection(ports, intent, attempt!)).toMatchObject({ kind: 'disagrees' });
    const said = { kind: 'failed', signature: 's', slot: 20n, feeLamports: 5_000n as never } as const;
    expect(await balanceObjection(ports, intent, attempt!, said)).toMatchObject({ kind: 'disagrees' });
  });

  it('is not proven expired by a withdrawal of many times its size', async () => {
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
    expect(await balanceObjection(portsOf([], { present, booked: ledger.get(USDC.mint)! }), intent, attempt!))
      .toMatchObject({ kind: 'disagrees' });
  });

  it('is expired where all of its input is there', async () => {
    for (const { intent, attempts: [attempt] } of [swap(USDC, SOL), swap(SOL, USDC)]) {
      expect(await balanceObjection(portsOf([], { present: HELD, booked: HELD }), intent, attempt!)).toBeUndefined();
      expect(await balanceObjection(portsOf([], { present: HELD + 1n, booked: HELD }), intent, attempt!))
        .toBeUndefined();
    }
  });
});

describe('issue 13.34: a failed swap of SOL beside a larger purchase with an unknown outcome', () => {
  const SPENT = 100_000_000n as Amount;
  const FEE = 5_000n as never;
  const sale = intentOf(1, { inputMint: SOL.mint, outputMint: USDC.mint, amountIn: SPENT });
  const signed = attemptOf(sale.id, { inputBalance: HELD as Amount, inputSlots: SLOTS });
  const said = { kind: 'failed', signature: 's', slot: 20n, feeLamports: FEE } as const;

  /**
   * Beside the sale a purchase that is open, and another one, whose first attempt failed and whose second one had an
   * end.
   */
  function journalWith(
    end: Parameters<typeof outcomeOf>[2] & { readonly state: 'building' | 'confirmed' | 'failed' },
  ): BalancePorts['journal'] {
    const journal = temporaryJournal();
    const begin = (id: string, number: number, attempt = attemptOf(id)): void => {
      journal.intentApproved(id === sale.id ? sale : intentOf(number));
      journal.transition(outcomeOf(id, 'building'));
      journal.attemptSigned(attempt);
      journal.transition(outcomeOf(id, 'signed'));
      journal.transition(outcomeOf(id, 'submitted'));
    };
    begin(sale.id, 1, signed);
    begin('dca-2', 2, attemptOf('dca-2', { quotedOut: 1_000_000_000n as Amount }));
    begin('dca-3', 3, attemptOf('dca-3', { quotedOut: 0n as Amount }));
    journal.transition(outcomeOf('dca-3', 'building', { attempt: 2, ended: 'failed', feeLamports: FEE, slot: 30n }));
    if (end.state === 'building') return journal;
    journal.transition(outcomeOf('dca-3', 'signed', { attempt: 2 }));
    journal.transition(outcomeOf('dca-3', 'submitted', { attempt: 2 }));
    journal.transition(outcomeOf('dca-3', end.state, { attempt: 2, ...end }));
    return journal;
  }
  const objectionOf = (journal: BalancePorts['journal'], present: bigint): ReturnType<typeof balanceObjection> =>
    balanceObjection({ ...portsOf([], { present, booked: HELD }), journal }, sale, signed, said);

  it.each([
    ['failed once and is tried again', { state: 'building' }, -10_000n],
    ['failed twice', { state: 'failed', feeLamports: 10_000n as never, slot: 40n }, -15_000n],
    ['failed and then brought something', {
      state: 'confirmed',
      fill: { ...FILL, amountOut: 700n as Amount, feeLamports: 10_000n as never, rentLamports: 0n as never }, slot: 40n,
    }, -15_000n + 700n],
  ] as const)('does not wait for it where another purchase %s: each fee is known', async (_what, end, change) => {
    expect(await objectionOf(journalWith(end), HELD + change)).toBeUndefined();
    // Of the input, all is gone but what the purchase may have brought.
    expect(await objectionOf(journalWith(end), HELD + change - SPENT)).toMatchObject({ kind: 'disagrees' });
    expect(await objectionOf(journalWith(end), HELD + change + 1n)).toMatchObject({ kind: 'open' });
  });
});
