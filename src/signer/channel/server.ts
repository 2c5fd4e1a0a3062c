import type { Duplex } from 'node:stream';
import { isGannetError, messageOf } from '../../core/errors.ts';
import type { JudgedTransaction, Refusal, SignerDescription, SignerRequest } from './channel-protocol.ts';
import { createFrameReader, createFrameWriter } from './channel-frames.ts';
import { readRequest, requestId } from './channel-protocol.ts';
import type { Authorisation, Judgement } from '../authorise.ts';
import { createAuthoriser } from '../authorise.ts';
import type { SignedTransaction } from '../sign.ts';
import type { OpenWallet, Rules, Wallet } from '../wallet.ts';
import { createWallet } from '../wallet.ts';
import { printable } from '../../core/text.ts';
import type { Variables } from '../environment.ts';
import { withoutKeys } from '../environment.ts';
import { readInvocation } from '../command-process.ts';
import { readSignerSettings } from '../settings.ts';
import { moveEarlierCounters } from '../counters/spend-counters.ts';

/** More than an honest daemon has at once. */
const MAX_UNDER_WAY = 64;
/** Unread answers beyond this close the channel, so that they cannot fill the memory. */
const MAX_UNTAKEN_BYTES = 4 * 1024 * 1024;
const SHOWN_FINDINGS = 20;
const SHOWN_CHARACTERS = 400;

/**
 * Answers the requests on a channel, several at once. The returned function passes a signal on. Bytes that are no
 * message of the other end of the session close the channel and call `onFault` with the reason: something else than the
 * daemon writes there.
 */
export function serveSigner({ channel, sessionKey, wallet, onFault }: {
  readonly channel: Duplex; readonly sessionKey: Uint8Array; readonly wallet: Wallet;
  readonly onFault: (message: string) => void;
}): { readonly forward: (signal: NodeJS.Signals) => void } {
  const frame = createFrameWriter(sessionKey, 'signer');
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
      channel.write(frame({ id, ...body }));
      if (channel.writableLength > MAX_UNTAKEN_BYTES) stop('too many unread answers');
    });
  };
  const read = createFrameReader(sessionKey, 'daemon', (message) => { if (!channel.destroyed) take(message); });
  channel.on('data', (bytes: Buffer) => {
    try {
      read(bytes);
    } catch (error) {
      stop(messageOf(error));
    }
  });
  // The daemon has ended or is about to end; its exit reports that.
  channel.on('error', () => undefined);
  return { forward: (signal) => { if (!channel.destroyed) channel.write(frame({ signal })); } };
}

async function answer(
  wallet: Wallet, message: unknown,
): Promise<{ readonly done: unknown } | { readonly refused: Refusal }> {
  const request: SignerRequest = readRequest(message);
  switch (request.kind) {
    case 'describe': return { done: (await wallet.open(request.embedded)).description satisfies SignerDescription };
    case 'address': return { done: await wallet.address() };
    case 'open': return { done: (await wallet.openEmbedded(request.embedded)).description satisfies SignerDescription };
    case 'rehearse':
      return { done: (await wallet.rehearse(request.embedded)).description satisfies SignerDescription };
    case 'judge': {
      const { authoriser } = wallet.rehearsing();
      return { done: judgedJson(await authoriser.judge(request.transaction, request.terms)) };
    }
    case 'expect-swap':
      wallet.deciding().authoriser.expect(request.swap);
      return { done: null };
    case 'sign': {
      const opened = wallet.opened();
      return signed(opened, await opened.authoriser.authorise(request.transaction, request.terms));
    }
    case 'close-accounts': {
      const opened = wallet.opened();
      return signed(opened, await opened.authoriser.authoriseClosing(request.transaction));
    }
  }
}

async function signed(
  { signer }: OpenWallet, word: Authorisation,
): Promise<{ readonly done: unknown } | { readonly refused: Refusal }> {
  return word.allowed ? { done: asJson(await signer.sign(word.transaction)) } : { refused: refusalJson(word) };
}

function refusalJson({ code, message, findings, room }: Authorisation & { readonly allowed: false }): Refusal {
  const told = room === undefined ? undefined : { ...room, left: room.left.toString() };
  return { code, message: message.slice(0, SHOWN_CHARACTERS), findings: shownFindings(findings), room: told };
}

function judgedJson({ refusal, messageHash, summary }: Judgement): JudgedTransaction {
  return {
    refusal: refusal === undefined ? undefined : refusalJson(refusal), messageHash,
    reading: summary === undefined ? undefined : {
      minimumOut: summary.swap.minimumOut.toString(), feeLamports: summary.costs.feeLamports.toString(),
      tipLamports: summary.costs.tipLamports.toString(), rentLamports: summary.costs.rentLamports.toString(),
      instructions: summary.instructions.map(({ program, text }) =>
        ({ program, text: text.slice(0, SHOWN_CHARACTERS) })),
    },
  };
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

/** The signer's own view of its process, from which wallet and rules follow. */
export interface SignerPlace {
  /** The command line. */
  readonly args: readonly string[];
  /** With the keys. */
  readonly environment: Variables;
  /** The reason why no key of the environment may be used; undefined where they may. */
  readonly keyFault?: string | undefined;
  readonly workingDir: string;
}

/**
 * Returns a function that gives a closed wallet with the rules of the signer's own reading of command line and
 * configuration. They are read now: later changes of the file apply from the next start on, and a fault waits for a
 * request.
 */
export function prepareWallet({ args, environment, keyFault, workingDir }: SignerPlace): () => Wallet {
  const load = async (): Promise<Rules> => {
    // A configuration from another person must not be able to send the key to a node as part of an address.
    const { variables } =
      await withoutKeys({ variables: environment, dotenv: {} }, { workingDir, config: readInvocation(args).config });
    const settings = readSignerSettings({ args, environment: variables, workingDir });
    return { settings, authoriserFor: ({ address, countersKey }, { rpcUrl, serviceUrl }, how) => {
      if (how?.onlyJudges !== true) moveEarlierCounters(settings.stateDir, settings.countersDir);
      return createAuthoriser({
        wallet: address, countersKey, settings, embeddedRpcUrl: rpcUrl, embeddedServiceUrl: serviceUrl, ...how,
      });
    } };
  };
  const rules = load();
  rules.catch(() => undefined);
  return () => createWallet({ environment, keyFault, pid: process.pid, load: () => rules, warn: say });
}

/** Serves an inherited channel with the wallet of this process. */
export function serve({ channel, sessionKey, ...place }: SignerPlace & {
  readonly channel: Duplex; readonly sessionKey: Uint8Array;
}): { readonly close: () => void; readonly forward: (signal: NodeJS.Signals) => void } {
  const wallet = prepareWallet(place)();
  const { forward } = serveSigner({
    channel, sessionKey, wallet, onFault: (message) => { say(`the signer signs nothing more: ${message}`); },
  });
  return { forward, close: () => { wallet.close(); } };
}

/** Prints a line for people. */
export function say(message: string): void {
  process.stderr.write(`${printable(message, 600)}\n`);
}
