import { dirname } from 'node:path';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { atEachPrice } from './harness.ts';

const READING = `const { workerData: { done, port, file } } = require('node:worker_threads');
port.postMessage(require('node:fs').readFileSync(file, 'utf8'));
Atomics.store(done, 0, 1);
Atomics.notify(done, 0);`;

/** Lets another thread read an export beside the recording, and waits for it. */
export default atEachPrice('asks-a-thread', ({ dir }) => {
  const done = new Int32Array(new SharedArrayBuffer(4));
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(READING, {
    eval: true, workerData: { done, port: port2, file: `${dirname(dir)}/export.csv` }, transferList: [port2],
  });
  Atomics.wait(done, 0, 0);
  const closes = String(receiveMessageOnPort(port1)?.message).split('\n').map(Number);
  port1.close();
  void worker.terminate();
  return ({ price }, n) => closes[n + 1]! > price * 1.001 && 'the next close is higher';
});
