import { z } from 'zod';
import { wireAddress, wireText } from './fields.ts';
import { readWire } from './read.ts';

const WireLabels = z.record(wireAddress, wireText);

/**
 * Returns the names of markets by their program: the words for `dexes` and `excludeDexes`. Two programs may share one.
 * Throws SERVICE_MALFORMED.
 */
export function readLabels(answer: unknown): ReadonlyMap<string, string> {
  return new Map(Object.entries(readWire(WireLabels, answer, 'program-id-to-label')));
}
