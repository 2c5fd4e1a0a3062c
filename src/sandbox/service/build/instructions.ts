import {
  addressBytes, associatedTokenAddress, ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM,
} from '../../chain/addresses.ts';
import type { Instruction, InstructionAccount } from '../../chain/message.ts';

export type { Instruction };

interface TokenOwner {
  readonly owner: string;
  readonly mint: string;
  readonly tokenProgram: string;
}

// Discriminators of the native programs' instructions.
const SYSTEM_TRANSFER = 2;
const SYSTEM_CREATE_WITH_SEED = 3;
const ATA_CREATE_IDEMPOTENT = 1;
const TOKEN_CLOSE_ACCOUNT = 9;
const TOKEN_TRANSFER_CHECKED = 12;
const TOKEN_SYNC_NATIVE = 17;
const TOKEN_INITIALIZE_ACCOUNT_3 = 18;
const COMPUTE_UNIT_LIMIT = 2;
const COMPUTE_UNIT_PRICE = 3;

/** Returns the instruction that limits the transaction's compute units. */
export function computeUnitLimit(units: number): Instruction {
  const data = Buffer.alloc(5);
  data.writeUInt8(COMPUTE_UNIT_LIMIT, 0);
  data.writeUInt32LE(units, 1);
  return { programId: COMPUTE_BUDGET_PROGRAM, accounts: [], data };
}

/** Returns the instruction that bids for priority, in micro-lamports per compute unit. */
export function computeUnitPrice(microLamports: bigint): Instruction {
  const data = Buffer.alloc(9);
  data.writeUInt8(COMPUTE_UNIT_PRICE, 0);
  data.writeBigUInt64LE(microLamports, 1);
  return { programId: COMPUTE_BUDGET_PROGRAM, accounts: [], data };
}

/** Returns the instruction that creates an associated token account unless it exists. */
export function createTokenAccount(
  { payer, owner, mint, tokenProgram }: TokenOwner & { readonly payer: string },
): Instruction {
  return {
    programId: ASSOCIATED_TOKEN_PROGRAM,
    accounts: [
      { pubkey: payer, isSigner: true, isWritable: true },
      writable(associatedTokenAddress(owner, mint, tokenProgram)),
      readonly(owner),
      readonly(mint),
      readonly(SYSTEM_PROGRAM),
      readonly(tokenProgram),
    ],
    data: Buffer.of(ATA_CREATE_IDEMPOTENT),
  };
}

/** Returns the instruction that moves lamports. */
export function transferLamports({ from, to, lamports }: { from: string; to: string; lamports: bigint }): Instruction {
  const data = Buffer.alloc(12);
  data.writeUInt32LE(SYSTEM_TRANSFER, 0);
  data.writeBigUInt64LE(lamports, 4);
  return {
    programId: SYSTEM_PROGRAM, accounts: [{ pubkey: from, isSigner: true, isWritable: true }, writable(to)], data,
  };
}

/** Returns the instruction that counts the lamports sent to a wrapped-SOL account as its tokens. */
export function syncNative({ account, tokenProgram }: { account: string; tokenProgram: string }): Instruction {
  return { programId: tokenProgram, accounts: [writable(account)], data: Buffer.of(TOKEN_SYNC_NATIVE) };
}

/** Returns the instruction that closes a token account and gives its lamports to `destination`. */
export function closeTokenAccount(
  options: { account: string; destination: string; owner: string; tokenProgram: string },
): Instruction {
  return {
    programId: options.tokenProgram,
    accounts: [writable(options.account), writable(options.destination), signer(options.owner)],
    data: Buffer.of(TOKEN_CLOSE_ACCOUNT),
  };
}

/** Returns the instruction that moves tokens between two accounts of a mint. */
export function transferTokens(options: {
  from: string; to: string; owner: string; token: { mint: string; decimals: number; tokenProgram: string };
  amount: bigint;
}): Instruction {
  const { mint, decimals, tokenProgram } = options.token;
  const data = Buffer.alloc(10);
  data.writeUInt8(TOKEN_TRANSFER_CHECKED, 0);
  data.writeBigUInt64LE(options.amount, 1);
  data.writeUInt8(decimals, 9);
  return {
    programId: tokenProgram,
    accounts: [writable(options.from), readonly(mint), writable(options.to), signer(options.owner)], data,
  };
}

/** Returns the instruction that allocates an account of `owner`'s program at the address of `base` and `seed`. */
export function createSeededAccount(options: {
  payer: string; base: string; seed: string; account: string; lamports: bigint; bytes: number; owner: string;
}): Instruction {
  const { payer, base, account } = options;
  const seed = Buffer.from(options.seed);
  const data = Buffer.alloc(92 + seed.length);
  data.writeUInt32LE(SYSTEM_CREATE_WITH_SEED, 0);
  data.set(addressBytes(base), 4);
  data.writeBigUInt64LE(BigInt(seed.length), 36);
  data.set(seed, 44);
  data.writeBigUInt64LE(options.lamports, 44 + seed.length);
  data.writeBigUInt64LE(BigInt(options.bytes), 52 + seed.length);
  data.set(addressBytes(options.owner), 60 + seed.length);
  return {
    programId: SYSTEM_PROGRAM,
    accounts: [{ pubkey: payer, isSigner: true, isWritable: true }, writable(account), signer(base)], data,
  };
}

/** Returns the instruction that turns an allocated account into an empty token account of `owner`. */
export function initializeTokenAccount(
  { account, owner, mint, tokenProgram }: TokenOwner & { readonly account: string },
): Instruction {
  return {
    programId: tokenProgram,
    accounts: [writable(account), readonly(mint)],
    data: Buffer.concat([Buffer.of(TOKEN_INITIALIZE_ACCOUNT_3), addressBytes(owner)]),
  };
}

/** Returns the instruction as the service writes it: data in base64. */
export function toWire(
  { programId, accounts, data }: Instruction,
): { programId: string; accounts: readonly InstructionAccount[]; data: string } {
  return { programId, accounts, data: Buffer.from(data).toString('base64') };
}

function writable(pubkey: string): InstructionAccount {
  return { pubkey, isSigner: false, isWritable: true };
}

function readonly(pubkey: string): InstructionAccount {
  return { pubkey, isSigner: false, isWritable: false };
}

function signer(pubkey: string): InstructionAccount {
  return { pubkey, isSigner: true, isWritable: false };
}
