/** Why a transaction failed, in the JSON form of the RPC. */
export type TransactionError = string | { InstructionError: [number, InstructionError] } | Record<string, unknown>;
type InstructionError = string | { Custom: number };

// The VM reports errors by their position in the runtime's own lists; the names are those of the RPC.
const TRANSACTION_ERRORS = [
  'AccountInUse', 'AccountLoadedTwice', 'AccountNotFound', 'ProgramAccountNotFound', 'InsufficientFundsForFee',
  'InvalidAccountForFee', 'AlreadyProcessed', 'BlockhashNotFound', 'CallChainTooDeep', 'MissingSignatureForFee',
  'InvalidAccountIndex', 'SignatureFailure', 'InvalidProgramForExecution', 'SanitizeFailure', 'ClusterMaintenance',
  'AccountBorrowOutstanding', 'WouldExceedMaxBlockCostLimit', 'UnsupportedVersion', 'InvalidWritableAccount',
  'WouldExceedMaxAccountCostLimit', 'WouldExceedAccountDataBlockLimit', 'TooManyAccountLocks',
  'AddressLookupTableNotFound', 'InvalidAddressLookupTableOwner', 'InvalidAddressLookupTableData',
  'InvalidAddressLookupTableIndex', 'InvalidRentPayingAccount', 'WouldExceedMaxVoteCostLimit',
  'WouldExceedAccountDataTotalLimit', 'MaxLoadedAccountsDataSizeExceeded', 'ResanitizationNeeded',
  'InvalidLoadedAccountsDataSizeLimit', 'UnbalancedTransaction', 'ProgramCacheHitMaxLimit', 'CommitCancelled',
] as const;

const INSTRUCTION_ERRORS = [
  'GenericError', 'InvalidArgument', 'InvalidInstructionData', 'InvalidAccountData', 'AccountDataTooSmall',
  'InsufficientFunds', 'IncorrectProgramId', 'MissingRequiredSignature', 'AccountAlreadyInitialized',
  'UninitializedAccount', 'UnbalancedInstruction', 'ModifiedProgramId', 'ExternalAccountLamportSpend',
  'ExternalAccountDataModified', 'ReadonlyLamportChange', 'ReadonlyDataModified', 'DuplicateAccountIndex',
  'ExecutableModified', 'RentEpochModified', 'NotEnoughAccountKeys', 'AccountDataSizeChanged', 'AccountNotExecutable',
  'AccountBorrowFailed', 'AccountBorrowOutstanding', 'DuplicateAccountOutOfSync', 'InvalidError',
  'ExecutableDataModified', 'ExecutableLamportChange', 'ExecutableAccountNotRentExempt', 'UnsupportedProgramId',
  'CallDepth', 'MissingAccount', 'ReentrancyNotAllowed', 'MaxSeedLengthExceeded', 'InvalidSeeds', 'InvalidRealloc',
  'ComputationalBudgetExceeded', 'PrivilegeEscalation', 'ProgramEnvironmentSetupFailure', 'ProgramFailedToComplete',
  'ProgramFailedToCompile', 'Immutable', 'IncorrectAuthority', 'AccountNotRentExempt', 'InvalidAccountOwner',
  'ArithmeticOverflow', 'UnsupportedSysvar', 'IllegalOwner', 'MaxAccountsDataAllocationsExceeded',
  'MaxAccountsExceeded', 'MaxInstructionTraceLengthExceeded', 'BuiltinProgramsMustConsumeComputeUnits', 'BorshIoError',
] as const;

/** Returns the RPC's form of the VM's error: a number, or an object whose class names it. */
export function transactionErrorOf(native: unknown): TransactionError {
  if (typeof native === 'number') return TRANSACTION_ERRORS[native] ?? `Unknown(${native})`;
  if (typeof native !== 'object' || native === null) return `Unknown(${String(native)})`;
  const name = native.constructor.name.replace(/^TransactionError/, '');
  if (name === 'InstructionError') {
    const failed = native as { index: number; err(): unknown };
    return { InstructionError: [failed.index, instructionErrorOf(failed.err())] };
  }
  if ('accountIndex' in native) return { [name]: { account_index: native.accountIndex } };
  return { [name]: 'index' in native ? native.index : null };
}

function instructionErrorOf(native: unknown): InstructionError {
  if (typeof native === 'number') return INSTRUCTION_ERRORS[native] ?? `Unknown(${native})`;
  if (typeof native === 'object' && native !== null && 'code' in native) return { Custom: Number(native.code) };
  return 'BorshIoError';
}

/** Returns the code of a program's own error, or undefined for any other: 6001 is the swap's minimum-out. */
export function customErrorCode(error: TransactionError | null): number | undefined {
  if (error === null || typeof error === 'string' || !('InstructionError' in error)) return undefined;
  const [, instructionError] = error['InstructionError'] as [number, InstructionError];
  return typeof instructionError === 'string' ? undefined : instructionError.Custom;
}

const SENTENCES: Readonly<Record<string, string>> = {
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  AlreadyProcessed: 'This transaction has already been processed',
  BlockhashNotFound: 'Blockhash not found',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  SignatureFailure: 'Transaction did not pass signature verification',
  SanitizeFailure: 'Transaction failed to sanitize accounts offsets correctly',
};

/** Returns an error as a node words it in the message of a failed preflight. */
export function describeTransactionError(error: TransactionError): string {
  if (typeof error === 'string') return SENTENCES[error] ?? error;
  if (!('InstructionError' in error)) return JSON.stringify(error);
  const [index, inner] = error['InstructionError'] as [number, InstructionError];
  const reason = typeof inner === 'string' ? inner : `custom program error: 0x${inner.Custom.toString(16)}`;
  return `Error processing Instruction ${index}: ${reason}`;
}
