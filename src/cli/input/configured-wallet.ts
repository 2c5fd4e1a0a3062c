import type { Chain } from '../../chain/chain.ts';
import type { ServiceRequest } from './service-request.ts';
import { GannetError, isGannetError } from '../../core/errors.ts';
import { openSigner } from '../../daemon/run/open-signer.ts';
import type { SignerClient } from '../../signer/channel/client.ts';

/** The part of a signer that closes accounts of the wallet. */
type ClosingSigner = Pick<SignerClient, 'closeAccounts'> & { readonly address: string };

/** The wallet of a command. The signer is asked only when needed, over one channel. */
export interface ConfiguredWallet {
  /**
   * Returns the configured address, else that of the signer's key, else that of the embedded chain. Throws
   * CONFIG_INVALID, and what opening the signer throws.
   */
  address(): Promise<string>;
  /** Throws what opening the signer throws. */
  signer(): Promise<ClosingSigner>;
  close(): void;
}

/** Returns the wallet of the configuration; this asks nothing yet. */
export function configuredWallet({ loaded: { config }, connections, connectSigner }: ServiceRequest): ConfiguredWallet {
  let client: SignerClient | undefined;
  let opened: Promise<ClosingSigner> | undefined;
  const open = async (): Promise<ClosingSigner> => {
    client = connectSigner?.();
    const { address } = await openSigner({ config, connections, signer: client });
    return { address, closeAccounts: (transaction) => client!.closeAccounts(transaction) };
  };
  const signer = (): Promise<ClosingSigner> => (opened ??= open());
  return {
    signer,
    async address() {
      const { address, keyFrom } = config.wallet;
      if (address !== undefined) return address;
      if (keyFrom !== undefined) return (await signer()).address;
      if (connections.sandbox !== undefined && config.chain.rpcUrl === 'embedded')
        return connections.sandbox.addresses.wallet.address;
      throw new GannetError('CONFIG_INVALID', `${config.file}: expected wallet.address or wallet.key_from: without `
        + 'them the wallet on a real chain is not known');
    },
    close: () => { client?.close(); },
  };
}

/**
 * Returns the default of a flag that takes the wallet's address. Throws USAGE when no wallet is configured, and what
 * opening the signer throws.
 */
export async function takerAddress(request: ServiceRequest, flag: string): Promise<string> {
  const wallet = configuredWallet(request);
  try {
    return await wallet.address();
  } catch (error) {
    if (!isGannetError(error) || error.code !== 'CONFIG_INVALID') throw error;
    throw new GannetError(
      'USAGE', `expected ${flag}, or a wallet in the configuration; got neither (${error.message})`,
      { cause: error },
    );
  } finally {
    wallet.close();
  }
}

/** Returns the configured chain. Throws CONFIG_INVALID without one. */
export function chainOf({ connections: { chain } }: Pick<ServiceRequest, 'connections'>): Chain {
  if (chain === undefined)
    throw new GannetError('CONFIG_INVALID', 'expected chain.rpc_url: the balances of a wallet come from a chain');
  return chain;
}
