import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { backtestCommand } from '../../../src/cli/commands/research/research-commands.ts';
import { removeOnFailure } from '../../../src/recording/files/new-folder.ts';
import { createHistoryWriter } from '../../../src/recording/history-writer.ts';
import { bothSides } from '../../backtest/measured.ts';
import { SOL, USDC } from '../../market/tokens.ts';
import { temporaryFolder } from '../temporary.ts';
import { NO_SMALL_DISK, smallDisk } from '../../store/small-disk.ts';
import { runCommand } from '../../cli/in-process.ts';

const CONFIG = `mode: paper
tokens: { SOL: ${SOL.mint}, USDC: ${USDC.mint} }
risk: { max_slippage_bps: 50, max_trade: "500 USDC" }
strategies:
  - use: mean-reversion
    name: dip
    budget: "500 USDC"
    max_age: 1h
    params: { pair: SOL/USDC, size: "25 USDC", every: 5s, window: 10, k: 1, exit_z: 0 }
`;

/** Makes a recording, and returns what runs a backtest over it. */
async function backtestIn(stateDir: string): Promise<(interrupt?: AbortSignal) => ReturnType<typeof runCommand>> {
  const folder = temporaryFolder();
  const writer =
    createHistoryWriter({ dir: folder, name: 'rec', createdAt: 0, tokens: [SOL, USDC], source: { kind: 'watched' } });
  const prices = bothSides(
    Array.from({ length: 400 }, (_, n) => [150.1 + 3 * Math.sin(n / 7), 149.9 + 3 * Math.sin(n / 7)] as const), 5_000,
  );
  prices.forEach((event, index) => { writer.append(index + 1, event.receivedAt, event); });
  await writer.close();
  writeFileSync(join(folder, 'config.yaml'), CONFIG);
  return (interrupt) => runCommand(
    backtestCommand, ['backtest', join(folder, 'config.yaml'), '--recording', writer.directory, '--no-grid'],
    { stateDir, ...interrupt === undefined ? {} : { interrupt } },
  );
}

const runsIn = (stateDir: string): readonly string[] => readdirSync(join(stateDir, 'runs'));

describe('work that creates a folder', () => {
  it('keeps it after success, and removes it after a failure', async () => {
    const directory = join(temporaryFolder(), 'made');
    const make = (): void => { mkdirSync(join(directory, 'inner'), { recursive: true }); };
    await expect(removeOnFailure(directory, () => { make(); return Promise.reject(new Error('in the midst of it')); }))
      .rejects.toThrow('in the midst of it');
    expect(existsSync(directory)).toBe(false);
    const before = process.listenerCount('exit');
    expect(await removeOnFailure(directory, () => { make(); return Promise.resolve(1); })).toBe(1);
    expect([existsSync(directory), process.listenerCount('exit')]).toStrictEqual([true, before]);
  });

  it('removes it when the process exits meanwhile', () => {
    const directory = join(temporaryFolder(), 'made');
    const module = fileURLToPath(new URL('../../../src/recording/files/new-folder.ts', import.meta.url));
    const text = `import { mkdirSync } from 'node:fs'; import { removeOnFailure } from ${JSON.stringify(module)};
      const directory = ${JSON.stringify(directory)};
      await removeOnFailure(directory, async () => { mkdirSync(directory); process.exit(7); });`;
    expect(spawnSync(process.execPath, ['--input-type=module', '--eval', text]).status).toBe(7);
    expect(existsSync(directory)).toBe(false);
  });
});

describe('a backtest', () => {
  it('keeps a finished run, and removes an interrupted one', async () => {
    const stateDir = temporaryFolder();
    const backtest = await backtestIn(stateDir);
    const interrupt = new AbortController();
    const check = (): void => {
      if (existsSync(join(stateDir, 'runs')) && runsIn(stateDir).length > 0) interrupt.abort();
      else setImmediate(check);
    };
    check();
    await expect(backtest(interrupt.signal)).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(runsIn(stateDir)).toStrictEqual([]);
    const { document } = await backtest();
    expect(runsIn(stateDir)).toStrictEqual([document['run_id']]);
  });

  it.skipIf(NO_SMALL_DISK !== undefined)('removes its run on a full disk', async () => {
    const disk = smallDisk(1);
    const backtest = await backtestIn(disk.dir);
    // The log of trials has its room; decisions soon have none.
    await backtest();
    const before = runsIn(disk.dir);
    disk.fill(8_192);
    await expect(backtest()).rejects.toMatchObject({ code: 'DISK_FULL' });
    expect(runsIn(disk.dir)).toStrictEqual(before);
  });
});
