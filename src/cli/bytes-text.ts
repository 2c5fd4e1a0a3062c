import { counted } from '../core/counted.ts';

/** Returns a size for people: "840 bytes", "2.7 kB", "40.4 MB", in powers of a thousand. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return counted(bytes, 'byte');
  const step = Math.min(3, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1_000 ** step).toFixed(1)} ${['', 'kB', 'MB', 'GB'][step]!}`;
}
