import { VersionedTransaction } from '@solana/web3.js';
import { expect } from 'vitest';
import { SOL, USDC, type Answer, type TestSandbox, type TestWallet } from '../sandbox-client.ts';

/** 25 dollars of SOL, and a tenth of a SOL for dollars. */
export const BUY = { inputMint: USDC, outputMint: SOL, amount: '25000000' };
export const SELL = { inputMint: SOL, outputMint: USDC, amount: '100000000' };

export type Body = Answer['body'];
export type Query = Record<string, string | number>;

/** The first version of the swaps, as a user of it calls it. */
export interface V1 {
  quote(query: Query): Promise<Answer>;
  /** A quote that must be had. */
  quoted(query: Query): Promise<Body>;
  swap(quoteResponse: Body, wallet: TestWallet, fields?: Record<string, unknown>): Promise<Answer>;
  /** A transaction that must be had. */
  swapped(quoteResponse: Body, wallet: TestWallet, fields?: Record<string, unknown>): Promise<Body>;
  /** Signs and sends over JSON-RPC; returns what the chain says. */
  land(transaction: string, ...wallets: TestWallet[]): Promise<{ signature: string; err: unknown }>;
  /** A new wallet with five SOL and five hundred dollars. */
  wealthy(): Promise<TestWallet>;
  /** Tokens, or lamports for SOL. */
  held(owner: string, mint: string): bigint;
}

async function had(asked: Promise<Answer>): Promise<Body> {
  const answer = await asked;
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** Returns the transaction in an answer. */
export function transactionOf({ swapTransaction }: Body): VersionedTransaction {
  return VersionedTransaction.deserialize(Buffer.from(swapTransaction, 'base64'));
}

/** Returns the first version as a sandbox serves it. */
export function v1Of(sandbox: TestSandbox): V1 {
  const quote: V1['quote'] = (query) => sandbox.get('/swap/v1/quote', query);
  const swap: V1['swap'] = (quoteResponse, wallet, fields = {}) =>
    sandbox.post('/swap/v1/swap', { userPublicKey: wallet.address, quoteResponse, ...fields });
  return {
    quote,
    quoted: (query) => had(quote(query)),
    swap,
    swapped: (...options) => had(swap(...options)),
    async land(transaction, ...wallets) {
      const signed = wallets.reduce((bytes, wallet) => wallet.sign(bytes), transaction);
      const sent = await sandbox.rpc('sendTransaction', [signed, { encoding: 'base64', skipPreflight: true }]);
      expect(sent.error).toBeUndefined();
      await sandbox.passSlots(1);
      const status = await sandbox.rpc('getSignatureStatuses', [[sent.result]]);
      return { signature: sent.result, err: status.result.value[0].err };
    },
    wealthy: () => sandbox.newWallet({ [SOL]: '5000000000', [USDC]: '500000000' }),
    held: (owner, mint) => (mint === SOL ? sandbox.chain.balance(owner) : sandbox.chain.tokenBalance({ owner, mint })),
  };
}
