import type { Addresses } from '../../solana/addresses.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM, MEMO_PROGRAMS, SYSTEM_PROGRAM, isTokenProgram,
} from '../../solana/constants.ts';
import type { TransactionVersion } from '../../solana/transaction-message.ts';
import type { ResolvedInstruction } from './lookup-tables.ts';
import type { Decoded } from './instruction.ts';
import { refuse, unreadable } from './instruction.ts';
import type { SwapProgram } from './swap-programs.ts';
import type { PolicyCode } from './codes.ts';

const CREATE = 0;
const CREATE_IDEMPOTENT = 1;
const SETTINGS: ReadonlyMap<number, { readonly setting: Setting; readonly bytes: number }> = new Map([
  [1, { setting: 'heap bytes', bytes: 4 }],
  [2, { setting: 'unit limit', bytes: 4 }],
  [3, { setting: 'unit price', bytes: 8 }],
  [4, { setting: 'loaded bytes', bytes: 4 }],
]);

const TRANSFER = 2;
const CREATE_ACCOUNT_WITH_SEED = 3;
const MAX_SEED_BYTES = 32;
/** The fixed part of an account made by seed: kind, base, the seed's length, lamports, space, owner. */
const SEEDED_BYTES = 4 + 32 + 8 + 8 + 8 + 32;
/** Every other kind, in the program's own order: the code of its refusal and its effect. */
const FORBIDDEN_SYSTEM: ReadonlyMap<number, readonly [code: PolicyCode, what: string]> = new Map([
  [0, ['SYSTEM_FORBIDDEN', 'makes an account with a key of its own']],
  [1, ['ASSIGN_FORBIDDEN', 'hands an account over to another program']],
  [4, ['NONCE_FORBIDDEN', 'advances a nonce']],
  [5, ['NONCE_FORBIDDEN', 'withdraws from a nonce account']],
  [6, ['NONCE_FORBIDDEN', 'starts a nonce account']],
  [7, ['NONCE_FORBIDDEN', 'changes the authority of a nonce account']],
  [8, ['SYSTEM_FORBIDDEN', 'makes room in an account']],
  [9, ['SYSTEM_FORBIDDEN', 'makes room in an account that has its address by a seed']],
  [10, ['ASSIGN_FORBIDDEN', 'hands an account that has its address by a seed over to another program']],
  [11, ['SYSTEM_FORBIDDEN', 'pays out of an account that has its address by a seed']],
  [12, ['NONCE_FORBIDDEN', 'upgrades a nonce account']],
]);

/** Kinds that the rules judge in detail; the numbers are the same in both token programs. */
const TOKEN_KIND = {
  initialize: 1, transfer: 3, close: 9, transferChecked: 12, initialize2: 16, syncNative: 17, initialize3: 18,
} as const;

/** Stands for an instruction without data. */
const NO_KIND = -1;
const FORBIDDEN_TOKEN: ReadonlyMap<number, readonly [code: PolicyCode, what: string]> = new Map([
  [0, ['TOKEN_FORBIDDEN', 'makes a mint']],
  [2, ['TOKEN_FORBIDDEN', 'makes an account of several signers']],
  [4, ['APPROVAL_FORBIDDEN', 'lets another account spend']],
  [5, ['TOKEN_FORBIDDEN', 'revokes the right of another account to spend']],
  [6, ['AUTHORITY_FORBIDDEN', 'changes an authority']],
  [7, ['TOKEN_FORBIDDEN', 'mints']],
  [8, ['TOKEN_FORBIDDEN', 'burns']],
  [10, ['TOKEN_FORBIDDEN', 'freezes an account']],
  [11, ['TOKEN_FORBIDDEN', 'thaws an account']],
  [13, ['APPROVAL_FORBIDDEN', 'lets another account spend']],
  [14, ['TOKEN_FORBIDDEN', 'mints']],
  [15, ['TOKEN_FORBIDDEN', 'burns']],
]);

