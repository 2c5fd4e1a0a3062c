import { beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import { createPolicy } from '../../../src/signer/policy/policy.ts';
import { judgeDamaged } from '../../campaign/damage-law.ts';
import { integer, mutate, pick, randomBytes } from '../random-transaction.ts';
import { collectGoldens, type Golden } from './goldens.ts';
import { withV1 } from './v1-goldens.ts';

/** The long form is a campaign: `npm run campaign:reader`. */
const COUNT = 20_000;

let goldens: readonly Golden[];
beforeAll(async () => {
  goldens = withV1(await collectGoldens({ count: 44, seed: 3 }), { every: 1 });
}, 300_000);

describe('the policy on damaged bytes', () => {
  test('denies them, or reads a transaction that is written identically', () => {
    const policy = createPolicy();
    const random = seededRandom('damaged');
    const counts = { unread: 0, denied: 0, allowed: 0 };
    for (let round = 0; round < COUNT; round++) {
      const golden = pick(random, goldens);
      let bytes: Uint8Array = round % 5 === 0 ? randomBytes(random, integer(random, 0, 1_300)) : golden.bytes;
      for (let damages = round % 5; damages > 0; damages--) bytes = bytes.length === 0 ? bytes : mutate(random, bytes);
      counts[judgeDamaged(policy, golden, bytes)] += 1;
    }
    expect(counts.unread).toBeGreaterThan(COUNT / 3);
    expect(counts.denied).toBeGreaterThan(COUNT / 20);
  });
});
