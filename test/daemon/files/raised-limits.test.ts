import { mkdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RunConfig } from '../../../src/config/run-config.ts';
import { runDirOf } from '../../../src/daemon/files/find-run.ts';
import { raisedSinceLastRun } from '../../../src/daemon/files/raised-limits.ts';
import { createManifest, writeManifest } from '../../../src/daemon/files/run-manifest.ts';
import { configOf } from '../../config/load-text.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { freshSnapshot } from '../../../src/trading/engine-state.ts';

const SAFETY = 'token_safety: { min_holders: 100, max_top_holders_pct: 30, allowed_extensions: [] }';
const PROTECTIONS = 'protections: [{ kind: daily_loss, limit: "50 USDC", action: halt }]';
const RISK = `max_trade: "200 USDC", max_slippage_bps: 50, max_swaps: { per_day: 300 }, max_exposure: "900 USDC",
  max_position: { SOL: "1000 USDC" }, ${SAFETY}, ${PROTECTIONS}`;
const TEXT = `mode: paper
signer: { caps: { USDC: { per_day: "3000" } } }
wallet: { sol_reserve: "0.05 SOL" }
risk: { ${RISK} }
strategies:
  - use: dca
    name: one
    budget: "300 USDC"
    max_exposure: "300 USDC"
    params: { buy: SOL, spend: "1 USDC", every: 1h }
`;

/** Returns what a changed configuration allows beyond that of an earlier run. */
async function raised(
  change: (text: string) => string, { mode = 'paper' }: { readonly mode?: 'paper' | 'live' } = {},
): Promise<string[]> {
  const stateDir = temporaryFolder();
  const before = await configOf(TEXT);
  writeRun(stateDir, '20261121T101112-0a1b2c', { ...before, mode });
  writeRun(stateDir, '20261122T101112-0a1b2c', { ...await configOf(change(TEXT)), mode: 'live' });
  return raisedSinceLastRun(await configOf(change(TEXT)), {
    stateDir, runId: '20261123T101112-0a1b2c', log: () => { throw new Error('nothing is wrong here'); },
  });
}

function writeRun(stateDir: string, runId: string, config: RunConfig): void {
  mkdirSync(runDirOf(stateDir, runId), { recursive: true });
  writeManifest(runDirOf(stateDir, runId), createManifest({
    config, mode: config.mode, runId, startAt: 0, snapshot: freshSnapshot(new Map()), open: [],
    restored: { states: {}, unseen: [] }, recording: undefined,
  }));
}

const replacing = (from: string, to: string) => (text: string): string => {
  expect(text).toContain(from);
  return text.replace(from, to);
};

describe('limits that allow more than those of the last run', () => {
  it.each([
    ['"200 USDC"', '"201 USDC"', 'max_trade is 201 USDC, it was 200 USDC'],
    ['max_trade: "200 USDC", ', '', 'max_trade is gone, it was 200 USDC'],
    ['"200 USDC"', '"2 SOL"', 'max_trade is 2 SOL, it was 200 USDC'],
    ['max_slippage_bps: 50', 'max_slippage_bps: 51', 'max_slippage_bps is 51, it was 50'],
    ['per_day: 300', 'per_day: 301', 'max_swaps.per_day is 301, it was 300'],
    ['"3000"', '"3001"', 'the signer’s cap per_day of USDC is 3001 USDC, it was 3000 USDC'],
    ['"1000 USDC"', '"1001 USDC"', 'max_position of SOL is 1001 USDC, it was 1000 USDC'],
    ['"0.05 SOL"', '"0.04 SOL"', 'sol_reserve is 0.04 SOL, it was 0.05 SOL'],
    ['min_holders: 100', 'min_holders: 99', 'token_safety.min_holders is 99, it was 100'],
    ['max_exposure: "300 USDC"', 'max_exposure: "301 USDC"', 'max_exposure of one is 301 USDC, it was 300 USDC'],
    ['budget: "300 USDC"', 'budget: "301 USDC"', 'the budget of one is 301 USDC, it was 300 USDC'],
    ['name: one', 'name: two', 'two is new, with a budget of 300 USDC'],
    ['allowed_extensions: []', 'allowed_extensions: [transfer_hook]',
      'transfer-hook in token_safety.allowed_extensions is new'],
  ])('%s → %s', async (from, to, said) => {
    expect(await raised(replacing(from, to))).toEqual([said]);
  });

  it('include a protection that is gone or different', async () => {
    expect(await raised(replacing(PROTECTIONS, 'protections: []')))
      .toEqual([expect.stringMatching(/^the protection ".*50 USDC.*" is gone$/)]);
  });

  it.each([
    ['nothing', 'max_trade: "200 USDC"', 'max_trade: "200 USDC"'], ['less', '"200 USDC"', '"199 USDC"'],
    ['a larger reserve', '"0.05 SOL"', '"0.06 SOL"'], ['a smaller budget', 'budget: "300 USDC"', 'budget: "299 USDC"'],
  ])('do not include %s', async (_name, from, to) => {
    expect(await raised(replacing(from, to))).toEqual([]);
  });

  it('are compared within one mode only, and not for a first run', async () => {
    expect(await raised(replacing('"200 USDC"', '"900 USDC"'), { mode: 'live' })).toEqual([]);
  });
});
