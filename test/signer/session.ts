import { createSecretKey } from 'node:crypto';
import type { openSpendingCaps } from '../../src/signer/counters/caps.ts';
import { createFrameReader, createFrameWriter } from '../../src/signer/channel/channel-frames.ts';

/** A session between a signer and the daemon of a test. */
export const SESSION_KEY = Buffer.alloc(32, 5);
/** Authenticates the counters of a test's wallet. */
export const COUNTERS_KEY = createSecretKey(Buffer.alloc(32, 6));

type SpendingCaps = ReturnType<typeof openSpendingCaps>;

/** Returns counters that begin with nothing spent, where they are new. */
export function begun(caps: SpendingCaps): SpendingCaps {
  caps.prove(0);
  return caps;
}

/** Returns messages as a daemon sends them from the start of a session, whatever they are. */
export function daemonFrames(...messages: readonly unknown[]): Buffer {
  const frame = createFrameWriter(SESSION_KEY, 'daemon');
  return Buffer.concat(messages.map(frame));
}

/** Returns a reader of a signer's answers. */
export function signerAnswers(take: (message: unknown) => void): (bytes: Buffer) => void {
  return createFrameReader(SESSION_KEY, 'signer', take);
}
