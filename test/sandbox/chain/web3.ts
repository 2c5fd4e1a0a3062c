import { PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { Address } from '../../../src/sandbox/chain/addresses.ts';
import { swapInstruction as swap } from '../../../src/sandbox/chain/pools.ts';

/** Returns the web3.js key of an address. */
export function publicKey(address: Address): PublicKey {
  return new PublicKey(address);
}

/** Returns the swap instruction of the embedded chain as web3.js has it. */
export function swapInstruction(options: Parameters<typeof swap>[0]): TransactionInstruction {
  const { programId, accounts, data } = swap(options);
  return new TransactionInstruction({
    programId: publicKey(programId),
    keys: accounts.map((account) => ({ ...account, pubkey: publicKey(account.pubkey) })),
    data: Buffer.from(data),
  });
}
