/** Returns rising numbers for people, those that follow one another together: "2 to 9, 11 and 14". */
export function numbersText(numbers: readonly number[]): string {
  const runs: { readonly from: number; to: number }[] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last !== undefined && number === last.to + 1) last.to = number;
    else runs.push({ from: number, to: number });
  }
  const texts = runs.flatMap(({ from, to }) => (to - from > 1 ? [`${from} to ${to}`] : from === to ? [String(from)] : [String(from), String(to)]));
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)!}`;
}
