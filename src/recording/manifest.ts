import { createHash } from 'node:crypto';
import { z } from 'zod';
import { GannetError } from '../core/errors.ts';
import { parseJson, stringifyJson } from '../core/json.ts';
import { printable } from '../core/text.ts';
import type { Millis } from '../core/time.ts';
import type { Token } from '../market/token.ts';
import { mint } from '../market/token.ts';
import type { RecordingKind, RecordingSource } from './format.ts';
import {
  MANIFEST_FILE, READABLE_FORMATS, RECORDING_FORMAT, RECORDING_KINDS, WATCHED, recordingSource,
} from './format.ts';
import type { SegmentDigest } from './segment/digest.ts';
import { digestFromJson, digestJson, digestToJson } from './segment/digest.ts';

/** The totals of a kind. */
interface KindCount {
  readonly kind: RecordingKind;
  readonly rows: number;
  readonly events: number;
}

/**
 * The description of a recording. Counts, ends and files are in it once it is closed; until then they are in the
 * digests.
 */
export interface RecordingManifest {
  readonly formatVersion: number;
  readonly closed: boolean;
  readonly source: RecordingSource;
  /**
   * The same for the whole life of a recording and for copies; undefined for recordings identified by content, and for
   * older ones.
   */
  readonly id?: string | undefined;
  readonly createdAt: Millis;
  /** Undefined while it is being written, and after its writer died. */
  readonly endedAt?: Millis | undefined;
  readonly node: string;
  readonly arch: string;
  readonly tokens: readonly Token[];
  readonly feeds: readonly string[];
  readonly kinds: readonly KindCount[];
  /** Segments in the order of their start. */
  readonly files: readonly SegmentDigest[];
  /** SHA-256 of the digest file, hex; undefined until closed. */
  readonly digestsSha256?: string | undefined;
}

const manifestJson = z.object({
  format_version: z.number(),
  readable_since: z.string(),
  closed: z.boolean(),
  source: recordingSource.default(WATCHED),
  id: z.string().nullable().default(null),
  created_at: z.number().int(),
  ended_at: z.number().int().nullable(),
  node: z.string(),
  arch: z.string(),
  tokens: z.array(z.object({ mint: z.string(), symbol: z.string(), decimals: z.number().int().min(0).max(255) })),
  feeds: z.array(z.string()),
  kinds: z.array(z.object({ kind: z.enum(RECORDING_KINDS), rows: z.number().int(), events: z.number().int() })),
  events: z.number().int(),
  first_seq: z.number().int().nullable(),
  last_seq: z.number().int().nullable(),
  first_at: z.number().int().nullable(),
  last_at: z.number().int().nullable(),
  files: z.array(digestJson),
  digests_sha256: z.string().nullable(),
  sha256: z.string(),
});

/** The totals of segments. */
interface Totals {
  readonly kinds: readonly KindCount[];
  readonly events: number;
  readonly firstSeq: number | undefined;
  readonly lastSeq: number | undefined;
  readonly firstAt: Millis | undefined;
  readonly lastAt: Millis | undefined;
}

/** Returns the totals of segments; the ends are undefined without rows. */
export function totalsOf(files: readonly SegmentDigest[]): Totals {
  const filled = files.filter(({ rows }) => rows > 0);
  const kinds = RECORDING_KINDS.flatMap((kind) => {
    const own = filled.filter(({ file }) => file.startsWith(`${kind}/`));
    return own.length === 0 ? [] : [{ kind, rows: sum(own, 'rows'), events: sum(own, 'events') }];
  });
  return {
    kinds,
    events: sum(filled, 'events'),
    firstSeq: least(filled.map(({ firstSeq }) => firstSeq)),
    lastSeq: greatest(filled.map(({ lastSeq }) => lastSeq)),
    firstAt: least(filled.map(({ firstAt }) => firstAt)),
    lastAt: greatest(filled.map(({ lastAt }) => lastAt)),
  };
}

/**
 * Returns the text of a manifest. It ends with the SHA-256 of everything before it, so that every change is detected.
 */
