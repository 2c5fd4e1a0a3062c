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
