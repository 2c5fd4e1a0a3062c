import type { Duplex } from 'node:stream';
import { isGannetError, messageOf } from '../core/errors.ts';
import { createFrameReader, encodeFrame } from './frames.ts';
import { readRequest, requestId, type Refusal, type SignerDescription, type SignerRequest } from './requests.ts';
import type { Authorisation } from './authoriser.ts';
import type { SignedTransaction } from './sign.ts';
import type { OpenWallet, Wallet } from './wallet.ts';

/** Nobody who means well has so many questions at once. */
const MAX_UNDER_WAY = 64;
/** Whoever asks on and on without reading would fill the memory. */
const MAX_UNTAKEN_BYTES = 4 * 1024 * 1024;
const SHOWN_FINDINGS = 20;
const SHOWN_CHARACTERS = 400;

/**
 * Answers what comes over a channel, several requests at once. What is no message at all closes the channel, for `onFault`
 * to say why: whoever speaks there is not the daemon any more.
 */
export function serveSigner({ channel, wallet, onFault }: {
  readonly channel: Duplex; readonly wallet: Wallet; readonly onFault: (message: string) => void;
}): void {
  const underWay = new Set<number>();
  const stop = (reason: string): void => {
    if (channel.destroyed) return;
    channel.destroy();
    onFault(reason);
  };
  const take = (message: unknown): void => {
    const id = requestId(message);
    if (underWay.has(id) || underWay.size >= MAX_UNDER_WAY) {
      stop(underWay.has(id) ? `two requests with the id ${id}` : `more than ${MAX_UNDER_WAY} requests at once`);
      return;
    }
    underWay.add(id);
    void answer(wallet, message).catch((error: unknown) => ({ refused: asRefusal(error) })).then((body) => {
      underWay.delete(id);
      if (channel.destroyed) return;
      channel.write(encodeFrame({ id, ...body }));
      if (channel.writableLength > MAX_UNTAKEN_BYTES) stop('answers that nobody takes');
    });
  };
  const read = createFrameReader((message) => { if (!channel.destroyed) take(message); });
  channel.on('data', (bytes: Buffer) => {
    try {
      read(bytes);
    } catch (error) {
      stop(messageOf(error));
    }
  });
  // The daemon is gone or about to be: its exit says so.
  channel.on('error', () => undefined);
}

async function answer(wallet: Wallet, message: unknown): Promise<{ readonly done: unknown } | { readonly refused: Refusal }> {
  const request: SignerRequest = readRequest(message);
  switch (request.kind) {
    case 'describe': return { done: (await wallet.open(request.embedded)).description satisfies SignerDescription };
    case 'address': return { done: await wallet.address() };
    case 'open': return { done: (await wallet.openEmbedded(request.embedded)).description satisfies SignerDescription };
    case 'sign': {
      const opened = wallet.opened();
      return signed(opened, request.transaction, await opened.authoriser.authorise(request.transaction, request.terms));
    }
    case 'close-accounts': {
      const opened = wallet.opened();
      return signed(opened, request.transaction, await opened.authoriser.authoriseClosing(request.transaction));
    }
  }
}

async function signed({ signer }: OpenWallet, transaction: Uint8Array, word: Authorisation): Promise<{ readonly done: unknown } | { readonly refused: Refusal }> {
  if (!word.allowed) {
    const { code, message, findings, room } = word;
    const told = room === undefined ? undefined : { ...room, left: room.left.toString() };
    return { refused: { code, message: message.slice(0, SHOWN_CHARACTERS), findings: shownFindings(findings), room: told } };
  }
  return { done: asJson(await signer.sign(transaction)) };
}

function shownFindings(findings: Refusal['findings']): Refusal['findings'] {
  return findings?.slice(0, SHOWN_FINDINGS).map((finding) => ({ ...finding, message: finding.message.slice(0, SHOWN_CHARACTERS) }));
}

function asJson({ transaction, ...rest }: SignedTransaction): unknown {
  return { ...rest, transaction: Buffer.from(transaction).toString('base64') };
}

/** A bug is told without its words: nobody knows what they hold. */
function asRefusal(error: unknown): Refusal {
  if (isGannetError(error)) return { code: error.code, message: error.message.slice(0, SHOWN_CHARACTERS * 4) };
  return { code: 'SIGN_REFUSED', message: `nothing was signed: the signer met a fault of its own (${error instanceof Error ? error.name : typeof error})` };
}
