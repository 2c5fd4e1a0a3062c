import { parentPort, workerData } from 'node:worker_threads';
import type { StreamPart } from './packed-file.ts';
import { packParts } from './packed-file.ts';

/** The thread of `SegmentPacker`: packs each part that it receives, and answers each. */
const port = parentPort!;
const pack = packParts(String(workerData));

port.on('message', (parts: readonly StreamPart[]) => {
  for (const part of parts) void pack(part).then((answer) => { port.postMessage(answer); });
});
