import type { Amount, Lamports } from '../../../src/core/amount.ts';
import type { createAgreement } from '../../../src/chain/agreement.ts';
import type { Chain } from '../../../src/execution/ports.ts';
import type { Mint } from '../../../src/market/token.ts';
import { readable } from '../../chain/readable.ts';

/** What a node says that is not so. */
export const NODE_LIES = ['heights', 'blockhashes', 'hides', 'fails', 'lands', 'balances', 'refuses to send'] as const;
export type NodeLie = (typeof NODE_LIES)[number];

const AHEAD = 1_000_000n;
const FAILURE = { code: '6001', message: 'it failed' };

/** What an execution asks a node, with the balances that only the daemon reads. */
export type AskedNode = Chain & Pick<ReturnType<typeof createAgreement>, 'balances'>;

/** Returns a node whose answers are changed as the lies of the moment say. */
export function lyingNode(node: AskedNode, liesNow: () => readonly NodeLie[]): AskedNode {
  const lies = (lie: NodeLie): boolean => liesNow().includes(lie);
  const before = new Map<Mint, Amount>();
  return {
    ...node,
    finalizedBlockHeight: async () => await node.finalizedBlockHeight() + (lies('heights') ? AHEAD : 0n),
    isBlockhashValid: async (blockhash) => await node.isBlockhashValid(blockhash) && !lies('blockhashes'),
    signatureStatus: async (signature, options) => {
      const status = await node.signatureStatus(signature, options);
      if (lies('hides')) return undefined;
      const slot = status?.slot ?? 1n;
      if (lies('fails')) return { slot, confirmation: 'finalized', error: FAILURE };
      return lies('lands') ? { slot, confirmation: 'finalized' } : status;
    },
    landedSwap: async (options) => {
      const landed = readable(await node.landedSwap(options));
      if (lies('hides')) return undefined;
      const told = {
        signature: options.signature, slot: landed?.slot ?? 1n, feeLamports: 5_000n as Lamports,
        rentLamports: 0n as Lamports, amountIn: 0n as Amount, amountOut: 0n as Amount,
      };
      if (lies('fails')) return { ...told, error: FAILURE };
      return lies('lands') ? { ...told, error: undefined, amountIn: 1n as Amount, amountOut: 1n as Amount } : landed;
    },
    findBySigner: async (options) => {
      const found = await node.findBySigner(options);
      return lies('hides') ? undefined : found;
    },
    signaturesOf: async (signature) => {
      const found = await node.signaturesOf(signature);
      return lies('hides') ? undefined : found;
    },
    tokenBalance: async (owner, mint) => {
      const balance = await node.tokenBalance(owner, mint);
      if (!before.has(mint)) before.set(mint, balance.amount);
      // As if it were of now, and a little more.
      return lies('balances')
        ? { amount: before.get(mint)!, slot: balance.slot + 90n, lastSlot: balance.lastSlot + 90n } : balance;
    },
    balanceHistory: async (options) => {
      const history = await node.balanceHistory(options);
      return lies('hides') || lies('balances') ? { ...history, steps: history.steps.slice(0, 1) } : history;
    },
    send: async (transaction, call) =>
      (lies('refuses to send') ? { kind: 'rejected', code: 'BlockhashNotFound', message: 'no' }
        : node.send(transaction, call)),
  };
}
