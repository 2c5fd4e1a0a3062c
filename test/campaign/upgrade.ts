import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openCrashFixture, type CrashFixture } from '../crash/crash-fixture.ts';
import { startDaemon, type CrashDaemon } from '../crash/daemon.ts';
import { readJournal, type JournalReading } from '../crash/invariants.ts';
import { openPlace, runArgs, type Place } from '../crash/place.ts';
import { BUSY_FUNDS, BUSY_STRATEGIES } from '../crash/random-kill.ts';
import { PROJECT } from '../e2e/gannet.ts';
import { addResult, endAtSignals, endCampaign, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';

/** What an upgrade and a rollback came to. */
interface UpgradeLife {
  /** The formats of the journal: of the earlier code, after the upgrade, and after the rollback. */
  readonly formats: readonly number[];
  /** Swaps confirmed by the earlier code, since the upgrade, and by the earlier code after the rollback. */
  readonly confirmed: readonly number[];
  readonly violations: readonly string[];
}

const CONFIRMED_EACH = 6;
const GIVE_UP_MS = 240_000;
const GONE_MS = 60_000;
const POLL_MS = 200;

/** Runs the earlier code, kills it, upgrades, trades, and rolls back as docs/operations/upgrade.md says. */
async function upgradeAndBack(fixture: CrashFixture, { name, earlier }: {
  readonly name: string; readonly earlier: string;
}): Promise<UpgradeLife> {
  const place = await openPlace(fixture, { name, funds: BUSY_FUNDS, strategies: BUSY_STRATEGIES });
  const violations: string[] = [];
  const formats: number[] = [];
  const confirmed: number[] = [];
  const launch = (project: string, args: readonly string[]): CrashDaemon =>
    startDaemon(args, { cwd: place.dir, environment: place.environment, project });
  const order = async (project: string, args: readonly string[]): Promise<string> => {
    const command = launch(project, args);
    const code = await command.ended;
    await command.gone(GONE_MS);
    if (code !== 0) violations.push(`${args.join(' ')} ended with ${code}: ${textOf(command)}`);
    return textOf(command);
  };
  const trade = async (project: string, { signal, more = [] }: {
    readonly signal: 'SIGKILL' | 'SIGTERM'; readonly more?: readonly string[];
  }): Promise<void> => {
    const before = confirmedIn(place);
    const daemon = launch(project, runArgs(place, more));
    const over = new AbortController();
    void daemon.ended.then(() => { over.abort(); });
    const giveUpAt = performance.now() + GIVE_UP_MS;
    while (!over.signal.aborted && confirmedIn(place) < before + CONFIRMED_EACH && performance.now() < giveUpAt)
      await sleep(POLL_MS);
    if (confirmedIn(place) < before + CONFIRMED_EACH) violations.push(`no trading: ${textOf(daemon)}`);
    if (signal === 'SIGTERM') daemon.signal(signal);
    await daemon.gone(signal === 'SIGTERM' ? GONE_MS : 0);
    confirmed.push(confirmedIn(place) - before);
    formats.push(formatOf(place));
  };
  try {
    await trade(earlier, { signal: 'SIGKILL' });
    const old = readJournal(place.stateDir);
    await order(PROJECT, ['config', 'check', '--config', place.config]);
    await trade(PROJECT, { signal: 'SIGTERM' });
    const upgraded = readJournal(place.stateDir);
    if (old !== undefined && upgraded !== undefined) violations.push(...lostIn(old, upgraded));
    violations.push(...await twiceOrUnknown(fixture, place, upgraded === undefined ? [] : [upgraded]));
    for (const run of readdirSync(join(place.stateDir, 'recordings')))
      await order(PROJECT, ['recording', 'verify', run, '--state-dir', place.stateDir]);

    const backups = join(place.stateDir, 'backups');
    const folders = existsSync(backups) ? readdirSync(backups) : [];
    if (folders.length !== 1) violations.push(`backups of the upgrade: ${JSON.stringify(folders)}`);
    await order(PROJECT, ['state', 'restore', join(backups, String(folders[0])), '--state-dir', place.stateDir]);
    const refused = launch(earlier, runArgs(place));
    const code = await refused.ended;
    await refused.gone(GONE_MS);
    if (code === 0 || !textOf(refused).includes('JOURNAL_LOST'))
      violations.push(`the earlier code did not refuse: it ended with ${code}: ${textOf(refused)}`);
    const accepted = ['--accept-new-journal', '--accept-new-counters'];
    await trade(earlier, { signal: 'SIGTERM', more: accepted });
    const back = readJournal(place.stateDir);
    violations.push(...await twiceOrUnknown(fixture, place,
      [upgraded, back].filter((reading) => reading !== undefined)));
  } catch (error) {
    violations.push(error instanceof Error ? error.message : String(error));
  }
  return { formats, confirmed, violations };
}

function textOf({ stdout, stderr }: CrashDaemon): string {
  return `${stdout().slice(-1_000)} ${stderr().slice(-1_500)}`.trim();
}

function confirmedIn({ stateDir }: Place): number {
  return readJournal(stateDir)?.intents.filter(({ state }) => state === 'confirmed').length ?? 0;
}

function formatOf({ stateDir }: Place): number {
  const database = new DatabaseSync(join(stateDir, 'journal.sqlite'), { readOnly: true, timeout: 5_000 });
  try {
    return Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  } finally {
    database.close();
  }
}

/** Returns the intents of the earlier journal that the upgraded one lacks, or ended otherwise. */
function lostIn(old: JournalReading, upgraded: JournalReading): string[] {
  const now = new Map(upgraded.intents.map(({ id, state }) => [id, state]));
  return old.intents.filter(({ id, state }) => state === 'confirmed' ? now.get(id) !== state : !now.has(id))
    .map(({ id, state }) => `${id} was ${state} before the upgrade, and is ${now.get(id) ?? 'missing'}`);
}

/** Returns what landed twice for one attempt's intent, or landed without an attempt in any of the journals. */
async function twiceOrUnknown(
  { chain }: CrashFixture, { wallet }: Place, journals: readonly JournalReading[],
): Promise<string[]> {
  const landed = await chain.landed(wallet.address);
  const known = new Set(journals.flatMap(({ attempts }) => attempts.map(({ signature }) => signature)));
  const succeeded = new Set(landed.filter((swap) => swap.succeeded).map(({ ownSignature }) => ownSignature));
  return [
    ...landed.filter(({ ownSignature }) => !known.has(ownSignature))
      .map(({ id }) => `transaction ${id} landed, and no journal knows it`),
    ...journals.flatMap(({ intents, attempts }) => intents.flatMap(({ id, state }) => {
      const own = attempts.filter(({ intentId, signature }) => intentId === id && succeeded.has(signature)).length;
      const isWrong = own > 1 || (state === 'confirmed' && own !== 1);
      return isWrong ? [`${id} is ${state}, and ${own} swaps of it landed`] : [];
    })),
  ];
}

/** Checks out a commit beside this one, with the packages of this one. */
function checkOut(commit: string, folder: string): void {
  execFileSync('git', ['worktree', 'add', '--detach', folder, commit], { cwd: PROJECT, stdio: 'ignore' });
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
}

function removeCheckout(folder: string): void {
  rmSync(join(folder, 'node_modules'), { force: true });
  execFileSync('git', ['worktree', 'remove', '--force', folder], { cwd: PROJECT, stdio: 'ignore' });
}

/** `node test/campaign/upgrade.ts [--from COMMIT] [--times 1] [--seed 1] [--out FILE] [--keep DIR]` */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: {
    from: { type: 'string', default: '3aef151' }, times: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' }, out: { type: 'string', default: resultsFile('upgrade') },
    keep: { type: 'string' },
  } });
  const fixture = await openCrashFixture({ seed: Number(values.seed), timeFactor: 1 });
  const earlier = join(fixture.dir, 'earlier');
  let violations = 0;
  try {
    checkOut(values.from, earlier);
    for (let number = 0; number < Number(values.times); number++) {
      const life = await upgradeAndBack(fixture, { name: `life-${number}`, earlier });
      violations += life.violations.length;
      for (const violation of life.violations) process.stderr.write(`${number}: ${violation}\n`);
      addResult(values.out, {
        type: 'upgrade', at: new Date().toISOString(), ...codeVersion('daemon'), from: values.from,
        seed: Number(values.seed), number, ...life,
      });
      if (values.keep !== undefined)
        cpSync(join(fixture.dir, `life-${number}`), join(values.keep, `life-${number}`), { recursive: true });
    }
  } finally {
    if (existsSync(earlier)) removeCheckout(earlier);
    await fixture.close();
  }
  return endCampaign(values.out, violations);
}

if (import.meta.main) {
  endAtSignals();
  process.exitCode = await main();
}
