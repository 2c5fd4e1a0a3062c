import type { TokenAccountState } from '../../solana/accounts.ts';
import { NATIVE_MINT, SYSTEM_PROGRAM } from '../../solana/constants.ts';
import type { PolicyCode } from './codes.ts';
import type { Review } from './review.ts';
import { networkFee } from './rules/totals.ts';

/** The changes in a simulation: of the wallet's own account, its token accounts, and the account of the output. */
export interface SimulatedChanges {
  /** With the program that owns the wallet's own account afterwards. */
  readonly wallet: { readonly before: bigint; readonly after: bigint; readonly programAfter: string };
  /** Lamports of the receiver that gets SOL in the wallet's place. */
  readonly receiver?: { readonly before: bigint; readonly after: bigint } | undefined;
  readonly tokenAccounts: readonly {
    readonly address: string;
    readonly before: TokenAccountState | undefined;
    readonly after: TokenAccountState | undefined;
  }[];
}

/** Compares the result of a simulation with the expectation. */
export function judgeSimulation(review: Review, changes: SimulatedChanges): void {
  const { wallet, inputMint, outputMint, amountIn, minimumOut, receiver } = review.expectation;
  const deny = (code: PolicyCode, message: string): void => { review.deny(code, undefined, message); };
  const ofWallet = changes.tokenAccounts.filter(({ before, after }) => (before ?? after)?.owner === wallet);
  for (const { address, before, after } of ofWallet) judgeAuthority(address, { before, after }, deny);
  if (changes.wallet.programAfter !== SYSTEM_PROGRAM)
    deny('SIMULATION_AUTHORITY_CHANGED', `the wallet itself belongs to ${changes.wallet.programAfter} afterwards`);

  const mints = new Set(ofWallet.flatMap(({ before, after }) => [before?.mint, after?.mint]).filter((mint) =>
    mint !== undefined));
  for (const mint of mints) {
    const change = tokenChange(ofWallet, mint);
    if (change < 0n && mint !== inputMint && mint !== NATIVE_MINT)
      deny('SIMULATION_BALANCE_CHANGED', `${-change} of ${mint} gone`);
  }
  const solChange = changes.wallet.after - changes.wallet.before + tokenChange(ofWallet, NATIVE_MINT);
  const costs = costLamports(review);
  const explained = costs + review.ledger.rentLamports;
  if (inputMint === NATIVE_MINT) {
    if (-solChange > amountIn + explained) deny(
      'SIMULATION_INPUT_EXCEEDS',
      `${-solChange} lamports gone, expected at most ${amountIn} lamports and ${explained} lamports of costs`,
    );
  } else {
    const spent = -tokenChange(ofWallet, inputMint);
    if (spent > amountIn)
      deny('SIMULATION_INPUT_EXCEEDS', `${spent} of ${inputMint} gone, expected at most ${amountIn} of ${inputMint}`);
    // For SOL to the wallet itself the received amount decides; a separate receiver leaves the wallet none.
    if ((outputMint !== NATIVE_MINT || receiver !== undefined) && -solChange > explained)
      deny('SIMULATION_SOL_EXCEEDS', `${-solChange} lamports gone, expected at most ${explained} lamports of costs`);
  }
  const received = receivedOutput(review, changes, { solChange, costs });
  if (received < minimumOut) deny(
    'SIMULATION_OUTPUT_BELOW', `${received} of ${outputMint} arrive, expected at least ${minimumOut} of ${outputMint}`,
  );
}

/** The fee and tips that the wallet pays in SOL; rent is counted separately. */
function costLamports({ expectation, feePayer, transaction, ledger }: Review): bigint {
  const { feeLamports } = networkFee(transaction, ledger.budget);
  return (feePayer === expectation.wallet ? feeLamports : 0n) + ledger.tipLamports;
}

function receivedOutput(
  review: Review, changes: SimulatedChanges,
  { solChange, costs }: { readonly solChange: bigint; readonly costs: bigint },
): bigint {
  const { wallet, receiver, outputMint } = review.expectation;
  const targets = changes.tokenAccounts.filter(({ address, before, after }) =>
    (receiver === undefined ? (before ?? after)?.owner === wallet : review.isOutputAccount(address)));
  const tokens = tokenChange(targets, outputMint);
  if (outputMint !== NATIVE_MINT) return tokens;
  // The wallet's own costs are no part of the output.
  if (receiver === undefined) return solChange + costs;
  const { before = 0n, after = 0n } = changes.receiver ?? {};
  return tokens + after - before;
}

function judgeAuthority(
  address: string, { before, after }: Pick<SimulatedChanges['tokenAccounts'][number], 'before' | 'after'>,
  deny: (code: PolicyCode, message: string) => void,
): void {
  // A closed account is harmless; a new one must be as plain as Gannet opens them.
  if (after === undefined) return;
  const was = before
    ?? { ...after, delegate: undefined, delegatedAmount: 0n, closeAuthority: undefined, isFrozen: false };
  const isSame = after.owner === was.owner && after.mint === was.mint && after.delegate === was.delegate
    && after.delegatedAmount <= was.delegatedAmount && after.closeAuthority === was.closeAuthority
    && after.isFrozen === was.isFrozen;
  if (!isSame) deny('SIMULATION_AUTHORITY_CHANGED', `owner, delegate, close authority or state of ${address} change`);
}

function tokenChange(accounts: SimulatedChanges['tokenAccounts'], mint: string): bigint {
  const held = (state: TokenAccountState | undefined): bigint => (state?.mint === mint ? state.amount : 0n);
  return accounts.reduce((change, { before, after }) => change + held(after) - held(before), 0n);
}
