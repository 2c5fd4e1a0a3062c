import { POLICY_CODES } from './policy/codes.ts';

/** Every reason for which the signer's process refuses what the policy alone would not: the code, and the rule it stands for. */
export const AUTHORISATION_CODES = {
  TERMS_INVALID: 'The terms must be those of a swap: two tokens, something given, and something expected for it.',
  // What may be spent.
  CAP_MISSING: 'With a key of one’s own no token is spent without a cap of an hour or a day in signer.caps, on the embedded chain neither.',
  CAP_EXCEEDED_TRADE: 'One swap spends at most per_trade of its input.',
  CAP_EXCEEDED_HOUR: 'In any hour at most per_hour of a token is signed away, whether the swaps land or not.',
  CAP_EXCEEDED_DAY: 'In any day at most per_day of a token is signed away; of SOL with fees, tips, and rent that may not come back.',
  CAP_DECIMALS_UNREAD: 'A cap counts only once the token’s decimals have been read from its mint account.',
  COUNTERS_UNWRITABLE: 'What a signature spends is on disk before the signature is given; where it cannot be written, nothing is signed.',
  COUNTERS_LOST: 'What a signature spends is counted in the file that the signer opened; where that is gone or replaced, nothing is signed.',
  // What the chain says.
  CHAIN_UNREAD: 'What a verdict needs from the chain must be read from the signer’s own node, in full and in the form that nodes use.',
} as const;

/** One source for documents: all codes with which a signature is refused. */
export const SIGNER_CODES = { ...POLICY_CODES, ...AUTHORISATION_CODES } as const;

export type SignerCode = keyof typeof SIGNER_CODES;
