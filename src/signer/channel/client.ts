import type { Duplex } from 'node:stream';
import { GannetError, messageOf, type ErrorCode } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { SigningRequestTerms } from '../authorise.ts';
import type { EmbeddedConnection, JudgedTransaction, Refusal, SignerDescription } from './channel-protocol.ts';
import { createFrameReader, createFrameWriter } from './channel-frames.ts';
import { forwardedSignal, requestId, swapAsJson, termsAsJson } from './channel-protocol.ts';
import type { QuotedSwap } from '../price/quote-client.ts';
import type { SignedTransaction } from '../sign.ts';

/** A socket that can keep the process running or not. */
interface SignerChannel extends Duplex {
  ref(): unknown;
  unref(): unknown;
}

/** The signer, from the command's process. */
export interface SignerClient {
  /** Opens the wallet that the configuration points at. Throws KEY_INVALID, CONFIG_INVALID or SIGNER_LOST. */
  describe(embedded?: EmbeddedConnection): Promise<SignerDescription>;
  /** Returns the address of the configured key without opening the wallet. Throws the same. */
  address(): Promise<string>;
  /** Opens the wallet of the embedded service. Throws the same. */
  openEmbedded(embedded: EmbeddedConnection & { readonly key: string }): Promise<SignerDescription>;
  /**
   * Announces a swap that will probably be signed soon, so that the signer asks for its price already. It decides
   * nothing; a fault of it shows at the signature.
   */
  expectSwap(swap: QuotedSwap): void;
  /** Throws SIGN_REFUSED: with the policy's code in its details, or `SIGNER_LOST` where the signer has ended. */
  sign(transaction: Uint8Array, terms: SigningRequestTerms): Promise<SignedTransaction>;
  /** Opens what judges transactions without signing any, and changes no file. Throws what `describe` throws. */
  rehearse(embedded: EmbeddedConnection): Promise<SignerDescription>;
  /** Returns what would be decided on a signature. Throws SIGN_REFUSED before `rehearse`, and SIGNER_LOST. */
  judge(transaction: Uint8Array, terms: SigningRequestTerms): Promise<JudgedTransaction>;
  /** Signs a transaction that only closes token accounts of the wallet to the wallet. Throws the same. */
  closeAccounts(transaction: Uint8Array): Promise<SignedTransaction>;
  /** Resolves with the reason when the signer has ended. */
  readonly closed: Promise<string>;
  close(): void;
}

interface PendingRequest {
  readonly resolve: (done: unknown) => void;
  readonly reject: (error: GannetError) => void;
  /** Whether a refusal is one of a signature. */
  readonly asSigning: boolean;
}

/** The codes with which opening a wallet can fail; any other code would be a defect of the signer. */
const OPENING_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'AMOUNT_INVALID', 'CHAIN_UNREACHABLE', 'CONFIG_INVALID', 'CONFIG_NOT_FOUND', 'COUNTERS_ALTERED', 'JOURNAL_FAILED',
  'JOURNAL_INVALID', 'KEY_INVALID', 'SIGN_REFUSED', 'STATE_LOCKED',
]);

const ENDED = 'it ended, or closed its channel';

/** Requests and answers over one channel. */
interface RequestChannel {
  /** Returns the result of a request. A refusal rejects; `asSigning` decides on the form of its error. */
  ask(body: object, asSigning: boolean): Promise<unknown>;
  /** Resolves with the reason when no more answers can come. */
  readonly closed: Promise<string>;
  close(reason: string): void;
}