export function formatManifest(manifest: RecordingManifest): string {
  const totals = totalsOf(manifest.files);
  const body = stringifyJson({
    format_version: manifest.formatVersion,
    readable_since: RECORDING_FORMAT.since,
    closed: manifest.closed,
    source: manifest.source,
    id: manifest.id ?? null,
    created_at: manifest.createdAt,
    ended_at: manifest.endedAt ?? null,
    node: manifest.node,
    arch: manifest.arch,
    tokens: manifest.tokens.map(({ mint, symbol, decimals }) => ({ mint, symbol, decimals })),
    feeds: manifest.feeds,
    kinds: totals.kinds,
    events: totals.events,
    first_seq: totals.firstSeq ?? null,
    last_seq: totals.lastSeq ?? null,
    first_at: totals.firstAt ?? null,
    last_at: totals.lastAt ?? null,
    files: manifest.files.map(digestToJson),
    digests_sha256: manifest.digestsSha256 ?? null,
  }, 2).slice(0, -CLOSING.length);
  return body + hashSuffix(body);
}

/**
 * Parses a manifest. Throws RECORDING_VERSION on another format, naming the release that reads it, and
 * RECORDING_CORRUPT on any change of the text.
 */
export function parseManifest(text: string): RecordingManifest {
  const json = parseObject(text);
  refuseOtherVersion(json);
  const body = text.slice(0, -HASH_SUFFIX_LENGTH);
  if (text.slice(-HASH_SUFFIX_LENGTH) !== hashSuffix(body)) {
    throw corrupt(`expected at its end the SHA-256 of what stands before, ${sha256Of(body)}, `
      + `found ${printable(text.slice(-HASH_SUFFIX_LENGTH).replaceAll(/\s+/g, ' '))}`);
  }
  const parsed = manifestJson.safeParse(json);
  if (!parsed.success) throw corrupt(z.prettifyError(parsed.error), parsed.error);
  const { data } = parsed;
  return {
    formatVersion: data.format_version,
    closed: data.closed,
    source: data.source,
    id: data.id ?? undefined,
    createdAt: data.created_at,
    endedAt: data.ended_at ?? undefined,
    node: data.node,
    arch: data.arch,
    tokens: data.tokens.map((token) => ({ ...token, mint: mint(token.mint) })),
    feeds: data.feeds,
    kinds: data.kinds,
    files: data.files.map(digestFromJson),
    digestsSha256: data.digests_sha256 ?? undefined,
  };
}

function parseObject(text: string): object {
  let json: unknown;
  try {
    json = parseJson(text);
  } catch (cause) {
    throw corrupt(
      `expected a JSON object, found ${text === '' ? 'nothing' : `${text.length} characters that are none`}`, cause,
    );
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw corrupt('expected a JSON object, found something else');
  return json;
}

function refuseOtherVersion(json: object): void {
  const version = 'format_version' in json ? json.format_version : undefined;
  if (typeof version !== 'number') throw corrupt('expected a format_version');
  if (READABLE_FORMATS.includes(version)) return;
  const since = 'readable_since' in json && typeof json.readable_since === 'string' ? printable(json.readable_since, 20)
    : 'another release';
  throw new GannetError('RECORDING_VERSION',
    `the recording has format ${version}, which Gannet ${since} reads; this one reads `
      + `formats ${READABLE_FORMATS.join(' and ')}`,
    {
      details: { found: version, expected: READABLE_FORMATS.join(' or '), readable_since: since },
    });
}

function corrupt(problem: string, cause?: unknown): GannetError {
  return new GannetError('RECORDING_CORRUPT', `${MANIFEST_FILE}: ${problem}; restore the file from a copy`, {
    details: { file: MANIFEST_FILE }, cause,
  });
}

const CLOSING = '\n}';

function hashSuffix(body: string): string {
  return `,\n  "sha256": "${sha256Of(body)}"${CLOSING}\n`;
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const HASH_SUFFIX_LENGTH = hashSuffix('').length;

function least(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.min(...values);
}

function greatest(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.max(...values);
}

function sum(digests: readonly SegmentDigest[], member: 'rows' | 'events'): number {
  return digests.reduce((total, digest) => total + digest[member], 0);
}
