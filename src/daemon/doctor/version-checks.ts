import { z } from 'zod';
import type { Chain } from '../../chain/chain.ts';
import type { RpcClient } from '../../chain/rpc-client.ts';
import { isGannetError } from '../../core/errors.ts';
import { FORMER_VERSION, NEWEST_VERSION, isLaterVersion, versionRefusalOf } from '../../solana/transaction-versions.ts';
import { isUnreadable, type UnreadableTransaction } from '../../trading/attempt.ts';
import type { Check } from './check.ts';
import { answerOrFault, checksOf } from './check.ts';

const { ok, warning, fault } = checksOf('chain');
const NAME = 'rpc-versions';
/** Of the wallet; each takes a request. */
const TRANSACTIONS_READ = 10;
/** Slots without a block are skipped. */
const SLOTS_TRIED = 3;
const SOME_SIGNATURE = '1'.repeat(64);

interface VersionScope {
  readonly rpc: RpcClient;
  readonly chain: Pick<Chain, 'newestTransactions' | 'signaturesOf'>;
  /** The wallet; undefined while unknown. */
  readonly address: string | undefined;
  readonly host: string;
}

/**
 * Returns whether the node gives every transaction version that Gannet reads, and whether Gannet reads every one that
 * the node has: a request, a recent block and the wallet's newest transactions show it.
 */
export async function versionChecks({ rpc, chain, address, host }: VersionScope): Promise<Check[]> {
  const [acceptsNewest, block, wallet] = await Promise.all([
    acceptsVersion(rpc), versionsOfBlock(rpc), address === undefined ? [] : unreadableOf(chain, address),
  ]);
  const isNodeBehind = !acceptsNewest || block === 'not-given' || wallet.some(({ mayBeOwn }) => mayBeOwn);
  const later = wallet.filter(({ mayBeOwn }) => !mayBeOwn);
  const found: Check[] = [];
  if (isNodeBehind) {
    const example = wallet.find(({ mayBeOwn }) => mayBeOwn);
    found.push(fault(NAME, `${host} does not give transactions of version ${NEWEST_VERSION}`
      + (example === undefined ? '' : `, for example ${example.signature} of the wallet (${example.reason})`)
      + ': a swap in one would stay unknown, and the wallet’s history has gaps',
      'use another node as chain.rpc_url or in chain.further_rpc_urls, or ask its provider for a newer release'));
  }
  if (later.length > 0 || block === 'later') {
    const own = later.length === 0 ? '' : `, ${later.length} of them of the wallet (${later[0]!.signature})`;
    found.push(warning(NAME, `${host} has transactions of a later version than ${NEWEST_VERSION}, which this Gannet `
      + `does not read${own}: what they move is booked from balances alone`,
      'install the newest Gannet; until then the balances stay right'));
  }
  return found.length > 0 ? found : [ok(NAME, `${host} gives transactions up to version ${NEWEST_VERSION}`)];
}

/** An error about the parameters that an older version does not get shows that the node knows no newer one. */
async function acceptsVersion(rpc: RpcClient): Promise<boolean> {
  const isRefused = async (version: number): Promise<boolean> => {
    const config = { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: version };
    const answer = await answerOrFault(rpc.call('getTransaction', [SOME_SIGNATURE, config], z.unknown()));
    return refusalOf(answer)?.kind === 'parameter';
  };
  return !await isRefused(NEWEST_VERSION) || isRefused(FORMER_VERSION);
}

const blockVersions = z.object({ transactions: z.array(z.object({ version: z.unknown().optional() })) }).nullable();

/** Undefined where no recent block could be read: some nodes serve none. */
async function versionsOfBlock(rpc: RpcClient): Promise<'read' | 'not-given' | 'later' | undefined> {
  const slot = await answerOrFault(rpc.call('getSlot', [{ commitment: 'confirmed' }], z.int().nonnegative()));
  if (isGannetError(slot)) return undefined;
  const config = {
    transactionDetails: 'accounts', rewards: false, commitment: 'confirmed',
    maxSupportedTransactionVersion: NEWEST_VERSION,
  };
  for (let tried = 0; tried < SLOTS_TRIED; tried++) {
    const block = await answerOrFault(rpc.call('getBlock', [Math.max(0, slot - tried), config], blockVersions));
    const refusal = refusalOf(block);
    if (refusal?.kind === 'version') return isLaterVersion(refusal.version) ? 'later' : 'not-given';
    if (isGannetError(block) || block === null) continue;
    return block.transactions.some(({ version }) => isLaterVersion(version)) ? 'later' : 'read';
  }
  return undefined;
}

async function unreadableOf(
  chain: VersionScope['chain'], address: string,
): Promise<readonly UnreadableTransaction[]> {
  const newest = await answerOrFault(chain.newestTransactions(address));
  if (isGannetError(newest)) return [];
  const read = await Promise.all(newest.slice(0, TRANSACTIONS_READ).map(({ signature }) =>
    answerOrFault(chain.signaturesOf(signature))));
  return read.filter(isUnreadable);
}

function refusalOf(answer: unknown): ReturnType<typeof versionRefusalOf> {
  return isGannetError(answer) ? versionRefusalOf(answer.details['rpcCode'], answer.details['rpcMessage']) : undefined;
}
