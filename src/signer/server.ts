import type { Duplex } from 'node:stream';
import { isGannetError, messageOf } from '../core/errors.ts';
import type { Refusal, SignerDescription, SignerRequest } from './channel-protocol.ts';
import { createFrameReader, encodeFrame, readRequest, requestId } from './channel-protocol.ts';
import type { Authorisation } from './authorise.ts';
import { createAuthoriser } from './authorise.ts';
import type { SignedTransaction } from './sign.ts';
import type { OpenWallet, Rules, Wallet } from './wallet.ts';
import { createWallet } from './wallet.ts';
import { printable } from '../core/text.ts';
import type { Variables } from './environment.ts';
import { withoutKeys } from './environment.ts';
import { readInvocation } from './command-process.ts';
import { readSignerSettings } from './settings.ts';

/** More than an honest daemon has at once. */
const MAX_UNDER_WAY = 64;
/** Unread answers beyond this close the channel, so that they cannot fill the memory. */
const MAX_UNTAKEN_BYTES = 4 * 1024 * 1024;
const SHOWN_FINDINGS = 20;
const SHOWN_CHARACTERS = 400;

/**
 * Answers the requests on a channel, several at once. Bytes that are no message close the channel and call `onFault`
 * with the reason: the other end is no longer the daemon.
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
      if (channel.writableLength > MAX_UNTAKEN_BYTES) stop('too many unread answers');
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
  // The daemon has ended or is about to end; its exit reports that.
  channel.on('error', () => undefined);
}

async function answer(
  wallet: Wallet, message: unknown,
): Promise<{ readonly done: unknown } | { readonly refused: Refusal }> {
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

async function signed(
  { signer }: OpenWallet, transaction: Uint8Array, word: Authorisation,
): Promise<{ readonly done: unknown } | { readonly refused: Refusal }> {
  if (!word.allowed) {
    const { code, message, findings, room } = word;
    const told = room === undefined ? undefined : { ...room, left: room.left.toString() };
    return {
      refused: { code, message: message.slice(0, SHOWN_CHARACTERS), findings: shownFindings(findings), room: told },
    };
  }
  return { done: asJson(await signer.sign(transaction)) };
}

function shownFindings(findings: Refusal['findings']): Refusal['findings'] {
  return findings?.slice(0, SHOWN_FINDINGS)
    .map((finding) => ({ ...finding, message: finding.message.slice(0, SHOWN_CHARACTERS) }));
}

function asJson({ transaction, ...rest }: SignedTransaction): unknown {
  return { ...rest, transaction: Buffer.from(transaction).toString('base64') };
}

/** A defect is reported without its message, which could contain anything. */
function asRefusal(error: unknown): Refusal {
  if (isGannetError(error)) return { code: error.code, message: error.message.slice(0, SHOWN_CHARACTERS * 4) };
  return {
    code: 'SIGN_REFUSED',
    message: `nothing was signed: the signer has a defect (${error instanceof Error ? error.name : typeof error})`,
  };
}

/**
 * Serves a channel with the wallet and the rules of the signer's own reading of command line and configuration. Returns
 * a function that closes them.
 */
export function serve({ channel, args, environment, workingDir }: {
  readonly channel: Duplex; readonly args: readonly string[]; readonly environment: Variables;
  readonly workingDir: string;
}): () => void {
  const load = async (): Promise<Rules> => {
    // A configuration from another person must not be able to send the key to a node as part of an address.
    const { variables } =
      await withoutKeys({ variables: environment, dotenv: {} }, { workingDir, config: readInvocation(args).config });
    const settings = readSignerSettings({ args, environment: variables, workingDir });
    return { settings, authoriserFor: (address, embeddedRpcUrl) =>
      createAuthoriser({ wallet: address, settings, embeddedRpcUrl }) };
  };
  // Read before the first request: later changes of the file apply from the next start on. A fault waits for a request.
  const rules = load();
  rules.catch(() => undefined);
  const wallet = createWallet({ environment, pid: process.pid, load: () => rules });
  serveSigner({
    channel, wallet,
    onFault: (message) => { process.stderr.write(`the signer signs nothing more: ${printable(message, 400)}\n`); },
  });
  return () => { wallet.close(); };
}
