import bs58 from 'bs58';
import type { Chain } from '../../chain/chain.ts';
import { isGannetError } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import { writeUnsignedTransaction } from '../../solana/transaction.ts';
import { answerOrFault, within } from '../doctor/check.ts';

/** What a node is and can; a member is undefined where it could not be found out. */
export interface NodeTraits {
  readonly genesisHash?: string | undefined;
  readonly version?: string | undefined;
  /** The newest transaction version that it reads. */
  readonly transactionVersion?: number | undefined;
  readonly hasWebsocket?: boolean | undefined;
  readonly latencyMs?: Millis | undefined;
}

const ANSWER_WITHIN_MS: Millis = 3_000;
/** Answers of a node to bytes that it cannot read. */
const UNREADABLE: ReadonlySet<unknown> = new Set([-32_602, -32_015]);

/** Returns the traits of a node. Nothing is sent that could land. */
export async function readNodeTraits(chain: Chain, { wsUrl, wallet, clock }: {
  /** Where a run would subscribe; undefined where it would not. */
  readonly wsUrl: string | undefined; readonly wallet: string | undefined; readonly clock: Clock;
}): Promise<NodeTraits> {
  const begun = clock.now();
  const version = await known(chain.version());
  const latencyMs = version === undefined ? undefined : clock.now() - begun;
  const [genesisHash, transactionVersion, hasWebsocket] = await Promise.all([
    known(chain.genesisHash()), newestVersion(chain, wallet), wsUrl === undefined ? undefined : opens(wsUrl),
  ]);
  return { genesisHash, version, latencyMs, transactionVersion, hasWebsocket };
}

async function known<T>(asked: Promise<T>): Promise<T | undefined> {
  const answer = await answerOrFault(asked);
  return isGannetError(answer) ? undefined : answer;
}

/**
 * Returns 1 for a node that reads a transaction of version 1, else 0; undefined without an answer. The transaction does
 * nothing and has no signature: it is only simulated.
 */
async function newestVersion(chain: Pick<Chain, 'simulate'>, wallet: string | undefined): Promise<number | undefined> {
  const answer = await answerOrFault(chain.simulate(emptyTransaction(wallet)));
  // A simulation that ended without compute units was read.
  if (!isGannetError(answer) || answer.code === 'CHAIN_RESPONSE_INVALID') return 1;
  return UNREADABLE.has(answer.details['rpcCode']) ? 0 : undefined;
}

/** Returns an unsigned transaction of version 1 that sets limits and calls nothing. */
function emptyTransaction(wallet = bs58.encode(Buffer.alloc(32, 7))): Uint8Array {
  return writeUnsignedTransaction({
    version: 1, header: { requiredSignatures: 1, readonlySigned: 0, readonlyUnsigned: 0 },
    accountKeys: [bs58.decode(wallet)], blockhash: Buffer.alloc(32, 1), instructions: [], lookups: [],
    config: { unitLimit: 10_000, loadedBytes: 65_536 },
  });
}

/** Returns whether a websocket opens. */
function opens(wsUrl: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = new WebSocket(wsUrl);
  socket.addEventListener('open', () => { resolve(true); });
  socket.addEventListener('error', () => { resolve(false); });
  return within(promise, ANSWER_WITHIN_MS, () => false).finally(() => { socket.close(); });
}
