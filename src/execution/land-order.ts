import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { Clock } from '../core/time.ts';
import { readSignatures } from '../solana/signatures.ts';
import { landTransaction } from './land-transaction.ts';
import type { Chain, SwapService } from './ports.ts';

/** The known end of an order that was signed elsewhere. */
interface LandedOrder {
  readonly state: 'landed' | 'failed' | 'expired';
  /** The transaction's id, base58, where it landed or failed on the chain. */
  readonly signature?: string | undefined;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}

/** An order that was signed elsewhere. */
interface SignedOrder {
  readonly requestId: string;
  readonly signedTransaction: Uint8Array;
  /** Of the order's answer; where it is not known, a bound is taken that is later. */
  readonly lastValidBlockHeight?: bigint | undefined;
}

/** The durable record of such orders: written before the first byte leaves. */
interface OrderRecord {
  begin(order: {
    readonly messageHash: string; readonly requestId: string; readonly signedTransaction: Uint8Array;
    readonly lastValidBlockHeight: bigint;
  }): { readonly lastValidBlockHeight: bigint; readonly end: LandedOrder | undefined };
  end(messageHash: string, end: LandedOrder): void;
}

interface LandingParts {
  readonly service: Pick<SwapService, 'execute'>;
  readonly chain: Pick<
    Chain, 'readTransaction' | 'signatureStatus' | 'findBySigner' | 'finalizedBlockHeight' | 'isBlockhashValid'
  >;
  readonly orders: OrderRecord;
  readonly clock: Clock;
}

/** No blockhash is valid for longer than this beyond the finalized height; nodes may differ a little. */
const VALIDITY_BLOCKS_MAX = 400n;

/**
 * Lands an order that was signed elsewhere, through the service, and follows it until its end is known. Only the same
 * bytes are sent again; an order whose end is recorded is not sent any more. Returns undefined after a cancellation: it
 * may still land. Throws EXECUTE_REFUSED, before anything is sent, for bytes without a signature, whose signature is
 * wrong, or that never expire, and for a request that was used for another transaction.
 */
export async function landOrder(
  { service, chain, orders, clock }: LandingParts, { signedTransaction, requestId, lastValidBlockHeight }: SignedOrder,
  { isCancelled, onFault }: { readonly isCancelled: () => boolean; readonly onFault: (fault: GannetError) => void },
): Promise<LandedOrder | undefined> {
  const { feePayer, blockhash, durableNonce } = chain.readTransaction(signedTransaction);
  if (durableNonce) throw refused('the transaction uses a durable nonce: it would never expire');
  const { messageHash, slots } = readSignatures(signedTransaction);
  const own = ownSignature(slots);
  const bound = lastValidBlockHeight ?? await chain.finalizedBlockHeight() + VALIDITY_BLOCKS_MAX;
  const known = orders.begin({ messageHash, requestId, signedTransaction, lastValidBlockHeight: bound });
  if (known.end !== undefined) return known.end;

  let id = own.signer === feePayer ? own.signature : undefined;
  const end = await landTransaction({
    clock,
    chain: {
      finalizedBlockHeight: () => chain.finalizedBlockHeight(),
      isBlockhashValid: (hash) => chain.isBlockhashValid(hash),
      async send() {
        const answer = await service.execute({ signedTransaction, requestId, lastValidBlockHeight });
        return answer.status === 'success' ? { kind: 'accepted' }
          : { kind: 'rejected', code: String(answer.code), message: printable(answer.error ?? 'no reason', 300) };
      },
      // Where another account pays the fee, its signature is the transaction's id, and the service adds it.
      async signatureStatus(_signature, options) {
        id ??= await chain.findBySigner({ owner: own.signer, transaction: signedTransaction });
        return id === undefined ? undefined : chain.signatureStatus(id, options);
      },
    },
  }, {
    transaction: signedTransaction, signature: own.signature, blockhash,
    lastValidBlockHeight: known.lastValidBlockHeight,
  }, { isCancelled, onFault });
  if (end === undefined) return undefined;
  const landed: LandedOrder = end.kind === 'landed' ? { state: 'landed', signature: id }
    : end.kind === 'failed' ? { state: 'failed', signature: id, code: end.code, message: end.message }
      : { state: 'expired', message: end.message };
  orders.end(messageHash, landed);
  return landed;
}

/** Returns the first signature of a transaction, the fee payer's where it is there. Throws EXECUTE_REFUSED. */
function ownSignature(
  slots: ReturnType<typeof readSignatures>['slots'],
): { readonly signer: string; readonly signature: string } {
  const wrong = slots.find(({ signature, isValid }) => signature !== undefined && !isValid);
  if (wrong !== undefined) throw refused(`the signature of ${wrong.signer} is not one of this transaction`);
  for (const { signer, signature } of slots) if (signature !== undefined) return { signer, signature };
  throw refused('the transaction is not signed: sign it where its key is, and give the signed one');
}

function refused(message: string): GannetError {
  return new GannetError('EXECUTE_REFUSED', message);
}
