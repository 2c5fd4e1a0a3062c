import {
  AddressLookupTableAccount, ComputeBudgetProgram, PublicKey, TransactionInstruction, TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'vitest';
import type { Answer, Wallet, ServiceFixture } from './service-fixture.ts';

type Body = Answer['body'];

/** Returns an instruction of the wire as the library wants it. */
export function instruction({ programId, accounts, data }: Body): TransactionInstruction {
  return new TransactionInstruction({
    programId: new PublicKey(programId),
    keys: accounts.map(({ pubkey, isSigner, isWritable }: Body) =>
      ({ pubkey: new PublicKey(pubkey), isSigner, isWritable })),
    data: Buffer.from(data, 'base64'),
  });
}

/** Returns the unsigned transaction of a build in base64, made of nothing but the answer and a compute unit limit. */
export function compose(build: Body, payer: string, units = 300_000): string {
  const tables = Object.entries<string[]>(build.addressesByLookupTableAddress ?? {})
    .map(([key, addresses]) => new AddressLookupTableAccount({
      key: new PublicKey(key),
      state: {
        deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0,
        addresses: addresses.map((entry) => new PublicKey(entry)),
      },
    }));
  const message = new TransactionMessage({
    payerKey: new PublicKey(payer),
    recentBlockhash: bs58.encode(build.blockhashWithMetadata.blockhash),
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units }),
      ...build.computeBudgetInstructions.map(instruction),
      ...build.setupInstructions.map(instruction),
      instruction(build.swapInstruction),
      ...(build.cleanupInstruction === null || build.cleanupInstruction === undefined ? []
        : [instruction(build.cleanupInstruction)]),
      ...build.otherInstructions.map(instruction),
    ],
  }).compileToV0Message(tables);
  return Buffer.from(new VersionedTransaction(message).serialize()).toString('base64');
}

/** Sends a transaction over RPC, lets a slot pass, and returns the chain's error: null where it went through. */
export async function sent(
  fixture: ServiceFixture, transaction: string, ...wallets: readonly Wallet[]
): Promise<unknown> {
  let signed = transaction;
  for (const wallet of wallets) signed = await wallet.sign(signed);
  const { result: signature, error } =
    await fixture.rpc('sendTransaction', [signed, { encoding: 'base64', skipPreflight: true }]);
  expect(error).toBeUndefined();
  await fixture.passSlots(1);
  const { result } = await fixture.rpc('getSignatureStatuses', [[signature]]);
  return result.value[0].err;
}
