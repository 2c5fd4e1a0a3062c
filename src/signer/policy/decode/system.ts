import type { Addresses } from '../addresses.ts';
import type { PolicyCode } from '../codes.ts';
import type { ResolvedInstruction } from '../resolve.ts';
import { refuse, unreadable, type Decoded } from './decoded.ts';

const TRANSFER = 2;
const CREATE_ACCOUNT_WITH_SEED = 3;
const MAX_SEED_BYTES = 32;
/** All of an account made by seed but the seed: kind, base, the seed's length, lamports, space, owner. */
const SEEDED_BYTES = 4 + 32 + 8 + 8 + 8 + 32;

/** Every other kind, in the program's own order: why it is refused and what it would do. */
const FORBIDDEN: ReadonlyMap<number, readonly [code: PolicyCode, what: string]> = new Map([
  [0, ['SYSTEM_FORBIDDEN', 'makes an account with a key of its own']],
  [1, ['ASSIGN_FORBIDDEN', 'hands an account over to another program']],
  [4, ['NONCE_FORBIDDEN', 'advances a nonce']],
  [5, ['NONCE_FORBIDDEN', 'withdraws from a nonce account']],
  [6, ['NONCE_FORBIDDEN', 'starts a nonce account']],
  [7, ['NONCE_FORBIDDEN', 'gives a nonce account another authority']],
  [8, ['SYSTEM_FORBIDDEN', 'makes room in an account']],
  [9, ['SYSTEM_FORBIDDEN', 'makes room in an account that has its address by a seed']],
  [10, ['ASSIGN_FORBIDDEN', 'hands an account that has its address by a seed over to another program']],
  [11, ['SYSTEM_FORBIDDEN', 'pays out of an account that has its address by a seed']],
  [12, ['NONCE_FORBIDDEN', 'upgrades a nonce account']],
]);

/** Returns what an instruction of the system program does. */
export function decodeSystem({ accounts, data }: ResolvedInstruction, { addressOf }: Pick<Addresses, 'addressOf'>): Decoded {
  if (data.length < 4) return unreadable(`system: expected a kind of 4 bytes, got ${data.length} bytes`);
  const view = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const kind = view.readUInt32LE(0);
  if (kind === TRANSFER) return transfer(view, accounts);
  if (kind === CREATE_ACCOUNT_WITH_SEED) return createSeeded(view, { accounts, addressOf });
  const [code, what] = FORBIDDEN.get(kind) ?? ['SYSTEM_FORBIDDEN', `is of a kind that nobody here knows, ${kind}`];
  return refuse(code, what);
}

function transfer(data: Buffer, accounts: readonly string[]): Decoded {
  const [from, to] = accounts;
  if (data.length !== 12 || from === undefined || to === undefined || accounts.length !== 2) {
    return unreadable(`transfer: expected 12 bytes and 2 accounts, got ${data.length} bytes and ${accounts.length} accounts`);
  }
  return { kind: 'transfer-lamports', from, to, lamports: data.readBigUInt64LE(4) };
}

function createSeeded(data: Buffer, { accounts, addressOf }: { accounts: readonly string[]; addressOf: Addresses['addressOf'] }): Decoded {
  const seedBytes = data.length - SEEDED_BYTES;
  if (seedBytes < 0 || seedBytes > MAX_SEED_BYTES || data.readBigUInt64LE(36) !== BigInt(seedBytes)) {
    return unreadable(`account by seed: expected a seed of at most ${MAX_SEED_BYTES} bytes in the form of its kind, got ${data.length} bytes in all`);
  }
  const [payer, account] = accounts;
  if (payer === undefined || account === undefined || accounts.length > 3) {
    return unreadable(`account by seed: expected 2 or 3 accounts, got ${accounts.length}`);
  }
  const base = addressOf(data.subarray(4, 36));
  // Who pays and is the base too may be named once.
  if ((accounts[2] ?? payer) !== base) return unreadable('account by seed: the base that signs is not the base that is written');
  const rest = 44 + seedBytes;
  return {
    kind: 'open-seeded', payer, account, base,
    seed: data.subarray(44, rest),
    lamports: data.readBigUInt64LE(rest),
    space: data.readBigUInt64LE(rest + 8),
    owner: addressOf(data.subarray(rest + 16, rest + 48)),
  };
}
