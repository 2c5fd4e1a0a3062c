import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import type { Ended, JsonLine, Playground, Running } from './gannet.ts';
import { configText, createPlayground, daemonOf, document, jsonLines, startSandbox } from './gannet.ts';

let playground: Playground;
let service: SandboxAddresses;

beforeAll(async () => {
  playground = createPlayground();
  service = await startSandbox(playground, 32, '--speed', '0');
});
afterAll(() => playground.close());

const confirmed = (count: number) => (stdout: string): boolean => stdout.split('"state":"confirmed"').length > count;
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

/** The arguments of a run with a key of its own, whose counters are on disk. */
function ownKeyRun(state: string): readonly string[] {
  const config = playground.write('own-key.yaml', `
mode: live
service: { base_url: "${service.base_url}", api_key: "\${GANNET_API_KEY}", plan: pro }
chain: { rpc_url: "${service.rpc_url}" }
wallet: { key_from: env:GANNET_WALLET_KEY, address: ${service.wallet.address} }
tokens: { SOL: So11111111111111111111111111111111111111112, USDC: ${USDC} }
risk: { max_trade: "50 USDC", max_swaps: { per_minute: 60, per_hour: 600, per_day: 600 },
    protections: [{ kind: daily_loss, limit: "50 USDC", action: halt }] }
signer:
  caps: { USDC: { per_trade: "50", per_hour: "1000", per_day: "1000" }, SOL: { per_trade: "1", per_hour: "9",
      per_day: "9" } }
control: { port: 0 }
strategies:
  - { use: dca, budget: "500 USDC", params: { buy: SOL, spend: "5 USDC", every: 1s, watch: 1s } }
`);
  return ['run', '--live', '--json', '--config', config, '--state-dir', state];
}

const withKey = (args: readonly string[]): Running => playground.start(args, {
  environment: { GANNET_API_KEY: 'a-key-of-my-own', GANNET_WALLET_KEY: service.wallet.private_key },
});

/** Expects a run that told a critical alert, signed nothing after it, and ended with the reason. */
function expectStopped(ended: Ended, what: RegExp): void {
  const lines = jsonLines(ended.stdout);
  const told = lines.findIndex(({ type, level }) => type === 'alert' && level === 'critical');
  expect(lines[told], ended.stdout + ended.stderr).toMatchObject({ message: expect.stringMatching(what) });
  expect(lines.slice(told).filter(({ state }) => state === 'signed')).toEqual([]);
  expect([ended.code, lines.at(-1)!['error']])
    .toEqual([1, expect.objectContaining({ code: 'STATE_LOST', message: expect.stringMatching(what) })]);
}

const errorOf = (ended: Ended): JsonLine => document(ended)['error'] as JsonLine;

describe('issue 13.32: a state directory that vanishes during a run', () => {
  it('ends the run before the next signature, with an alert and the reason', async () => {
    const config = playground.write(
      'gannet.yaml', configText('gannet.yaml', [['every: 10s, route: order', 'every: 1s, route: order']]),
    );
    const runs = [
      {
        name: 'all', lose: (state: string) => { rmSync(state, { recursive: true }); },
        what: /the (?:control file|journal) \(.*\) was deleted, moved away or unmounted/,
      },
      {
        name: 'wal', lose: (state: string) => { rmSync(join(state, 'journal.sqlite-wal')); },
        what: /the WAL of the journal \(.*\) was deleted/,
      },
    ].map(async ({ name, lose, what }) => {
      const state = playground.path(name);
      const running = playground.start(['run', '--json', '--config', config, '--state-dir', state]);
      await running.until(confirmed(1));
      lose(state);
      expectStopped(await running.ended, what);
    });
    await Promise.all(runs);
  }, 60_000);
});

