import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backtestCommand } from '../../../../src/cli/commands/research/research-commands.ts';
import { lookaheadCommand } from '../../../../src/cli/commands/research/research-commands.ts';
import { sweepCommand } from '../../../../src/cli/commands/research/research-commands.ts';
import { runCommand } from '../../in-process.ts';
import { SOL, USDC } from '../../../market/tokens.ts';
import { writeSwings } from '../../../research/trials/trial-setup.ts';

const ASYNC_STRATEGY = fileURLToPath(new URL('./async-strategy.ts', import.meta.url));
const LATE = /late-one decided in a promise or a timer, outside the engine’s time/;
const WAITS = /late-one waits by the machine’s clock, outside the engine’s time/;

const folder = mkdtempSync(join(tmpdir(), 'gannet-async-'));
let recording: string;
beforeAll(async () => { recording = await writeSwings(folder); });
afterAll(() => { rmSync(folder, { recursive: true }); });

function config(by: string): string {
  const file = join(folder, `${by}.yaml`);
  writeFileSync(file, `mode: paper\ntokens: { SOL: ${SOL.mint}, USDC: ${USDC.mint} }\n`
    + `risk: { max_slippage_bps: 50, max_trade: "500 USDC" }\n`
    + `strategies:\n  - { use: "${ASYNC_STRATEGY}", name: late-one, budget: "500 USDC", `
    + `params: { pair: SOL/USDC, size: "25 USDC", by: ${by} } }\n`);
  return file;
}

/** What decides outside of the engine's time, with what is said of it. */
const WAYS = [['promise', LATE], ['timer', LATE], ['debounce', WAITS], ['interval', WAITS]] as const;

// Fewer rows than one batch, so that only the end of the run can show the fault.
describe.each(WAYS)('a strategy that decides by a %s of the machine', (by, said) => {
  it('is refused by name in a backtest', async () => {
    await expect(runCommand(
      backtestCommand, ['backtest', config(by), '--recording', recording, '--no-grid'], { stateDir: folder },
    )).rejects.toMatchObject({ code: 'STRATEGY_ASYNC', message: expect.stringMatching(said) as string });
  });

  it('is refused by name in a look-ahead check', async () => {
    await expect(runCommand(
      lookaheadCommand, ['lookahead', config(by), '--recording', recording, '--times', '1'], { stateDir: folder },
    )).rejects.toMatchObject({ code: 'STRATEGY_INVALID', message: expect.stringMatching(said) as string });
  });
});

it('fails its trial in a sweep, which names it, whichever way it decides', async () => {
  const grid = join(folder, 'ways.grid.yaml');
  writeFileSync(grid, `params: { late-one.by: [${WAYS.map(([by]) => by).join(', ')}] }\n`);
  const { code, document } = await runCommand(sweepCommand, [
    'sweep', config('promise'), '--recording', recording, '--grid', grid, '--workers', '1', '--objective',
    'total_return',
  ], { stateDir: folder });
  const failed = document['failed'] as readonly { readonly params: Record<string, unknown>; readonly reason: string }[];
  expect(failed).toHaveLength(WAYS.length);
  for (const [by, said] of WAYS)
    expect(failed.find(({ params }) => params['late-one.by'] === by)?.reason).toMatch(said);
  expect(document['trials']).not.toMatchObject({ count: 1 });
  expect(code).toBe(1);
});

describe('the same strategy, deciding in the engine’s time', () => {
  it('is accepted', async () => {
    const { code, document } = await runCommand(
      backtestCommand, ['backtest', config('event'), '--recording', recording, '--no-grid'], { stateDir: folder },
    );
    expect([code, document['decisions']]).toStrictEqual([0, 150]);
    const checked = await runCommand(
      lookaheadCommand, ['lookahead', config('event'), '--recording', recording, '--times', '1'], { stateDir: folder },
    );
    expect(checked.document).toMatchObject({ clean: true, strategies: [{ decisions: 150 }], warnings: [] });
  });
});
