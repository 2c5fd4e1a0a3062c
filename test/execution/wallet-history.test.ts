import { describe, expect, it } from 'vitest';
import type { Amount, Lamports } from '../../src/core/amount.ts';
import type { BalanceStep, BalanceSteps } from '../../src/execution/ports.ts';
import { HistoryCheck, historyGap } from '../../src/execution/wallet-history.ts';
import { GannetError } from '../../src/core/errors.ts';
import { SOL, USDC } from '../market/tokens.ts';

type HistoryQuestion = Parameters<typeof historyGap>[1];

const FEE = 5_000n;
const SIGNED_AT = 1_000n;
const SPENT = 25n;
const ACCOUNT = 'account';

/** Transactions of a wallet by what each moved: its tokens, and lamports besides the fee. */
function historyOf(moves: readonly {
  readonly id: string; readonly slot: bigint; readonly tokens?: bigint; readonly lamports?: bigint;
  readonly fails?: boolean;
}[]): BalanceSteps {
  let [lamports, tokens] = [1_000_000n, 1_000n];
  const steps = moves.map(({ id, slot, tokens: token, lamports: moved = 0n, fails = false }): BalanceStep => {
    const before = { lamports, tokens };
    lamports += moved - FEE;
    tokens += token ?? 0n;
    return {
      signatures: [id], slot, hasFailed: fails, native: { before: before.lamports, after: lamports },
      accounts: new Map(token === undefined ? [] : [[ACCOUNT, { before: before.tokens, after: tokens }]]),
    };
  });
  return { native: { lamports, slot: 2_000n }, steps, unreadable: [] };
}

const tokensOf = ({ steps }: BalanceSteps): bigint =>
  steps.findLast(({ accounts }) => accounts.size > 0)!.accounts.get(ACCOUNT)!.after;

function questionOf(
  amount: bigint, { said = { kind: 'not-found' }, ...rest }: Partial<HistoryQuestion> = {},
): HistoryQuestion {
  return {
    intent: { inputMint: USDC.mint }, said, present: { amount: amount as Amount, slot: 2_000n, lastSlot: 2_000n },
    attempt: { signature: 'ours', transactionId: 'ours', inputSlots: { from: SIGNED_AT, to: SIGNED_AT } }, ...rest,
  };
}

const BEFORE = { id: 'before', slot: 700n, tokens: -SPENT };
const OTHER = { id: 'other', slot: 1_200n, lamports: 300n };
const FAILED = { kind: 'failed', signature: 'ours', slot: 1_100n, feeLamports: FEE as Lamports } as const;
const AS_FAILED = { id: 'ours', slot: 1_100n, tokens: 0n, fails: true };

