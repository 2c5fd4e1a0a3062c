import { GannetError } from '../../core/errors.ts';
import type { Signer } from '../../execution/ports.ts';
import type { SignerDescription } from '../../signer/channel/channel-protocol.ts';
import type { SignerClient } from '../../signer/channel/client.ts';
import type { DaemonOptions } from './run-options.ts';

/** A signer with its description. */
interface OpenedSigner extends Signer {
  readonly description: SignerDescription;
}

/**
 * Opens the configured wallet in the signer process beside this one. Without that process nothing can be signed. Throws
 * KEY_INVALID or SIGNER_LOST.
 */
export async function openSigner(
  { config, connections, signer }: Pick<DaemonOptions, 'config' | 'connections' | 'signer'>,
): Promise<OpenedSigner> {
  if (signer === undefined) {
    throw new GannetError('KEY_INVALID',
      'there is no signer process beside this one, and only a signer has the key: start with bin/gannet (or "npm '
        + 'start")');
  }
  const { sandbox } = connections;
  const embedded = { rpcUrl: sandbox?.addresses.rpc_url, serviceUrl: sandbox?.addresses.base_url };
  // The wallet of the embedded service has play money. This process never has the key of a real wallet.
  const description = config.wallet.keyFrom === undefined && sandbox !== undefined
    ? await signer.openEmbedded({ key: sandbox.addresses.wallet.private_key, ...embedded })
    : await signer.describe(embedded);
  const { address } = config.wallet;
  if (address !== undefined && address !== description.address) {
    throw new GannetError(
      'KEY_INVALID', `wallet.address is ${address}, but the signer holds the key of ${description.address}`,
    );
  }
  return {
    address: description.address, description, sign: signingAwake(signer),
    expectSwap(swap, priority) {
      // The signer's own request counts against the same plan. Where its turn comes too late, the signature asks.
      connections.service.takeTurn(priority).then(() => { signer.expectSwap(swap); }, () => undefined);
    },
  };
}

/** The usual time of a signature, in milliseconds. For so long the process does not sleep: waking takes 0.1 ms. */
const AWAKE_MS = 1;

/** Returns the signing of a signer, during which the event loop keeps turning for a signature's usual time. */
export function signingAwake(signer: Pick<SignerClient, 'sign'>): SignerClient['sign'] {
  return async (transaction, terms) => {
    const until = performance.now() + AWAKE_MS;
    let isWaiting = true;
    const turn = (): void => { if (isWaiting && performance.now() < until) setImmediate(turn); };
    setImmediate(turn);
    try {
      return await signer.sign(transaction, terms);
    } finally {
      isWaiting = false;
    }
  };
}

/** Returns the signer for people, as a run shows it at its start, one line each. */
export function describeSignerProcess(
  { pid, programs, caps, destinations, rpc, priceGuard }: SignerDescription,
): readonly string[] {
  return [
    `process ${pid} alone has the key`,
    `signs only swaps through ${programs === 1 ? 'the one program' : `the ${programs} programs`} it can read, paid out `
      + `to ${['this wallet', ...destinations].join(', ')}${rpc ? '; it checks with the chain itself' : ''}`,
    ...caps.map((cap) => `at most, ${cap}`),
    priceGuard,
  ];
}
