import { GannetError } from '../../core/errors.ts';
import type { Signer } from '../../execution/ports.ts';
import type { SignerDescription } from '../../signer/channel-protocol.ts';
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
  const rpcUrl = sandbox?.addresses.rpc_url;
  // The wallet of the embedded service has play money. This process never has the key of a real wallet.
  const description = config.wallet.keyFrom === undefined && sandbox !== undefined
    ? await signer.openEmbedded({ key: sandbox.addresses.wallet.private_key, rpcUrl })
    : await signer.describe({ rpcUrl });
  const { address } = config.wallet;
  if (address !== undefined && address !== description.address) {
    throw new GannetError(
      'KEY_INVALID', `wallet.address is ${address}, but the signer holds the key of ${description.address}`,
    );
  }
  return { address: description.address, description, sign: (transaction, terms) => signer.sign(transaction, terms) };
}

/** Returns the signer for people, as a run shows it at its start, one line each. */
export function describeSignerProcess(
  { pid, programs, caps, destinations, rpc }: SignerDescription,
): readonly string[] {
  return [
    `process ${pid} alone has the key`,
    `signs only swaps through ${programs === 1 ? 'the one program' : `the ${programs} programs`} it can read, paid out `
      + `to ${['this wallet', ...destinations].join(', ')}${rpc ? '; it checks with the chain itself' : ''}`,
    ...caps.map((cap) => `at most, ${cap}`),
  ];
}
