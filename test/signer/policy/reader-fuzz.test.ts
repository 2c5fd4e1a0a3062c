import { beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import { writeMessage } from '../../../src/signer/message-writer.ts';
import { createPolicy } from '../../../src/signer/policy/policy.ts';
import { readTransaction } from '../../../src/signer/transaction-reader.ts';
import { integer, mutate, pick, randomBytes } from '../random-transaction.ts';
import { collectGoldens, type Golden } from './goldens.ts';

/** More in the long form: GANNET_FUZZED_READS=5000000. */
const COUNT = Number(process.env['GANNET_FUZZED_READS'] ?? 20_000);
const READING_CODES: readonly (string | undefined)[] = ['SIZE_EXCEEDED', 'VERSION_UNKNOWN', 'BYTES_NOT_CANONICAL', 'ACCOUNT_DUPLICATE', 'TABLE_UNREAD'];

let goldens: readonly Golden[];
beforeAll(async () => {
  goldens = await collectGoldens({ count: 44, seed: 3 });
}, 300_000);

describe('of damaged bytes the policy', () => {
  test('never crashes: it denies, or has read what writes itself the same again', () => {
    const policy = createPolicy();
    const random = seededRandom('damaged');
    const counts = { unread: 0, denied: 0, allowed: 0 };
    for (let round = 0; round < COUNT; round++) {
      const golden = pick(random, goldens);
      let bytes: Uint8Array = round % 5 === 0 ? randomBytes(random, integer(random, 0, 1_300)) : golden.bytes;
      for (let damages = round % 5; damages > 0; damages--) bytes = bytes.length === 0 ? bytes : mutate(random, bytes);
      const { verdict, code, summary } = policy.judge(bytes, golden.expectation, { tables: golden.tables });
      if (summary === undefined) {
        counts.unread += 1;
        if (!READING_CODES.includes(code)) throw new Error(`round ${round}: unread because of ${code}`);
        continue;
      }
      const read = readTransaction(bytes);
      if (Buffer.compare(writeMessage(read), read.message) !== 0) throw new Error(`round ${round}: read otherwise than written`);
      counts[verdict === 'deny' ? 'denied' : 'allowed'] += 1;
      if (verdict === 'allow') expectHarmless(golden, bytes);
    }
    expect(counts.unread).toBeGreaterThan(COUNT / 3);
    expect(counts.denied).toBeGreaterThan(COUNT / 20);
  });
});

/** What damage may change without anybody's harm: signatures, the blockhash, roles and pools the chain itself checks, a lower price. */
function expectHarmless(golden: Golden, bytes: Uint8Array): void {
  const [before, after] = [golden.bytes, bytes].map((each) => readTransaction(each));
  if (Buffer.compare(after!.accountKeys[0]!, before!.accountKeys[0]!) !== 0) throw new Error('another pays');
  if (after!.instructions.length !== before!.instructions.length) throw new Error('another number of instructions');
}
