import bs58 from 'bs58';
import { U64_MAX, ZERO, type Amount, type Lamports } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import { SOL_MINT, type Mint } from '../market/token.ts';
import type { LandedSwap } from '../trading/attempt.ts';
import { SOL_DECIMALS, SYSTEM_PROGRAM } from '../solana/constants.ts';
import type { LandedTransaction } from './rpc-answers.ts';
import { readTransactionError } from './rpc-answers.ts';

/** The wallet and the two mints of a swap. */
export interface SwapSide {
  readonly owner: string;
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  /** Gets the output in the wallet's place: a wallet, or a token account. */
  readonly receiver?: string | undefined;
}

/**
 * Returns the effect of a landed transaction on a wallet, exact to the unit. Native and wrapped SOL count together, and
 * their change is always -(SOL in) + (SOL out) - fee - deposits. Closing an account returns its deposit, so deposits
 * can be negative. Where neither side is SOL, lamports that went elsewhere (a tip) count as fee.
 * Throws CHAIN_RESPONSE_INVALID where the balances contradict the swap.
 */
export function readLandedSwap(transaction: LandedTransaction, swap: SwapSide): LandedSwap {
  const { meta, slot } = transaction;
  const signature = transaction.transaction.signatures[0]!;
  const keys = accountKeys(transaction);
  const ownerIndex = keys.indexOf(swap.owner);
  const base = { signature, slot, error: readTransactionError(meta.err) };
  const paidFee = ownerIndex === 0 ? meta.fee : 0n;
  // A failed transaction costs its fee and changes nothing else: moved balances contradict the failure.
  if (base.error !== undefined) {
    refuseMoved(transaction, { owner: swap.owner, ownerIndex, paidFee });
    return { ...base, feeLamports: paidFee as Lamports, rentLamports: 0n as Lamports, amountIn: ZERO, amountOut: ZERO };
  }

  // Without token balances every token would seem unmoved, or new.
  if (meta.preTokenBalances === null || meta.postTokenBalances === null)
    throw contradiction('expected its token balances, got none', signature);
  const accounts = ownTokenAccounts(transaction, swap.owner);
  const deposits = depositsPaid({ transaction, keys, ownerIndex, accounts });
  const nativeChange = ownerIndex < 0 ? 0n : lamportChange(transaction, ownerIndex);
  const solChange = nativeChange + tokenChange(accounts, SOL_MINT);
  const swapsSol = swap.inputMint === SOL_MINT || (swap.outputMint === SOL_MINT && swap.receiver === undefined);
  const elsewhere = swapsSol ? 0n : -(solChange + paidFee + deposits);
  const fee = elsewhere > 0n ? paidFee + elsewhere : paidFee;
  const rent = elsewhere < 0n ? deposits + elsewhere : deposits;
  const received = swap.receiver === undefined ? undefined
    : receivedBy(transaction, keys, { receiver: swap.receiver, mint: swap.outputMint });
  const changeOf = (mint: Mint): bigint => (mint === SOL_MINT ? solChange + fee + rent : tokenChange(accounts, mint));
  return {
    ...base,
    feeLamports: fee as Lamports,
    ...(fee === paidFee ? {} : { tipLamports: (fee - paidFee) as Lamports }),
    rentLamports: rent as Lamports,
    amountIn: movedAmount(-changeOf(swap.inputMint), `the wallet's ${swap.inputMint} to go down`, signature),
    amountOut: movedAmount(
      received ?? changeOf(swap.outputMint),
      `the ${received === undefined ? 'wallet' : 'receiver'}'s ${swap.outputMint} to go up`, signature,
    ),
  };
}

/** The increase of a mint at a wallet with its token accounts, or at one token account. */
function receivedBy(
  transaction: LandedTransaction, keys: readonly string[],
  { receiver, mint }: { readonly receiver: string; readonly mint: Mint },
): bigint {
  const { meta } = transaction;
  const own = (entries: typeof meta.postTokenBalances): NonNullable<typeof entries> => (entries ?? []).filter((entry) =>
    entry.mint === mint && (entry.owner === receiver || keys[entry.accountIndex] === receiver));
  const held = (entries: typeof meta.postTokenBalances): bigint =>
    own(entries).reduce((sum, { uiTokenAmount }) => sum + uiTokenAmount.amount, 0n);
  const tokens = held(meta.postTokenBalances) - held(meta.preTokenBalances);
  const index = keys.indexOf(receiver);
  const isTokenAccount = [...own(meta.preTokenBalances), ...own(meta.postTokenBalances)]
    .some(({ accountIndex }) => accountIndex === index);
  return mint !== SOL_MINT || index < 0 || isTokenAccount ? tokens : tokens + lamportChange(transaction, index);
}

