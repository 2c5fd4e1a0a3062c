/** What happens to a strategy that reaches for files or processes. */
export type DiskMode =
  /** It gets what is there, and it is remembered. */
  | { readonly kind: 'watch' }
  /** It finds another folder in the place of the recording's. */
  | { readonly kind: 'redirect'; readonly to: string }
  /** There is nothing. */
  | { readonly kind: 'refuse' };

/** What happens to a strategy that reaches out of its process. */
export interface TrapMode {
  readonly disk: DiskMode;
  readonly network: 'watch' | 'refuse';
}
