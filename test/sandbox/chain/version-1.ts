import { getTransferSolInstruction } from '@solana-program/system';
import type { Blockhash, Instruction } from '@solana/kit';
import {
  address, appendTransactionMessageInstructions, createKeyPairSignerFromBytes, createTransactionMessage,
  getTransactionEncoder, pipe, setTransactionMessageConfig, setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash, signTransactionMessageWithSigners,
} from '@solana/kit';
import type { SandboxChain } from '../../../src/sandbox/chain/chain.ts';
import type { Wallet } from './market-fixture.ts';

/** Limits that are enough for transfers: a limit that version 1 does not name is zero. */
export const ENOUGH = { computeUnitLimit: 20_000, loadedAccountsDataSizeLimit: 1_000_000 } as const;

/** Returns a signed version 1 transaction of kit that pays lamports, `transfers` times. */
export async function version1Payment(options: {
  chain: SandboxChain; payer: Wallet; to: string; lamports: bigint;
  config?: Parameters<typeof setTransactionMessageConfig>[0] | undefined;
  transfers?: number; more?: readonly Instruction[];
}): Promise<Buffer> {
  const { chain, config } = options;
  const payer = await createKeyPairSignerFromBytes(options.payer.keypair.secretKey);
  const latest = chain.latestBlockhash('processed');
  const lifetime =
    { blockhash: latest.blockhash as Blockhash, lastValidBlockHeight: BigInt(latest.lastValidBlockHeight) };
  const transfer =
    getTransferSolInstruction({ source: payer, destination: address(options.to), amount: options.lamports });
  const instructions = [...Array.from({ length: options.transfers ?? 1 }, () => transfer), ...options.more ?? []];
  const message = pipe(
    createTransactionMessage({ version: 1 }),
    (empty) => setTransactionMessageFeePayerSigner(payer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => appendTransactionMessageInstructions(instructions, timed),
    (full) => config === undefined ? full : setTransactionMessageConfig(config, full),
  );
  return Buffer.from(getTransactionEncoder().encode(await signTransactionMessageWithSigners(message)));
}
