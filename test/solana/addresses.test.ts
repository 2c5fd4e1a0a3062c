import { PublicKey } from '@solana/web3.js';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  associatedTokenAddress, seededAddress, TOKEN_2022_PROGRAM, TOKEN_PROGRAM,
} from '../../src/sandbox/chain/addresses.ts';
import { createAddresses } from '../../src/solana/addresses.ts';
import { ASSOCIATED_TOKEN_PROGRAM } from '../../src/solana/constants.ts';
import { isOnCurve } from '../../src/solana/curve.ts';

const key = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe('isOnCurve', () => {
  test('agrees with the reference library for any 32 bytes', () => {
    fc.assert(
      fc.property(key, (bytes) => { expect(isOnCurve(bytes)).toBe(PublicKey.isOnCurve(bytes)); }), { numRuns: 3_000 },
    );
  });

  test('accepts the base point of Ed25519, and agrees on its neighbour', () => {
    const base = Buffer.from('5866666666666666666666666666666666666666666666666666666666666666', 'hex');
    expect(isOnCurve(base)).toBe(true);
    expect(isOnCurve(Uint8Array.from(base).fill(2, 0, 1)))
      .toBe(PublicKey.isOnCurve(Uint8Array.from(base).fill(2, 0, 1)));
  });
});

describe('addresses', () => {
  test('are derived as the reference library and the chain derive them, the first time and from the cache', () => {
    const addresses = createAddresses(8);
    fc.assert(fc.property(key, key, fc.constantFrom(TOKEN_PROGRAM, TOKEN_2022_PROGRAM), fc.string({ maxLength: 8 }),
      (owner, mint, program, seed) => {
        const [ownerText, mintText] = [addresses.addressOf(owner), addresses.addressOf(mint)];
        expect(ownerText).toBe(new PublicKey(owner).toBase58());
        const [expected] = PublicKey.findProgramAddressSync(
          [owner, new PublicKey(program).toBytes(), mint], new PublicKey(ASSOCIATED_TOKEN_PROGRAM),
        );
        for (let i = 0; i < 2; i++) {
          expect(addresses.associated(ownerText, mintText, program)).toBe(expected.toBase58());
          expect(associatedTokenAddress(ownerText, mintText, program)).toBe(expected.toBase58());
        }
        expect(addresses.seeded(ownerText, Buffer.from(seed), program)).toBe(seededAddress(ownerText, seed, program));
      }), { numRuns: 200 });
  });

  test('are not derived from invalid addresses', () => {
    const addresses = createAddresses();
    expect(addresses.associated('', 'nothing', TOKEN_PROGRAM)).toBeUndefined();
    expect(addresses.associated('1'.repeat(2_000), TOKEN_PROGRAM, TOKEN_PROGRAM)).toBeUndefined();
    expect(addresses.seeded(TOKEN_PROGRAM, Buffer.alloc(33), TOKEN_PROGRAM)).toBeUndefined();
  });
});
