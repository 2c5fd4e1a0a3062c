import { U64_MAX } from '../../core/amount.ts';
import { assert } from '../../core/assert.ts';
import { GannetError } from '../../core/errors.ts';
import type { Address } from './addresses.ts';
import { NATIVE_MINT, SYSTEM_PROGRAM, associatedTokenAddress } from './addresses.ts';
import { SLOTS_BEHIND } from './blocks.ts';
import type { TransferFee } from './token-layout.ts';
import {
  MINT_BYTES, decodeMint, decodeTokenAccount, encodeMint, encodeTokenAccount, encodeWithholdingMint, isTokenProgram,
  withTokenAmount,
} from './token-layout.ts';
import type { Account, Vm } from './vm.ts';

export interface Mint {
  address: Address;
  decimals: number;
  tokenProgram: Address;
  /** Whether its accounts have room for what the mint withholds of transfers. */
  withholds: boolean;
}

export interface CreateMintOptions {
  mint: Address;
  decimals: number;
  tokenProgram: Address;
  supply: bigint;
  mintAuthority?: Address;
  freezeAuthority?: Address;
  /** Of Token-2022 alone. */
  transferFee?: TransferFee;
}

/** Reads and writes accounts without transactions: the sandbox sets up its first slot with it. */
export interface Accounts {
  account: (address: Address) => Account | undefined;
  balance: (owner: Address) => bigint;
  setBalance: (owner: Address, lamports: bigint) => void;
  /** Returns a mint. Throws MINT_INVALID when there is none at the address. */
  mint: (address: Address) => Mint;
  /** Returns a mint's decimals; 0 for one that was closed while accounts of it remained. */
  decimals: (mint: Address) => number;
  createMint: (options: CreateMintOptions) => void;
  tokenBalance: (options: { owner: Address; mint: Address }) => bigint;
  /** Returns what a token account holds; 0 where there is none. */
  tokenAmount: (address: Address) => bigint;
  /** Adds to the owner's associated token account, which is created when missing, and returns its address. */
  fundToken: (options: { owner: Address; mint: Address; amount: bigint }) => Address;
  /** Sets the balance of the owner's associated token account, and returns its address. */
  setTokenBalance: (options: { owner: Address; mint: Address; amount: bigint }) => Address;
}

