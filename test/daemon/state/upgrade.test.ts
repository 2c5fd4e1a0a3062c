import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../../src/core/code-files.ts';
import { stringifyJson } from '../../../src/core/json.ts';
import { takeOverState } from '../../../src/daemon/state/take-over.ts';
import { restoreBackup } from '../../../src/daemon/state/restore.ts';
import type { StatePlaces } from '../../../src/daemon/state/state-files.ts';
import { formatOf, refuseNewerState, STATE_DATABASES, stateInfo } from '../../../src/daemon/state/state-files.ts';
import { USDC_MINT } from '../../../src/market/token.ts';
import { seededKey } from '../../../src/sandbox/genesis.ts';
import { openSpendingCaps } from '../../../src/signer/counters/caps.ts';
import { openCounters } from '../../../src/signer/counters/spend-counters.ts';
import { parseSecretKey } from '../../../src/signer/key.ts';
import { openExecutedOrders } from '../../../src/store/executed-orders.ts';
import { openJournal } from '../../../src/store/journal.ts';
import { JOURNAL_FORMAT } from '../../../src/store/journal-schema.ts';
import { openHistory } from '../../../src/store/history.ts';
import { openJournalReader, readProfitRecords } from '../../../src/store/journal-reader.ts';
import { openSwapPacker } from '../../../src/store/packed-swaps.ts';
import { openTrialLog } from '../../../src/store/trial-log.ts';
import { PROJECT } from '../../e2e/gannet.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { intentOf, wallClock } from '../../store/sample-intents.ts';

const EARLIER = join(PROJECT, 'test', 'fixtures', 'earlier-state', 'state');
const quiet = { clock: wallClock, log: () => undefined };

function earlierState(): StatePlaces {
  const stateDir = join(temporaryFolder(), 'state');
  cpSync(EARLIER, stateDir, { recursive: true });
  return { stateDir, countersDir: join(stateDir, 'signer') };
}

/** A state with every kind of file. */
function fullState(): StatePlaces {
  const stateDir = temporaryFolder();
  const countersDir = join(stateDir, 'signer');
  for (const file of ['journal.sqlite', 'journal-paper.sqlite'])
    openJournal({ path: join(stateDir, file), clock: wallClock }).close();
  openExecutedOrders({ path: join(stateDir, 'executed-orders.sqlite'), clock: wallClock }).close();
  for (const file of ['history.sqlite', 'history-paper.sqlite']) {
    const history = openHistory({ path: join(stateDir, file), onFault: (message) => { throw new Error(message); } });
    history.add({ at: 1, equity: [], prices: [], funding: [] });
    history.close();
  }
  openTrialLog(join(stateDir, 'trials.sqlite')).close();
  openCounters(countersDir).close();
  return { stateDir, countersDir };
}

/** What the earlier code wrote, read without code of the project. */
function swapsWrittenEarlier(path: string): readonly SwapFacts[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare(`SELECT intent_id, state, (SELECT outcome FROM transitions
      WHERE transitions.intent_id = intents.intent_id ORDER BY number DESC LIMIT 1) AS outcome,
    (SELECT signature FROM attempts WHERE attempts.intent_id = intents.intent_id ORDER BY number DESC LIMIT 1) AS signed
    FROM intents ORDER BY number`).all();
  database.close();
  return rows.map(({ intent_id: id, state, outcome, signed }) => {
    const { fill } = JSON.parse(String(outcome)) as { readonly fill?: Readonly<Record<string, string>> };
    return [
      String(id), String(state), String(signed), fill?.['amountOut'] ?? null, fill?.['feeLamports'] ?? null,
    ];
  });
}

type SwapFacts = readonly [
  id: string, state: string, signature: string, amountOut: string | null, feeLamports: string | null,
];

function swapsToday(path: string, ids: readonly string[]): readonly SwapFacts[] {
  const journal = openJournalReader(path)!;
  const swaps = ids.map((id): SwapFacts => {
    const { state, transitions, attempts, amount_out: out, fee_lamports: fee } = journal.show(id)!;
    return [id, state, String(transitions.at(-1)?.signature ?? attempts.at(-1)?.signature), out, fee];
  });
  journal.close();
  return swaps;
}

/** Everything that a reader of a SQLite file can see in it. */
function contentOf(path: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true });
  const all = (sql: string): readonly Readonly<Record<string, unknown>>[] => database.prepare(sql).all();
  const schema = all('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name');
  const tables = schema.filter(({ type }) => type === 'table').map(({ name }) => String(name));
  const content = {
    schema, version: all('PRAGMA user_version'), application: all('PRAGMA application_id'),
    rows: tables.map((table) => [table, all(`SELECT * FROM ${table}`)]),
  };
  database.close();
  return content;
}

const EARLIER_DATABASES = ['journal.sqlite', 'history.sqlite', 'signer/signer.sqlite'] as const;
/** The wallet of the sandbox on which the earlier code traded, and the end of its last run. */
const WALLET = parseSecretKey(seededKey({ seed: 17, purpose: 'wallet' }).privateKey);
const KILLED_AT = Date.UTC(2026, 10, 24, 1, 47, 2);
const SPENT_USDC = 29_000_000n;
const USDC_CAP = { name: 'USDC', decimals: 6, perDay: 100_000_000n };

/** Returns whether the counters have room for an amount of USDC; it is counted where they do. */
function countUsdc(folder: string, amount: bigint): boolean {
  const caps = openSpendingCaps({
    folder, wallet: WALLET.address, key: WALLET.countersKey, clock: { now: () => KILLED_AT },
  });
  const counted = caps.count({ messageHash: `more-${amount}`, mint: USDC_MINT, amount, costLamports: 0n },
    { input: USDC_CAP, solPerDay: undefined, costPerDay: undefined });
  caps.close();
  return counted.ok;
}

