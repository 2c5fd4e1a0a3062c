const REGEX_MAY_FOLLOW = new Set('(,=:[!&|?{};+-*%<>~^}');
const KEYWORD_BEFORE_REGEX = /(?:^|[^\w$.])(?:return|typeof|case|in|of|void|delete|do|else|yield|await)$/;

/**
 * Returns the source with comments and the contents of strings, templates and regular expressions blanked out.
 * Every remaining character keeps its place, so that an offset here is an offset there.
 */
export function codeOf(source: string): string {
  const out = source.split('');
  /** Depths of braces at which a template goes on after its `${`. */
  const templates: number[] = [];
  let depth = 0;

  const blank = (from: number, to: number): number => {
    for (let i = from; i < to; i++) if (out[i] !== '\n') out[i] = ' ';
    return to;
  };
  const until = (text: string, from: number): number => {
    const at = source.indexOf(text, from);
    return at < 0 ? source.length : at;
  };
  const template = (from: number): number => {
    let at = from;
    while (at < source.length && source[at] !== '`' && !source.startsWith('${', at)) at += source[at] === '\\' ? 2 : 1;
    blank(from, Math.min(at, source.length));
    if (!source.startsWith('${', at)) return at + 1;
    templates.push(depth);
    return at + 2;
  };

  let at = 0;
  while (at < source.length) {
    const char = source[at]!;
    if (source.startsWith('//', at)) at = blank(at, until('\n', at));
    else if (source.startsWith('/*', at)) at = blank(at, Math.min(until('*/', at) + 2, source.length));
    else if (char === "'" || char === '"') at = blank(at + 1, endOfQuoted(source, at + 1, char)) + 1;
    else if (char === '`') at = template(at + 1);
    else if (char === '}' && templates.at(-1) === depth) {
      templates.pop();
      at = template(at + 1);
    } else if (char === '/' && startsRegex(out, at)) at = blank(at + 1, endOfRegex(source, at + 1)) + 1;
    else {
      if (char === '{') depth += 1;
      if (char === '}') depth -= 1;
      at += 1;
    }
  }
  return out.join('');
}

/** Returns the number of the line that an offset is in, from 1. */
export function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length;
}

/** Returns the column of an offset, from 1. */
export function columnAt(source: string, offset: number): number {
  return offset - source.slice(0, offset).lastIndexOf('\n');
}

function endOfQuoted(source: string, from: number, quote: string): number {
  let at = from;
  while (at < source.length && source[at] !== quote && source[at] !== '\n') at += source[at] === '\\' ? 2 : 1;
  return Math.min(at, source.length);
}

function endOfRegex(source: string, from: number): number {
  let inClass = false;
  let at = from;
  while (at < source.length && source[at] !== '\n' && (inClass || source[at] !== '/')) {
    if (source[at] === '[') inClass = true;
    if (source[at] === ']') inClass = false;
    at += source[at] === '\\' ? 2 : 1;
  }
  return Math.min(at, source.length);
}

function startsRegex(out: readonly string[], at: number): boolean {
  let before = at - 1;
  while (before >= 0 && /\s/.test(out[before]!)) before -= 1;
  if (before < 0 || REGEX_MAY_FOLLOW.has(out[before]!)) return true;
  return KEYWORD_BEFORE_REGEX.test(out.slice(Math.max(0, before - 12), before + 1).join(''));
}
