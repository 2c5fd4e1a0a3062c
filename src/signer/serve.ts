import type { Duplex } from 'node:stream';
import { printable } from '../core/text.ts';
import { createAuthoriser } from './authorise.ts';
import type { Variables } from './environment.ts';
import { serveSigner } from './server.ts';
import { readSignerSettings } from './settings.ts';
import { createWallet } from './wallet.ts';

/**
 * Serves a channel with the wallet and the rules that the signer's own reading of the command line and the configuration
 * names. Returns what closes them.
 */
export function serve({ channel, args, environment, workingDir }: {
  readonly channel: Duplex; readonly args: readonly string[]; readonly environment: Variables; readonly workingDir: string;
}): () => void {
  const wallet = createWallet({
    environment,
    pid: process.pid,
    load: async () => {
      const settings = readSignerSettings({ args, environment, workingDir });
      return { settings, authoriserFor: (address, embeddedRpcUrl) => createAuthoriser({ wallet: address, settings, embeddedRpcUrl }) };
    },
  });
  serveSigner({ channel, wallet, onFault: (message) => { process.stderr.write(`the signer signs nothing more: ${printable(message, 400)}\n`); } });
  return () => { wallet.close(); };
}
