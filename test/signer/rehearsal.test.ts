import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CapsInForce } from '../../src/signer/counters/caps.ts';
import { openSpendingCaps } from '../../src/signer/counters/caps.ts';
import { USDC_MINT } from '../../src/solana/constants.ts';
import { COUNTERS_KEY, begun } from './session.ts';

const WALLET = 'GkzVNbEgbY9bsrfF6D8nwyLtyL4r9xk8hXnqHpFvL3aK';
const CAPS: CapsInForce = {
  input: { name: 'USDC', decimals: 6, perDay: 100n }, solPerDay: undefined, costPerDay: undefined,
};
const clock = { now: () => 1_900_000_000_000 };

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'gannet-judge-'));
  onTestFinished(() => { rmSync(made, { recursive: true, force: true }); });
  return made;
}

function open(place: string, onlyReads = false): ReturnType<typeof openSpendingCaps> {
  return openSpendingCaps({ folder: place, wallet: WALLET, key: COUNTERS_KEY, clock, onlyReads });
}

function spend(amount: bigint, messageHash: string): Parameters<ReturnType<typeof open>['count']>[0] {
  return { messageHash, mint: USDC_MINT, amount, costLamports: 0n };
}

const contents = (place: string): Readonly<Record<string, string>> =>
  Object.fromEntries(readdirSync(place).map((name) => [name, readFileSync(join(place, name)).toString('hex')]));

describe('counters that are only read', () => {
  it('leave room for what counting would, and change no file', () => {
    const place = folder();
    const counting = begun(open(place));
    expect(counting.count(spend(70n, 'aa'), CAPS).ok).toBe(true);
    counting.close();
    const before = contents(place);
    const reading = open(place, true);
    expect(reading.check(spend(30n, 'bb'), CAPS).ok).toBe(true);
    expect(reading.check(spend(31n, 'cc'), CAPS)).toMatchObject({ ok: false, code: 'CAP_EXCEEDED_DAY' });
    // Nothing was counted, so that the same room is there again.
    expect(reading.check(spend(30n, 'dd'), CAPS).ok).toBe(true);
    expect(reading.count(spend(1n, 'ee'), CAPS)).toMatchObject({ ok: false, code: 'COUNTERS_UNWRITABLE' });
    expect(reading.signedSince(0)).toBe(1);
    reading.close();
    expect(contents(place)).toEqual(before);
  });

  it('see the rows of a signer that has them open', () => {
    const place = folder();
    const counting = begun(open(place));
    const reading = open(place, true);
    expect(counting.count(spend(90n, 'aa'), CAPS).ok).toBe(true);
    expect(reading.check(spend(11n, 'bb'), CAPS)).toMatchObject({ ok: false, code: 'CAP_EXCEEDED_DAY' });
    reading.close();
    counting.close();
  });

  it('begin none where there are none, and count the wallet’s own history as a start does', () => {
    const place = folder();
    const fresh = open(place, true);
    expect(fresh.check(spend(1n, 'aa'), CAPS)).toMatchObject({ ok: false, code: 'COUNTERS_UNPROVEN' });
    fresh.prove(0);
    expect(fresh.check(spend(1n, 'aa'), CAPS).ok).toBe(true);
    const used = open(place, true);
    used.prove(3);
    expect(used.check(spend(1n, 'aa'), CAPS)).toMatchObject({ ok: false, code: 'CAP_EXCEEDED_DAY' });
    expect(readdirSync(place)).toEqual([]);
    for (const caps of [fresh, used]) caps.close();
  });
});
