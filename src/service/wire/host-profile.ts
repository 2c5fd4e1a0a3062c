import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { GannetError, messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';

const rounding = z.enum(['down', 'up', 'unknown']);
const members = z.strictObject({ absent: z.array(z.string()), extra: z.array(z.string()) });
const units = z.string().regex(/^\d{1,20}$/);
const median = z.number().nonnegative().nullable();

const HostProfileFile = z.strictObject({
  format: z.literal(1),
  /** The origin of the service, `https://host.example`. */
  host: z.string().min(1).max(300),
  dialect: z.string().min(1).max(64),
  recorded_at: z.iso.datetime(),
  /** How each route rounds the least output; unknown where no amount told the two apart. */
  rounding: z.strictObject({ order: rounding, build: rounding }),
  /** What the service added to an order by itself, the most that was seen; "0" for none. */
  tip: z.strictObject({ lamports: units, receivers: z.array(z.string()).max(64) }),
  /** How the share of a route's step is written. */
  percent: z.enum(['integer', 'fraction', 'absent', 'unknown']),
  /** How `priceImpact` of an order counts. */
  price_impact: z.enum(['fraction', 'points', 'unknown']),
  /** The swap programs that transactions called, each with the layout that read it, null for none. */
  programs: z.array(z.strictObject({
    program: z.string(), layout: z.string().nullable(), routes: z.array(z.enum(['order', 'build'])),
  })).max(64),
  /** Of each answer, the members that the reference names and the host left out, and those that only the host has. */
  members: z.strictObject({ order: members, build: members }),
  /** What the host's headers state of the limit; null where they state nothing. */
  limits: z.strictObject({ requests: z.number().nullable(), window_ms: z.number().nullable() }),
  /** Medians of what was measured; null where nothing was. */
  latency_ms: z.strictObject({ order: median, build: median, node: median }),
  node: z.strictObject({
    genesis_hash: z.string().nullable(), version: z.string().nullable(),
    /** The newest transaction version that the node answers for; null where none could be found out. */
    transaction_version: z.number().int().nullable(), websocket: z.boolean().nullable(),
  }),
});

/** What `gannet rehearse` learned of a host, without a secret; `gannet sandbox --profile FILE` behaves like it. */
export type HostProfile = z.infer<typeof HostProfileFile>;

/** A real one has a few kilobytes. */
const LARGEST_BYTES = 1_048_576;

/**
 * Returns the profile in a file. Throws CONFIG_INVALID, naming the file and the member that is wrong, and the fault of
 * the system where the file cannot be read.
 */
export function readHostProfileFile(file: string): HostProfile {
  const found = statSync(file);
  // A device or a pipe may have no end, or wait for good.
  if (!found.isFile()) throw new GannetError('CONFIG_INVALID', `${file}: expected a file with a host profile`);
  if (found.size > LARGEST_BYTES) throw new GannetError(
    'CONFIG_INVALID', `${file}: expected a host profile of at most ${LARGEST_BYTES} bytes, got ${found.size}`,
  );
  return readHostProfile(file, readFileSync(file, 'utf8'));
}

/** Returns the profile in a file's text. Throws CONFIG_INVALID, naming the file and the member that is wrong. */
function readHostProfile(file: string, text: string): HostProfile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new GannetError(
      'CONFIG_INVALID', `${file}: expected a host profile in JSON: ${printable(messageOf(cause))}`, { cause },
    );
  }
  const read = HostProfileFile.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new GannetError(
    'CONFIG_INVALID',
    `${file}: expected a host profile of format 1: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'unreadable'}`,
  );
}
