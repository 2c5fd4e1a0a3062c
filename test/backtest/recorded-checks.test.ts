import { describe, expect, it } from 'vitest';
import { backtestCursor, readRecordedChecks, trustingUnchecked } from '../../src/backtest/recorded-checks.ts';
import type { Bps } from '../../src/core/amount.ts';
import type { Mint } from '../../src/market/token.ts';
import { openRecording } from '../../src/recording/reader.ts';
import type { Recording } from '../../src/recording/reader.ts';
import type { Command } from '../../src/trading/engine-command.ts';
import type { Input } from '../../src/trading/step.ts';
import { buyingSol } from '../market/events.ts';
import { FISH, KELP } from '../market/tokens.ts';
import { openWriter, temporaryFolder } from '../recording/temporary.ts';
import { WIDE } from '../trading/states.ts';

const tokenCheck = (mint: Mint, ...findings: string[]): Command =>
  ({ kind: 'command', name: 'judge-token', mint, findings, reason: 'a check' });
const halt: Command = { kind: 'command', name: 'set-trading-state', state: 'halted', reason: 'enough' };

async function recorded(inputs: readonly Input[]): Promise<Recording> {
  const writer = openWriter(temporaryFolder());
  inputs.forEach((input, index) => { writer.append(index + 1, 1_000 * (index + 1), input); });
  await writer.close();
  return openRecording(writer.directory);
}

function seen(recording: Recording): unknown[] {
  const cursor = backtestCursor(recording, readRecordedChecks(recording));
  const rows: unknown[] = [];
  while (cursor.next())
    rows.push(`${cursor.at} ${cursor.input.kind === 'command' ? cursor.input.name : cursor.input.kind}`);
  return rows;
}

describe('the token checks of a run, in a backtest of its recording', () => {
  it('stay between the prices where they were made, without the other commands of the run', async () => {
    const recording = await recorded([
      tokenCheck(FISH.mint), buyingSol(150_000, 2_000), halt, tokenCheck(FISH.mint, 'TOKEN_UNSELLABLE'),
      buyingSol(151_000, 5_000),
    ]);
    expect(seen(recording)).toEqual(['1000 judge-token', '2000 quote', '4000 judge-token', '5000 quote']);
    const checks = readRecordedChecks(recording);
    expect([...checks.mints]).toEqual([FISH.mint]);
    expect(checks.before(4_000)).toMatchObject([{ at: 1_000, check: { findings: [] } }]);
  });

  it('are absent where the recording has none: only then the rule is off for those tokens', async () => {
    const recording = await recorded([buyingSol(150_000, 1_000), halt]);
    expect(seen(recording)).toEqual(['1000 quote']);
    const safety = {
      trusted: new Set([FISH.mint]), minLiquidityUsd: 0, minOrganicScore: 0, minHolders: 0, maxTopHoldersPct: 100,
      maxTransferFeeBps: 0 as Bps, allowedExtensions: new Set<string>(), validForMs: 1,
    };
    expect(trustingUnchecked({ ...WIDE, tokenSafety: safety }, [KELP.mint]).tokenSafety?.trusted)
      .toEqual(new Set([FISH.mint, KELP.mint]));
    expect(trustingUnchecked(WIDE, [KELP.mint])).toBe(WIDE);
  });
});
