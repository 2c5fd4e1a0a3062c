import { readTransaction, writeMessage } from '../../src/solana/transaction.ts';
import type { Policy } from '../../src/signer/policy/policy.ts';
import type { Golden } from '../signer/policy/goldens.ts';

/** What became of damaged bytes: they could not be read, were denied for what they say, or say nothing that harms. */
export type Reading = 'unread' | 'denied' | 'allowed';

const READING_CODES: readonly (string | undefined)[] =
  ['SIZE_EXCEEDED', 'VERSION_UNKNOWN', 'BYTES_NOT_CANONICAL', 'ACCOUNT_DUPLICATE', 'TABLE_UNREAD'];

/**
 * Returns what the policy makes of bytes that began as a golden's. Throws where that is against the law of damage: it
 * never crashes, what it cannot read it says so of, what it has read writes itself the same again, and what it lets
 * through does no harm.
 */
export function judgeDamaged(policy: Policy, golden: Golden, bytes: Uint8Array): Reading {
  const { verdict, code, summary } = policy.judge(bytes, golden.expectation, { tables: golden.tables });
  if (summary === undefined) {
    if (verdict !== 'deny' || !READING_CODES.includes(code))
      throw new Error(`unread, and ${verdict} because of ${code}`);
    return 'unread';
  }
  const read = readTransaction(bytes);
  if (Buffer.compare(writeMessage(read), read.message) !== 0) throw new Error('read otherwise than written');
  if (verdict === 'allow') expectHarmless(golden, bytes);
  return verdict === 'deny' ? 'denied' : 'allowed';
}

/**
 * What damage may change without anybody's harm: signatures, the blockhash, roles and pools the chain itself checks, a
 * lower price.
 */
function expectHarmless(golden: Golden, bytes: Uint8Array): void {
  const [before, after] = [golden.bytes, bytes].map((each) => readTransaction(each));
  if (Buffer.compare(after!.accountKeys[0]!, before!.accountKeys[0]!) !== 0) throw new Error('another pays');
  if (after!.instructions.length !== before!.instructions.length) throw new Error('another number of instructions');
}