/** Returns the accounts of a VM. */
export function createAccounts(vm: Vm): Accounts {
  function findMint(address: Address): Mint | undefined {
    const account = vm.account(address);
    const state = account && isTokenProgram(account.owner) ? decodeMint(account.data) : undefined;
    return account && state?.isInitialized
      ? {
        address, decimals: state.decimals, tokenProgram: account.owner, withholds: account.data.length > MINT_BYTES,
      } : undefined;
  }

  function mint(address: Address): Mint {
    const found = findMint(address);
    if (found) return found;
    throw new GannetError('MINT_INVALID', `expected a mint at ${address}, found none on the sandbox's chain`, {
      details: { mint: address },
    });
  }

  function createMint(options: CreateMintOptions): void {
    if (!isTokenProgram(options.tokenProgram)) throw new GannetError(
      'MINT_INVALID', `expected one of the two token programs for ${options.mint}, got ${options.tokenProgram}`,
    );
    if (options.mint === NATIVE_MINT) {
      // Wrapped SOL exists from the start; its supply is never kept on chain.
      assert(
        options.decimals === 9 && options.tokenProgram === mint(NATIVE_MINT).tokenProgram,
        'wrapped SOL has 9 decimals and the first token program',
      );
      return;
    }
    const state = {
      mintAuthority: options.mintAuthority ?? null,
      supply: options.supply,
      decimals: options.decimals,
      isInitialized: true,
      freezeAuthority: options.freezeAuthority ?? null,
    };
    const data = options.transferFee === undefined ? encodeMint(state)
      : encodeWithholdingMint(state, options.transferFee);
    vm.setAccount(options.mint, {
      lamports: vm.rentExemption(data.length), owner: options.tokenProgram, executable: false, data,
    });
  }

  function tokenBalance({ owner, mint: address }: { owner: Address; mint: Address }): bigint {
    return tokenAmount(associatedTokenAddress(owner, address, mint(address).tokenProgram));
  }

  function tokenAmount(address: Address): bigint {
    const account = vm.account(address);
    return account && isTokenProgram(account.owner) ? (decodeTokenAccount(account.data)?.amount ?? 0n) : 0n;
  }

  function setTokenBalance(options: { owner: Address; mint: Address; amount: bigint }): Address {
    const { owner, amount } = options;
    if (amount < 0n || amount > U64_MAX)
      throw new GannetError('AMOUNT_INVALID', `expected a token balance of 0 to ${U64_MAX}, got ${amount}`);
    const { tokenProgram, withholds } = mint(options.mint);
    const address = associatedTokenAddress(owner, options.mint, tokenProgram);
    const existing = vm.account(address);
    const state = existing && existing.owner === tokenProgram ? decodeTokenAccount(existing.data) : undefined;
    if (existing && state) {
      const wrapped = state.rentExemptReserve !== null;
      const lamports = wrapped ? existing.lamports - state.amount + amount : existing.lamports;
      vm.setAccount(address, {
        lamports, owner: tokenProgram, executable: false, data: withTokenAmount(existing.data, amount),
      });
      return address;
    }
    const fresh = { mint: options.mint, owner, amount, tokenProgram, withholds };
    const rent = vm.rentExemption(encodeTokenAccount({ ...fresh, rentExemptReserve: 0n }).length);
    const data = encodeTokenAccount({ ...fresh, rentExemptReserve: rent });
    vm.setAccount(address, {
      lamports: options.mint === NATIVE_MINT ? rent + amount : rent, owner: tokenProgram, executable: false, data,
    });
    return address;
  }

  return {
    account: (address) => vm.account(address),
    balance: (owner) => vm.account(owner)?.lamports ?? 0n,
    setBalance: (owner, lamports) => {
      const existing = vm.account(owner) ?? { owner: SYSTEM_PROGRAM, executable: false, data: new Uint8Array() };
      vm.setAccount(owner, { lamports, owner: existing.owner, executable: existing.executable, data: existing.data });
    },
    mint,
    decimals: (address) => findMint(address)?.decimals ?? 0,
    createMint,
    tokenBalance,
    tokenAmount,
    setTokenBalance,
    fundToken: (options) => setTokenBalance({ ...options, amount: tokenBalance(options) + options.amount }),
  };
}

interface Version {
  /** The slot whose transactions replaced this content. */
  replacedAt: number;
  account: Account | undefined;
}

export interface AccountVersions {
  /** Remembers what a transaction of `slot` replaced. */
  replaced: (address: Address, before: Account | undefined, slot: number) => void;
  /** Returns the account as it was at the end of `slot`, given how it is now. */
  asOf: (address: Address, slot: number, now: Account | undefined) => Account | undefined;
  /** Returns the addresses that have older contents, for lists of accounts. */
  addresses: () => Iterable<Address>;
  /** Forgets what no commitment can ask for any more. */
  prune: (currentSlot: number) => void;
}

/**
 * Returns the memory behind the commitment levels: what transactions of the last 32 slots overwrote, so that a read at
 * `finalized` does not show changes that a real chain may still undo.
 */
export function createAccountVersions(): AccountVersions {
  const versionsByAddress = new Map<Address, Version[]>();

  return {
    replaced: (address, account, slot) => {
      const versions = versionsByAddress.get(address);
      if (!versions) versionsByAddress.set(address, [{ replacedAt: slot, account }]);
      else if (versions.at(-1)!.replacedAt < slot) versions.push({ replacedAt: slot, account });
    },
    asOf: (address, slot, now) => {
      const version = versionsByAddress.get(address)?.find(({ replacedAt }) => replacedAt > slot);
      return version ? version.account : now;
    },
    addresses: () => versionsByAddress.keys(),
    prune: (currentSlot) => {
      const oldestAsked = currentSlot - SLOTS_BEHIND.finalized;
      for (const [address, versions] of versionsByAddress) {
        const kept = versions.filter(({ replacedAt }) => replacedAt > oldestAsked);
        if (kept.length === 0) versionsByAddress.delete(address);
        else if (kept.length < versions.length) versionsByAddress.set(address, kept);
      }
    },
  };
}
