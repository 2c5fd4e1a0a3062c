import type { Amount } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import { SOL_MINT, type Mint } from '../market/token.ts';
import { TOKEN_DATA_SLICE, readTokenAccount, type AccountData, type TokenAccountState } from '../solana/accounts.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../solana/constants.ts';
import type { Finality } from './finality.ts';
import { lamportBalance, tokenAccounts } from './rpc-answers.ts';
import type { RpcClient } from './rpc-client.ts';
import type { WalletContents } from './wallet-contents.ts';

/** A wallet's balance of one mint. */
interface TokenBalance {
  /** Smallest units; native and wrapped SOL together. */
  readonly amount: Amount;
  /** At confirmed: the amount includes all that landed up to this slot. */
  readonly slot: bigint;
  /** The amount includes nothing that landed after this slot; later than `slot` where two answers were added up. */
  readonly lastSlot: bigint;
}

/** A wallet's lamports, without wrapped SOL. */
export interface NativeBalance {
  readonly lamports: bigint;
  /** At confirmed, as of this slot. */
  readonly slot: bigint;
}

/** Reads what a wallet owns, at `confirmed`. All methods throw what the calls throw, and CHAIN_RESPONSE_INVALID. */
export interface Balances {
  /**
   * Returns the balance of one mint over both token programs, native and wrapped SOL together, with its slot. Answers
   * of nodes behind the newest finalized slot are refused.
   */
  readonly tokenBalance: (owner: string, mint: Mint) => Promise<TokenBalance>;
  /** Returns a wallet's lamports with their slot, under the same conditions. */
  readonly nativeBalance: (owner: string) => Promise<NativeBalance>;
  /**
   * Returns a wallet's balances by mint over both token programs; native and wrapped SOL together, mints of 0 left out.
   * They come from three calls, so they are consistent only while no transaction of this wallet is landing. Answers of
   * nodes behind a slot that was seen finalized, or in which a transaction of this wallet landed, are refused.
   */
  balances(owner: string): Promise<Map<Mint, Amount>>;
  /** Returns a wallet's SOL, native alone, and all its token accounts, empty ones too. */
  wallet(owner: string): Promise<WalletContents>;
}

/** Returns a reader of balances whose answers count from the slot floor on. */
export function createBalances(
  { rpc, floor, finalizedBlockHeight, onTokenAccounts }: Pick<Finality, 'floor' | 'finalizedBlockHeight'> & {
    readonly rpc: RpcClient;
    /** Gets the addresses of a wallet's token accounts in each answer. */
    readonly onTokenAccounts?: ((owner: string, addresses: readonly string[]) => void) | undefined;
  },
): Balances {
  const { askTokenAccounts, askLamports } = createFlooredCalls({ rpc, floor, onTokenAccounts });

  async function inAccounts(owner: string, mint: Mint): Promise<TokenBalance> {
    const { slot, accounts } = await askTokenAccounts(owner, { mint });
    await refuseFuture('getTokenAccountsByOwner', slot);
    const amounts = accounts.filter((account) => account.mint === mint);
    return { amount: amounts.reduce((sum, { amount }) => sum + amount, 0n) as Amount, slot, lastSlot: slot };
  }

  async function nativeBalance(owner: string): Promise<NativeBalance> {
    const balance = await askLamports(owner);
    await refuseFuture('getBalance', balance.slot);
    return balance;
  }

  /**
   * The slot of a reading is stored with what is signed on it: a slot that the chain has not reached would be waited
   * for.
   */
  async function refuseFuture(method: string, slot: bigint): Promise<void> {
    if (floor.isNear(slot)) return;
    // The finalized slot that is known here may be old.
    await finalizedBlockHeight();
    if (floor.isNear(slot)) return;
    const message = `${method}: expected an answer of a slot that the chain has reached, got slot ${slot}; `
      + `finalized is slot ${floor.finalized}`;
    throw new GannetError('CHAIN_RESPONSE_INVALID', message, { details: { method, slot } });
  }

  return {
    nativeBalance,
    async tokenBalance(owner, mint) {
      if (mint !== SOL_MINT) return inAccounts(owner, mint);
      const [unwrapped, wrapped] = await Promise.all([nativeBalance(owner), inAccounts(owner, mint)]);
      const [older, newer] = unwrapped.slot < wrapped.slot ? [unwrapped, wrapped] : [wrapped, unwrapped];
      return { amount: (unwrapped.lamports + wrapped.amount) as Amount, slot: older.slot, lastSlot: newer.slot };
    },
    async balances(owner) {
      const [{ lamports }, ...accounts] = await Promise.all([
        askLamports(owner),
        askTokenAccounts(owner, { programId: TOKEN_PROGRAM }),
        askTokenAccounts(owner, { programId: TOKEN_2022_PROGRAM }),
      ]);
      const balances = new Map<Mint, Amount>();
      for (const { mint, amount } of [
        { mint: SOL_MINT, amount: lamports }, ...accounts.flatMap((list) => list.accounts),
      ]) {
        if (amount > 0n) balances.set(mint as Mint, ((balances.get(mint as Mint) ?? 0n) + amount) as Amount);
      }
      return balances;
    },
    wallet: async (owner) => (await import('./wallet-contents.ts')).readWallet(rpc, owner),
  };
}

/** Calls whose answers count only from a node that has reached the slot floor. */
function createFlooredCalls(
  { rpc, floor, onTokenAccounts }: Pick<Parameters<typeof createBalances>[0], 'rpc' | 'floor' | 'onTokenAccounts'>,
) {
  async function askTokenAccounts(owner: string, filter: { readonly mint: string } | { readonly programId: string }) {
    const asOf = floor.confirmed;
    const config =
      { encoding: 'base64', commitment: 'confirmed', dataSlice: TOKEN_DATA_SLICE, minContextSlot: Number(asOf) };
    const { context, value } = await floor.ask({
      method: 'getTokenAccountsByOwner', asOf,
      call: () => rpc.call('getTokenAccountsByOwner', [owner, filter, config], tokenAccounts),
      slotOf: (answer) => answer.context.slot,
    });
    onTokenAccounts?.(owner, value.map(({ pubkey }) => pubkey));
    return { slot: context.slot, accounts: value.map(({ pubkey, account }) => requireTokenAccount(pubkey, account)) };
  }

  async function askLamports(owner: string): Promise<NativeBalance> {
    const asOf = floor.confirmed;
    const config = { commitment: 'confirmed', minContextSlot: Number(asOf) };
    const { context, value } = await floor.ask({
      method: 'getBalance', asOf,
      call: () => rpc.call('getBalance', [owner, config], lamportBalance),
      slotOf: (answer) => answer.context.slot,
    });
    return { slot: context.slot, lamports: value };
  }

  return { askTokenAccounts, askLamports };
}

function requireTokenAccount(address: string, account: AccountData): TokenAccountState {
  const state = readTokenAccount(account);
  if (state !== undefined) return state;
  const { owner, data } = account;
  throw new GannetError(
    'CHAIN_RESPONSE_INVALID', `expected ${address} to be a token account, got ${data.length} bytes of ${owner}`,
  );
}
