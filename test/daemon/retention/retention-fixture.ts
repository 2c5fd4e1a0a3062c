import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { RetentionConfig } from '../../../src/config/operations/retention-config.ts';
import { resolveRetention, retentionSchema } from '../../../src/config/operations/retention-config.ts';
import { newRunId } from '../../../src/daemon/files/find-run.ts';
import { createRunFiles } from '../../../src/daemon/files/run-files.ts';
import type { RunManifest } from '../../../src/daemon/files/run-manifest.ts';
import { DecisionLog } from '../../../src/engine/decision-log.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import type { RecordingWriter } from '../../../src/recording/writer.ts';
import { createRecordingWriter } from '../../../src/recording/writer.ts';
import { buyingSol } from '../../market/events.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
/** 2026-11-20 12:00 UTC. */
export const NOW = Date.UTC(2026, 10, 20, 12);

/** Returns the section with its defaults but for `given`. */
export function retention(given: object = {}): RetentionConfig {
  return resolveRetention(retentionSchema.parse(given));
}

/** A run on disk, whose recording is still written. */
interface MadeRun {
  readonly runId: string;
  readonly dir: string;
  readonly recording: string;
  readonly writer: RecordingWriter;
}

/** Makes a run with a quote every minute for some hours, a decision, code and a log. */
export function makeRun(
  stateDir: string, { at, hours, tokens = [] }: {
    readonly at: number; readonly hours: number; readonly tokens?: readonly string[];
  },
): MadeRun {
  const clock = new VirtualClock(at);
  const runId = newRunId(clock);
  const writer = createRecordingWriter({
    dir: join(stateDir, 'recordings'), name: runId, clock, tokens: [], onError: (error) => { throw error; },
  });
  let seq = 0;
  for (let time = at; time < at + hours * HOUR; time += 60_000)
    writer.append(++seq, time, buyingSol(150_000 + seq, time));
  writer.flush();
  const files = createRunFiles(stateDir, runId);
  files.decision(new DecisionLog().append({
    seq: seq + 1, at, strategy: 'watch', proposal: { kind: 'alert', level: 'info', message: 'seen' },
    verdict: 'approved', code: null,
  }));
  const file = 'strategies/dca.ts';
  files.code({ sha256: 'ab'.repeat(32), file, files: [{ path: file, text: 'code' }] });
  files.manifest({
    format_version: 1, run_id: runId, mode: 'live', recording: relative(files.dir, writer.directory),
    config: { tokens: tokens.map((mint) => ({ mint, symbol: mint, decimals: 6 })) }, clock_start: at,
    ended: { after_seq: seq + 1, at: at + hours * HOUR, decisions: 1, decision_hash: 'h' },
  } as unknown as RunManifest);
  files.close();
  mkdirSync(join(stateDir, 'logs'), { recursive: true });
  const log = join(stateDir, 'logs', `${runId}.log`);
  writeFileSync(log, '{"message":"it runs"}\n');
  const until = new Date(at + hours * HOUR);
  for (const path of [log, join(files.dir, 'decisions.ndjson'), join(files.dir, 'code', `${'ab'.repeat(32)}.json`)])
    utimesSync(path, until, until);
  return { runId, dir: files.dir, recording: writer.directory, writer };
}
