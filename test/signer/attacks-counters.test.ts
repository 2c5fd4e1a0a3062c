import {
  chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openSpendingCaps } from '../../src/signer/counters/caps.ts';
import { COUNTERS_FILE } from '../../src/signer/counters/spend-counters.ts';
import { USDC, WALLET } from './attack-swap.ts';
import { begun, COUNTERS_KEY } from './session.ts';

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

function open(options: { readonly acceptNew?: boolean } = {}): SpendingCaps {
  const caps = openSpendingCaps({
    folder: stateDir, key: COUNTERS_KEY, wallet: WALLET, clock: { now: () => now }, ...options,
  });
  onTestFinished(() => { try { caps.close(); } catch { /* closed by the test itself */ } });
  return begun(caps);
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
  test.each([
    ['lowers', 'UPDATE spends SET amount_low = 0'],
    ['moves out of the window', 'UPDATE spends SET at = at - 200000000'],
    ['changes in part', `UPDATE spends SET mint = 'x' WHERE message_hash = 'mine'`],
    ['deletes', 'DELETE FROM spends'], ['deletes at the end', 'DELETE FROM spends WHERE number >= 4'],
    ['deletes in the middle', 'DELETE FROM spends WHERE number = 2'],
    ['deletes at the beginning', 'DELETE FROM spends WHERE number = 1'],
    ['moves', 'UPDATE spends SET number = 99 WHERE number = 2'],
    ['adds', `INSERT INTO spends (wallet, message_hash, mint, kind, amount_high, amount_low, at, tag)
      VALUES ('${WALLET}', 'x', '${USDC}', 'input', 0, 5, 1, zeroblob(32))`],
    ['copies', `INSERT INTO spends (wallet, message_hash, mint, kind, amount_high, amount_low, at, tag)
      SELECT wallet, 'x', mint, kind, amount_high, amount_low, at, tag FROM spends WHERE message_hash = 'mine'`],
    ['declares as forgotten', `INSERT INTO anchors SELECT wallet, tag, tag FROM spends WHERE number = 2;
      DELETE FROM spends WHERE number <= 2`],
  ])('issue 15: refuse every signature after another program %s rows, also after a restart', (_how, sql) => {
    const caps = open();
    expect([spend(caps, 60n, 'mine'), spend(caps, 30n)]).toEqual(['ok', 'ok']);
    tamper(sql);
    expect([spend(caps, 1n), spend(caps, 60n, 'mine')]).toEqual(['COUNTERS_ALTERED', 'COUNTERS_ALTERED']);
    caps.close();
    // Without rows after them, deleted rows are only missing: the caps count as used.
    if (/>= 4$|FROM spends$/.test(sql)) expect(spend(open(), 1n)).toBe('CAP_EXCEEDED_DAY');
    else expect(() => open()).toThrowError(expect.objectContaining({ code: 'COUNTERS_ALTERED' }));
    expect(spend(open({ acceptNew: true }), 1n)).toBe('ok');
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

const path = (): string => join(stateDir, COUNTERS_FILE);

function copyFiles(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const { name } of readdirSync(from, { withFileTypes: true }).filter((entry) => entry.isFile()))
    cpSync(join(from, name), join(to, name));
}

function hourly(): string {
  const counted = open().count({ messageHash: `hash ${hashes++}`, mint: USDC, amount: 1n, costLamports: 0n }, {
    input: { name: 'USDC', decimals: 6, perHour: 100n }, solPerDay: undefined, costPerDay: undefined,
  });
  return counted.ok ? 'ok' : counted.code;
}

/** Spends 60 of 100, does something to the files, and returns the folder that the next signer finds. */
function spentThen(lose: (older: string) => void): void {
  const caps = open();
  expect(spend(caps, 10n)).toBe('ok');
  const older = join(stateDir, 'older');
  // Both files of that moment, with the WAL.
  copyFiles(stateDir, older);
  expect(spend(caps, 50n, 'mine')).toBe('ok');
  caps.close();
  lose(older);
}

/** Counters of which nothing is known yet. */
function unproven(): SpendingCaps {
  const caps = openSpendingCaps({ folder: stateDir, key: COUNTERS_KEY, wallet: WALLET, clock: { now: () => now } });
  onTestFinished(() => { caps.close(); });
  return caps;
}

describe('issue 15: counters that were lost or replaced while no signer ran', () => {
  const LOSSES: readonly (readonly [how: string, lose: (older: string) => void])[] = [
    ['missing', () => { for (const end of ['', '-wal', '-shm']) rmSync(`${path()}${end}`, { force: true }); }],
    ['emptied', () => { writeFileSync(path(), ''); }],
    ['an older copy', (older) => {
      for (const end of ['', '-wal', '-shm']) rmSync(`${path()}${end}`, { force: true });
      for (const end of ['', '-wal']) cpSync(join(older, `${COUNTERS_FILE}${end}`), `${path()}${end}`);
    }],
    ['without their head', () => { rmSync(join(stateDir, `signer.${WALLET}.head`)); }],
    ['with a torn head', () => { writeFileSync(join(stateDir, `signer.${WALLET}.head`), 'gannet'); }],
    ['replaced by those of the earlier format', () => {
      rmSync(path());
      const forged = new DatabaseSync(path());
      forged.exec(EARLIER);
      forged.close();
    }],
  ];

  test.each(LOSSES)('count as fully used until the window has passed: %s', (_how, lose) => {
    spentThen(lose);
    const until = now + DAY;
    for (const at of [now, now + HOUR, now + 20 * HOUR]) {
      now = at;
      const caps = open();
      expect([spend(caps, 1n), spend(caps, 50n, 'mine again'), caps.fullUntil]).toEqual(
        ['CAP_EXCEEDED_DAY', 'CAP_EXCEEDED_DAY', until],
      );
      caps.close();
    }
    now = until;
    const caps = open();
    expect([spend(caps, 100n), spend(caps, 1n)]).toEqual(['ok', 'CAP_EXCEEDED_DAY']);
  });

  test('begin again where an operator accepts that, once', () => {
    spentThen(LOSSES[0]![1]);
    expect(spend(open(), 1n)).toBe('CAP_EXCEEDED_DAY');
    const accepted = open({ acceptNew: true });
    expect([spend(accepted, 100n), accepted.fullUntil]).toEqual(['ok', undefined]);
    accepted.close();
    // The flag frees nothing in whole counters.
    expect(spend(open({ acceptNew: true }), 1n)).toBe('CAP_EXCEEDED_DAY');
  });

  test('tell a cap by the hour apart, which is free after an hour', () => {
    spentThen(LOSSES[0]![1]);
    expect(hourly()).toBe('CAP_EXCEEDED_HOUR');
    now += HOUR;
    expect(hourly()).toBe('ok');
  });
});

/** The counters as the earlier version made them. */
const EARLIER = `
  CREATE TABLE spends (number INTEGER PRIMARY KEY, wallet TEXT NOT NULL, message_hash TEXT NOT NULL, mint TEXT NOT NULL,
    kind TEXT NOT NULL, amount_high INTEGER NOT NULL, amount_low INTEGER NOT NULL, at INTEGER NOT NULL,
    UNIQUE (wallet, message_hash, kind)) STRICT;
  CREATE INDEX spends_old ON spends (at);
  CREATE INDEX spends_recent ON spends (wallet, mint, kind, at, amount_high, amount_low);
  PRAGMA application_id = 1196315463; PRAGMA user_version = 1;`;

describe('issue 15: the first counters of a wallet', () => {
  test('count nothing before the chain has told what the wallet signed in the last day', () => {
    const caps = unproven();
    expect([caps.isUnproven, spend(caps, 1n)]).toEqual([true, 'COUNTERS_UNPROVEN']);
    caps.prove(0);
    expect([caps.isUnproven, spend(caps, 100n), spend(unproven(), 1n)]).toEqual([false, 'ok', 'CAP_EXCEEDED_DAY']);
  });

  test('count as fully used where the wallet signed in the last day', () => {
    const caps = unproven();
    caps.prove(1);
    expect([spend(caps, 1n), spend(unproven(), 1n)]).toEqual(['CAP_EXCEEDED_DAY', 'CAP_EXCEEDED_DAY']);
    now += DAY;
    expect(spend(caps, 1n)).toBe('ok');
  });

  test.each([[2, 'ok'], [3, 'CAP_EXCEEDED_DAY']] as const)(
    'take the rows of the earlier format over once, unless the chain shows more of them: %d signatures',
    (signatures, said) => {
      const earlier = new DatabaseSync(join(stateDir, COUNTERS_FILE));
      earlier.exec(EARLIER);
      for (const [hash, at] of [['a', now - HOUR], ['b', now - 2 * HOUR], ['c', now - 2 * DAY]] as const) earlier.exec(
        `INSERT INTO spends (wallet, message_hash, mint, kind, amount_high, amount_low, at)
        VALUES ('${WALLET}', '${hash}', '${USDC}', 'input', 0, 30, ${at})`,
      );
      earlier.close();
      const caps = unproven();
      expect(spend(caps, 1n)).toBe('COUNTERS_UNPROVEN');
      caps.prove(signatures);
      expect([spend(caps, 40n), spend(caps, 1n), caps.signedSince(0)])
        .toEqual([said, 'CAP_EXCEEDED_DAY', said === 'ok' ? 4 : 3]);
      // Rows that nothing authenticated let no bytes through uncounted.
      expect(spend(caps, 30n, 'a')).toBe('CAP_EXCEEDED_DAY');
    },
  );
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
    expect(() => openSpendingCaps({
      folder: linked, key: COUNTERS_KEY, wallet: WALLET, clock: { now: () => now },
    }))
      .toThrowError(expect.objectContaining({ code: 'JOURNAL_FAILED' }));
  });
});
