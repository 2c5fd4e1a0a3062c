import { createRecordingWriter } from '../../src/recording/writer.ts';
import { wallClock } from './wall-clock.ts';

/**
 * Writes numbered commands and books, `argv[3]` milliseconds apart, as fast as it can until it is killed; says each
 * number that was flushed.
 */
const writer = createRecordingWriter({
  dir: process.argv[2]!, name: 'run', clock: wallClock, tokens: [], flushRows: 50, flushMs: 20,
  onError: (error) => { throw error; },
});

const stepMs = Number(process.argv[3] ?? 1);
let seq = 0;
function writeSome(): void {
  for (let count = 0; count < 70; count++) {
    seq += 1;
    if (seq % 3 === 0) writer.append(seq, seq * stepMs, {
      kind: 'order-book', feed: 'order-book:rain', receivedAt: seq * stepMs, marketId: 'rain',
      yes: [{ priceMicroUsd: seq % 1_000_000, size: seq }], no: [],
    });
    else writer.append(seq, seq * stepMs, {
      kind: 'command', name: 'set-trading-state', state: 'active', reason: `number ${seq}`,
    });
  }
  writer.flush();
  process.stdout.write(`${seq}\n`);
  setImmediate(writeSome);
}
writeSome();
