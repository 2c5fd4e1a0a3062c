import type { Duplex } from 'node:stream';
import { printable } from '../core/text.ts';
import { createAuthoriser } from './authorise.ts';
import { withoutKeys, type Variables } from './environment.ts';
import { readInvocation } from './invocation.ts';
import { serveSigner } from './server.ts';
import { readSignerSettings } from './settings.ts';
import { createWallet, type Rules } from './wallet.ts';

/**
 * Serves a channel with the wallet and the rules that the signer's own reading of the command line and the configuration
 * names. Returns what closes them.
 */
export function serve({ channel, args, environment, workingDir }: {
  readonly channel: Duplex; readonly args: readonly string[]; readonly environment: Variables; readonly workingDir: string;
}): () => void {
  const load = async (): Promise<Rules> => {
    // A configuration that somebody passed on must not be able to send the key to its node as part of an address.
    const { variables } = await withoutKeys({ variables: environment, dotenv: {} }, { workingDir, config: readInvocation(args).config });
    const settings = readSignerSettings({ args, environment: variables, workingDir });
    return { settings, authoriserFor: (address, embeddedRpcUrl) => createAuthoriser({ wallet: address, settings, embeddedRpcUrl }) };
  };
  // Read before anybody asks: what the daemon may write into the file by then is for the next start. A fault waits until somebody wants to know.
  const rules = load();
  rules.catch(() => undefined);
  const wallet = createWallet({ environment, pid: process.pid, load: () => rules });
  serveSigner({ channel, wallet, onFault: (message) => { process.stderr.write(`the signer signs nothing more: ${printable(message, 400)}\n`); } });
  return () => { wallet.close(); };
}
