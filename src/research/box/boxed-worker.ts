import { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';
import type { BoxClosing } from './enter-box.ts';
import { enterBox } from './enter-box.ts';
import { readFrames, writeFrame } from './frames.ts';
import { openPhases } from './phases.ts';

/** The pipe to the process that started this one. */
const CHANNEL = 4;

/** A boxed process that answers messages, seen from within. */
interface WorkerChannel<Start, Message, Answer> {
  /** The first message. */
  readonly start: Start;
  readonly say: (answer: Answer) => void;
  /** Closes the box, and handles the further messages one after the other. */
  readonly serve: (handle: (message: Message) => Promise<void>, closing?: BoxClosing) => void;
}

/** Waits for the first message to this process. The process ends with the one that started it. */
export async function openWorkerChannel<Start, Message, Answer>(): Promise<WorkerChannel<Start, Message, Answer>> {
  openPhases();
  const channel = new Socket({ fd: CHANNEL, readable: true, writable: true });
  const first = Promise.withResolvers<Start>();
  const waiting: unknown[] = [];
  let take = (message: unknown): void => {
    take = (next) => { waiting.push(next); };
    first.resolve(message as Start);
  };
  const beforeBox = process;
  let end = (code: number): void => { beforeBox.exit(code); };
  channel.on('error', () => { end(1); });
  channel.on('end', () => { end(0); });
  readFrames(channel, (frame) => { take(deserialize(frame)); });
  return {
    start: await first.promise,
    say: (answer) => { writeFrame(channel, serialize(answer)); },
    serve: (handle, closing) => {
      ({ exit: end } = enterBox(closing));
      let last = Promise.resolve();
      take = (message) => { last = last.then(() => handle(message as Message)); };
      for (const message of waiting.splice(0)) take(message);
    },
  };
}