describe('issue 13.34: an unbroken chain of a wallet’s transactions', () => {
  it('proves that an absent swap never landed', () => {
    const whole = historyOf([BEFORE, OTHER]);
    expect(historyGap(whole, questionOf(tokensOf(whole)))).toBeUndefined();
    // A third party sent tokens, which are in no list of the wallet.
    expect(historyGap(whole, questionOf(tokensOf(whole) + 7n))).toBeUndefined();
  });

  it('proves it by the lamports alone where the wallet pays the fee', () => {
    const whole = historyOf([{ id: 'before', slot: 700n }, { ...BEFORE, id: 'after', slot: 1_200n }]);
    expect(historyGap(whole, questionOf(tokensOf(whole)))).toBeUndefined();
    expect(historyGap(whole, questionOf(tokensOf(whole) - SPENT))).toMatch(/its transactions left/);
    const byOthers = { attempt: { signature: 'ours', inputSlots: { from: SIGNED_AT, to: SIGNED_AT } } };
    expect(historyGap(whole, questionOf(tokensOf(whole), byOthers))).toMatch(/no transaction before the swap/);
  });

  it('proves that a swap failed which moved only its fee', () => {
    const whole = historyOf([BEFORE, AS_FAILED, OTHER]);
    expect(historyGap(whole, questionOf(tokensOf(whole), { said: FAILED }))).toBeUndefined();
  });

  it('proves it for SOL too, in any order within a slot', () => {
    const whole =
      historyOf([{ id: 'before', slot: 700n }, { ...OTHER, slot: 1_100n }, { ...AS_FAILED, tokens: undefined! }]);
    const { native, steps } = whole;
    const said = { intent: { inputMint: SOL.mint }, said: FAILED };
    for (const told of [whole, { ...whole, native, steps: [steps[0]!, steps[2]!, steps[1]!] }])
      expect(historyGap(told, questionOf(native.lamports, said))).toBeUndefined();
    expect(historyGap(whole, questionOf(native.lamports - SPENT, said))).toMatch(/its transactions left/);
  });

  it.each([
    ['its own transaction is one of them', [BEFORE, { id: 'ours', slot: 1_100n, tokens: -SPENT }], {}, /lists ours/],
    [
      'one is hidden between two', [BEFORE, { id: 'hidden', slot: 1_100n, tokens: -SPENT }, OTHER], {},
      /before other the wallet has/,
    ],
    [
      'the last one is hidden', [BEFORE, OTHER, { id: 'hidden', slot: 1_300n, tokens: -SPENT }], {},
      /lamports, its last transaction left/,
    ],
    ['two are hidden, and the second brought as much as the first took', [
      BEFORE, OTHER, { id: 'hidden', slot: 1_300n, tokens: -SPENT }, { id: 'hidden', slot: 1_301n, tokens: SPENT },
    ], {}, /its last transaction left/],
    ['none of them is older', [{ ...BEFORE, slot: 1_200n }], {}, /no transaction before the swap/],
    ['none of them is a minute older', [{ ...BEFORE, slot: SIGNED_AT - 100n }], {}, /no transaction before the swap/],
    [
      'it is not among them, though it is said to have failed', [BEFORE, OTHER], { said: FAILED },
      /does not list ours as failed/,
    ],
    [
      'it is among them as a success', [BEFORE, { ...AS_FAILED, fails: false }], { said: FAILED },
      /does not list ours as failed/,
    ],
    [
      'none before the one that failed shows the token', [{ id: 'before', slot: 700n }, AS_FAILED, OTHER],
      { said: FAILED }, /no transaction before the swap/,
    ],
    ['it is the first of them', [AS_FAILED, OTHER], { said: FAILED }, /no transaction before the swap/],
    ['it moved something', [BEFORE, { ...AS_FAILED, tokens: -SPENT }], { said: FAILED }, /more than its fee/],
    [
      'one landed while the balances were read', [BEFORE, { ...OTHER, slot: 2_001n }],
      { present: { amount: 975n as Amount, slot: 2_000n, lastSlot: 2_001n } }, /while the balances were read/,
    ],
  ] as const)('do not show it where %s', (_where, moves, rest, why) => {
    const all = historyOf(moves);
    const steps = all.steps.filter(({ signatures }) => signatures[0] !== 'hidden');
    expect(historyGap({ ...all, steps }, questionOf(tokensOf(all), rest))).toMatch(why);
  });

  it('does not prove a failure where the next transaction starts with less', () => {
    const { native, steps: [before, failed, other] } = historyOf([BEFORE, AS_FAILED, { ...OTHER, tokens: 0n }]);
    const less = { ...other!, accounts: new Map([[ACCOUNT, { before: 950n, after: 950n }]]) };
    expect(historyGap({ native, steps: [before!, failed!, less], unreadable: [] }, questionOf(950n, { said: FAILED })))
      .toMatch(/before other there is 950/);
    const shorter = { native, steps: [before!, failed!], unreadable: [] };
    expect(historyGap(shorter, questionOf(950n, { said: FAILED }))).toBeDefined();
  });

  it.each<readonly [what: string, lamports: bigint, tokens: bigint, why: RegExp | undefined]>([
    ['brought nothing', 0n, 0n, undefined], ['brought lamports', 900n, 0n, undefined],
    ['brought tokens', 0n, 40n, undefined], ['brought both', 900n, 40n, undefined],
    ['took lamports', -1n, 0n, /the transaction before it left/],
    ['took tokens', 0n, -1n, /the transaction before it left/],
  ])('reaches across a transaction that cannot be read only where it %s', (_what, lamports, tokens, why) => {
    // A stranger pays its fee.
    const whole = historyOf([
      BEFORE, { id: 'unread', slot: 1_150n, lamports: FEE + lamports, tokens },
      { id: 'after', slot: 1_300n, tokens: 0n }, { id: 'last', slot: 1_400n, lamports: 5n },
    ]);
    const told = (slot: bigint): BalanceSteps => ({
      ...whole, steps: whole.steps.filter(({ signatures }) => signatures[0] !== 'unread'),
      unreadable: [{ signature: 'unread', slot }],
    });
    for (const transactionId of [undefined, 'ours']) {
      const attempt = { signature: 'ours', transactionId, inputSlots: { from: SIGNED_AT, to: SIGNED_AT } };
      const question = questionOf(tokensOf(whole), { attempt });
      if (why === undefined) expect(historyGap(told(1_150n), question)).toBeUndefined();
      else expect(historyGap(told(1_150n), question)).toMatch(why);
      // At another place lamports agree to the unit.
      if (lamports > 0n) expect(historyGap(told(1_350n), question)).toMatch(/the transaction before it left/);
    }
  });

  it('must agree to the unit with another fee payer', () => {
    const whole = historyOf([BEFORE, OTHER]);
    const attempt = { signature: 'ours', inputSlots: { from: SIGNED_AT, to: SIGNED_AT } };
    expect(historyGap(whole, questionOf(tokensOf(whole), { attempt }))).toBeUndefined();
    expect(historyGap(whole, questionOf(tokensOf(whole) + 1n, { attempt }))).toMatch(/its transactions left/);
  });
});

