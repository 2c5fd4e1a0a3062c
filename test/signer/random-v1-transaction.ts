import {
  AccountRole, address, appendTransactionMessageInstructions, blockhash, compileTransaction, createTransactionMessage,
  getAddressDecoder, getTransactionEncoder, pipe, setTransactionMessageConfig, setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash, type Address, type Instruction, type V1TransactionConfig,
} from '@solana/kit';
import type { Random } from '../../src/core/random.ts';
import { integer, pick, randomBytes } from './random-transaction.ts';

/** What a version 1 transaction is composed of. */
export interface V1Parts {
  readonly payer: string;
  readonly blockhash: string;
  readonly instructions: readonly Instruction[];
  readonly config: V1TransactionConfig;
}

/** Returns the unsigned version 1 transaction of some parts, as kit composes it. Throws where it does not fit. */
export function composeV1(parts: V1Parts): Uint8Array {
  const compiled = compileTransaction(pipe(
    createTransactionMessage({ version: 1 }),
    (message) => setTransactionMessageFeePayer(address(parts.payer), message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(
      { blockhash: blockhash(parts.blockhash), lastValidBlockHeight: 0n }, message,
    ),
    (message) => setTransactionMessageConfig(parts.config, message),
    (message) => appendTransactionMessageInstructions(parts.instructions, message),
  ));
  return Uint8Array.from(getTransactionEncoder().encode(compiled));
}

/** Returns a version 1 transaction as kit makes it, some signatures filled in; undefined where it does not fit. */
export function randomV1Transaction(random: Random, signers: readonly string[] = []): Uint8Array | undefined {
  const key = (): Address => getAddressDecoder().decode(randomBytes(random, 32));
  const loose = Array.from({ length: integer(random, 1, 45) }, key);
  const cosigners =
    [...signers.map((signer) => address(signer)), ...Array.from({ length: integer(random, 0, 4) }, key)];
  const payer = cosigners[0] ?? key();
  const programs = Array.from({ length: integer(random, 1, 4) }, key);
  const some = <T>(value: T): T | undefined => (random() < 0.6 ? value : undefined);
  const longest = pick(random, [10, 60, 500]);
  const instructions = Array.from({ length: integer(random, 1, 12) }, () => ({
    programAddress: pick(random, programs),
    accounts: [
      ...Array.from({ length: integer(random, 0, 20) }, () =>
        ({ address: pick(random, loose), role: random() < 0.5 ? AccountRole.WRITABLE : AccountRole.READONLY })),
      ...cosigners.map((signer) => ({
        address: signer, role: random() < 0.5 ? AccountRole.WRITABLE_SIGNER : AccountRole.READONLY_SIGNER,
      })),
    ],
    data: randomBytes(random, integer(random, 0, longest)),
  }));
  const config = {
    priorityFeeLamports: some(BigInt(integer(random, 0, 2 ** 48)) ** pick(random, [0n, 1n])),
    computeUnitLimit: some(integer(random, 0, 1_400_000)),
    loadedAccountsDataSizeLimit: some(integer(random, 1, 2 ** 26)),
    heapSize: some(1_024 * integer(random, 32, 256)),
  };
  try {
    const bytes = composeV1({
      payer, blockhash: key(), instructions,
      config: Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)),
    });
    if (bytes.length > 4_096) return undefined;
    const count = bytes[1]!;
    for (let slot = 0; slot < count; slot++)
      if (random() < 0.3) bytes.set(randomBytes(random, 64), bytes.length - 64 * (slot + 1));
    return bytes;
  } catch {
    // kit refuses to compose what has too many accounts, instructions or signers.
    return undefined;
  }
}
