import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyValue } from 'hyparquet-writer';
import { parseJson, stringifyJson } from '../../core/json.ts';
import type { RecordingKind } from '../format.ts';
import { MANIFEST_FILE } from '../format.ts';
import { parseManifest } from '../manifest.ts';
import type { Recording } from '../reader.ts';

/**
 * Returns what a Parquet file says of the recording that it comes from: its format, the SHA-256 that its manifest ends
 * with, its tokens, and where it ends if it was cut off. The manifest of one that was closed meanwhile speaks of more
 * than was read.
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
