/** Tasks at future slots, run in the order of their slots; at one slot, in the order they were added. */
export interface Agenda {
  at(slot: number, act: (slot: number) => void): void;
  /** Runs all tasks that are due up to and including `slot`, also those that tasks add on the way. */
  runUntil(slot: number): void;
}

interface Entry {
  readonly slot: number;
  readonly order: number;
  readonly act: (slot: number) => void;
}

/** Returns an empty agenda: a binary heap. */
export function createAgenda(): Agenda {
  const heap: Entry[] = [];
  let count = 0;

  const isBefore = (a: Entry, b: Entry): boolean => a.slot < b.slot || (a.slot === b.slot && a.order < b.order);

  const rise = (start: number): void => {
    let at = start;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(heap[at]!, heap[parent]!)) return;
      [heap[at], heap[parent]] = [heap[parent]!, heap[at]!];
      at = parent;
    }
  };

  const sink = (): void => {
    let at = 0;
    for (;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let first = at;
      if (left < heap.length && isBefore(heap[left]!, heap[first]!)) first = left;
      if (right < heap.length && isBefore(heap[right]!, heap[first]!)) first = right;
      if (first === at) return;
      [heap[at], heap[first]] = [heap[first]!, heap[at]!];
      at = first;
    }
  };

  const takeFirst = (): Entry => {
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length > 0) {
      heap[0] = last;
      sink();
    }
    return first;
  };

  return {
    at(slot, act) {
      heap.push({ slot, order: count++, act });
      rise(heap.length - 1);
    },
    runUntil(slot) {
      while (heap.length > 0 && heap[0]!.slot <= slot) {
        const { slot: due, act } = takeFirst();
        act(due);
      }
    },
  };
}