/** Returns the effect of an instruction, or the rule that it breaks in any case. */
export function decodeInstruction(
  instruction: ResolvedInstruction,
  { addresses, programs, version }: {
    readonly addresses: Addresses; readonly programs: ReadonlyMap<string, SwapProgram>;
    readonly version: TransactionVersion;
  },
): Decoded {
  const { program, data } = instruction;
  // The network ignores these in version 1 (SIMD-0385), so that one of them can only mislead a reader.
  if (program === COMPUTE_BUDGET_PROGRAM) return version === 1
    ? refuse('BUDGET_INVALID', 'sets the compute budget by an instruction, which version 1 does in the message itself')
    : decodeComputeBudget(instruction);
  if (program === SYSTEM_PROGRAM) return decodeSystem(instruction, addresses);
  if (isTokenProgram(program)) return decodeToken(instruction, addresses);
  if (program === ASSOCIATED_TOKEN_PROGRAM) return decodeAssociatedToken(instruction, addresses);
  if (MEMO_PROGRAMS.includes(program))
    return { kind: 'memo', text: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8') };
  const swap = programs.get(program);
  if (swap === undefined) return refuse('PROGRAM_UNKNOWN', `calls ${program}, which is not on the allow-list`);
  if (swap.decode === undefined) return { kind: 'opaque', program };
  const terms = swap.decode(instruction);
  if (terms === 'opaque') return { kind: 'opaque', program };
  // A failed decoder does not relax the check: the instruction lacks the known form.
  return terms === undefined ? refuse('SWAP_UNREADABLE', `calls ${program} with an instruction that is no swap`)
    : { kind: 'swap', ...terms };
}

/** Decodes the associated-token program: opening an account at its derived address, all else refused. */
function decodeAssociatedToken(
  { accounts, data }: ResolvedInstruction, { associated }: Pick<Addresses, 'associated'>,
): Decoded {
  const kind = data.length === 0 ? CREATE : data[0]!;
  if (kind !== CREATE && kind !== CREATE_IDEMPOTENT)
    return refuse('TOKEN_FORBIDDEN', 'moves tokens out of a nested associated account');
  const [payer, account, owner, mint, system, tokenProgram] = accounts;
  if (data.length > 1 || accounts.length !== 6 || payer === undefined || account === undefined || owner === undefined
      || mint === undefined || tokenProgram === undefined) {
    return unreadable(`associated account: expected at most 1 byte and 6 accounts, got ${data.length} bytes and `
      + `${accounts.length} accounts`);
  }
  if (system !== SYSTEM_PROGRAM) return unreadable(`associated account: expected the system program, got ${system}`);
  if (!isTokenProgram(tokenProgram))
    return refuse('ATA_MISMATCH', `opens an account under ${tokenProgram}, which is no token program`);
  const derived = associated(owner, mint, tokenProgram);
  if (derived !== account) return refuse(
    'ATA_MISMATCH', `opens ${account}, while the account of ${owner} for ${mint} is ${derived ?? 'nowhere'}`,
  );
  return { kind: 'open-associated', payer, account, owner, mint, tokenProgram };
}

type Setting = Extract<Decoded, { kind: 'budget' }>['setting'];

/**
 * Decodes the compute-budget program. Its first kind, with a fee of its own, is refused: the network no longer takes
 * it.
 */
function decodeComputeBudget({ accounts, data }: ResolvedInstruction): Decoded {
  const known = SETTINGS.get(data[0] ?? -1);
  if (known === undefined)
    return refuse('BUDGET_INVALID', `expected an instruction of kind 1 to 4, got ${data[0] ?? 'no data'}`);
  if (data.length !== 1 + known.bytes || accounts.length > 0) {
    return refuse('BUDGET_INVALID', `${known.setting}: expected ${1 + known.bytes} bytes and no accounts, got `
      + `${data.length} bytes and ${accounts.length} accounts`);
  }
  const view = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return { kind: 'budget', setting: known.setting, value: known.bytes === 8 ? view.readBigUInt64LE(1)
    : BigInt(view.readUInt32LE(1)) };
}

/** Decodes the system program. */
function decodeSystem({ accounts, data }: ResolvedInstruction, { addressOf }: Pick<Addresses, 'addressOf'>): Decoded {
  if (data.length < 4) return unreadable(`system: expected a kind of 4 bytes, got ${data.length} bytes`);
  const view = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const kind = view.readUInt32LE(0);
  if (kind === TRANSFER) return transfer(view, accounts);
  if (kind === CREATE_ACCOUNT_WITH_SEED) return createSeeded(view, { accounts, addressOf });
  const [code, what] = FORBIDDEN_SYSTEM.get(kind) ?? ['SYSTEM_FORBIDDEN', `is of the unknown kind ${kind}`];
  return refuse(code, what);
}

function transfer(data: Buffer, accounts: readonly string[]): Decoded {
  const [from, to] = accounts;
  if (data.length !== 12 || from === undefined || to === undefined || accounts.length !== 2) {
    return unreadable(
      `transfer: expected 12 bytes and 2 accounts, got ${data.length} bytes and ${accounts.length} accounts`,
    );
  }
  return { kind: 'transfer-lamports', from, to, lamports: data.readBigUInt64LE(4) };
}

function createSeeded(
  data: Buffer, { accounts, addressOf }: { accounts: readonly string[]; addressOf: Addresses['addressOf'] },
): Decoded {
  const seedBytes = data.length - SEEDED_BYTES;
  if (seedBytes < 0 || seedBytes > MAX_SEED_BYTES || data.readBigUInt64LE(36) !== BigInt(seedBytes)) {
    return unreadable(`account by seed: expected a seed of at most ${MAX_SEED_BYTES} bytes in the form of its kind, `
      + `got ${data.length} bytes in all`);
  }
  const [payer, account] = accounts;
  if (payer === undefined || account === undefined || accounts.length > 3) {
    return unreadable(`account by seed: expected 2 or 3 accounts, got ${accounts.length}`);
  }
  const base = addressOf(data.subarray(4, 36));
  // A payer that is the base too may be named once.
  if ((accounts[2] ?? payer) !== base)
    return unreadable('account by seed: the base that signs is not the base that is written');
  const rest = 44 + seedBytes;
  return {
    kind: 'open-seeded', payer, account, base,
    seed: data.subarray(44, rest),
    lamports: data.readBigUInt64LE(rest),
    space: data.readBigUInt64LE(rest + 8),
    owner: addressOf(data.subarray(rest + 16, rest + 48)),
  };
}

/**
 * Decodes both token programs. Kinds of extensions (from 25 on), batches, several signers and further accounts are
 * refused, as is everything else that a swap does not need.
 */
function decodeToken(instruction: ResolvedInstruction, { addressOf }: Pick<Addresses, 'addressOf'>): Decoded {
  const { accounts, program: tokenProgram } = instruction;
  const data = Buffer.from(instruction.data.buffer, instruction.data.byteOffset, instruction.data.byteLength);
  const [first, second, third, fourth] = accounts as readonly [string, string, string, string];
  const hasForm = (bytes: number, places: number): boolean => data.length === bytes && accounts.length === places;
  const kind = data[0] ?? NO_KIND;
  switch (kind) {
    case TOKEN_KIND.transfer:
      if (!hasForm(9, 3)) break;
      return {
        kind: 'transfer-tokens', source: first, mint: undefined, destination: second, authority: third,
        amount: data.readBigUInt64LE(1), decimals: undefined, tokenProgram,
      };
    case TOKEN_KIND.transferChecked:
      if (!hasForm(10, 4)) break;
      return {
        kind: 'transfer-tokens', source: first, mint: second, destination: third, authority: fourth,
        amount: data.readBigUInt64LE(1), decimals: data[9]!, tokenProgram,
      };
    case TOKEN_KIND.close:
      if (!hasForm(1, 3)) break;
      return { kind: 'close-token', account: first, destination: second, authority: third, tokenProgram };
    case TOKEN_KIND.syncNative:
      if (!hasForm(1, 1)) break;
      return { kind: 'sync-native', account: first };
    case TOKEN_KIND.initialize:
      if (!hasForm(1, 4)) break;
      return { kind: 'initialize-token', account: first, mint: second, owner: third, tokenProgram };
    case TOKEN_KIND.initialize2:
      if (!hasForm(33, 3)) break;
      return {
        kind: 'initialize-token', account: first, mint: second, owner: addressOf(data.subarray(1)), tokenProgram,
      };
    case TOKEN_KIND.initialize3:
      if (!hasForm(33, 2)) break;
      return {
        kind: 'initialize-token', account: first, mint: second, owner: addressOf(data.subarray(1)), tokenProgram,
      };
    default: {
      const [code, what] = FORBIDDEN_TOKEN.get(kind)
        ?? ['TOKEN_FORBIDDEN', `is of a kind that no swap needs, ${kind === NO_KIND ? 'without data' : kind}`];
      return refuse(code, what);
    }
  }
  return unreadable(
    `token instruction ${kind}: not the form of its kind, with ${data.length} bytes and ${accounts.length} accounts`,
  );
}
