import { chmodSync, cpSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openSpendingCaps } from '../../src/signer/caps.ts';
import { COUNTERS_FILE } from '../../src/signer/spend-counters.ts';
import { USDC, WALLET } from './attack-swap.ts';

// What may be done to make the counters forget.

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let stateDir: string;
let now: number;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'attacks-counters-'));
  now = 1_700_000_000_000;
});
afterEach(() => { rmSync(stateDir, { recursive: true, force: true }); });

type SpendingCaps = ReturnType<typeof openSpendingCaps>;

function open(): SpendingCaps {
  const caps = openSpendingCaps({ stateDir, wallet: WALLET, clock: { now: () => now } });
  onTestFinished(() => { caps.close(); });
  return caps;
}

let hashes = 0;

function spend(caps: SpendingCaps, amount: bigint, hash = `hash ${hashes++}`): string {
  const counted = caps.count({ messageHash: hash, mint: USDC, amount, costLamports: 1n }, {
    input: { name: 'USDC', decimals: 6, perDay: 100n }, solPerDay: undefined, costPerDay: 1_000n,
  });
  return counted.ok ? 'ok' : counted.code;
}

function tamper(sql: string): void {
  const database = new DatabaseSync(join(stateDir, COUNTERS_FILE));
  database.exec(sql);
  database.close();
}

describe('the counters of a running signer', () => {
  test('count rows that another process deletes, lowers or moves out of the window, and rows that it adds', () => {
    const caps = open();
    expect([spend(caps, 60n, 'mine'), spend(caps, 30n)]).toEqual(['ok', 'ok']);
    for (const sql of [
      'UPDATE spends SET amount_low = 0', `UPDATE spends SET at = ${now - 2 * DAY}`,
      'UPDATE spends SET amount_low = -9000', 'DELETE FROM spends',
    ]) {
      tamper(sql);
      expect([sql, spend(caps, 11n)]).toEqual([sql, 'CAP_EXCEEDED_DAY']);
      expect(spend(caps, 60n, 'mine')).toBe('ok');
    }
    tamper(`INSERT INTO spends (wallet, message_hash, mint, kind, amount_high, amount_low, at)
      VALUES ('${WALLET}', 'x', '${USDC}', 'input', 0, 5, ${now})`);
    expect([spend(caps, 6n), spend(caps, 5n), spend(caps, 1n)]).toEqual(['CAP_EXCEEDED_DAY', 'ok', 'CAP_EXCEEDED_DAY']);
  });

  test('include those of a second process on the same file', () => {
    const [one, two] = [open(), open()];
    const words = Array.from({ length: 12 }, (_, index) => spend(index % 2 === 0 ? one : two, 10n));
    expect(words.filter((word) => word === 'ok')).toHaveLength(10);
    // The same bytes there are the same bytes here.
    expect([spend(one, 0n, 'both'), spend(two, 0n, 'both'), spend(two, 1n, 'both')])
      .toEqual(['ok', 'ok', 'TERMS_INVALID']);
  });

  test('recognise bytes that were signed days ago', () => {
    const caps = open();
    expect(spend(caps, 100n, 'old')).toBe('ok');
    now += 3 * DAY;
    // To sign them once more takes nothing of today's.
    expect([
      spend(caps, 100n, 'old'), spend(caps, 101n, 'old'), spend(caps, 100n), spend(caps, 1n), spend(caps, 100n, 'old'),
    ]).toEqual(['ok', 'TERMS_INVALID', 'ok', 'CAP_EXCEEDED_DAY', 'ok']);
  });

  test('hold exactly the spending of the last day after more than a day in memory', () => {
    const caps = open();
    const spent: { at: number; amount: bigint }[] = [];
    for (let step = 0; step < 400; step++) {
      now += step % 97 === 96 ? -3 * HOUR : step % 41 === 40 ? 5 * HOUR : 9 * 60_000;
      const amount = BigInt(1 + (step * 7) % 23);
      const held = spent.reduce((sum, { at, amount: before }) => (at > now - DAY ? sum + before : sum), 0n);
      const fits = held + amount <= 100n;
      expect([step, spend(caps, amount)]).toEqual([step, fits ? 'ok' : 'CAP_EXCEEDED_DAY']);
      if (fits) spent.push({ at: now, amount });
    }
    expect(spent.length).toBeGreaterThan(20);
  });
});

describe('issue 13.32: counters whose file disappears under a running signer', () => {
  test.each([
    ['deleted', () => { rmSync(join(stateDir, COUNTERS_FILE)); }],
    ['without their WAL', () => { rmSync(join(stateDir, `${COUNTERS_FILE}-wal`)); }],
    ['replaced by a copy', () => {
      cpSync(join(stateDir, COUNTERS_FILE), join(stateDir, 'copy'));
      renameSync(join(stateDir, 'copy'), join(stateDir, COUNTERS_FILE));
    }],
    ['gone with their folder', () => { rmSync(stateDir, { recursive: true }); }],
  ])('count nothing any more, so that nothing is signed: %s', (_how, lose) => {
    const caps = open();
    const unbounded = (): string => {
      const counted = caps.count({ messageHash: 'free', mint: USDC, amount: 1n, costLamports: 0n }, {
        input: undefined, solPerDay: undefined, costPerDay: undefined,
      });
      return counted.ok ? 'ok' : counted.code;
    };
    expect([spend(caps, 1n), unbounded()]).toEqual(['ok', 'ok']);
    lose();
    expect([spend(caps, 1n), unbounded()]).toEqual(['COUNTERS_LOST', 'COUNTERS_LOST']);
  });
});

describe('counters that another user could change', () => {
  test('are not opened in a folder that all may write to, or behind a link', () => {
    chmodSync(stateDir, 0o777);
    expect(() => open()).toThrowError(
      expect.objectContaining({ code: 'JOURNAL_FAILED', message: expect.stringContaining('chmod o-w') as string }),
    );
    // They are accepted where all may write, but only owners may delete, as in /tmp.
    chmodSync(stateDir, 0o1777);
    expect(spend(open(), 1n)).toBe('ok');
    chmodSync(stateDir, 0o700);
    const linked = mkdtempSync(join(tmpdir(), 'attacks-counters-linked-'));
    onTestFinished(() => { rmSync(linked, { recursive: true }); });
    writeFileSync(join(linked, 'elsewhere'), '');
    symlinkSync(join(linked, 'elsewhere'), join(linked, COUNTERS_FILE));
    expect(() => openSpendingCaps({ stateDir: linked, wallet: WALLET, clock: { now: () => now } }))
      .toThrowError(expect.objectContaining({ code: 'JOURNAL_FAILED' }));
  });
});
