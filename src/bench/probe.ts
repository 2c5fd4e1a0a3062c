import { appendFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import { PROBE_FILE, PROBE_WINDOW_MS, type ProbeLine } from './probe-line.ts';

// Loaded with --import into a measured command: writes its measurements to a file, line by line.

/** The histogram measures the time between samples, so every value includes this interval. */
const RESOLUTION_MS = 1;

const file = process.env[PROBE_FILE];
if (file !== undefined && isMainThread) {
  const write = (line: ProbeLine): void => { appendFileSync(file, `${JSON.stringify(line)}\n`); };
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  setInterval(() => {
    write({
      kind: 'window', loopDelayP99Ms: Math.max(0, delays.percentile(99) / 1e6 - RESOLUTION_MS),
    });
    delays.reset();
  }, PROBE_WINDOW_MS).unref();
  process.on('exit', () => { write({ kind: 'exit', peakRssBytes: process.resourceUsage().maxRSS * 1_024 }); });
}
