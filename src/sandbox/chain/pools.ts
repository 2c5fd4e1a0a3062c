import { readFileSync } from 'node:fs';
import { U64_MAX } from '../../core/amount.ts';
import { assert } from '../../core/assert.ts';
import { assetFile } from '../../core/code-files.ts';
import { GannetError } from '../../core/errors.ts';
import type { Accounts, Mint } from './accounts.ts';
import type { Address } from './addresses.ts';
import { NATIVE_MINT, addressBytes, associatedTokenAddress, programAddress } from './addresses.ts';
import type { Instruction, InstructionAccount } from './message.ts';
import type { Vm } from './vm.ts';

/** The address the swap program is loaded at. */
export const SWAP_PROGRAM_ID: Address = 'GannetSwap111111111111111111111111111111111';

const MAX_HOPS = 4;
const SWAP_TAG = 1;
const INSTRUCTION_BYTES = 24;

/** Layout of `program/swap.c`, struct pool. */
const POOL_BYTES = 160;
const POOL_MAGIC = 'GNTPOOL1';

// A vault holds far more than its reserve says, so that the market can move the price by rewriting reserves alone.
// Wrapped SOL stays below 2^53 lamports: clients read lamports as doubles.
const VAULT_LEVEL = 2n ** 62n;
const NATIVE_VAULT_LEVEL = 2n ** 52n;

export interface PoolOptions {
  mintA: Address;
  mintB: Address;
  feeBps: number;
  reserveA: bigint;
  reserveB: bigint;
  /** Tells pools of one pair apart; by default the next free number. */
  index?: number;
  /** Whether its mints may carry extensions; by default not. */
  holdsExtensions?: boolean;
}

export interface Pool {
  address: Address;
  mintA: Address;
  mintB: Address;
  vaultA: Address;
  vaultB: Address;
  feeBps: number;
  index: number;
}

export interface PoolReserves {
  reserveA: bigint;
  reserveB: bigint;
  feeBps: number;
}

interface SwapHop {
  pool: Address;
  inputMint: Address;
  outputMint: Address;
}

interface SwapInstructionOptions {
  chain: { pool: (address: Address) => Pool; mint: (address: Address) => Mint };
  user: Address;
  hops: readonly SwapHop[];
  amountIn: bigint;
  /** The least output for the user, after the platform's fee. */
  minimumOut: bigint;
  /** Paid out of the last hop's output, to a token account of the output mint. */
  platformFee?: { bps: number; account: Address };
  /** The output token account; by default the user's associated one. */
  destination?: Address;
}

interface Pools {
  create: (options: PoolOptions) => Pool;
  /** Returns a pool. Throws CHAIN_TRANSACTION_INVALID when there is none at the address. */
  pool: (address: Address) => Pool;
  all: () => readonly Pool[];
  reserves: (address: Address) => PoolReserves;
  writeReserves: (address: Address, reserves: { reserveA: bigint; reserveB: bigint }) => void;
}

/** Returns the pools of the swap program in a VM. */
export function createPools(options: { vm: Vm; accounts: Accounts }): Pools {
  const { vm, accounts } = options;
  const pools = new Map<Address, Pool>();

  function pool(address: Address): Pool {
    const found = pools.get(address);
    if (!found) throw new GannetError(
      'CHAIN_TRANSACTION_INVALID', `expected a pool at ${address}, found none; make it with createPool`,
      { details: { pool: address } },
    );
    return found;
  }

  function create(wanted: PoolOptions): Pool {
    const { mintA, mintB, feeBps } = wanted;
    assert(mintA !== mintB, `a pool needs two different mints, got ${mintA} twice`);
    assert(
      Number.isInteger(feeBps) && feeBps >= 0 && feeBps <= 10_000,
      `a pool's fee is 0 to 10000 whole basis points, got ${feeBps}`,
    );
    const index = wanted.index
      ?? pools.values().filter((known) => known.mintA === mintA && known.mintB === mintB).toArray().length;
    const { address, bump } = poolAddress({ mintA, mintB, index });
    const vaultA = fillVault(address, mintA, wanted.reserveA);
    const vaultB = fillVault(address, mintB, wanted.reserveB);
    const created = { address, mintA, mintB, vaultA, vaultB, feeBps, index };
    vm.setAccount(address, {
      lamports: vm.rentExemption(POOL_BYTES), owner: SWAP_PROGRAM_ID, executable: false,
      data: encodePool(created, { bump, ...wanted }),
    });
    pools.set(address, created);
    return created;
  }

  function fillVault(owner: Address, mint: Address, reserve: bigint): Address {
    return accounts.setTokenBalance({ owner, mint, amount: vaultLevel(mint, reserve) });
  }

  /** Trades move a vault away from its level; it is reset long before it can underflow or overflow. */
  function levelVault(
    owner: Address,
    { mint, vault, reserve }: { readonly mint: Address; readonly vault: Address; readonly reserve: bigint },
  ): void {
    const level = vaultLevel(mint, reserve);
    const held = accounts.tokenAmount(vault);
    if (held < level / 2n || held > level + level / 2n) accounts.setTokenBalance({ owner, mint, amount: level });
  }

  function poolAccount(address: Address): { lamports: bigint; data: Buffer } {
    const account = vm.account(pool(address).address);
    assert(account?.owner === SWAP_PROGRAM_ID, `the pool ${address} has vanished from the chain`);
    return { lamports: account.lamports, data: Buffer.from(account.data) };
  }

  return {
    create,
    pool,
    all: () => [...pools.values()],
    reserves: (address) => {
      const { data } = poolAccount(address);
      return { reserveA: data.readBigUInt64LE(16), reserveB: data.readBigUInt64LE(24), feeBps: data.readUInt16LE(8) };
    },
    writeReserves: (address, reserves) => {
      const { mintA, mintB, vaultA, vaultB } = pool(address);
      const { lamports, data } = poolAccount(address);
      writeReserveFields(data, reserves);
      vm.setAccount(address, { lamports, owner: SWAP_PROGRAM_ID, executable: false, data });
      levelVault(address, { mint: mintA, vault: vaultA, reserve: reserves.reserveA });
      levelVault(address, { mint: mintB, vault: vaultB, reserve: reserves.reserveB });
    },
  };
}

