// Documents: plain data of many forms, kept as one JSON text. What is read back equals what was written, bigints too.

/** Returns the JSON text of a document; a bigint becomes `{"bigint":"…"}`. Throws TypeError on other data. */
export function documentText(value: object): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === 'bigint') return { bigint: member.toString() };
    if (typeof member === 'number' && !Number.isFinite(member))
      throw new TypeError(`JSON cannot hold the number ${member}`);
    return member;
  });
}

const BIGINT = /^-?\d{1,40}$/;

/** Returns the document in a text that `documentText` wrote. Throws SyntaxError on other texts. */
export function readDocument(text: string): unknown {
  return text.includes('{"bigint":') ? JSON.parse(text, reviveBigint) : JSON.parse(text);
}

function reviveBigint(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { bigint } = value as { readonly bigint?: unknown };
  return typeof bigint === 'string' && BIGINT.test(bigint) ? BigInt(bigint) : value;
}