describe('a state directory of an earlier version', () => {
  it('is upgraded with every swap and all counted spending, and goes back to what the earlier code wrote', async () => {
    const places = earlierState();
    const inState = (file: string): string => join(places.stateDir, file);
    const path = inState('journal.sqlite');
    const written = EARLIER_DATABASES.map((file) => contentOf(inState(file)));
    const swaps = swapsWrittenEarlier(path);
    expect(swaps).toHaveLength(12);
    const ids = swaps.map(([id]) => id);
    const profit = readProfitRecords(path);
    expect(formatOf(path).format).toBe(7);

    const [notice] = await takeOverState({ ...places, ...quiet });
    const backups = join(places.stateDir, 'backups');
    const [folder] = readdirSync(backups).map((name) => join(backups, name));
    expect(notice).toContain(`gannet state restore ${folder}`);
    const journal = openJournal({ path, clock: wallClock });
    const before = journal.standing().position.rows;
    expect(journal.openIntents().map(({ intent: { id }, state }) => `${id} ${state}`))
      .toEqual(['dca-pearl-5 submitted']);
    expect(swapsToday(path, ids)).toEqual(swaps);
    const packer = openSwapPacker(path, { keptWhole: 0 })!;
    expect(packer.step(9e15)).toBe(10);
    packer.close();
    expect(swapsToday(path, ids)).toEqual(swaps);
    expect(readProfitRecords(path)).toEqual(profit);
    journal.intentApproved(intentOf(100));
    journal.close();
    expect(formatOf(path).format).toBe(JOURNAL_FORMAT.version);
    expect(countUsdc(places.countersDir, USDC_CAP.perDay - SPENT_USDC + 1n)).toBe(false);
    expect(countUsdc(places.countersDir, USDC_CAP.perDay - SPENT_USDC)).toBe(true);

    await restoreBackup(places, folder!, quiet);
    expect(EARLIER_DATABASES.map((file) => contentOf(inState(file)))).toEqual(written);
    for (const name of readdirSync(EARLIER, { recursive: true, encoding: 'utf8' })) {
      if (/\.sqlite|^signer/.test(name) || !statSync(join(EARLIER, name)).isFile()) continue;
      expect(readFileSync(inState(name)), name).toEqual(readFileSync(join(EARLIER, name)));
    }
    // In the form of the earlier code; it says that the journal went on.
    const head = (root: string): object =>
      JSON.parse(readFileSync(join(root, 'journal.sqlite.head'), 'utf8')) as object;
    expect(head(places.stateDir)).toEqual({ ...head(EARLIER), rows: before + 1 });
    expect(existsSync(inState('version.json'))).toBe(false);
  });

  it('keeps three backups of upgrades, and makes none without a migration', async () => {
    const places = earlierState();
    const backups = (): readonly string[] => readdirSync(join(places.stateDir, 'backups'));
    for (let time = 0; time < 5; time++) {
      expect(await takeOverState({ ...places, ...quiet })).toHaveLength(1);
    }
    expect(backups()).toHaveLength(3);
    openJournal({ path: join(places.stateDir, 'journal.sqlite'), clock: wallClock }).close();
    expect(await takeOverState({ ...places, ...quiet })).toEqual([]);
    expect(backups()).toHaveLength(3);
  });
});

describe('a state directory', () => {
  it('names the version that wrote it, and shows the format of each file', async () => {
    const places = fullState();
    await takeOverState({ ...places, ...quiet });
    expect(JSON.parse(readFileSync(join(places.stateDir, 'version.json'), 'utf8')))
      .toEqual({ format_version: 1, gannet_version: VERSION, readable_since: '0.2.0' });
    expect(stateInfo(places).map(({ file, format, readable, fault }) => [file, format, fault, readable === format]))
      .toEqual(STATE_DATABASES.map(({ file, format }) => [file, format, null, true]));
    expect(JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'))).toMatchObject({ version: VERSION });
  });

  it.each(STATE_DATABASES.map(({ file, role }) => [file, role] as const))(
    'of a newer version is refused by its %s, and nothing is written', async (file, role) => {
      const places = fullState();
      const path = join(role === 'counters' ? places.countersDir : places.stateDir, file);
      const database = new DatabaseSync(path);
      database.exec('PRAGMA user_version = 99');
      database.close();
      const contents = (): readonly (readonly [string, Buffer])[] => readdirSync(places.stateDir)
        .filter((name) => /\.(?:sqlite|json)$/.test(name))
        .map((name) => [name, readFileSync(join(places.stateDir, name))]);
      const before = contents();
      await expect(takeOverState({ ...places, ...quiet })).rejects.toMatchObject({
        code: 'STATE_NEWER', message: expect.stringMatching(/format 99.*nothing was written; install.*state restore/),
      });
      expect(contents()).toEqual(before);
      expect(formatOf(path).format).toBe(99);
    },
  );

  it.each([
    ['a newer release that older ones cannot follow', { format_version: 1, readable_since: '0.10.0' }, true],
    ['a newer form of the file itself', { format_version: 2, readable_since: '0.1.0' }, true],
    ['a newer release that this one can follow', { format_version: 1, readable_since: '0.2.0' }, false],
  ])('of %s is told by version.json', (_what, said, isRefused) => {
    const places = fullState();
    writeFileSync(join(places.stateDir, 'version.json'), stringifyJson({ ...said, gannet_version: '0.11.0' }));
    const check = (): void => { refuseNewerState(places); };
    if (isRefused) expect(check).toThrow(/was written by Gannet 0\.11\.0: nothing was written; install Gannet 0\.1/);
    else expect(check).not.toThrow();
  });
});
