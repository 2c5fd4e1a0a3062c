import { StringDecoder } from 'node:string_decoder';
import type { Readable, Writable } from 'node:stream';
import { printableOutput } from '../../core/text.ts';

/** The longest beginning of a sequence that waits for its end. */
// oxlint-disable-next-line no-control-regex
const UNFINISHED = /(?:\r|\r?\u001B(?:\[\d{0,2})?)$/;

/** The output of a boxed process on its way to a stream of this process. */
interface PassedOutput {
  /** Whether the stream takes no more for now. */
  readonly isBlocked: () => boolean;
  /** Writes text that was held back. */
  readonly write: (text: string) => void;
}

/**
 * Passes on what a boxed process writes, in order and in full, with control characters as escapes. Of these only the
 * sequences of our own output reach a terminal. `sift` returns the part of a text that is passed on. While `to` takes
 * no more, the process waits; where its reader has closed it, the process is told so by its own pipe.
 */
export function passOutput(from: Readable, to: Writable, sift: (text: string) => string): PassedOutput {
  const decoder = new StringDecoder();
  const isTerminal = 'isTTY' in to && to.isTTY === true;
  let unfinished = '';
  let isBlocked = false;
  const write = (text: string, whenDone?: (error?: Error | null) => void): void => {
    to.write(printableOutput(text, { isTerminal }), whenDone);
  };
  const pass = (text: string): void => {
    const shown = unfinished + sift(text);
    unfinished = isTerminal ? UNFINISHED.exec(shown)?.[0] ?? '' : '';
    if (shown.length === unfinished.length) return;
    isBlocked = true;
    from.pause();
    write(shown.slice(0, shown.length - unfinished.length), (error) => {
      isBlocked = false;
      if (error !== null && error !== undefined && 'code' in error && error.code === 'EPIPE') from.destroy();
      else from.resume();
    });
  };
  from.on('data', (chunk: Buffer) => { pass(decoder.write(chunk)); });
  from.on('end', () => {
    const last = unfinished + sift(decoder.end());
    if (last !== '') write(last);
  });
  from.on('error', () => { from.destroy(); });
  return { isBlocked: () => isBlocked, write: (text) => { if (text !== '') write(text); } };
}
