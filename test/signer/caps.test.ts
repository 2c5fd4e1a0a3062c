import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openSpendingCaps, type Cap } from '../../src/signer/counters/caps.ts';
import { COUNTERS_FILE } from '../../src/signer/counters/spend-counters.ts';
import { NATIVE_MINT } from '../../src/solana/constants.ts';
import { begun, COUNTERS_KEY } from './session.ts';

const WALLET = 'SysvarC1ock11111111111111111111111111111111';
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let stateDir: string;
let now: number;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'caps-'));
  now = 1_700_000_000_000;
});
afterEach(() => { rmSync(stateDir, { recursive: true }); });

function path(): string {
  return join(stateDir, COUNTERS_FILE);
}

type SpendingCaps = ReturnType<typeof openSpendingCaps>;

function open(wallet = WALLET): SpendingCaps {
  const caps = begun(openSpendingCaps({ folder: stateDir, key: COUNTERS_KEY, wallet, clock: { now: () => now } }));
  onTestFinished(() => { try { caps.close(); } catch { /* closed by the test itself */ } });
  return caps;
}

let hashes = 0;
const LIMITS: Cap = { name: 'USDC', decimals: 6, perTrade: 100n, perHour: 150n, perDay: 200n };

function spend(caps: SpendingCaps, amount: bigint, options: {
  mint?: string; cap?: Cap | undefined; hash?: string; costs?: bigint; solPerDay?: bigint; costPerDay?: bigint;
} = {}): string {
  const { mint = USDC, hash = `hash ${hashes++}`, costs = 0n, solPerDay, costPerDay } = options;
  const counted = caps.count({ messageHash: hash, mint, amount, costLamports: costs }, {
    input: 'cap' in options ? options.cap : LIMITS, solPerDay, costPerDay,
  });
  return counted.ok ? 'ok' : counted.code;
}

