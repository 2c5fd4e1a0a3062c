import type { Chain } from '../chain/chain.ts';
import { GannetError, isGannetError } from '../core/errors.ts';
import { openSigner } from '../daemon/open-signer.ts';
import type { SignerClient } from '../signer/client.ts';
import type { Look } from './look.ts';

/** Who closes accounts of the wallet, and nothing else. */
export type ClosingSigner = Pick<SignerClient, 'closeAccounts'> & { readonly address: string };

/** The wallet that a command is about. The signer is asked only where it has to be, over one channel. */
export interface OwnWallet {
  /** Returns the configured address, or that of the key that the signer has, or of the embedded chain. Throws CONFIG_INVALID, and what opening the signer throws. */
  address(): Promise<string>;
  /** Throws what opening the signer throws. */
  signer(): Promise<ClosingSigner>;
  close(): void;
}

/** Returns the wallet of the configuration; nothing is asked yet. */
export function ownWallet({ loaded: { config }, world, connectSigner }: Look): OwnWallet {
  let client: SignerClient | undefined;
  let opened: Promise<ClosingSigner> | undefined;
  const open = async (): Promise<ClosingSigner> => {
    client = connectSigner?.();
    const { address } = await openSigner({ config, world, signer: client });
    return { address, closeAccounts: (transaction) => client!.closeAccounts(transaction) };
  };
  const signer = (): Promise<ClosingSigner> => (opened ??= open());
  return {
    signer,
    async address() {
      const { address, keyFrom } = config.wallet;
      if (address !== undefined) return address;
      if (keyFrom !== undefined) return (await signer()).address;
      if (world.sandbox !== undefined && config.chain.rpcUrl === 'embedded') return world.sandbox.addresses.wallet.address;
      throw new GannetError('CONFIG_INVALID', `${config.file}: expected wallet.address or wallet.key_from: on a real chain nobody else can say which wallet it is`);
    },
    close: () => { client?.close(); },
  };
}

/** Returns the address that a flag stands for where it is left out. Throws USAGE where no wallet is configured, and what opening the signer throws. */
export async function ownAddress(look: Look, flag: string): Promise<string> {
  const wallet = ownWallet(look);
  try {
    return await wallet.address();
  } catch (error) {
    if (!isGannetError(error) || error.code !== 'CONFIG_INVALID') throw error;
    throw new GannetError('USAGE', `${flag} is left out, and no wallet is configured: expected one of them (${error.message})`, { cause: error });
  } finally {
    wallet.close();
  }
}

/** Returns the configured chain. Throws CONFIG_INVALID where there is none. */
export function chainOf({ world: { chain } }: Pick<Look, 'world'>): Chain {
  if (chain === undefined) throw new GannetError('CONFIG_INVALID', 'expected chain.rpc_url: what a wallet has, a chain has to say');
  return chain;
}
