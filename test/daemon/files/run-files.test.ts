import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRunFiles, readDecisions } from '../../../src/daemon/files/run-files.ts';
import { findRun } from '../../../src/daemon/files/find-run.ts';
import { manifestChange, readManifest } from '../../../src/daemon/files/run-manifest.ts';
import type { RunManifest } from '../../../src/daemon/files/run-manifest.ts';
import { DecisionLog } from '../../../src/engine/decision-log.ts';
import type { LoggedDecision } from '../../../src/engine/decision-log.ts';
import { temporaryFolder } from '../../store/fixtures.ts';

/** Alerts, which need no token. */
function decisions(count: number): LoggedDecision[] {
  const log = new DecisionLog();
  return Array.from({ length: count }, (_, index) => log.append({
    seq: index + 1, at: 1_790_000_000_000 + index, strategy: 'watch',
    proposal: { kind: 'alert', level: 'info', message: `number ${index}` }, verdict: 'approved', code: null,
  }));
}

function runOf(count: number): { readonly dir: string; readonly file: string; readonly stateDir: string } {
  const stateDir = temporaryFolder();
  const files = createRunFiles(stateDir, 'a-run');
  for (const decision of decisions(count)) files.decision(decision);
  files.close();
  return { dir: files.dir, file: join(files.dir, 'decisions.ndjson'), stateDir };
}

describe('the files of a run', () => {
  it('return the decisions as they were written', () => {
    expect(readDecisions(runOf(3).dir).map(({ seq, h }) => ({ seq, h })))
      .toStrictEqual(decisions(3).map(({ seq, h }) => ({ seq, h })));
  });

  it('leave out a last line that a crash cut off', () => {
    const { dir, file } = runOf(3);
    appendFileSync(file, '{"seq":4,"at":17900');
    expect(readDecisions(dir)).toHaveLength(3);
  });

  it('detect a changed byte anywhere, a missing line, and swapped lines', () => {
    const { dir, file } = runOf(3);
    const whole = readFileSync(file, 'utf8');
    const lines = whole.split('\n');
    for (let place = 0; place < whole.length; place++) {
      const changed =
        `${whole.slice(0, place)}${String.fromCharCode(whole.charCodeAt(place) ^ 1)}${whole.slice(place + 1)}`;
      writeFileSync(file, changed);
      expect(() => expectAllThree(dir), `byte ${place}`).toThrow();
    }
    for (const other of [[lines[1], lines[2]], [lines[0], lines[2]], [lines[1], lines[0], lines[2]]]) {
      writeFileSync(file, `${other.join('\n')}\n`);
      expect(() => readDecisions(dir)).toThrow(expect.objectContaining({ code: 'RECORDING_CORRUPT' }));
    }
  });

  it('are found by id and by path, and a failure names the places', () => {
    const { dir, stateDir } = runOf(1);
    writeFileSync(join(dir, 'manifest.json'), '{}');
    expect(findRun(stateDir, 'a-run')).toBe(dir);
    expect(findRun('/nowhere', dir)).toBe(dir);
    expect(() => findRun(stateDir, 'another'))
      .toThrow(expect.objectContaining({ code: 'RUN_NOT_FOUND', message: expect.stringContaining('another') }));
  });

  it('refuse a damaged manifest and another format', () => {
    const { dir } = runOf(1);
    const path = join(dir, 'manifest.json');
    for (const text of [
      '', '{', '{"format_version": 999}', 'null', '[]', '"format_version"', '1', '18446744073709551616',
    ]) {
      writeFileSync(path, text);
      expect(() => readManifest(dir), text)
        .toThrow(expect.objectContaining({ code: 'RUN_NOT_FOUND', message: expect.stringContaining(path) }));
    }
  });

  it('detect any change of a manifest, and accept manifests of older versions', () => {
    const stateDir = temporaryFolder();
    const files = createRunFiles(stateDir, 'a-run');
    const manifest = { format_version: 1, run_id: 'a-run', recording: null } as unknown as RunManifest;
    files.manifest(manifest);
    files.close();
    const path = join(files.dir, 'manifest.json');
    const text = readFileSync(path, 'utf8');
    expect(manifestChange(files.dir)).toBeUndefined();
    expect(readManifest(files.dir)).toStrictEqual(manifest);
    const name = text.indexOf('sha256');
    for (let place = 0; place < text.length; place++) {
      // Without its name it is no hash any more; the rest is as it was.
      if (place >= name && place < name + 6) continue;
      writeFileSync(
        path, `${text.slice(0, place)}${String.fromCharCode(text.charCodeAt(place) ^ 1)}${text.slice(place + 1)}`,
      );
      const said = ((): string | undefined => {
        try {
          return manifestChange(files.dir);
        } catch (error) {
          return String(error);
        }
      })();
      expect(said, `byte ${place}`).toContain(path);
    }
    writeFileSync(path, text.replace(/,\s*"sha256".*"/, ''));
    expect(manifestChange(files.dir)).toBeUndefined();
    expect(readManifest(files.dir)).toStrictEqual(manifest);
  });
});

/** The last line's end is the one byte whose change cannot be told from a cut. */
function expectAllThree(dir: string): void {
  expect(readDecisions(dir)).toHaveLength(3);
}
