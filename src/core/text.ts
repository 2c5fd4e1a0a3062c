// C0 and C1 controls, bidirectional overrides and zero-width characters: what can forge a log line or a terminal.
// oxlint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
/** The same without those below the blank: in a JSON text they stand between its parts alone, in strings as escapes. */
const UNSAFE_IN_JSON = /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * Returns text from outside (token names, error messages) made safe to log or print:
 * controls and invisible characters become escapes, and it is cut at `limit` characters.
 */
export function printable(text: string, limit = 200): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return cut.replace(UNSAFE, escapeOf);
}

/** Returns a JSON text made safe to log or print: the same document, in which such characters stand as escapes. */
export function printableJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, escapeOf);
}

function escapeOf(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Returns a message from outside in one line; where it is JSON, or ends in JSON, what that says instead of the JSON
 * itself.
 */
export function plainMessage(text: string, limit = 200): string {
  const begins = text.search(/[{[]/);
  const found = begins < 0 ? undefined : messageWithin(text.slice(begins));
  const lead = text.slice(0, Math.max(0, begins)).trim();
  const plain = found === undefined ? text : [lead.replace(/:$/, ''), found].filter((part) => part !== '').join(': ');
  return printable(plain.replace(/\s+/g, ' ').trim(), limit);
}

/**
 * Returns the message in a JSON text, however deep: of several members, those that usually hold one. Undefined in what
 * is no JSON.
 */
function messageWithin(json: string): string | undefined {
  try {
    return messageIn(JSON.parse(json)) ?? 'no reason given';
  } catch {
    return undefined;
  }
}

function messageIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return value.map(messageIn).find((message) => message !== undefined);
  const members = value as Readonly<Record<string, unknown>>;
  for (const name of ['message', 'error', 'errors', 'reason', 'detail', 'details', 'err', 'data']) {
    const message = Object.hasOwn(members, name) ? messageIn(members[name]) : undefined;
    if (message !== undefined) return message;
  }
  return undefined;
}
