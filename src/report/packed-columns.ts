/** A column of numbers; a list of one number says how often the value before it is repeated. */
export type Runs = readonly (number | null | readonly [more: number])[];

/** Returns a column with counted repetitions. */
export function packRuns(column: readonly (number | null)[]): Runs {
  const runs: (number | null | readonly [number])[] = [];
  for (let from = 0, to = 0; from < column.length; from = to) {
    while (to < column.length && Object.is(column[to], column[from])) to += 1;
    runs.push(column[from]!);
    if (to - from > 1) runs.push([to - from - 1]);
  }
  return runs;
}

/** Returns a packed column as it was. */
export function unpackRuns(runs: Runs): (number | null)[] {
  const column: (number | null)[] = [];
  for (const run of runs) {
    if (typeof run === 'number' || run === null) column.push(run);
    else for (let more = run[0]; more > 0; more--) column.push(column.at(-1)!);
  }
  return column;
}
