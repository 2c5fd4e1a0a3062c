// C0 and C1 controls, bidirectional overrides and zero-width characters: what can forge a log line or a terminal.
// oxlint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
/** The same without the C0 controls, which JSON strings hold as escapes only. */
const UNSAFE_IN_JSON = /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * Returns text from outside (token names, error messages) made safe to log or print:
 * controls and invisible characters become escapes, and it is cut at `limit` characters.
 */
export function printable(text: string, limit = 200): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return cut.replace(UNSAFE, escapeOf);
}

/** Returns a JSON text made safe to log or print: the same document, with unsafe characters as escapes. */
export function printableJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, escapeOf);
}

/** The sequences of our own output: bold text, and the progress line that overwrites itself. */
// oxlint-disable-next-line no-control-regex
const OWN_SEQUENCE = /(\r\u001B\[K|\u001B\[(?:1|22)m)/;

/** Returns the output of a command made safe for a terminal; one gets the sequences of our own output as they are. */
export function printableOutput(text: string, { isTerminal }: { readonly isTerminal: boolean }): string {
  if (!isTerminal) return escapedText(text);
  return text.split(OWN_SEQUENCE).map((part, index) => (index % 2 === 1 ? part : escapedText(part))).join('');
}

/** Line ends and tabs stay. */
function escapedText(text: string): string {
  return text.replace(UNSAFE, (char) => (char === '\n' || char === '\t' ? char : escapeOf(char)));
}

function escapeOf(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Returns a message from outside in one line. JSON in it is replaced by the message that the JSON contains. */
export function plainMessage(text: string, limit = 200): string {
  const begins = text.search(/[{[]/);
  const found = begins < 0 ? undefined : messageWithin(text.slice(begins));
  const lead = text.slice(0, Math.max(0, begins)).trim();
  const plain = found === undefined ? text : [lead.replace(/:$/, ''), found].filter((part) => part !== '').join(': ');
  return printable(plain.replace(/\s+/g, ' ').trim(), limit);
}

/** Returns the message in a JSON text, at any depth, by the usual member names; undefined where it is not JSON. */
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

/** Returns the text of a number with thousands separators: "12,345.6". */
export function groupThousands(text: string): string {
  return text.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(?:\d{3})+$)/g, ','));
}

/** Returns a count with its noun: "1 fill", "4,412 fills". `many` is the plural of words that do not take an s. */
export function pluralize(count: number, one: string, many = `${one}s`): string {
  return `${groupThousands(String(count))} ${count === 1 ? one : many}`;
}

/** Returns counts for people, "3 confirmed, 1 expired"; "none" without any. */
export function formatCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${groupThousands(String(count))} ${name}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}

const CSV_QUOTED = /[",\r\n]/;
/** A spreadsheet would read such a text as a formula. */
const CSV_FORMULA = /^[=+@\t\r]|^-(?!\d)/;

/** Returns cells as a line of CSV (RFC 4180). A text that a spreadsheet would execute is preceded by an apostrophe. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => {
    const text = CSV_FORMULA.test(cell) ? `'${cell}` : cell;
    return CSV_QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }).join(',')}\r\n`;
}

/** Returns the candidate closest to `word` by edit distance (case ignored), or undefined when none is close. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.ceil(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, substitution));
    }
    row = next;
  }
  return row[b.length]!;
}
