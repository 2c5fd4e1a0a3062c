import type { Pool } from 'undici';
import type { SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import type { Dialect } from '../../src/service/wire/dialect.ts';
import type { TestWallet } from '../sandbox/service/sandbox-client.ts';

/** Reads the chain and uses the service as an ordinary client does. */
export interface OrdinaryClient {
  /** Returns what an address owns: lamports, and tokens by mint. */
  holdings(owner: string): Promise<Readonly<Record<string, bigint>>>;
  /** Returns how much of a mint all accounts of a token program hold together. */
  total(mint: string): Promise<bigint>;
  /** Swaps by order, signature and execution. Returns what is wrong with the result, nothing where all is well. */
  swapViolations(
    wallet: TestWallet, swap: { readonly inputMint: string; readonly outputMint: string; readonly amount: bigint },
  ): Promise<string[]>;
  /** Puts prices where they were, and takes away all faults and books. */
  tidyUp(prices: readonly { readonly mint: string; readonly usd: number }[]): Promise<void>;
}

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const SOL = 'So11111111111111111111111111111111111111112';
const LAMPORTS = 'lamports';

/** Returns an ordinary client of a sandbox. */
export function createOrdinaryClient(options: {
  readonly addresses: SandboxAddresses; readonly dialect: Dialect; readonly pool: Pool; readonly rpcPool: Pool;
  readonly key: string;
}): OrdinaryClient {
  const { addresses, dialect, pool, rpcPool, key } = options;

  async function call(
    method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown,
  ): Promise<Record<string, unknown>> {
    const response = await pool.request({
      method, path,
      headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 300)}`);
    return JSON.parse(text) as Record<string, unknown>;
  }

  async function rpc<Result>(method: string, params: readonly unknown[]): Promise<Result> {
    const response = await rpcPool.request({
      method: 'POST', path: '/', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = await response.body.json() as { result: Result; error?: unknown };
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  const holdings: OrdinaryClient['holdings'] = async (owner) => {
    const { value: lamports } = await rpc<{ value: number }>('getBalance', [owner, { commitment: 'processed' }]);
    const accounts = await Promise.all([TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map((programId) =>
      rpc<{ value: { account: { data: { parsed: { info: { mint: string; tokenAmount: { amount: string } } } } } }[] }>(
        'getTokenAccountsByOwner', [owner, { programId }, { encoding: 'jsonParsed', commitment: 'processed' }],
      )));
    const tokens = accounts.flatMap(({ value }) => value).map(({ account }) => account.data.parsed.info)
      .map(({ mint, tokenAmount }) => [mint, BigInt(tokenAmount.amount)] as const);
    return { [LAMPORTS]: BigInt(lamports), ...Object.fromEntries(tokens) };
  };

  const total: OrdinaryClient['total'] = async (mint) => {
    const program = addresses.tokens.find((token) => token.mint === mint)!.token_program;
    const filters = [{ memcmp: { offset: 0, bytes: mint } }];
    const accounts = await rpc<{ account: { data: [string, string] } }[]>('getProgramAccounts', [
      program, { commitment: 'processed', encoding: 'base64', dataSlice: { offset: 64, length: 8 }, filters },
    ]);
    return accounts.reduce((sum, { account }) => sum + Buffer.from(account.data[0], 'base64').readBigUInt64LE(), 0n);
  };

  return {
    holdings,
    total,
    async swapViolations(wallet, { inputMint, outputMint, amount }) {
      const [before, inputsBefore] = [await holdings(wallet.address), await total(inputMint)];
      const query = new URLSearchParams({
        inputMint, outputMint, amount: amount.toString(), taker: wallet.address,
        [dialect.toWire.queryName('excludeRouters')]: dialect.toWire.router('rfqz'),
      });
      const order = await call('GET', `/swap/v2/order?${query.toString()}`);
      if (typeof order['transaction'] !== 'string' || order['transaction'] === '')
        return [`no transaction in the order: ${JSON.stringify(order).slice(0, 300)}`];
      const execution = await call('POST', '/swap/v2/execute', {
        signedTransaction: wallet.sign(order['transaction']), requestId: order['requestId'],
      });
      if (execution['status'] !== 'Success')
        return [`the swap did not land: ${JSON.stringify(execution).slice(0, 300)}`];
      const [after, inputsAfter] = [await holdings(wallet.address), await total(inputMint)];
      // Of the priority a part may be a tip, which the profile live adds by itself.
      const costs = BigInt(Number(order['signatureFeeLamports'])) + BigInt(Number(order['prioritizationFeeLamports']));
      const received = BigInt(String(execution['totalOutputAmount'])) - (outputMint === SOL ? costs : 0n);
      const gained = outputMint === SOL ? (after[LAMPORTS] ?? 0n) - (before[LAMPORTS] ?? 0n)
        : (after[outputMint] ?? 0n) - (before[outputMint] ?? 0n);
      const paid = (before[inputMint] ?? 0n) - (after[inputMint] ?? 0n);
      return [
        ...(paid === amount ? [] : [`the swap took ${paid} instead of ${amount}`]),
        ...(gained === received ? [] : [`the swap gave ${gained} instead of ${received}`]),
        ...(inputsAfter === inputsBefore ? [] : [`${inputsAfter - inputsBefore} of ${inputMint} came from nowhere`]),
      ];
    },
    async tidyUp(prices) {
      await call('DELETE', '/sandbox/faults');
      await call('DELETE', '/sandbox/book');
      for (const price of prices) await call('POST', '/sandbox/price', price);
    },
  };
}
