import { describe, expect, it } from 'vitest';
import { createBalanceHistory, type BalanceHistory } from '../../src/chain/balance-history.ts';
import type { LandedTransaction } from '../../src/chain/rpc-answers.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { UnreadableTransaction } from '../../src/trading/attempt.ts';

const OWNER = 'us';
const FEE = 5_000n;

/** A transaction of the wallet's in a slot of its own; `tokens` where it moves USDC. */
function landed(slot: number, { tokens, isKept = true }: {
  readonly tokens?: readonly [bigint, bigint] | undefined; readonly isKept?: boolean;
} = {}): LandedTransaction {
  const entry = (amount: bigint) => [
    { accountIndex: 1, mint: USDC_MINT, owner: OWNER, uiTokenAmount: { amount } },
    { accountIndex: 2, mint: USDC_MINT, owner: 'another', uiTokenAmount: { amount: 9n } },
  ];
  return {
    slot: BigInt(slot),
    meta: {
      err: null, fee: FEE, preBalances: [100_000n, 7n, 7n], postBalances: [100_000n - FEE, 7n, 7n],
      innerInstructions: [], loadedAddresses: { writable: [], readonly: [] },
      preTokenBalances: isKept ? entry(tokens?.[0] ?? 0n).slice(tokens === undefined ? 1 : 0) : null,
      postTokenBalances: isKept ? entry(tokens?.[1] ?? 0n).slice(tokens === undefined ? 1 : 0) : null,
    },
    transaction: { signatures: [`s${slot}`], message: { accountKeys: [OWNER, 'account', 'other'], instructions: [] } },
  };
}

/** A wallet of so many transactions, slot after slot from 1 on. */
function wallet(
  count: number, at: (slot: number) => LandedTransaction | UnreadableTransaction | undefined,
): { readonly history: BalanceHistory; readonly asked: string[] } {
  const asked: string[] = [];
  const entries = Array.from({ length: count }, (_, index) =>
    ({ signature: `s${count - index}`, slot: BigInt(count - index) }));
  const history = createBalanceHistory({
    native: async () => ({ lamports: 5n, slot: 9_000n }),
    history: async (_owner, { limit, before }) => {
      const from = before === undefined ? 0 : entries.findIndex(({ signature }) => signature === before) + 1;
      return entries.slice(from, from + limit);
    },
    transaction: async (signature) => {
      asked.push(signature);
      return at(Number(signature.slice(1)));
    },
  });
  return { history, asked };
}

describe('issue 13.34: the balance history of a wallet', () => {
  it('is oldest first, over pages, back to a transaction of the token a minute before the slot', async () => {
    const { history, asked } = wallet(500, (slot) =>
      landed(slot, { tokens: slot === 95 || slot === 260 ? [30n, 20n] : undefined }));
    const { native, steps } = await history({ owner: OWNER, mint: USDC_MINT, sinceSlot: 300n });
    expect(native).toEqual({ lamports: 5n, slot: 9_000n });
    expect(steps.at(-1)).toEqual({
      signatures: ['s500'], slot: 500n, hasFailed: false, native: { before: 100_000n, after: 95_000n },
      accounts: new Map(),
    });
    expect(steps.find(({ slot }) => slot === 95n)!.accounts)
      .toEqual(new Map([['account', { before: 30n, after: 20n }]]));
    expect(steps.map(({ slot }) => slot)).toEqual(steps.map((_, index) => steps[0]!.slot + BigInt(index)));
    expect(steps[0]!.slot).toBeGreaterThan(86n);
    expect(asked).toHaveLength(steps.length);
  });

  it('reaches back a minute for SOL, which every transaction shows, and to the end without the token', async () => {
    const sol = await wallet(500, (slot) => landed(slot)).history({ owner: OWNER, mint: SOL_MINT, sinceSlot: 400n });
    expect(sol.steps[0]!.slot).toBeLessThan(250n);
    expect(sol.steps[0]!.slot).toBeGreaterThan(240n);
    expect(
      (await wallet(250, (slot) => landed(slot)).history({ owner: OWNER, mint: USDC_MINT, sinceSlot: 200n })).steps,
    ).toHaveLength(250);
  });

  it.each([
    ['the node does not return a listed transaction', () => undefined],
    ['a listed transaction does not name the wallet', (slot: number) => ({
      ...landed(slot), transaction: { signatures: ['s'], message: { accountKeys: ['x', 'y', 'z'], instructions: [] } },
    })],
    ['a transaction comes without token balances', (slot: number) => landed(slot, { isKept: false })],
    ['a transaction has a version that is not read', (slot: number) => ({
      kind: 'unreadable' as const, signature: `s${slot}`, reason: 'version 2', mayBeOwn: false,
    })],
  ])('names a transaction without its changes where %s', async (_what, at) => {
    const { history } = wallet(3, (slot) => (slot === 2 ? at(slot) : landed(slot)));
    const { steps, unreadable } = await history({ owner: OWNER, mint: USDC_MINT, sinceSlot: 1n });
    expect(steps.map(({ slot }) => slot)).toEqual([1n, 3n]);
    expect(unreadable).toEqual([{ signature: 's2', slot: 2n }]);
  });

  it('throws for more than 4000 transactions', async () => {
    await expect(wallet(4_100, (slot) => landed(slot)).history({ owner: OWNER, mint: USDC_MINT, sinceSlot: 1n }))
      .rejects.toMatchObject({ code: 'CHAIN_RESPONSE_INVALID' });
  });
});
