/** The length of the shortest base58 address: a member name of this length is an address, not a word. */
const SHORTEST_ADDRESS = 32;

/** Returns an answer for `--json`: member names in snake_case except addresses, bytes in base64, maps as objects. */
export function snakeCased(value: unknown): unknown {
  return rewritten(value, (key) =>
    (key.length >= SHORTEST_ADDRESS ? key : key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)));
}

/** Returns an answer with the service's own member names: bytes in base64, maps as objects. */
export function asTheService(value: unknown): unknown {
  return rewritten(value, (key) => key);
}

function rewritten(value: unknown, spell: (key: string) => string): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map((item) => rewritten(item, spell));
  if (typeof value !== 'object' || value === null) return value;
  const entries: [string, unknown][] = value instanceof Map ? [...(value as Map<string, unknown>)]
    : Object.entries(value);
  return Object.fromEntries(entries.map(([key, member]) => [spell(key), rewritten(member, spell)]));
}
