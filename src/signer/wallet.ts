import { GannetError } from '../core/errors.ts';
import type { Authoriser } from './authorise.ts';
import type { Variables } from './environment.ts';
import { readSecretKey } from './key-file.ts';
import { parseSecretKey, type SecretKey } from './key.ts';
import type { EmbeddedAddresses, EmbeddedConnection, SignerDescription } from './channel/channel-protocol.ts';
import { processesShowing, revealedBy } from './hidden-keys.ts';
import { createSigner, type Signer } from './sign.ts';

/** The settings of the key from the signer's own reading of the configuration. */
interface WalletSettings {
  /** `env:NAME` or `file:PATH`; undefined where none is set. */
  readonly keyFrom: string | undefined;
  /** The required address of the key, base58; undefined where the configuration names none. */
  readonly address: string | undefined;
  /** Whether service and chain are the embedded ones. */
  readonly embedded: boolean;
}

/** The rules, which depend on the address of the key. */
export interface Rules {
  readonly settings: WalletSettings;
  /** `embedded` has the addresses of the embedded chain and service; those of real ones are configured. */
  authoriserFor(
    key: Pick<SecretKey, 'address' | 'countersKey'>, embedded: EmbeddedAddresses,
    /** Whether it only judges. */
    how?: { readonly onlyJudges: boolean },
  ): Promise<Authoriser>;
}

/** What judges transactions of a key, without the key. */
type Judge = Omit<OpenWallet, 'signer'>;

/** A key and its authoriser. */
export interface OpenWallet {
  readonly signer: Signer;
  readonly authoriser: Authoriser;
  readonly description: SignerDescription;
}

/** The one wallet of a signer; once opened it never changes. */
export interface Wallet {
  /** Opens it, the first time, with the configured key. Throws CONFIG_INVALID or KEY_INVALID. */
  open(embedded: EmbeddedConnection): Promise<OpenWallet>;
  /** Returns the address of the configured key without opening the wallet. Throws what `open` throws of the key. */
  address(): Promise<string>;
  /** Opens it with the embedded service's own key. Throws KEY_INVALID where a key is configured. */
  openEmbedded(embedded: EmbeddedConnection & { readonly key: string }): Promise<OpenWallet>;
  /**
   * Opens what judges transactions without signing any: with the configured key, or with the embedded service's own.
   * No file is changed. Throws what `open` and `openEmbedded` throw.
   */
  rehearse(embedded: EmbeddedConnection): Promise<Judge>;
  /** Throws SIGN_REFUSED before it is open. */
  opened(): OpenWallet;
  /** Throws SIGN_REFUSED before `rehearse`. */
  rehearsing(): Judge;
  /** Returns what decides on the next transaction: the open wallet, else the judge. Throws SIGN_REFUSED before both. */
  deciding(): Judge;
  close(): void;
}

type KeyOf = (settings: WalletSettings) => Promise<SecretKey>;

/** Returns a closed wallet. Nothing is read yet, since the command reports the faults of the configuration. */
export function createWallet({ environment, keyFault, pid, load, warn }: {
  /** The only environment with the keys. */
  readonly environment: Variables;
  /** The reason why no key of the environment may be used. */
  readonly keyFault?: string | undefined;
  readonly pid: number;
  readonly load: () => Promise<Rules>;
  readonly warn: (message: string) => void;
}): Wallet {
  let opening: Promise<OpenWallet> | undefined;
  let opened: OpenWallet | undefined;
  let judge: Judge | undefined;

  const configuredKey: KeyOf = async ({ keyFrom, embedded }) => {
    if (keyFrom === undefined) throw new GannetError(
      'KEY_INVALID', 'wallet.key_from is missing: only the embedded service brings a wallet of its own',
    );
    const name = /^env:(.*)$/s.exec(keyFrom)?.[1];
    if (name !== undefined && keyFault !== undefined) throw new GannetError('KEY_INVALID', keyFault);
    const key = await readSecretKey({ source: keyFrom, environment });
    const showing = name === undefined ? [] : processesShowing(environment[name]!.trim());
    if (showing.length === 0) return key;
    if (!embedded) throw new GannetError('KEY_INVALID', revealedBy(showing));
    warn(revealedBy(showing));
    return key;
  };
  const openWith = async (keyOf: KeyOf, { rpcUrl, serviceUrl }: EmbeddedConnection): Promise<OpenWallet> => {
    const rules = await load();
    const { settings } = rules;
    const key = await expectedKey(settings, keyOf);
    const authoriser = await rules.authoriserFor(key, settings.embedded ? { rpcUrl, serviceUrl } : {});
    opened =
      { signer: createSigner(key), authoriser, description: { ...authoriser.description, pid, address: key.address } };
    return opened;
  };
  const once = (keyOf: KeyOf, embedded: EmbeddedConnection): Promise<OpenWallet> =>
    (opening ??= openWith(keyOf, embedded));

  return {
    open: (embedded) => once(configuredKey, embedded),
    address: async () => (await expectedKey((await load()).settings, configuredKey)).address,
    openEmbedded: (embedded) => {
      if (opening !== undefined)
        return Promise.reject(new GannetError('KEY_INVALID', 'the signer holds a key already and takes no other'));
      return once(embeddedKey(embedded.key), embedded);
    },
    async rehearse({ key: given, rpcUrl, serviceUrl }) {
      const rules = await load();
      const { settings } = rules;
      const key = await expectedKey(settings, given === undefined ? configuredKey : embeddedKey(given));
      const authoriser =
        await rules.authoriserFor(key, settings.embedded ? { rpcUrl, serviceUrl } : {}, { onlyJudges: true });
      void judge?.authoriser.close();
      judge = { authoriser, description: { ...authoriser.description, pid, address: key.address } };
      return judge;
    },
    rehearsing: () => {
      if (judge === undefined) throw new GannetError('SIGN_REFUSED', 'nothing was judged: no rehearsal has begun');
      return judge;
    },
    opened: () => {
      if (opened === undefined) throw new GannetError('SIGN_REFUSED', 'nothing was signed: the wallet is not open yet');
      return opened;
    },
    deciding: () => {
      const next = opened ?? judge;
      if (next === undefined) throw new GannetError('SIGN_REFUSED', 'the wallet is not open yet');
      return next;
    },
    close: () => {
      void opened?.authoriser.close();
      void judge?.authoriser.close();
    },
  };
}

/** Takes the key that the embedded service brings, where none is configured. */
function embeddedKey(text: string): KeyOf {
  return async ({ keyFrom, embedded }) => {
    if (keyFrom !== undefined || !embedded) throw new GannetError('KEY_INVALID', 'the signer was handed a key, '
      + 'but takes one from the embedded service alone, and only where wallet.key_from is not set');
    return parseSecretKey(text);
  };
}

async function expectedKey(settings: WalletSettings, keyOf: KeyOf): Promise<SecretKey> {
  const key = await keyOf(settings);
  if (settings.address === undefined || settings.address === key.address) return key;
  throw new GannetError('KEY_INVALID', `wallet.address is ${settings.address}, but the key belongs to ${key.address}`);
}
