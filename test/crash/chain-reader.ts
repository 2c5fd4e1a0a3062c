import bs58 from 'bs58';

/** A landed transaction that a wallet has signed. */
export interface LandedTransaction {
  /** Its id: the fee payer's signature. */
  readonly id: string;
  /** The wallet's own. */
  readonly ownSignature: string;
  readonly succeeded: boolean;
}

/** Reads a chain without the code under test: plain questions over HTTP. */
export interface ChainReader {
  /** Every transaction with the wallet's signature, whatever came of it. */
  landed(wallet: string): Promise<LandedTransaction[]>;
  /** What a wallet has by mint, in smallest units, native and wrapped SOL together; nothing is left out but zero. */
  balances(wallet: string): Promise<Map<string, bigint>>;
}

const SOL = 'So11111111111111111111111111111111111111112';
const TOKEN_PROGRAMS = ['TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'];
const PAGE = 1_000;

interface TokenAccounts {
  readonly value: readonly { readonly account: { readonly data: {
    readonly parsed: { readonly info: { readonly mint: string; readonly tokenAmount: { readonly amount: string } } };
  } } }[];
}

/** Returns a reader of the chain behind an RPC address. */
export function createChainReader(rpcUrl: string): ChainReader {
  const rpc = async <Result>(method: string, params: readonly unknown[]): Promise<Result> => {
    const response = await fetch(rpcUrl, {
      method: 'POST', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = await response.json() as { readonly result: Result; readonly error?: unknown };
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  };
  return {
    async landed(wallet) {
      const found: LandedTransaction[] = [];
      for (let before: string | undefined; ;) {
        const page = await rpc<readonly { readonly signature: string; readonly err: unknown }[]>(
          'getSignaturesForAddress',
          [wallet, { limit: PAGE, commitment: 'confirmed', ...(before === undefined ? {} : { before }) }],
        );
        for (const { signature: id, err } of page) {
          const ownSignature = await ownSignatureIn(rpc, id, wallet);
          if (ownSignature !== undefined) found.push({ id, ownSignature, succeeded: err === null });
        }
        if (page.length < PAGE) return found;
        before = page.at(-1)!.signature;
      }
    },
    async balances(wallet) {
      const balances = new Map<string, bigint>();
      const add = (mint: string, amount: bigint): void => {
        if (amount > 0n) balances.set(mint, (balances.get(mint) ?? 0n) + amount);
      };
      add(
        SOL, BigInt((await rpc<{ readonly value: number }>('getBalance', [wallet, { commitment: 'confirmed' }])).value),
      );
      for (const programId of TOKEN_PROGRAMS) {
        const { value } = await rpc<TokenAccounts>(
          'getTokenAccountsByOwner', [wallet, { programId }, { encoding: 'jsonParsed', commitment: 'confirmed' }],
        );
        for (const { account } of value)
          add(account.data.parsed.info.mint, BigInt(account.data.parsed.info.tokenAmount.amount));
      }
      return balances;
    },
  };
}

async function ownSignatureIn(
  rpc: <Result>(method: string, params: readonly unknown[]) => Promise<Result>, id: string, wallet: string,
): Promise<string | undefined> {
  const found = await rpc<{ readonly transaction: readonly [string, string] } | null>(
    'getTransaction', [id, { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 1 }],
  );
  if (found === null)
    throw new Error(`getTransaction: ${id} stands in the history of ${wallet}, but is nowhere to be found`);
  const bytes = Buffer.from(found.transaction[0], 'base64');
  const count = bytes[0]!;
  const message = bytes.subarray(1 + 64 * count);
  // Header of three bytes, behind the version's where there is one; fewer than 128 keys take one byte for their number.
  const keysAt = ((message[0]! & 0x80) === 0 ? 0 : 1) + 4;
  for (let signer = 0; signer < count; signer++) {
    if (bs58.encode(message.subarray(keysAt + 32 * signer, keysAt + 32 * (signer + 1))) === wallet)
      return bs58.encode(bytes.subarray(1 + 64 * signer, 1 + 64 * (signer + 1)));
  }
  return undefined;
}