/** Throws where a failed transaction changed balances by more than its fee. */
function refuseMoved(transaction: LandedTransaction, { owner, ownerIndex, paidFee }: {
  readonly owner: string; readonly ownerIndex: number; readonly paidFee: bigint;
}): void {
  const { meta: { preTokenBalances, postTokenBalances } } = transaction;
  const signature = transaction.transaction.signatures[0]!;
  const lamports = ownerIndex < 0 ? 0n : lamportChange(transaction, ownerIndex);
  // Without token balances nothing can be compared.
  const areKept = preTokenBalances !== null && postTokenBalances !== null;
  const moved = (areKept ? ownTokenAccounts(transaction, owner) : []).find(({ before, after }) => before !== after);
  if (moved === undefined && lamports === -paidFee) return;
  const what = moved === undefined ? `its lamports changed by ${lamports}, the fee is ${paidFee}`
    : `it had ${moved.before ?? 0n} of ${moved.mint} before and ${moved.after ?? 0n} after`;
  throw contradiction(`it is reported as failed, but the wallet's balances moved: ${what}`, signature);
}

/**
 * Returns the changes of a wallet's tokens in a transaction that it signed, by mint, without fees and deposits. Returns
 * an empty map for a failed transaction, and for one that the wallet did not sign. Throws CHAIN_RESPONSE_INVALID where
 * its balances are incomplete.
 */
export function readOwnMoves(transaction: LandedTransaction, owner: string): ReadonlyMap<string, bigint> {
  const { meta, transaction: { signatures } } = transaction;
  const keys = accountKeys(transaction);
  const ownerIndex = keys.indexOf(owner);
  if (ownerIndex < 0 || ownerIndex >= signatures.length || readTransactionError(meta.err) !== undefined)
    return new Map();
  const accounts = ownTokenAccounts(transaction, owner);
  const moves = new Map(accounts.map(({ mint }) => [mint, tokenChange(accounts, mint)]));
  const paidFee = ownerIndex === 0 ? meta.fee : 0n;
  const deposits = depositsPaid({ transaction, keys, ownerIndex, accounts });
  moves.set(SOL_MINT, lamportChange(transaction, ownerIndex) + (moves.get(SOL_MINT) ?? 0n) + paidFee + deposits);
  return moves;
}

/** What a transaction changed of a wallet, by mint; native and wrapped SOL count together. */
interface WalletChanges {
  /** Whether the wallet signed the transaction. */
  readonly isSigner: boolean;
  /** Without tokens that stayed the same. Fees and deposits are part of the change of SOL. */
  readonly changes: ReadonlyMap<string, { readonly amount: bigint; readonly decimals: number | undefined }>;
}

/** Returns the changes of all tokens of a wallet. Throws CHAIN_RESPONSE_INVALID where they are incomplete. */
export function readWalletChanges(transaction: LandedTransaction, owner: string): WalletChanges {
  const { ownerIndex, accounts } = ownBalances(transaction, owner);
  const lamports = lamportChange(transaction, ownerIndex) + tokenChange(accounts, SOL_MINT);
  const changes = new Map<string, { readonly amount: bigint; readonly decimals: number | undefined }>();
  changes.set(SOL_MINT, { amount: lamports, decimals: SOL_DECIMALS });
  for (const { mint, decimals } of accounts)
    if (!changes.has(mint)) changes.set(mint, { amount: tokenChange(accounts, mint), decimals });
  return {
    isSigner: ownerIndex < transaction.transaction.signatures.length,
    changes: new Map([...changes].filter(([, { amount }]) => amount !== 0n)),
  };
}

/** The balance of an account before and after a transaction. */
export interface BalanceChange {
  readonly before: bigint;
  readonly after: bigint;
}

/**
 * Returns the changes of a wallet's lamports and, by address, of its token accounts of a mint in a transaction. Throws
 * CHAIN_RESPONSE_INVALID where the transaction does not contain them.
 */
export function readBalances(
  transaction: LandedTransaction, owner: string, mint: string,
): { readonly native: BalanceChange; readonly accounts: ReadonlyMap<string, BalanceChange> } {
  const { keys, ownerIndex, accounts } = ownBalances(transaction, owner);
  const { preBalances, postBalances } = transaction.meta;
  return {
    native: { before: preBalances[ownerIndex]!, after: postBalances[ownerIndex]! },
    accounts: new Map(accounts.filter((account) => account.mint === mint)
      .map(({ index, before = 0n, after = 0n }) => [keys[index]!, { before, after }])),
  };
}

/** Throws where the transaction does not name the wallet, or has no token balances. */
function ownBalances(transaction: LandedTransaction, owner: string): {
  readonly keys: readonly string[]; readonly ownerIndex: number; readonly accounts: readonly OwnTokenAccount[];
} {
  const { meta, transaction: { signatures } } = transaction;
  const keys = accountKeys(transaction);
  const ownerIndex = keys.indexOf(owner);
  if (ownerIndex < 0) throw contradiction('it is listed for the wallet, but does not name it', signatures[0]!);
  if (meta.preTokenBalances === null || meta.postTokenBalances === null)
    throw contradiction('expected its token balances, got none', signatures[0]!);
  return { keys, ownerIndex, accounts: ownTokenAccounts(transaction, owner) };
}

/** A token account that belonged to the wallet before or after. */
interface OwnTokenAccount {
  readonly index: number;
  readonly mint: string;
  readonly before?: bigint | undefined;
  readonly after?: bigint | undefined;
  readonly decimals?: number | undefined;
}

