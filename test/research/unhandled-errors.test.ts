import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backtestCommand } from '../../src/cli/commands/research/research-commands.ts';
import { SOL, USDC } from '../market/tokens.ts';
import type { Playground } from '../e2e/gannet.ts';
import { createPlayground } from '../e2e/gannet.ts';
import { runCommand } from '../cli/in-process.ts';
import { UNRULY, writeSwings } from './trials/trial-setup.ts';

const TOLD = 'a strategy threw an error that no caller could catch; '
  + 'it must return its stream instead of subscribing to it: a late error\n';

const folder = mkdtempSync(join(tmpdir(), 'gannet-loose-'));
const config = join(folder, 'loose.yaml');
const grid = join(folder, 'grid.yaml');
let playground: Playground;
let recording: string;
beforeAll(async () => {
  playground = createPlayground();
  recording = await writeSwings(folder);
  writeFileSync(config, `mode: paper\ntokens: { SOL: ${SOL.mint}, USDC: ${USDC.mint} }
risk: { max_slippage_bps: 50, max_trade: "500 USDC" }
strategies:
  - use: "${UNRULY}"
    budget: "500 USDC"
    params: { pair: SOL/USDC, size: "25 USDC", mode: loose }
`);
  writeFileSync(grid, 'params: { unruly.every_nth: [7] }\n');
});
afterAll(async () => {
  await playground.close();
  rmSync(folder, { recursive: true });
});

describe('errors thrown in a strategy’s own subscription', () => {
  it('are reported once by a backtest, without effect on its result', async () => {
    const { code, told, document } = await runCommand(
      backtestCommand, ['backtest', config, '--recording', recording, '--no-grid'], { stateDir: folder },
    );
    expect([code, told]).toStrictEqual([0, TOLD]);
    const fine = join(folder, 'fine.yaml');
    writeFileSync(fine, readFileSync(config, 'utf8').replace('mode: loose', 'mode: fine'));
    expect((await runCommand(
      backtestCommand, ['backtest', fine, '--recording', recording, '--no-grid'], { stateDir: folder },
    )).document['decision_hash']).toBe(document['decision_hash']);
  });

  it.each([
    ['sweep', ['--grid', grid, '--workers', '1', '--objective', 'total_return']],
    ['lookahead', ['--times', '1']],
    [
      'walk-forward',
      ['--grid', grid, '--workers', '1', '--objective', 'total_return', '--in-sample', '1h', '--out-of-sample', '30m'],
    ],
  ])('are reported by %s, and end none of its threads', async (command, flags) => {
    const { code, stderr } =
      await playground.run([command, config, '--recording', recording, ...flags, '--json', '--state-dir', folder]);
    expect(stderr).toContain(TOLD);
    expect(code, stderr).toBe(0);
  });
});
