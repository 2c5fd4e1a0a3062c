import type { Amount } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { Finality } from './finality.ts';
import { lamportBalance, tokenAccounts } from './rpc-answers.ts';
import type { RpcClient } from './rpc.ts';
import { TOKEN_DATA_SLICE, readTokenAccount } from './token-accounts.ts';

/** A wallet's balance of one mint. */
export interface TokenBalance {
  /** Smallest units; native and wrapped SOL together. */
  readonly amount: Amount;
  /** As of this slot, at confirmed: all that landed until then is in it. */
  readonly slot: bigint;
  /** Nothing that landed after this one is in it; later than `slot` where nodes were asked for parts of it. */
  readonly lastSlot: bigint;
}

/** Returns a reading of one balance that may be put together with the other parts of a proof, and with what is booked. */
export function createBalanceReader(
  { rpc, floor, finalizedBlockHeight }: Pick<Finality, 'floor' | 'finalizedBlockHeight'> & { readonly rpc: RpcClient },
): (owner: string, mint: Mint) => Promise<TokenBalance> {
  async function inAccounts(owner: string, mint: Mint): Promise<TokenBalance> {
    const asOf = floor.confirmed;
    const config = { encoding: 'base64', commitment: 'confirmed', dataSlice: TOKEN_DATA_SLICE, minContextSlot: Number(asOf) };
    const { context, value } = await floor.ask({
      method: 'getTokenAccountsByOwner', asOf,
      call: () => rpc.call('getTokenAccountsByOwner', [owner, { mint }, config], tokenAccounts),
      slotOf: (answer) => answer.context.slot,
    });
    await refuseFuture('getTokenAccountsByOwner', context.slot);
    const amounts = value.map(({ pubkey, account }) => readTokenAccount(pubkey, account)).filter((account) => account.mint === mint);
    return { amount: amounts.reduce((sum, { amount }) => sum + amount, 0n) as Amount, slot: context.slot, lastSlot: context.slot };
  }

  async function native(owner: string): Promise<TokenBalance> {
    const asOf = floor.confirmed;
    const config = { commitment: 'confirmed', minContextSlot: Number(asOf) };
    const { context, value } = await floor.ask({
      method: 'getBalance', asOf,
      call: () => rpc.call('getBalance', [owner, config], lamportBalance),
      slotOf: (answer) => answer.context.slot,
    });
    await refuseFuture('getBalance', context.slot);
    return { amount: value as Amount, slot: context.slot, lastSlot: context.slot };
  }

  /** The slot of a reading is kept with what is signed on it: one that the chain has not come to would be waited for. */
  async function refuseFuture(method: string, slot: bigint): Promise<void> {
    if (floor.isNear(slot)) return;
    // It may be our own knowledge that is old.
    await finalizedBlockHeight();
    if (floor.isNear(slot)) return;
    const message = `${method}: expected an answer of a slot that the chain has come to, got slot ${slot}; finalized is slot ${floor.finalized}`;
    throw new GannetError('CHAIN_RESPONSE_INVALID', message, { details: { method, slot } });
  }

  return async (owner, mint) => {
    if (mint !== SOL_MINT) return inAccounts(owner, mint);
    const [unwrapped, wrapped] = await Promise.all([native(owner), inAccounts(owner, mint)]);
    const [slot, lastSlot] = unwrapped.slot < wrapped.slot ? [unwrapped.slot, wrapped.slot] : [wrapped.slot, unwrapped.slot];
    return { amount: (unwrapped.amount + wrapped.amount) as Amount, slot, lastSlot };
  };
}
