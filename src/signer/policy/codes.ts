/** Every reason for which the signer refuses a transaction: the code, and the rule it stands for. One table, from which documents are made. */
export const POLICY_CODES = {
  // What the bytes are.
  SIZE_EXCEEDED: 'A transaction is at most 1,232 bytes long: longer ones are not even read.',
  VERSION_UNKNOWN: 'Only legacy transactions and those of version 0 are read: what a newer version means nobody here knows.',
  BYTES_NOT_CANONICAL: 'The bytes must be a transaction in its one spelling: nothing cut off, nothing left over, and the same when written again.',
  ACCOUNT_DUPLICATE: 'No account may be named twice, written out or from a table.',
  ACCOUNT_IN_TABLE: 'Whose accounts are paid from and into is written out: of what stands in a table a node’s word is all there is.',
  TABLE_UNREAD: 'Every lookup table that is used must have been read from the chain, and hold the places that are used.',
  // Who signs and pays.
  SIGNER_MISSING: 'The wallet must be among those who sign.',
  SIGNER_UNKNOWN: 'Nobody but the wallet, the expected maker and the expected fee payer may sign.',
  FEE_PAYER_FOREIGN: 'The fee is paid by whom the order named, and by the wallet where it named nobody.',
  // What is called.
  PROGRAM_UNKNOWN: 'Only programs of the allow-list are called.',
  INSTRUCTION_UNREADABLE: 'Every instruction must have exactly the data and accounts that its kind has.',
  // What it costs.
  BUDGET_INVALID: 'The compute budget is set by its known instructions, each at most once.',
  FEE_EXCEEDS: 'Signatures and priority together cost the wallet at most what was allowed.',
  TIP_EXCEEDS: 'Tips together are at most what was allowed.',
  RENT_EXCEEDS: 'No account costs the wallet more than its rent, and a temporary one gives its rent back.',
  PLATFORM_FEE_EXCEEDS: 'Of the swap itself at most the allowed share goes to third parties.',
  // SOL.
  SYSTEM_FORBIDDEN: 'Of the system program only transfers and temporary accounts of the wallet are allowed.',
  ASSIGN_FORBIDDEN: 'No account is handed over to another program.',
  NONCE_FORBIDDEN: 'No nonce is used: a transaction that hangs on one never expires.',
  TRANSFER_SOURCE: 'Nothing moves but what its signing owner holds in his own account.',
  TRANSFER_DESTINATION: 'What the wallet pays goes into its own wrapped-SOL account, to the maker, to a tip or a fee, and nowhere else.',
  TRANSFER_EXCEEDS: 'No more of the input moves than the amount that was asked for, and no more rent is paid back than was lent.',
  ACCOUNT_SEED_MISMATCH: 'A temporary account stands where the wallet’s own seed puts it.',
  ACCOUNT_UNFINISHED: 'A temporary account belongs to the wallet from its making and is closed in the same transaction.',
  // Tokens.
  TOKEN_FORBIDDEN: 'Of the token programs only transfers, closing, wrapping and the start of temporary accounts are allowed.',
  APPROVAL_FORBIDDEN: 'Nobody is allowed to spend in the wallet’s place.',
  AUTHORITY_FORBIDDEN: 'No account changes its owner or any other authority.',
  CLOSE_DESTINATION: 'What closing an account sets free goes to the wallet, or to the expected receiver of the swapped SOL.',
  CLOSE_FORBIDDEN: 'Only the wallet’s own accounts of this swap are closed, by the wallet.',
  CLOSING_ONLY: 'A transaction that was asked for to close accounts does nothing else.',
  MINT_UNEXPECTED: 'No token takes part but those of the swap, and wrapped SOL where it is one of them.',
  ATA_MISMATCH: 'An associated account stands where its owner, mint and token program put it.',
  ATA_OWNER: 'Accounts are opened for the wallet and the expected receiver; for others only at their own cost.',
  // The swap.
  SWAP_MISSING: 'The transaction must swap what it was asked for.',
  SWAP_UNREADABLE: 'A swap that no decoder here reads is signed only after a simulation whose differences fit.',
  SWAP_USER: 'The swap is the wallet’s own.',
  SWAP_SOURCE: 'The swap is paid out of the wallet’s own account of the input.',
  SWAP_DESTINATION: 'The output goes to the wallet, or to the expected receiver.',
  SWAP_AMOUNT_EXCEEDS: 'No more of the input is swapped than was asked for, fees included.',
  SWAP_MINIMUM_BELOW: 'What comes out at least is no less than was agreed.',
  MAKER_AMOUNT_MISMATCH: 'A maker gets exactly the amount that was asked for.',
  // What a simulation shows.
  SIMULATION_FAILED: 'What must be simulated must succeed in the simulation.',
  SIMULATION_INPUT_EXCEEDS: 'In the simulation the wallet gives no more of the input than was asked for.',
  SIMULATION_OUTPUT_BELOW: 'In the simulation no less of the output arrives than was agreed.',
  SIMULATION_SOL_EXCEEDS: 'In the simulation the wallet’s SOL falls by no more than swap, fee, tip and rent explain.',
  SIMULATION_BALANCE_CHANGED: 'In the simulation no other token of the wallet becomes less.',
  SIMULATION_AUTHORITY_CHANGED: 'In the simulation owner, delegate, close authority and state of the wallet’s accounts stay as they are.',
} as const;

export type PolicyCode = keyof typeof POLICY_CODES;
