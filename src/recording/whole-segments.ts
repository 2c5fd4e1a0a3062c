import type { SegmentDigest } from './segment-digest.ts';
import { segmentName } from './segment-name.ts';
import { segmentSize } from './segment-file.ts';

/** The lines whose rows are there, and for each segment the last digest of a file that is, in the order of their rows. */
export interface WholeSegments<T extends SegmentDigest> {
  readonly lines: readonly T[];
  readonly segments: readonly T[];
}

const MOST_LOOKS = 10;

/**
 * Returns what the digests say of files that are at least as long as they say. A file that is shorter lost its end with the
 * machine, or itself: an earlier digest of the segment holds then, or none. `read` is called again where a file has gone
 * since: the writer compresses segments while others read.
 */
export function wholeSegments<T extends SegmentDigest>(directory: string, read: () => readonly T[]): WholeSegments<T> {
  for (let look = 1; ; look++) {
    const digests = read();
    const sizes = new Map([...new Set(digests.map(({ file }) => file))].map((file) => [file, segmentSize(directory, file)]));
    const gone = [...Map.groupBy(digests, ({ file }) => segmentName(file)).values()].some((own) => own.every(({ file }) => sizes.get(file) === undefined));
    if (gone && look < MOST_LOOKS && read().length > digests.length) continue;
    const isWhole = ({ file, bytes }: T): boolean => bytes <= (sizes.get(file) ?? -1);
    const last = new Map(digests.filter(isWhole).map((line) => [segmentName(line.file), line]));
    // What was said of a file that is compressed since holds of the other.
    const isKept = (line: T): boolean => isWhole(line) || last.get(segmentName(line.file))?.compressed !== undefined;
    return { lines: digests.filter(isKept), segments: [...last.values()].sort((a, b) => a.firstSeq - b.firstSeq) };
  }
}
