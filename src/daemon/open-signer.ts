import type { RunConfig } from '../config/run-config.ts';
import { GannetError } from '../core/errors.ts';
import type { Signer } from '../execution/ports.ts';
import { readSecretKey } from '../signer/key-file.ts';
import { parseSecretKey } from '../signer/key.ts';
import { createSigner } from '../signer/sign.ts';
import type { DaemonOptions } from './daemon.ts';
import type { World } from './world.ts';

/** Returns the signer of the configured wallet. Throws KEY_INVALID. */
export async function openSigner(config: RunConfig, world: World, environment: DaemonOptions['environment']): Promise<Signer> {
  const { keyFrom, address } = config.wallet;
  const key = keyFrom === undefined
    ? parseSecretKey(embeddedKey(world))
    : await readSecretKey({ source: keyFrom.kind === 'env' ? `env:${keyFrom.name}` : `file:${keyFrom.path}`, environment });
  if (address !== undefined && address !== key.address) {
    throw new GannetError('KEY_INVALID', `wallet.address is ${address}, but the key belongs to ${key.address}`);
  }
  return createSigner(key);
}

function embeddedKey({ sandbox }: World): string {
  if (sandbox === undefined) throw new GannetError('KEY_INVALID', 'wallet.key_from is missing: only the embedded service brings a wallet of its own');
  return sandbox.addresses.wallet.private_key;
}
