import type { KeyValue } from 'hyparquet-writer';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { GannetError } from '../../core/errors.ts';
import { parseJson, stringifyJson } from '../../core/json.ts';
import { printable } from '../../core/text.ts';
import { syncFolder } from '../files/durable-write.ts';
import type { RecordingKind } from '../format.ts';
import { MANIFEST_FILE, RECORDING_KINDS } from '../format.ts';
import { faultText } from '../import/input-file.ts';
import { yieldToInterrupt } from '../interrupt.ts';
import { parseManifest } from '../manifest.ts';
import type { KindChoice, Recording } from '../reader.ts';
import type { ExportProgress } from './jsonl.ts';
import { ParquetFile } from './parquet-file.ts';
import { recordedKind } from '../kinds/recorded-kinds.ts';
import { refuseExisting } from './unfinished-file.ts';

/** A written Parquet file. */
export interface ExportedTable {
  readonly kind: RecordingKind;
  readonly file: string;
  readonly events: number;
  /** More than the events where an input has many rows: a book has one for each level. */
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Writes a Parquet file for each kind of the recording, or for each given kind, even an empty one. A failed export
 * leaves no file. Throws USAGE where a file exists or the folder cannot be created, RECORDING_WRITE_FAILED, and
 * INTERRUPTED.
 */
export async function exportParquet(recording: Recording, {
  directory, kinds = recording.kinds, interrupt, onEvents,
}: KindChoice & ExportProgress & { readonly directory: string }): Promise<readonly ExportedTable[]> {
  const chosen = RECORDING_KINDS.filter((kind) => kinds.includes(kind))
    .map((kind) => ({ kind, path: join(directory, `${kind}.parquet`) }));
  const isNew = makeFolder(directory);
  const files: ParquetFile<unknown>[] = [];
  let written = 0;
  try {
    const tables: ExportedTable[] = [];
    for (const { path } of chosen) refuseExisting(path);
    for (const { kind, path } of chosen) {
      const table = recordedKind(kind).parquet;
      const file = new ParquetFile({ path, columns: table.columns, metadata: parquetMetadata(recording, kind) });
      files.push(file);
      const events =
        await writeRows(recording, { kind, table, file, interrupt, onEvents: (done) => onEvents?.(written + done) });
      written += events;
      tables.push({ kind, file: path, events, rows: file.rows, bytes: file.bytes });
    }
    for (const { path } of chosen) refuseExisting(path);
    for (const file of files) file.publish();
    syncFolder(directory);
    return tables;
  } catch (error) {
    for (const file of files) file.discard();
    if (isNew && existsSync(directory) && readdirSync(directory).length === 0) rmdirSync(directory);
    throw error;
  }
}

/** Checks for an interrupt between row groups. */
async function writeRows(recording: Recording, { kind, table, file, interrupt, onEvents }: ExportProgress & {
  readonly kind: RecordingKind;
  readonly table: ReturnType<typeof recordedKind>['parquet'];
  readonly file: ParquetFile<unknown>;
}): Promise<number> {
  const cursor = recording.cursor({ kinds: [kind] });
  let events = 0;
  await yieldToInterrupt(interrupt);
  while (cursor.next()) {
    events += 1;
    for (const row of table.rowsOf(cursor)) {
      if (!file.append(row)) continue;
      await yieldToInterrupt(interrupt);
      onEvents?.(events);
    }
  }
  file.finish();
  return events;
}

function makeFolder(directory: string): boolean {
  try {
    return mkdirSync(directory, { recursive: true }) !== undefined;
  } catch (cause) {
    throw new GannetError(
      'USAGE',
      `the folder ${printable(directory)} cannot be made for the export: ${faultText(cause)}; name another with --out`,
      { cause },
    );
  }
}

/**
 * Returns the metadata of a Parquet file about its recording: the format, the SHA-256 at the end of the manifest, the
 * tokens, and the end of one that was cut off. The hash is left out when the recording was closed meanwhile: its
 * manifest then describes more than was read.
 */
export function parquetMetadata(
  { directory, manifest, tokens, truncatedAt }: Recording, kind: RecordingKind,
): KeyValue[] {
  const text = readFileSync(join(directory, MANIFEST_FILE), 'utf8');
  const { sha256 } = parseJson(text) as { readonly sha256: string };
  return [
    { key: 'gannet.kind', value: kind },
    { key: 'gannet.recording_format', value: String(manifest.formatVersion) },
    ...(parseManifest(text).closed === manifest.closed ? [{ key: 'gannet.manifest_sha256', value: sha256 }] : []),
    ...(truncatedAt === undefined ? [] : [{ key: 'gannet.truncated_at', value: String(truncatedAt) }]),
    { key: 'gannet.tokens', value: stringifyJson(tokens.all.map(({ mint, symbol, decimals }) =>
      ({ mint, symbol, decimals }))) },
  ];
}
