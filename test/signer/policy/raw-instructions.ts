import bs58 from 'bs58';
import {
  ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM,
} from '../../../src/sandbox/chain/addresses.ts';
import type { Instruction } from '../../../src/sandbox/service/build/instructions.ts';

/** An account with its role: `s` signs, `w` is written. */
export type Account = readonly [pubkey: string, role?: 's' | 'w' | 'sw'];

/** Returns an instruction of any program. */
export function instruction(programId: string, data: Uint8Array, accounts: readonly Account[]): Instruction {
  return {
    programId, data,
    accounts: accounts.map(([pubkey, role = '']) =>
      ({ pubkey, isSigner: role.includes('s'), isWritable: role.includes('w') })),
  };
}

/** Returns an instruction of the system program: its kind, and what follows. */
export function system(kind: number, rest: readonly Uint8Array[], accounts: readonly Account[]): Instruction {
  return instruction(SYSTEM_PROGRAM, Buffer.concat([u32(kind), ...rest]), accounts);
}

/** Returns an instruction of a token program: its kind, and what follows. */
export function token(
  tokenProgram: string, kind: number, rest: readonly Uint8Array[], accounts: readonly Account[],
): Instruction {
  return instruction(tokenProgram, Buffer.concat([Buffer.of(kind), ...rest]), accounts);
}

/** Returns an instruction that opens an associated account, right or wrong. */
export function openAssociated(
  options: { payer: string; account: string; owner: string; mint: string; tokenProgram: string; kind?: number },
): Instruction {
  const { payer, account, owner, mint, tokenProgram, kind = 1 } = options;
  return instruction(ASSOCIATED_TOKEN_PROGRAM, Buffer.of(kind), [
    [payer, 'sw'], [account, 'w'], [owner], [mint], [SYSTEM_PROGRAM], [tokenProgram],
  ]);
}

/** Returns an instruction of the compute budget. */
export function budget(kind: number, rest: Uint8Array): Instruction {
  return instruction(COMPUTE_BUDGET_PROGRAM, Buffer.concat([Buffer.of(kind), rest]), []);
}

/** Returns four bytes, the lowest first. */
export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Returns eight bytes, the lowest first. */
export function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

/** Returns the 32 bytes of an address. */
export function key(address: string): Uint8Array {
  return bs58.decode(address);
}
