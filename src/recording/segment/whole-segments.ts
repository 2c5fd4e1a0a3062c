import { dirname } from 'node:path';
import type { Millis } from '../../core/time.ts';
import type { SegmentDigest } from './digest.ts';
import { segmentName } from './name.ts';
import { segmentSize } from './segment-file.ts';

/**
 * The lines whose rows are there, and for each segment the last digest of a file that is, in the order of their rows.
 */
export interface WholeSegments<T extends SegmentDigest> {
  readonly lines: readonly T[];
  readonly segments: readonly T[];
  /** What was written and is not there any more, by segment. */
  readonly lost: readonly LostRows[];
}

/** Rows at the end of a segment, or all of one, that digests speak of and no file holds. */
export interface LostRows {
  /** Where they would be. */
  readonly file: string;
  readonly rows: number;
  /** Of the last row that is there, else of the first that was; of the last that was. */
  readonly from: Millis;
  readonly until: Millis;
  /** Whether later rows of the same kind are there: it is a hole, not an end. */
  readonly isHole: boolean;
}

const MOST_LOOKS = 10;

/**
 * Returns what the digests say of files that are at least as long as they say. A file that is shorter lost its end with
 * the machine, or itself: an earlier digest of the segment holds then, or none. `read` is called again where a file has
 * gone since: the writer compresses segments while others read.
 */
export function wholeSegments<T extends SegmentDigest>(directory: string, read: () => readonly T[]): WholeSegments<T> {
  for (let look = 1; ; look++) {
    const digests = read();
    const sizes = new Map([...new Set(digests.map(({ file }) => file))].map((file) =>
      [file, segmentSize(directory, file)]));
    const gone = [...Map.groupBy(digests, ({ file }) => segmentName(file)).values()]
      .some((own) => own.every(({ file }) => sizes.get(file) === undefined));
    if (gone && look < MOST_LOOKS && isOther(read(), digests)) continue;
    const isWhole = ({ file, bytes }: T): boolean => bytes <= (sizes.get(file) ?? -1);
    const last = new Map(digests.filter(isWhole).map((line) => [segmentName(line.file), line]));
    // What was said of a file that is compressed since holds of the other, as far as that one goes.
    const isKept = (line: T): boolean =>
      isWhole(line) || line.bytes <= (last.get(segmentName(line.file))?.compressed?.rawBytes ?? -1);
    return {
      lines: digests.filter(isKept), segments: [...last.values()].sort((a, b) => a.firstSeq - b.firstSeq),
      lost: lostRows(digests, last),
    };
  }
}

/** Lines are added, and those of no more use are taken out. */
function isOther(now: readonly SegmentDigest[], before: readonly SegmentDigest[]): boolean {
  return now.length !== before.length || now.at(-1)?.sha256 !== before.at(-1)?.sha256;
}

/** A segment that was compressed without its lost end has a last digest that says so. */
function lostRows(digests: readonly SegmentDigest[], whole: ReadonlyMap<string, SegmentDigest>): LostRows[] {
  const said = new Map(digests.map((digest) => [segmentName(digest.file), digest]));
  for (const digest of digests)
    if (digest.rows > said.get(segmentName(digest.file))!.rows) said.set(segmentName(digest.file), digest);
  return [...said].flatMap(([name, { file, rows, firstSeq, firstAt, lastAt }]): LostRows[] => {
    const left = whole.get(name);
    if (rows === 0 || left?.rows === rows) return [];
    const isHole = [...whole.values()]
      .some((other) => other.firstSeq > firstSeq && dirname(other.file) === dirname(file));
    return [{ file, rows: rows - (left?.rows ?? 0), from: left?.lastAt ?? firstAt, until: lastAt, isHole }];
  });
}