describe('issue 13.33: a state directory that lost files while no daemon ran', () => {
  it('is refused with the missing files and instructions, and works once restored or accepted', async () => {
    const state = playground.path('own');
    const args = ownKeyRun(state);
    const first = withKey(args);
    await first.until(confirmed(2));
    process.kill(await daemonOf(first), 'SIGKILL');
    await first.ended;

    // The WAL that the kill left behind.
    const wal = join(state, 'journal.sqlite-wal');
    renameSync(wal, `${wal}.away`);
    const walLess = await withKey(args).ended;
    expect([walLess.code, errorOf(walLess)]).toEqual([2, expect.objectContaining({
      code: 'JOURNAL_LOST', message: expect.stringMatching(
        /journal\.sqlite lacks its last entries: .* its WAL .* was deleted.*gannet state backup.*--accept-new-journal/,
      ),
    })]);
    renameSync(`${wal}.away`, wal);

    // Whole again, until the counters go while it trades.
    const second = withKey(args);
    await second.until(confirmed(1));
    rmSync(join(state, 'signer', 'signer.sqlite'));
    expectStopped(await second.ended, /the file of the signer’s counters \(.*\) was deleted/);

    // And while it does not.
    const counterLess = await withKey(args).ended;
    expect([counterLess.code, errorOf(counterLess)]).toEqual([2, expect.objectContaining({
      code: 'COUNTERS_LOST', message: expect.stringMatching(/they hold 0 of the last day, the journal [1-9]/),
    })]);

    rmSync(join(state, 'journal.sqlite'));
    rmSync(join(state, 'journal.sqlite.head'));
    const journalLess = await withKey(args).ended;
    expect([journalLess.code, errorOf(journalLess)])
      .toEqual([2, expect.objectContaining({ code: 'JOURNAL_LOST', message: expect.stringMatching(
        /is missing or empty, but this is not the first start: .*runs holds the live run 2/,
      ) })]);

    // Of the whole directory nothing is left: the wallet's own transactions tell.
    rmSync(state, { recursive: true });
    const nothingLeft = await withKey(args).ended;
    expect([nothingLeft.code, errorOf(nothingLeft)]).toEqual([2, expect.objectContaining({
      code: 'JOURNAL_LOST',
      message: expect.stringMatching(/the wallet \w+ made swaps, the last one in the transaction \w{80,90}/),
    })]);
    expect(readdirSync(state).filter((file) => file === 'runs' || file === 'recordings')).toEqual([]);

    // The journal is accepted, the counters are not: their caps count as used.
    const capped = withKey([...args, '--accept-new-journal']);
    await capped.until((stdout) => stdout.includes('CAP_EXCEEDED_DAY'));
    capped.signal('SIGTERM');
    expect((await capped.ended).stdout).not.toContain('"state":"confirmed"');
    expect(capped.lines().filter(({ state: word }) => word === 'notice').map(({ message }) => message))
      .toEqual([
        expect.stringContaining('--accept-new-journal'),
        expect.stringMatching(/every cap counts as used until .*--accept-new-counters/),
      ]);
    expect(capped.lines().filter(({ type }) => type === 'alert')).toContainEqual(expect.objectContaining({
      level: 'warning', message: expect.stringMatching(/^the order "accept-new-journal" by "gannet run .*made swaps/),
    }));

    const accepted = withKey([...args, '--accept-new-journal', '--accept-new-counters']);
    await accepted.until(confirmed(1));
    accepted.signal('SIGTERM');
    const ended = await accepted.ended;
    expect(ended.code, ended.stderr).toBe(0);
    expect(accepted.lines().filter(({ type }) => type === 'alert')).toContainEqual(expect.objectContaining({
      level: 'warning', message: expect.stringMatching(/^the order "accept-new-counters" by "gannet run .*at nothing/),
    }));
    expect(jsonLines(readFileSync(join(state, 'orders.ndjson'), 'utf8')).map(({ action }) => action))
      .toEqual(['accept-new-journal', 'run', 'accept-new-counters', 'run']);
  }, 120_000);
});

/** Returns the wallet's transactions on the chain, by signature. */
async function transactionsOfWallet(): Promise<readonly string[]> {
  const answer = await fetch(service.rpc_url, {
    method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0', id: 1, method: 'getSignaturesForAddress',
      params: [service.wallet.address, { limit: 1_000, commitment: 'confirmed' }],
    }),
  });
  const { result } = await answer.json() as { readonly result: readonly { readonly signature: string }[] };
  return result.map(({ signature }) => signature);
}

const signaturesOf = (running: Running): string[] => running.lines()
  .flatMap(({ type, state, signature }) =>
    (type === 'intent' && state === 'confirmed' && typeof signature === 'string' ? [signature] : []));
const walletAlerts = (running: Running): readonly unknown[] => running.lines()
  .filter(({ type, message }) => type === 'alert' && /came into the wallet|left the wallet/.test(String(message)));

describe('issue 19.4: a backup taken while trading', () => {
  it('restores to a daemon that reconciles with the chain and makes nothing twice', async () => {
    const state = playground.path('restored');
    const copy = playground.path('backup');
    const args = ownKeyRun(state);
    const accepted = [...args, '--accept-new-journal', '--accept-new-counters'];
    const earlier = new Set(await transactionsOfWallet());
    const ask = async (...words: string[]): Promise<Ended> =>
      playground.ask(['state', ...words, '--json', '--state-dir', state]);

    const first = withKey(accepted);
    await first.until(confirmed(2));
    expect(document(await ask('backup', '--out', copy))).toMatchObject({ out: copy });
    expect(document(await ask('verify', copy))).toMatchObject({ valid: true });
    const known = signaturesOf(first).length;
    await first.until(() => signaturesOf(first).length >= known + 2);
    const whileRunning = await ask('restore', copy);
    expect([whileRunning.code, errorOf(whileRunning)])
      .toEqual([2, expect.objectContaining({ code: 'STATE_LOCKED', message: expect.stringMatching(/stop it first/) })]);
    first.signal('SIGTERM');
    await first.ended;

    const restored = document(await ask('restore', copy));
    expect(restored['aside']).toEqual([expect.stringContaining(join(state, 'replaced-')),
      expect.stringContaining(join(state, 'signer', 'replaced-'))]);
    const refused = await withKey(args).ended;
    expect([refused.code, errorOf(refused)['code']]).toEqual([2, 'JOURNAL_LOST']);

    const second = withKey(accepted);
    await second.until(confirmed(1));
    second.signal('SIGTERM');
    expect((await second.ended).code).toBe(0);
    // The swaps after the backup are on the chain and unknown to the journal: what they moved is booked.
    expect(walletAlerts(second).length, second.stdout()).toBeGreaterThanOrEqual(2);
    const third = withKey(args);
    await third.until(confirmed(1));
    third.signal('SIGTERM');
    expect((await third.ended).code).toBe(0);
    expect(walletAlerts(third), 'ledger and chain agree').toEqual([]);

    const made = [first, second, third].flatMap(signaturesOf);
    const onChain = (await transactionsOfWallet()).filter((signature) => !earlier.has(signature));
    expect(onChain.toSorted(), 'each swap once, and none that no run told').toEqual([...new Set(made)].toSorted());
    const orders = jsonLines(readFileSync(join(state, 'orders.ndjson'), 'utf8')).map(({ action }) => action);
    expect(orders.slice(orders.indexOf('state-restore')))
      .toEqual(['state-restore', 'accept-new-counters', 'accept-new-journal', 'run', 'run']);
  }, 180_000);
});