function createRequestChannel(channel: SignerChannel, sessionKey: Uint8Array | Promise<Uint8Array>): RequestChannel {
  const waiting = new Map<number, PendingRequest>();
  const { promise: closed, resolve: tellClosed } = Promise.withResolvers<string>();
  let lost: string | undefined;
  let lastId = 0;
  let write: ((message: unknown) => void) | undefined;
  const unwritten: unknown[] = [];
  channel.unref();

  const settle = (id: number): PendingRequest | undefined => {
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
    const signal = forwardedSignal(message);
    if (signal !== undefined) {
      process.kill(process.pid, signal);
      return;
    }
    const request = settle(requestId(message));
    if (request === undefined) throw new GannetError('SIGN_REFUSED', 'an answer to an unknown request');
    const { done, refused } = message as { readonly done?: unknown; readonly refused?: Refusal };
    if (refused === undefined) request.resolve(done);
    else request.reject(signingError(refused, request.asSigning));
  };
  const open = (key: Uint8Array): void => {
    if (lost !== undefined) return;
    const frame = createFrameWriter(key, 'daemon');
    write = (message) => { channel.write(frame(message)); };
    for (const message of unwritten.splice(0)) write(message);
    const read = createFrameReader(key, 'signer', take);
    channel.on('data', (bytes: Buffer) => {
      if (lost !== undefined) return;
      try {
        read(bytes);
      } catch (error) {
        lose(messageOf(error));
      }
    });
  };
  if (sessionKey instanceof Promise) sessionKey.then(open, (error: unknown) => { lose(messageOf(error)); });
  else open(sessionKey);
  channel.on('error', (error: NodeJS.ErrnoException) => {
    // The signer ended before it had read everything.
    lose(error.code === 'ECONNRESET' || error.code === 'EPIPE' ? ENDED
      : `the channel to it failed: ${messageOf(error)}`);
  });
  channel.on('close', () => { lose(ENDED); });
  channel.on('end', () => { lose(ENDED); });

  return {
    ask(body, asSigning) {
      if (lost !== undefined) return Promise.reject(gone(lost, asSigning));
      lastId += 1;
      const id = lastId;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject, asSigning });
        channel.ref();
        const message = { id, ...body };
        if (write === undefined) unwritten.push(message);
        else write(message);
      });
    },
    closed,
    close: lose,
  };
}

/**
 * Returns a client over a channel to the signer, authenticated with the session's key. It keeps the process running
 * only while it waits for an answer.
 */
export function createSignerClient(
  channel: SignerChannel, sessionKey: Uint8Array | Promise<Uint8Array>,
): SignerClient {
  const requests = createRequestChannel(channel, sessionKey);
  const askToSign = async (transaction: Uint8Array, body: object): Promise<SignedTransaction> => {
    const { transaction: text, ...rest } = await requests.ask(
      { ...body, transaction: Buffer.from(transaction).toString('base64') }, true,
    ) as Omit<SignedTransaction, 'transaction'> & { readonly transaction: string };
    return { ...rest, transaction: Buffer.from(text, 'base64') };
  };
  return {
    describe: async ({ rpcUrl, serviceUrl } = {}) =>
      await requests.ask({ kind: 'describe', rpcUrl, serviceUrl }, false) as SignerDescription,
    address: async () => await requests.ask({ kind: 'address' }, false) as string,
    openEmbedded: async ({ rpcUrl, serviceUrl, key }) =>
      await requests.ask({ kind: 'open', rpcUrl, serviceUrl, key }, false) as SignerDescription,
    expectSwap(swap) {
      requests.ask({ kind: 'expect-swap', swap: swapAsJson(swap) }, true).catch(() => undefined);
    },
    sign: (transaction, terms) => askToSign(transaction, { kind: 'sign', terms: termsAsJson(terms) }),
    rehearse: async ({ rpcUrl, serviceUrl, key }) =>
      await requests.ask({ kind: 'rehearse', rpcUrl, serviceUrl, key }, false) as SignerDescription,
    judge: async (transaction, terms) => await requests.ask(
      { kind: 'judge', transaction: Buffer.from(transaction).toString('base64'), terms: termsAsJson(terms) }, true,
    ) as JudgedTransaction,
    closeAccounts: (transaction) => askToSign(transaction, { kind: 'close-accounts' }),
    closed: requests.closed,
    close: () => { requests.close('its client was closed'); },
  };
}

/** Returns the error of a refusal, as a signature or the opening of a wallet fails with it. */
export function signingError({ code, message, findings, room }: Refusal, asSigning = true): GannetError {
  const text = printable(message, 2_000);
  if (!asSigning) return new GannetError(OPENING_CODES.has(code) ? code as ErrorCode : 'SIGN_REFUSED', text);
  return new GannetError('SIGN_REFUSED',
    code === 'SIGN_REFUSED' ? text : `nothing was signed: ${printable(code, 60)}, ${text}`, {
      details: {
        code,
        ...(room === undefined ? {} : { cap_span: room.span, cap_left: room.left, cap_free_at: room.freeAt }),
        findings: findings?.map((finding) =>
          `${finding.code}${finding.instruction === undefined ? '' : `@${finding.instruction}`}`).join(' '),
      },
    });
}

function gone(reason: string, asSigning: boolean): GannetError {
  return asSigning
    ? new GannetError('SIGN_REFUSED', `nothing was signed: the signer process is gone (${reason})`, {
      details: { code: 'SIGNER_LOST' },
    })
    : new GannetError('SIGNER_LOST', `the signer process is gone (${reason})`);
}
