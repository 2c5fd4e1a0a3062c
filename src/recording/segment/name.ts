const COMPRESSED = '.zst';

/** Returns the name that a segment has before and after it is compressed: `quote/2026-11-20T19.arrows`. */
export function segmentName(file: string): string {
  return file.endsWith(COMPRESSED) ? file.slice(0, -COMPRESSED.length) : file;
}

/** Returns the name of a segment's compressed file. */
export function compressedName(file: string): string {
  return `${segmentName(file)}${COMPRESSED}`;
}
