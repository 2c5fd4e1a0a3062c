// Lamports, token supplies and block heights are JSON numbers in these protocols, however long; the language calls that
// raw JSON.
const { rawJSON } = JSON as typeof JSON & { rawJSON: (text: string) => unknown };

/**
 * Returns an integer for an answer: a bigint only where a number would not be exact, since bigints are slow to write.
 */
export function exactNumber(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Returns compact JSON with bigints as the numbers they are. */
export function jsonText(value: unknown): string {
  try {
    // Without a replacer it is ten times as fast, and almost nothing holds a bigint.
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, (_key, member: unknown) =>
      (typeof member === 'bigint' ? rawJSON(member.toString()) : member));
  }
}
