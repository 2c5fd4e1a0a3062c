import { parseArgs } from 'node:util';
import { measureDaemon } from '../../src/bench/daemon-rows.ts';
import { PAGE_LOAD } from '../../src/bench/page-load.ts';
import { PROBE_WINDOW_MS } from '../../src/bench/probe-line.ts';
import { medianOf } from '../../src/core/median.ts';
import { addResult, packResults, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';

/** The last part of a run may hold this much more memory than the first part after the warm-up. */
const GROWTH_MAX = 0.05;
const LOOP_DELAY_MAX_MS = 20;
const PARTS = 6;

/** `node test/campaign/page.ts [--minutes 60] [--out FILE]`: 500 feeds, 20 strategies and 50 open pages for an hour. */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: {
    minutes: { type: 'string', default: '60' }, out: { type: 'string', default: resultsFile('page') },
  } });
  const count = Math.max(PARTS, Math.round(Number(values.minutes) * 60_000 / PROBE_WINDOW_MS));
  let done = 0;
  const windows = await measureDaemon({
    ...PAGE_LOAD,
    windows: count,
    onWindow({ loopDelayP99Ms, pssMb }) {
      done += 1;
      if (done % 12 !== 0) return;
      const minutes = (done * PROBE_WINDOW_MS / 60_000).toFixed(0);
      process.stderr.write(`minute ${minutes}: ${pssMb.toFixed(0)} MB, p99 ${loopDelayP99Ms.toFixed(1)} ms\n`);
    },
  });
  const parts = Array.from({ length: PARTS }, (_, part) =>
    windows.slice(Math.floor(part * count / PARTS), Math.floor((part + 1) * count / PARTS)));
  const pssMb = parts.map((part) => medianOf(part.map((window) => window.pssMb))!);
  const loopDelayP99Ms = parts.map((part) => medianOf(part.map((window) => window.loopDelayP99Ms))!);
  const growth = pssMb.at(-1)! / pssMb[0]! - 1;
  const violations = [
    ...(growth > GROWTH_MAX ? [`the memory grew by ${(growth * 100).toFixed(1)} %`] : []),
    ...(medianOf(windows.map((window) => window.loopDelayP99Ms))! > LOOP_DELAY_MAX_MS
      ? [`the median p99 of the event loop's delay is over ${LOOP_DELAY_MAX_MS} ms`] : []),
  ];
  addResult(values.out, {
    type: 'page', at: new Date().toISOString(), ...codeVersion('everything'), minutes: Number(values.minutes),
    pssMb, loopDelayP99Ms, growth, violations: violations.length,
  });
  packResults(values.out);
  process.stdout.write(`${JSON.stringify({ pssMb, loopDelayP99Ms, growth }, null, 2)}\n`
    + `${violations.map((what) => `${what}\n`).join('')}${violations.length} violations\n`);
  return violations.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = await main();
