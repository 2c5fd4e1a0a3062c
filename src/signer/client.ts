import type { Duplex } from 'node:stream';
import { GannetError, messageOf, type ErrorCode } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { SigningRequestTerms } from './authoriser.ts';
import { createFrameReader, encodeFrame } from './frames.ts';
import { requestId, termsAsJson, type EmbeddedWorld, type Refusal, type SignerDescription } from './requests.ts';
import type { SignedTransaction } from './sign.ts';

/** A socket that can be told whether the process waits for it. */
export interface SignerChannel extends Duplex {
  ref(): unknown;
  unref(): unknown;
}

/** The signer as the process beside it sees it. */
export interface SignerClient {
  /** Opens the wallet that the configuration points at. Throws KEY_INVALID, CONFIG_INVALID or SIGNER_LOST. */
  describe(embedded?: EmbeddedWorld): Promise<SignerDescription>;
  /** Returns the address of the key that the configuration points at, and opens nothing. Throws the same. */
  address(): Promise<string>;
  /** Opens the wallet of the embedded service. Throws the same. */
  openEmbedded(embedded: EmbeddedWorld & { readonly key: string }): Promise<SignerDescription>;
  /** Throws SIGN_REFUSED, the policy's code in its details as `code`, or where the signer is gone. */
  sign(transaction: Uint8Array, terms: SigningRequestTerms): Promise<SignedTransaction>;
  /** Signs a transaction that does nothing but close token accounts of the wallet to the wallet. Throws the same. */
  closeAccounts(transaction: Uint8Array): Promise<SignedTransaction>;
  /** Resolves with the reason once nothing more will be signed. */
  readonly closed: Promise<string>;
  close(): void;
}

interface Waiting {
  readonly resolve: (done: unknown) => void;
  readonly reject: (error: GannetError) => void;
  /** What a refusal that has a code of its own is thrown as. */
  readonly asSigning: boolean;
}

/** What opening a wallet can be refused with; any other code would be the signer's mistake. */
const OPENING_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'AMOUNT_INVALID', 'CHAIN_UNREACHABLE', 'CONFIG_INVALID', 'CONFIG_NOT_FOUND', 'JOURNAL_FAILED', 'JOURNAL_INVALID', 'KEY_INVALID', 'SIGN_REFUSED', 'STATE_LOCKED',
]);

const ENDED = 'it ended, or closed its channel';

/** Returns a client over a channel to the signer. It keeps the process only while it waits for an answer. */
export function createSignerClient(channel: SignerChannel): SignerClient {
  const waiting = new Map<number, Waiting>();
  const { promise: closed, resolve: tellClosed } = Promise.withResolvers<string>();
  let lost: string | undefined;
  let lastId = 0;
  channel.unref();

  const settle = (id: number): Waiting | undefined => {
    const request = waiting.get(id);
    waiting.delete(id);
    if (waiting.size === 0) channel.unref();
    return request;
  };
  const lose = (reason: string): void => {
    if (lost !== undefined) return;
    lost = reason;
    for (const [id, { asSigning }] of waiting) settle(id)?.reject(gone(reason, asSigning));
    channel.destroy();
    tellClosed(reason);
  };
  const take = (message: unknown): void => {
    const request = settle(requestId(message));
    if (request === undefined) throw new GannetError('SIGN_REFUSED', 'an answer to no question');
    const { done, refused } = message as { readonly done?: unknown; readonly refused?: Refusal };
    if (refused === undefined) request.resolve(done);
    else request.reject(asError(refused, request.asSigning));
  };
  const read = createFrameReader(take);
  channel.on('data', (bytes: Buffer) => {
    if (lost !== undefined) return;
    try {
      read(bytes);
    } catch (error) {
      lose(messageOf(error));
    }
  });
  channel.on('error', (error: NodeJS.ErrnoException) => {
    // So it looks where it ended before it had read all.
    lose(error.code === 'ECONNRESET' || error.code === 'EPIPE' ? ENDED : `the channel to it failed: ${messageOf(error)}`);
  });
  channel.on('close', () => { lose(ENDED); });
  channel.on('end', () => { lose(ENDED); });

  const ask = (body: object, asSigning: boolean): Promise<unknown> => {
    if (lost !== undefined) return Promise.reject(gone(lost, asSigning));
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject, asSigning });
      channel.ref();
      channel.write(encodeFrame({ id, ...body }));
    });
  };
  const askToSign = async (transaction: Uint8Array, body: object): Promise<SignedTransaction> => {
    const { transaction: text, ...rest } = await ask({ ...body, transaction: Buffer.from(transaction).toString('base64') }, true) as Omit<SignedTransaction, 'transaction'> & { readonly transaction: string };
    return { ...rest, transaction: Buffer.from(text, 'base64') };
  };
  return {
    describe: async ({ rpcUrl } = {}) => await ask({ kind: 'describe', rpcUrl }, false) as SignerDescription,
    address: async () => await ask({ kind: 'address' }, false) as string,
    openEmbedded: async ({ rpcUrl, key }) => await ask({ kind: 'open', rpcUrl, key }, false) as SignerDescription,
    sign: (transaction, terms) => askToSign(transaction, { kind: 'sign', terms: termsAsJson(terms) }),
    closeAccounts: (transaction) => askToSign(transaction, { kind: 'close-accounts' }),
    closed,
    close: () => { lose('it was let go'); },
  };
}

function asError({ code, message, findings, room }: Refusal, asSigning: boolean): GannetError {
  const text = printable(message, 2_000);
  if (!asSigning) return new GannetError(OPENING_CODES.has(code) ? code as ErrorCode : 'SIGN_REFUSED', text);
  return new GannetError('SIGN_REFUSED', code === 'SIGN_REFUSED' ? text : `nothing was signed: ${printable(code, 60)}, ${text}`, {
    details: {
      code,
      ...(room === undefined ? {} : { cap_span: room.span, cap_left: room.left, cap_free_at: room.freeAt }),
      findings: findings?.map((finding) => `${finding.code}${finding.instruction === undefined ? '' : `@${finding.instruction}`}`).join(' '),
    },
  });
}

function gone(reason: string, asSigning: boolean): GannetError {
  return asSigning
    ? new GannetError('SIGN_REFUSED', `nothing was signed: the signer process is gone (${reason})`, { details: { code: 'SIGNER_LOST' } })
    : new GannetError('SIGNER_LOST', `the signer process is gone (${reason})`);
}
