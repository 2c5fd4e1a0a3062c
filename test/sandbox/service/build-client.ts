import {
  AddressLookupTableAccount, ComputeBudgetProgram, PublicKey, TransactionInstruction, TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import type { Landed, SimulationResult } from '../../../src/sandbox/chain/chain.ts';
import type { Answer, TestSandbox } from './sandbox-client.ts';

interface WireInstruction {
  programId: string; accounts: { pubkey: string; isSigner: boolean; isWritable: boolean }[]; data: string;
}

function instruction({ programId, accounts, data }: WireInstruction): TransactionInstruction {
  const keys = accounts.map(({ pubkey, isSigner, isWritable }) =>
    ({ pubkey: new PublicKey(pubkey), isSigner, isWritable }));
  return new TransactionInstruction({ programId: new PublicKey(programId), keys, data: Buffer.from(data, 'base64') });
}

/** Composes a transaction as a client does, from nothing but the answer. */
export function composeBuild(body: Answer['body'], payer: string): string {
  const tables = Object.entries(body.addressesByLookupTableAddress as Record<string, string[]>)
    .map(([key, addresses]) =>
      new AddressLookupTableAccount({
        key: new PublicKey(key),
        state: {
          deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0,
          addresses: addresses.map((entry) => new PublicKey(entry)),
        },
      }));
  const message = new TransactionMessage({
    payerKey: new PublicKey(payer),
    recentBlockhash: bs58.encode(body.blockhashWithMetadata.blockhash),
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 }),
      ...[...body.computeBudgetInstructions, ...body.setupInstructions, body.swapInstruction].map(instruction),
      ...(body.cleanupInstruction === null ? [] : [instruction(body.cleanupInstruction)]),
      ...body.otherInstructions.map(instruction),
    ],
  }).compileToV0Message(tables);
  return Buffer.from(new VersionedTransaction(message).serialize()).toString('base64');
}

/** Signs a build with the sandbox's wallet and puts it on the chain, or only simulates it. */
export function landBuild(sandbox: TestSandbox, body: Answer['body']): Landed {
  const result = sandbox.chain.land(signedBuild(sandbox, body));
  if (result.kind === 'rejected') throw new Error(JSON.stringify(result));
  return result;
}

/** Returns what a build would do. */
export function simulateBuild(sandbox: TestSandbox, body: Answer['body']): SimulationResult {
  return sandbox.chain.simulate(signedBuild(sandbox, body));
}

function signedBuild({ wallet }: TestSandbox, body: Answer['body']): Buffer {
  return Buffer.from(wallet.sign(composeBuild(body, wallet.address)), 'base64');
}