function ownTokenAccounts({ meta }: LandedTransaction, owner: string): readonly OwnTokenAccount[] {
  const accounts = new Map<number, OwnTokenAccount>();
  for (const entry of meta.preTokenBalances ?? []) {
    if (entry.owner !== owner) continue;
    accounts.set(entry.accountIndex, {
      index: entry.accountIndex, mint: entry.mint, before: entry.uiTokenAmount.amount,
      decimals: entry.uiTokenAmount.decimals,
    });
  }
  for (const entry of meta.postTokenBalances ?? []) {
    if (entry.owner !== owner) continue;
    const known = accounts.get(entry.accountIndex) ?? { index: entry.accountIndex, mint: entry.mint };
    const { amount: after, decimals } = entry.uiTokenAmount;
    accounts.set(entry.accountIndex, { ...known, after, decimals });
  }
  return [...accounts.values()];
}

function tokenChange(accounts: readonly OwnTokenAccount[], mint: string): bigint {
  return accounts
    .filter((account) => account.mint === mint)
    .reduce((sum, { before = 0n, after = 0n }) => sum + after - before, 0n);
}

interface DepositContext {
  readonly transaction: LandedTransaction;
  readonly keys: readonly string[];
  readonly ownerIndex: number;
  readonly accounts: readonly OwnTokenAccount[];
}

/**
 * The lamports locked in the wallet's token accounts, without wrapped SOL: paid for accounts that it opened, returned
 * for accounts that it closed. An account that was opened and closed in the transaction appears on neither side.
 */
function depositsPaid(context: DepositContext): bigint {
  return context.accounts.reduce((sum, account) => sum + depositChange(account, context), 0n);
}

function depositChange(account: OwnTokenAccount, { transaction, keys, ownerIndex }: DepositContext): bigint {
  const { index, mint, before = 0n, after = 0n } = account;
  const wrappedChange = mint === SOL_MINT ? after - before : 0n;
  const change = lamportChange(transaction, index) - wrappedChange;
  const opened = account.before === undefined && transaction.meta.preBalances[index] === 0n;
  if (!opened) return change;
  const funders = fundersOf(index, transaction, keys);
  if (funders.size > 0) return funders.has(ownerIndex) ? change : 0n;
  // Without inner instructions the payer of the fee is taken for the payer of the account.
  return ownerIndex === 0 ? change : 0n;
}

const CREATE_ACCOUNT = 0;
const TRANSFER = 2;
const CREATE_ACCOUNT_WITH_SEED = 3;
/** More than any of these three needs in base58, whose decoding time is quadratic in the length. */
const MAX_FUNDING_CHARACTERS = 200;

/** The accounts that sent lamports to the one at `index` through the System program. */
function fundersOf(
  index: number, { transaction, meta }: LandedTransaction, keys: readonly string[],
): ReadonlySet<number> {
  const inner = (meta.innerInstructions ?? []).flatMap((group) => group.instructions);
  const funders = new Set<number>();
  for (const { programIdIndex, accounts, data } of [...transaction.message.instructions, ...inner]) {
    const [from, to] = accounts;
    if (keys[programIdIndex] !== SYSTEM_PROGRAM || to !== index || from === undefined
        || data.length > MAX_FUNDING_CHARACTERS) continue;
    const bytes = bs58.decodeUnsafe(data);
    if (bytes === undefined || bytes.length < 12) continue;
    const kind = Buffer.from(bytes).readUInt32LE(0);
    if (kind === CREATE_ACCOUNT || kind === TRANSFER || kind === CREATE_ACCOUNT_WITH_SEED) funders.add(from);
  }
  return funders;
}

/** All accounts in the order of balances and instruction indexes. Throws CHAIN_RESPONSE_INVALID. */
function accountKeys({ meta, transaction }: LandedTransaction): readonly string[] {
  const keys = [...transaction.message.accountKeys, ...meta.loadedAddresses.writable, ...meta.loadedAddresses.readonly];
  const entries = [...(meta.preTokenBalances ?? []), ...(meta.postTokenBalances ?? [])];
  const inRange = entries.every(({ accountIndex }) => accountIndex < keys.length);
  if (meta.preBalances.length !== keys.length || meta.postBalances.length !== keys.length || !inRange) {
    throw contradiction(`expected balances of ${keys.length} accounts`, transaction.signatures[0]!);
  }
  return keys;
}

function lamportChange({ meta }: LandedTransaction, index: number): bigint {
  return meta.postBalances[index]! - meta.preBalances[index]!;
}

function movedAmount(value: bigint, expectation: string, signature: string): Amount {
  if (value < 0n || value > U64_MAX)
    throw contradiction(`expected ${expectation}, got a change of ${-value} in the other direction`, signature);
  return value as Amount;
}

function contradiction(what: string, signature: string): GannetError {
  return new GannetError('CHAIN_RESPONSE_INVALID', `transaction ${signature}: ${what}`, { details: { signature } });
}
