/** Returns the text of a number with its thousands apart: "12,345.6". */
export function grouped(text: string): string {
  return text.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(?:\d{3})+$)/g, ','));
}

/** Returns how many there are of something: "1 fill", "4,412 fills". `many` is for words that do not take an s. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(String(count))} ${count === 1 ? one : many}`;
}

/** Returns counts for people, "3 confirmed, 1 expired"; "none" without any. */
export function formatCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${grouped(String(count))} ${name}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}