function encodePool(
  pool: Pool, state: { bump: number; reserveA: bigint; reserveB: bigint; holdsExtensions?: boolean },
): Buffer {
  const data = Buffer.alloc(POOL_BYTES);
  data.write(POOL_MAGIC, 0, 'latin1');
  data.writeUInt16LE(pool.feeBps, 8);
  data.writeUInt16LE(pool.index, 10);
  data.writeUInt8(state.bump, 12);
  data.writeUInt8(state.holdsExtensions === true ? 1 : 0, 13);
  writeReserveFields(data, state);
  [pool.mintA, pool.mintB, pool.vaultA, pool.vaultB]
    .forEach((key, position) => data.set(addressBytes(key), 32 + 32 * position));
  return data;
}

/** Returns the program address of a pool. */
function poolAddress(options: { mintA: Address; mintB: Address; index: number }): { address: Address; bump: number } {
  const index = Buffer.alloc(2);
  index.writeUInt16LE(options.index);
  return programAddress(
    [Buffer.from('pool'), addressBytes(options.mintA), addressBytes(options.mintB), index], SWAP_PROGRAM_ID,
  );
}

function vaultLevel(mint: Address, reserve: bigint): bigint {
  const usual = mint === NATIVE_MINT ? NATIVE_VAULT_LEVEL : VAULT_LEVEL;
  const needed = 2n * reserve;
  return needed > usual ? (needed > U64_MAX / 2n ? U64_MAX / 2n : needed) : usual;
}

function writeReserveFields(data: Buffer, reserves: { reserveA: bigint; reserveB: bigint }): void {
  for (const reserve of [reserves.reserveA, reserves.reserveB]) {
    if (reserve <= 0n || reserve > U64_MAX)
      throw new GannetError('AMOUNT_INVALID', `expected a reserve of 1 to ${U64_MAX}, got ${reserve}`);
  }
  data.writeBigUInt64LE(reserves.reserveA, 16);
  data.writeBigUInt64LE(reserves.reserveB, 24);
}

/** Returns the compiled swap program, as committed. */
export function readSwapProgram(): Uint8Array {
  return readFileSync(assetFile('swap.so'));
}

/**
 * Returns the one instruction that swaps through 1 to 4 pools, each hop's whole output being the next one's input.
 * Accounts and data as `program/README.md` lists them.
 */
export function swapInstruction(options: SwapInstructionOptions): Instruction {
  const { chain, user, hops } = options;
  assert(hops.length >= 1 && hops.length <= MAX_HOPS, `a swap has 1 to ${MAX_HOPS} hops, got ${hops.length}`);
  const mints = [hops[0]!.inputMint, ...hops.map((hop) => hop.outputMint)].map((mint) => chain.mint(mint));
  const first = mints[0]!;
  const last = mints.at(-1)!;
  const source = associatedTokenAddress(user, first.address, first.tokenProgram);
  const destination = options.destination ?? associatedTokenAddress(user, last.address, last.tokenProgram);

  const accounts: InstructionAccount[] = [
    { pubkey: user, isSigner: true, isWritable: false },
    writable(source),
    writable(destination),
    // Where no fee is paid, the program's own address stands in its place.
    options.platformFee ? writable(options.platformFee.account) : readonly(SWAP_PROGRAM_ID),
    ...mints.flatMap((mint) => [readonly(mint.address), readonly(mint.tokenProgram)]),
  ];
  for (const hop of hops) {
    const pool = chain.pool(hop.pool);
    const forward = pool.mintA === hop.inputMint;
    accounts.push(writable(pool.address), writable(forward ? pool.vaultA : pool.vaultB), writable(forward
      ? pool.vaultB : pool.vaultA));
  }

  const data = Buffer.alloc(INSTRUCTION_BYTES);
  data.writeUInt8(SWAP_TAG, 0);
  data.writeUInt8(hops.length, 1);
  data.writeUInt16LE(options.platformFee?.bps ?? 0, 2);
  data.writeBigUInt64LE(options.amountIn, 8);
  data.writeBigUInt64LE(options.minimumOut, 16);
  return { programId: SWAP_PROGRAM_ID, accounts, data };
}

function writable(address: Address): InstructionAccount {
  return { pubkey: address, isSigner: false, isWritable: true };
}

function readonly(address: Address): InstructionAccount {
  return { pubkey: address, isSigner: false, isWritable: false };
}