describe('spending caps', () => {
  test('limit a trade, an hour and a day, each with its code and to the unit', () => {
    const caps = open();
    expect(spend(caps, 101n)).toBe('CAP_EXCEEDED_TRADE');
    expect(spend(caps, 100n)).toBe('ok');
    expect(spend(caps, 51n)).toBe('CAP_EXCEEDED_HOUR');
    expect(spend(caps, 50n)).toBe('ok');
    expect(spend(caps, 1n)).toBe('CAP_EXCEEDED_HOUR');
    now += HOUR;
    expect(spend(caps, 51n)).toBe('CAP_EXCEEDED_DAY');
    expect(spend(caps, 50n)).toBe('ok');
    expect(spend(caps, 1n)).toBe('CAP_EXCEEDED_DAY');
  });

  test('issue 13.14: report the room in a cap of the hour or the day, and when more is free', () => {
    const caps = open();
    const begin = now;
    const ask = (amount: bigint, mint = USDC, costLamports = 0n): unknown => {
      const counted = caps.count({ messageHash: `hash ${hashes++}`, mint, amount, costLamports }, {
        input: mint === USDC ? LIMITS : { ...LIMITS, perHour: undefined }, solPerDay: 200n, costPerDay: undefined,
      });
      return counted.ok ? 'ok' : counted.room;
    };
    expect([ask(100n), ask(101n)]).toEqual(['ok', undefined]);
    now += 60_000;
    expect([ask(30n), ask(80n)]).toEqual(['ok', { span: 'hour', left: 20n, freeAt: begin + HOUR }]);
    now = begin + 2 * HOUR;
    expect(ask(90n)).toEqual({ span: 'day', left: 70n, freeAt: begin + DAY });
    // Of SOL the costs of this swap are taken off: what is left could be spent with the same costs.
    expect([ask(100n, NATIVE_MINT, 10n), ask(95n, NATIVE_MINT, 10n)])
      .toEqual(['ok', { span: 'day', left: 80n, freeAt: now + DAY }]);
  });

  test('issue 13.14: report when room is free again where fees alone use up a cap', () => {
    const caps = open();
    const begin = now;
    const ask = (
      mint: string, amount: bigint, costLamports: bigint, bounds: { solPerDay?: bigint; costPerDay?: bigint },
    ): unknown => {
      const counted = caps.count({ messageHash: `hash ${hashes++}`, mint, amount, costLamports }, {
        input: undefined, solPerDay: bounds.solPerDay, costPerDay: bounds.costPerDay,
      });
      return counted.ok ? 'ok' : counted.room;
    };
    // SOL that entries have spent leaves no fee for the exit of another token.
    expect(ask(NATIVE_MINT, 95n, 1n, { solPerDay: 100n })).toBe('ok');
    now += HOUR;
    expect(ask(USDC, 10n, 5n, { solPerDay: 100n })).toEqual({ span: 'day', left: 0n, freeAt: begin + DAY });
    expect(ask(USDC, 10n, 4n, { solPerDay: 100n })).toBe('ok');
    expect(ask(USDC, 10n, 6n, { costPerDay: 10n })).toEqual({ span: 'day', left: 0n, freeAt: begin + DAY });
  });

  test('report the requested and the allowed amount in whole tokens', () => {
    const counted = open().count({ messageHash: 'x', mint: USDC, amount: 1_500_000n, costLamports: 0n }, {
      input: { name: 'USDC', decimals: 6, perTrade: 1_000_000n }, solPerDay: undefined, costPerDay: undefined,
    });
    expect(counted).toEqual({
      ok: false, code: 'CAP_EXCEEDED_TRADE', message: '1.5 USDC with this one, expected at most 1 USDC a trade',
    });
  });

  test('count the same bytes once, however often they are signed', () => {
    const caps = open();
    for (let i = 0; i < 5; i++) expect(spend(caps, 100n, { hash: 'same' })).toBe('ok');
    expect(spend(caps, 50n)).toBe('ok');
    // Signing them again is free even when nothing is left, but not for more than they were counted for.
    expect(spend(caps, 100n, { hash: 'same' })).toBe('ok');
    expect(spend(caps, 101n, { hash: 'same' })).toBe('TERMS_INVALID');
    expect(spend(caps, 1n, { hash: 'same', mint: NATIVE_MINT })).toBe('TERMS_INVALID');
  });

  test('keep wallets and mints apart', () => {
    const [mine, another] = [open(), open(USDC)];
    expect([spend(mine, 100n), spend(another, 100n), spend(mine, 100n, { mint: WALLET })]).toEqual(['ok', 'ok', 'ok']);
    expect(spend(mine, 100n)).toBe('CAP_EXCEEDED_HOUR');
  });

  test('survive a restart, and slide with time', () => {
    const first = open();
    expect(spend(first, 100n)).toBe('ok');
    now += HOUR / 2;
    expect(spend(first, 50n)).toBe('ok');
    first.close();
    const second = open();
    expect(spend(second, 1n)).toBe('CAP_EXCEEDED_HOUR');
    now += HOUR / 2;
    // The first one has left the hour, the second one has not.
    expect([spend(second, 51n), spend(second, 49n)]).toEqual(['CAP_EXCEEDED_DAY', 'ok']);
  });

  test('free nothing where the clock is set back, and an hour where it jumps forward', () => {
    const caps = open();
    expect(spend(caps, 100n)).toBe('ok');
    now -= 30 * HOUR;
    expect(spend(caps, 51n)).toBe('CAP_EXCEEDED_HOUR');
    expect(spend(caps, 50n)).toBe('ok');
    now += 38 * HOUR;
    expect(spend(caps, 51n)).toBe('ok');
    now -= 8 * HOUR;
    expect(spend(caps, 1n)).toBe('CAP_EXCEEDED_HOUR');
  });

  test('count fees and tips against the day of SOL, and alone where SOL has no cap', () => {
    const caps = open();
    const sol: Cap = { name: 'SOL', decimals: 9, perDay: 100n };
    expect(spend(caps, 60n, { mint: NATIVE_MINT, cap: sol, costs: 5n, solPerDay: 100n })).toBe('ok');
    expect(spend(caps, 10n, { costs: 30n, solPerDay: 100n })).toBe('ok');
    expect(spend(caps, 10n, { costs: 6n, solPerDay: 100n })).toBe('CAP_EXCEEDED_DAY');
    expect(spend(caps, 5n, { mint: NATIVE_MINT, cap: sol, costs: 1n, solPerDay: 100n })).toBe('CAP_EXCEEDED_DAY');
    expect(spend(caps, 5n, { mint: NATIVE_MINT, cap: sol, solPerDay: 100n })).toBe('ok');
    const alone = open(USDC);
    expect([
      spend(alone, 1n, { costs: 7n, costPerDay: 10n }), spend(alone, 1n, { costs: 4n, costPerDay: 10n }),
      spend(alone, 1n, { costs: 3n, costPerDay: 10n }),
    ]).toEqual(['ok', 'CAP_EXCEEDED_DAY', 'ok']);
  });

  test('do not count spending without a limit', () => {
    const caps = open();
    for (let i = 0; i < 3; i++) expect(spend(caps, 10n ** 18n, { cap: undefined })).toBe('ok');
    const rows = new DatabaseSync(join(stateDir, COUNTERS_FILE))
      .prepare(`SELECT count(*) AS rows FROM spends WHERE kind IN ('input', 'cost')`).get();
    expect(rows?.['rows']).toBe(0);
  });

  test('add up amounts beyond the range of a double', () => {
    const huge: Cap = { name: 'BIG', decimals: 0, perHour: 3n * 2n ** 62n };
    const caps = open();
    expect([
      spend(caps, 2n ** 63n, { cap: huge }), spend(caps, 2n ** 62n + 1n, { cap: huge }),
      spend(caps, 2n ** 62n, { cap: huge }), spend(caps, 1n, { cap: huge }),
    ])
      .toEqual(['ok', 'CAP_EXCEEDED_HOUR', 'ok', 'CAP_EXCEEDED_HOUR']);
  });

  test('keep a count that was written before the process died', () => {
    const child = spawnSync(
      process.execPath, [join(import.meta.dirname, 'killed-child.ts'), stateDir, WALLET, '80'], { encoding: 'utf8' },
    );
    expect([child.signal, child.stderr]).toEqual(['SIGKILL', '']);
    now = 1_000_001;
    expect(spend(open(), 121n, { mint: NATIVE_MINT, cap: { name: 'SOL', decimals: 9, perHour: 200n } }))
      .toBe('CAP_EXCEEDED_HOUR');
    expect(spend(open(), 120n, { mint: NATIVE_MINT, cap: { name: 'SOL', decimals: 9, perHour: 200n } })).toBe('ok');
  });

  test('never allow more than the cap in any hour and day, for any clock, restarts and repetitions, in memory as on '
    + 'disk', () => {
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({ kind: fc.constant('spend' as const), amount: fc.bigInt(1n, 120n), again: fc.boolean() }),
      },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('time' as const), by: fc.oneof(
        fc.integer({ min: 0, max: HOUR }), fc.integer({ min: -8 * HOUR, max: 8 * HOUR }),
        fc.integer({ min: 0, max: 2 * DAY }),
      ) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
    );
    fc.assert(fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => {
      const wallet = `wallet ${hashes++}`;
      let caps = begun(openSpendingCaps({ folder: stateDir, key: COUNTERS_KEY, wallet, clock: { now: () => now } }));
      const inMemory = openSpendingCaps({ folder: undefined, key: COUNTERS_KEY, wallet, clock: { now: () => now } });
      const signed: { readonly hash: string; readonly at: number; readonly amount: bigint }[] = [];
      try {
        for (const doing of steps) {
          if (doing.kind === 'time') {
            now += doing.by;
          } else if (doing.kind === 'restart') {
            caps.close();
            caps = begun(openSpendingCaps({ folder: stateDir, key: COUNTERS_KEY, wallet, clock: { now: () => now } }));
          } else {
            const known = doing.again ? signed.at(-1) : undefined;
            const hash = known?.hash ?? `hash ${hashes++}`;
            const amount = known?.amount ?? doing.amount;
            // A second book beside the first: everything at or after the window's begin counts, the future included.
            const within = (span: number): bigint =>
              signed.reduce((sum, entry) => (entry.at > now - span ? sum + entry.amount : sum), 0n);
            const fits = known !== undefined
              || (amount <= 100n && within(HOUR) + amount <= 150n && within(DAY) + amount <= 200n);
            const word = spend(caps, amount, { hash });
            expect([word === 'ok', spend(inMemory, amount, { hash })]).toEqual([fits, word]);
            if (fits && known === undefined) signed.push({ hash, at: now, amount });
          }
        }
      } finally {
        caps.close();
      }
      // By the stamps themselves: no window that ends at a spend holds more than the cap.
      for (const [span, most] of [[HOUR, 150n], [DAY, 200n]] as const) {
        for (const [index, { at }] of signed.entries()) {
          const total = signed.slice(0, index + 1)
            .reduce((sum, entry) => (entry.at > at - span ? sum + entry.amount : sum), 0n);
          expect(total).toBeLessThanOrEqual(most);
        }
      }
    }), { numRuns: 30 });
  });
});

