import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { probedEnvironment, readProbe } from '../../src/bench/probe-line.ts';

let dir: string;
beforeEach(() => { dir = mkdtempSync(join(tmpdir(), 'gannet probe ')); });
afterEach(() => { rmSync(dir, { recursive: true, force: true }); });

it('makes a command report its peak memory at its end, without lines from its threads', () => {
  const file = join(dir, 'told.ndjson');
  const work = "const { Worker, isMainThread } = require('node:worker_threads'); if (isMainThread) {"
    + " globalThis.kept = Buffer.alloc(150 * 1048576, 1); new Worker('0', { eval: true }); }";
  const { status, stderr } =
    spawnSync(process.execPath, ['-e', work], { env: probedEnvironment(file), encoding: 'utf8' });
  expect([status, stderr.replace(/^.*Warning.*$/gm, '').trim()]).toEqual([0, '']);
  const lines = readProbe(file);
  expect(lines).toEqual([{ kind: 'exit', peakRssBytes: expect.any(Number) }]);
  expect((lines[0] as { peakRssBytes: number }).peakRssBytes).toBeGreaterThan(150 * 1_048_576);
});

it('reads complete lines only, and none before the first', () => {
  const file = join(dir, 'told.ndjson');
  expect(readProbe(file)).toEqual([]);
  appendFileSync(file, '{"kind":"window","loopDelayP99Ms":1.5}\n{"kind":"wind');
  expect(readProbe(file)).toEqual([{ kind: 'window', loopDelayP99Ms: 1.5 }]);
});