describe('the check of a wallet’s history', () => {
  it('repeats soon after a proof, less often without one, and treats faults as no proof', async () => {
    const whole = historyOf([BEFORE, OTHER]);
    const asked: number[] = [];
    let now = 0;
    let told: BalanceSteps | undefined;
    const balanceHistory = async (): Promise<BalanceSteps> => {
      asked.push(now);
      if (told === undefined) throw new GannetError('CHAIN_RESPONSE_INVALID', 'it lists what it does not give');
      return told;
    };
    const witness = new HistoryCheck({ owner: 'us', elapsed: () => now, chain: { balanceHistory } });
    const said: boolean[] = [];
    for (; now < 200_000; now += 1_000) said.push(await witness.isClear(questionOf(tokensOf(whole))));
    expect(said.some(Boolean)).toBe(false);
    expect(asked).toEqual([0, 3_000, 9_000, 21_000, 45_000, 93_000, 153_000]);
    told = whole;
    for (; now < 220_000; now += 1_000) said.push(await witness.isClear(questionOf(tokensOf(whole))));
    expect(said.at(-1)).toBe(true);
    expect(asked.slice(7)).toEqual([213_000, 216_000, 219_000]);
  });

  it('asks again where the report changes, since the transaction may have landed meanwhile', async () => {
    const absent = historyOf([BEFORE, OTHER]);
    const swapped = historyOf([BEFORE, { id: 'ours', slot: 1_100n, tokens: -SPENT }, OTHER]);
    let told = absent;
    const witness = new HistoryCheck({
      owner: 'us', elapsed: () => 0, chain: { balanceHistory: () => Promise.resolve(told) },
    });
    expect(await witness.isClear(questionOf(tokensOf(absent)))).toBe(true);
    told = swapped;
    expect(await witness.isClear(questionOf(tokensOf(absent), { said: FAILED }))).toBe(false);
  });
});
