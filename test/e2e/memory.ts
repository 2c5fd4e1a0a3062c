import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const CHUNK = 4 * 1_048_576;

/** Returns the names of those needles that stand anywhere in the memory of a process that can be read. */
export function foundInMemory(pid: number, needles: Readonly<Record<string, Buffer>>): string[] {
  const overlap = Math.max(...Object.values(needles).map(({ length }) => length)) - 1;
  const found = new Set<string>();
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const buffer = Buffer.alloc(CHUNK + overlap);
  try {
    for (const { from, to } of readableRegions(pid)) {
      for (let at = from; at < to; at += CHUNK) {
        const length = readOrSkip(memory, buffer, { at, length: Math.min(CHUNK + overlap, to - at) });
        const bytes = buffer.subarray(0, length);
        for (const [name, needle] of Object.entries(needles)) if (bytes.includes(needle)) found.add(name);
      }
    }
  } finally {
    closeSync(memory);
  }
  return [...found].sort();
}

function readableRegions(pid: number): { readonly from: number; readonly to: number }[] {
  return readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n').flatMap((line) => {
    const [, from, to, name = ''] = /^([0-9a-f]+)-([0-9a-f]+) r\S+ \S+ \S+ \S+\s*(.*)$/.exec(line) ?? [];
    return from === undefined || to === undefined || name.startsWith('[v') ? []
      : [{ from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) }];
  });
}

function readOrSkip(
  memory: number, buffer: Buffer, { at, length }: { readonly at: number; readonly length: number },
): number {
  try {
    return readSync(memory, buffer, 0, length, at);
  } catch {
    // Given back since the list was made.
    return 0;
  }
}
