/**
 * The newest transaction version that Gannet reads. It signs no version that it does not read (D-345), so a
 * transaction of a later one never carries a signature of Gannet.
 */
export const NEWEST_VERSION = 1;
/** The newest one that nodes of before SIMD-0385 accept in a request. */
export const FORMER_VERSION = 0;

/** A node's refusal to give a transaction, by its JSON-RPC error. */
type VersionRefusal =
  /** The node gives versions up to the stated one only; the version is undefined where it does not name one. */
  | { readonly kind: 'version'; readonly version: number | undefined }
  /** The node does not accept the request; an old one accepts it with `FORMER_VERSION`. */
  | { readonly kind: 'parameter' };

const UNSUPPORTED_VERSION = -32_015;
const INVALID_PARAMETERS = -32_602;
const NAMED_VERSION = /version \((\d{1,3})\)/i;

/** Returns what a JSON-RPC error says about versions; undefined for any other error. */
export function versionRefusalOf(code: unknown, message: unknown): VersionRefusal | undefined {
  if (code === INVALID_PARAMETERS) return { kind: 'parameter' };
  if (code !== UNSUPPORTED_VERSION) return undefined;
  const named = typeof message === 'string' ? NAMED_VERSION.exec(message)?.[1] : undefined;
  return { kind: 'version', version: named === undefined ? undefined : Number(named) };
}

/** Returns whether a node's `version` of a transaction is one that Gannet reads; old nodes leave it out. */
export function isReadVersion(version: unknown): boolean {
  return version === undefined || version === 'legacy' || version === 0 || version === NEWEST_VERSION;
}

/** Returns whether a version is a later one than Gannet reads, and no number that a transaction cannot have. */
export function isLaterVersion(version: unknown): boolean {
  return typeof version === 'number' && Number.isInteger(version) && version > NEWEST_VERSION && version < 128;
}
