import { z } from 'zod';

/** Where a recording's events come from, as its manifest says it. */
export const recordingSource = z.discriminatedUnion('kind', [
  /** Watched as they happened. */
  z.object({ kind: z.literal('watched') }),
  /** Made up, of a market of this name. */
  z.object({ kind: z.literal('synthetic'), market: z.string(), seed: z.number().int() }),
  /** Taken from a file of this name. */
  z.object({ kind: z.literal('imported'), file: z.string(), form: z.enum(['candles', 'quotes']) }),
]);

export type RecordingSource = Readonly<z.infer<typeof recordingSource>>;

/**
 * What a manifest means that names no source: only what watches wrote such ones, and generators of releases before this
 * one.
 */
export const WATCHED: RecordingSource = { kind: 'watched' };
