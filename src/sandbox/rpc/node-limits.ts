import bs58 from 'bs58';
import type { Params, RpcMethods } from './rpc-params.ts';
import { RPC_CODE, RpcError } from './rpc-params.ts';

/** What a node cannot do, and how long it takes. */
export interface NodeLimits {
  /** The newest transaction version that it answers for and takes. */
  readonly transactionVersion: number;
  readonly hasWebsocket: boolean;
  /** Resolves when an answer may leave; absent means at once. */
  readonly delay?: (() => Promise<void>) | undefined;
}

/** The methods whose first parameter is a transaction or a message. */
const WITH_BYTES: ReadonlySet<string> = new Set(['sendTransaction', 'simulateTransaction', 'getFeeForMessage']);
/** The first byte of what has a version; transactions of earlier versions begin with the count of their signatures. */
const VERSIONED = 0x80;

/** Returns the methods of a node that knows no newer transactions: it refuses requests for them, and to be sent one. */
export function olderNode(methods: RpcMethods, { transactionVersion }: NodeLimits): RpcMethods {
  return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, (params: Params) => {
    refuseNewer(name, params, transactionVersion);
    return method(params);
  }]));
}

function refuseNewer(name: string, params: Params, newest: number): void {
  for (const param of params) {
    if (typeof param !== 'object' || param === null || !('maxSupportedTransactionVersion' in param)) continue;
    const asked = param.maxSupportedTransactionVersion;
    if (Number(asked) > newest) throw new RpcError(
      RPC_CODE.invalidParams,
      `Invalid params: maxSupportedTransactionVersion: expected at most ${newest}, got ${String(asked)}`,
    );
  }
  const [bytes, config] = params;
  if (!WITH_BYTES.has(name) || typeof bytes !== 'string') return;
  const isBase64 = name === 'getFeeForMessage'
    || (typeof config === 'object' && config !== null && 'encoding' in config && config.encoding === 'base64');
  const first = (isBase64 ? Buffer.from(bytes.slice(0, 4), 'base64') : bs58.decodeUnsafe(bytes))?.[0] ?? 0;
  if (first >= VERSIONED && first - VERSIONED > newest)
    throw new RpcError(RPC_CODE.invalidParams, 'failed to deserialize the transaction: expected a known version');
}
