import { createHistoryWriter } from '../../src/recording/history-writer.ts';

/**
 * Writes a history of commands, a second apart, until it is killed; says when enough of it is on the disk that a thread
 * packs it.
 */
const writer = createHistoryWriter({
  dir: process.argv[2]!, name: 'history', createdAt: 0, tokens: [], source: { kind: 'watched' },
});
for (let seq = 1; ; seq++) {
  writer.append(seq, seq * 1_000, {
    kind: 'command', name: 'set-trading-state', state: 'active', reason: `number ${seq}`,
  });
  if (writer.isBusy) await writer.room();
  if (seq % 100_000 !== 0) continue;
  await new Promise(setImmediate);
  if (seq === 300_000) process.stdout.write(`${seq}\n`);
}
