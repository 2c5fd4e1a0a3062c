/** Every reason for which the policy refuses a transaction: the code and its rule. */
export const POLICY_CODES = {
  // The bytes.
  SIZE_EXCEEDED: 'A transaction is at most 1,232 bytes long, one of version 1 at most 4,096: longer ones are not even '
    + 'read.',
  VERSION_UNKNOWN: 'Only legacy transactions and those of versions 0 and 1 are read: the meaning of a newer version is '
    + 'unknown.',
  BYTES_NOT_CANONICAL: 'The bytes must be a transaction in its one spelling: nothing cut off, nothing left over, and '
    + 'the same when written again.',
  ACCOUNT_DUPLICATE: 'No account may be named twice, written out or from a table.',
  ACCOUNT_IN_TABLE:
    'The accounts that money leaves and reaches stand in the message itself: a table is known only from a node.',
  TABLE_UNREAD:
    'Every lookup table that is used must have been read from the chain, and hold the places that are used.',
  // Signers and fee payer.
  SIGNER_MISSING: 'The wallet must be among those who sign.',
  SIGNER_UNKNOWN: 'Only the wallet, the expected maker and the expected fee payer may sign.',
  FEE_PAYER_FOREIGN: 'The fee is paid by the account that the order names, and by the wallet where it names none.',
  // Programs.
  PROGRAM_UNKNOWN: 'Only programs of the allow-list are called.',
  INSTRUCTION_UNREADABLE: 'Every instruction must have exactly the data and accounts that its kind has.',
  // Costs.
  BUDGET_INVALID: 'The compute budget is set by its known instructions, each at most once; in version 1 by the message '
    + 'alone, with a limit of units and one of loaded bytes.',
  FEE_EXCEEDS: 'Signatures and priority together cost the wallet at most what was allowed.',
  TIP_EXCEEDS: 'Tips together are at most what was allowed.',
  RENT_EXCEEDS: 'No account costs the wallet more than its rent, and a temporary one gives its rent back.',
  PLATFORM_FEE_EXCEEDS: 'Of the swap itself at most the allowed share goes to third parties, and to an account of the '
    + 'operator at most its own share.',
  // SOL.
  SYSTEM_FORBIDDEN: 'Of the system program only transfers and temporary accounts of the wallet are allowed.',
  ASSIGN_FORBIDDEN: 'No account is handed over to another program.',
  NONCE_FORBIDDEN: 'No nonce is used: a transaction that hangs on one never expires.',
  TRANSFER_SOURCE: 'Only the signing owner of an account moves its tokens or lamports.',
  TRANSFER_DESTINATION:
    'The wallet pays into its own wrapped-SOL account, to the maker, to a tip or a fee, and nowhere else.',
  TRANSFER_EXCEEDS: 'At most the requested amount of the input moves, and at most the lent rent is paid back.',
  ACCOUNT_SEED_MISMATCH: 'A temporary account stands where the wallet’s own seed puts it.',
  ACCOUNT_UNFINISHED:
    'A temporary account belongs to the wallet from its making and is closed in the same transaction.',
  // Tokens.
  TOKEN_FORBIDDEN:
    'Of the token programs only transfers, closing, wrapping and the start of temporary accounts are allowed.',
  APPROVAL_FORBIDDEN: 'No other account is allowed to spend for the wallet.',
  AUTHORITY_FORBIDDEN: 'No account changes its owner or any other authority.',
  CLOSE_DESTINATION:
    'The lamports of a closed account go to the wallet, or to the expected receiver of the swapped SOL.',
  CLOSE_FORBIDDEN: 'Only the wallet’s own accounts of this swap are closed, by the wallet.',
  CLOSING_ONLY: 'A transaction for closing accounts does nothing else.',
  MINT_UNEXPECTED: 'No token takes part but those of the swap, and wrapped SOL where it is one of them.',
  ATA_MISMATCH: 'An associated account stands where its owner, mint and token program put it.',
  ATA_OWNER: 'Accounts are opened for the wallet and the expected receiver; for others only at their cost.',
  // The swap.
  SWAP_MISSING: 'The transaction must make the requested swap.',
  SWAP_UNREADABLE: 'A swap without a decoder is signed only after a simulation whose balance changes fit.',
  SWAP_USER: 'The swap is the wallet’s own.',
  SWAP_SOURCE: 'The swap is paid out of the wallet’s own account of the input.',
  SWAP_DESTINATION: 'The output goes to the wallet, or to the expected receiver.',
  SWAP_AMOUNT_EXCEEDS: 'At most the requested amount of the input is swapped, fees included.',
  SWAP_MINIMUM_BELOW: 'The minimum output is no less than was agreed.',
  MAKER_AMOUNT_MISMATCH: 'A maker gets exactly the requested amount.',
  // The simulation.
  SIMULATION_FAILED: 'A required simulation must succeed.',
  SIMULATION_INPUT_EXCEEDS: 'In the simulation the wallet spends at most the requested amount of the input.',
  SIMULATION_OUTPUT_BELOW: 'In the simulation no less of the output arrives than was agreed.',
  SIMULATION_SOL_EXCEEDS: 'In the simulation the wallet’s SOL falls by no more than swap, fee, tip and rent explain.',
  SIMULATION_BALANCE_CHANGED: 'In the simulation no other token of the wallet becomes less.',
  SIMULATION_AUTHORITY_CHANGED:
    'In the simulation owner, delegate, close authority and state of the wallet’s accounts stay as they are.',
} as const;

export type PolicyCode = keyof typeof POLICY_CODES;

/** Every further reason for which the signer process refuses a request: the code and its rule. */
const AUTHORISATION_CODES = {
  TERMS_INVALID: 'The terms must be those of a swap: two tokens, something given, and something expected for it.',
  ONLY_JUDGES: 'A signer that was opened for a rehearsal judges, and signs nothing.',
  // Spending.
  CAP_MISSING: 'With a key of your own no token is spent without a cap per hour or day in signer.caps, even on the '
    + 'embedded chain.',
  CAP_EXCEEDED_TRADE: 'One swap spends at most per_trade of its input.',
  CAP_EXCEEDED_HOUR: 'In any hour at most per_hour of a token is signed for, whether the swaps land or not.',
  CAP_EXCEEDED_DAY:
    'In any day at most per_day of a token is signed for; of SOL with fees, tips, and rent that may not come back.',
  CAP_DECIMALS_UNREAD: 'A cap counts only once the token’s decimals have been read from its mint account.',
  COUNTERS_UNWRITABLE: 'The spending of a signature is on disk before the signature exists; where it cannot be '
    + 'written, nothing is signed.',
  COUNTERS_LOST:
    'Spending is counted in the file that the signer opened; where it is gone or replaced, nothing is signed.',
  COUNTERS_ALTERED: 'Each row of the counters is authenticated; where one was changed, inserted, moved or deleted, '
    + 'nothing is signed.',
  COUNTERS_UNPROVEN:
    'Before the first count the signer’s own node must tell what the wallet signed in the last day.',
  // The price.
  PRICE_BELOW_GUARD: 'The minimum output is at most signer.price_guard.max_deviation_bps below a quote that the signer '
    + 'asked for itself.',
  PRICE_GUARD_UNAVAILABLE: 'The swap service must answer the signer’s own request for a quote, in time and in the form '
    + 'of a quote.',
  // The chain.
  CHAIN_UNREAD: 'The signer’s own node must answer, in full and in the form that nodes use.',
} as const;

/** The codes with which a signature is refused. */
export type SignerCode = PolicyCode | keyof typeof AUTHORISATION_CODES;