describe('the counters’ file', () => {
  test('is for its owner alone', () => {
    open();
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  test('of a newer format is refused with advice, and left unchanged', () => {
    open().close();
    const database = new DatabaseSync(path());
    database.exec('PRAGMA user_version = 3');
    database.close();
    expect(() => open()).toThrowError(expect.objectContaining({
      code: 'JOURNAL_INVALID', message: expect.stringMatching(/format 3 of a newer Gannet: start that one/) as string,
    }));
  });

  test('is refused where it is another database or none', () => {
    const database = new DatabaseSync(path());
    database.exec('CREATE TABLE mine (x)');
    database.close();
    expect(() => open()).toThrowError(expect.objectContaining(
      { code: 'JOURNAL_INVALID', message: expect.stringContaining('another SQLite database') as string },
    ));
    writeFileSync(
      path(), 'not a database at all, but long enough to be one at a quick check of its size. '.repeat(20),
    );
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'JOURNAL_FAILED' }));
  });

  test('on a full disk refuses every request, and is complete once there is room again', () => {
    // Where a file may not grow, every write beyond fails as it does on a full disk.
    const script = `trap '' XFSZ; ulimit -f 128; exec "$0" "$@"`;
    const child = spawnSync(
      'sh', ['-c', script, process.execPath, join(import.meta.dirname, 'spending-child.ts'), stateDir, WALLET, USDC],
      { encoding: 'utf8' },
    );
    expect(child.stderr).toBe('');
    const { counted, refusal } =
      JSON.parse(child.stdout) as { counted: number; refusal: { code: string; message: string } };
    expect(refusal).toMatchObject({
      code: 'COUNTERS_UNWRITABLE',
      message: expect.stringMatching(/nothing is signed, exits included: make room/) as string,
    });
    expect(counted).toBeGreaterThan(0);
    now = 1_000_000;
    const caps = open();
    const room = (units: number): Cap => ({ name: 'USDC', decimals: 6, perDay: BigInt(counted + units) });
    expect([spend(caps, 2n, { cap: room(1) }), spend(caps, 1n, { cap: room(1) })]).toEqual(['CAP_EXCEEDED_DAY', 'ok']);
  });

  test('that another process locks refuse too, after a short wait', () => {
    const caps = open();
    const other = new DatabaseSync(path());
    other.exec('BEGIN IMMEDIATE');
    expect(spend(caps, 1n)).toBe('COUNTERS_UNWRITABLE');
    other.exec('ROLLBACK');
    other.close();
    expect(spend(caps, 1n)).toBe('ok');
  });
});
