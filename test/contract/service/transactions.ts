import { ComputeBudgetProgram, PublicKey, VersionedTransaction } from '@solana/web3.js';
import type { ServiceFixture } from './service-fixture.ts';

/** What a transaction does, as far as cases check it. */
export interface TransactionView {
  /** 'legacy' or 0. */
  readonly version: number | 'legacy';
  readonly accounts: readonly string[];
  /** Programs in the order of their instructions. */
  readonly programs: readonly string[];
  readonly unitLimit: number | undefined;
  readonly unitPrice: bigint | undefined;
  readonly blockhash: string;
}

/** Returns what a transaction in base64 says; accounts of lookup tables are not resolved. */
export function viewOf(transaction: string): TransactionView {
  const { message, version } = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
  const accounts = message.staticAccountKeys.map((key) => key.toBase58());
  const instructions = message.compiledInstructions.map(({ programIdIndex, data }) =>
    ({ program: accounts[programIdIndex] ?? 'from a table', data: Buffer.from(data) }));
  const budget = instructions.filter(({ program }) => program === ComputeBudgetProgram.programId.toBase58());
  return {
    version,
    accounts,
    programs: instructions.map(({ program }) => program),
    unitLimit: budget.find(({ data }) => data[0] === 2)?.data.readUInt32LE(1),
    unitPrice: budget.find(({ data }) => data[0] === 3)?.data.readBigUInt64LE(1),
    blockhash: message.recentBlockhash,
  };
}

/** Returns the token account of an owner for a mint; undefined where there is none. */
export async function tokenAccountOf(
  fixture: ServiceFixture, owner: string, mint: string,
): Promise<string | undefined> {
  const { result } =
    await fixture.rpc(
      'getTokenAccountsByOwner', [owner, { mint }, { encoding: 'jsonParsed', commitment: 'confirmed' }],
    );
  return result.value[0]?.pubkey;
}

/** Returns what a token account holds; undefined where it does not exist. */
export async function tokensIn(fixture: ServiceFixture, account: string): Promise<string | undefined> {
  const { result } =
    await fixture.rpc('getTokenAccountBalance', [new PublicKey(account).toBase58(), { commitment: 'confirmed' }]);
  return result?.value.amount;
}
