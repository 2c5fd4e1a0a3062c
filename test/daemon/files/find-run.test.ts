import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findRecording } from '../../../src/daemon/files/find-run.ts';

let stateDir: string;
beforeEach(() => { stateDir = mkdtempSync(join(tmpdir(), 'gannet-find-')); });
afterEach(() => { rmSync(stateDir, { recursive: true }); });

function recorded(name: string, kind: 'recordings' | 'runs' = 'recordings'): string {
  const dir = join(stateDir, kind, name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'manifest.json'), '{}');
  return dir;
}

describe('a requested recording', () => {
  it('is found by its folder and by its name', () => {
    const dir = recorded('mine');
    expect([findRecording(stateDir, dir), findRecording(stateDir, 'mine')]).toEqual([dir, dir]);
  });

  it('is refused with the known names where the name is unknown', () => {
    for (let n = 1; n <= 7; n++) recorded(`month-${n}`);
    mkdirSync(join(stateDir, 'recordings', 'unfinished'));
    expect(() => findRecording(stateDir, 'moth-1')).toThrow(expect.objectContaining({
      code: 'RECORDING_NOT_FOUND', message: expect.stringMatching(
        /no folder moth-1, and .* of that name: it has month-7, month-6, month-5, month-4, month-3 and 2 more$/,
      ) as string,
    }) as Error);
  });

  it('is refused without backtests among the known names, because they make no recording', () => {
    recorded('20260101T000000-abcdef', 'runs');
    recorded('backtest-0123abcd', 'runs');
    expect(() => findRecording(stateDir, 'nope')).toThrow(/: it has 20260101T000000-abcdef$/);
  });

  it('is refused with each known name once, where a run keeps its recording under its own name', () => {
    recorded('20260101T000000-abcdef', 'runs');
    recorded('20260101T000000-abcdef');
    expect(() => findRecording(stateDir, 'nope')).toThrow(/: it has 20260101T000000-abcdef$/);
  });

  it('is refused with the fault of an existing folder', () => {
    expect(() => findRecording(stateDir, stateDir))
      .toThrow(/ holds no manifest\.json, and .*: it has none yet, "gannet recording generate" makes one$/);
  });
});
