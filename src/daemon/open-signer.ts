import { GannetError } from '../core/errors.ts';
import type { Signer } from '../execution/ports.ts';
import type { SignerDescription } from '../signer/requests.ts';
import type { DaemonOptions } from './daemon-options.ts';

/** A signer, and what it says of itself. */
export interface OpenedSigner extends Signer {
  readonly description: SignerDescription;
}

/**
 * Opens the configured wallet in the signer process beside this one. There is no other way to sign: without that process
 * nothing is. Throws KEY_INVALID or SIGNER_LOST.
 */
export async function openSigner({ config, world, signer }: Pick<DaemonOptions, 'config' | 'world' | 'signer'>): Promise<OpenedSigner> {
  if (signer === undefined) {
    throw new GannetError('KEY_INVALID', 'there is no signer process beside this one, and nothing else ever has the key: start with bin/gannet (or "npm start")');
  }
  const { sandbox } = world;
  const rpcUrl = sandbox?.addresses.rpc_url;
  // The embedded service's wallet is play money; a real one's key is never known here.
  const description = config.wallet.keyFrom === undefined && sandbox !== undefined
    ? await signer.openEmbedded({ key: sandbox.addresses.wallet.private_key, rpcUrl })
    : await signer.describe({ rpcUrl });
  const { address } = config.wallet;
  if (address !== undefined && address !== description.address) {
    throw new GannetError('KEY_INVALID', `wallet.address is ${address}, but the signer holds the key of ${description.address}`);
  }
  return { address: description.address, description, sign: (transaction, terms) => signer.sign(transaction, terms) };
}

/** Returns the signer as a run prints it at its start, a line each. */
export function describeSignerProcess({ pid, programs, caps, destinations, rpc }: SignerDescription): readonly string[] {
  return [
    `process ${pid} alone has the key`,
    `signs only swaps through ${programs === 1 ? 'the one program' : `the ${programs} programs`} it can read, paid out to ${['this wallet', ...destinations].join(', ')}${rpc ? '; asks the chain itself' : ''}`,
    ...caps.map((cap) => `at most, ${cap}`),
  ];
}
