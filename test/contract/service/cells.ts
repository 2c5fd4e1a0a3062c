import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Row } from './row.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/**
 * `src/file.ts thing`, with the words that must stand in it where they are not the row's own: `src/file.ts thing (word,
 * word)`.
 */
const PLACE = /^(?<file>src\/[\w./-]+\.ts) (?<thing>\w+)(?: \((?<words>[^()]+)\))?$/;
/** A reason of at least three words: "none" is no reason. */
const NOT_APPLICABLE = /^not applicable: \S+(?: \S+){2,}$/;

const texts = new Map<string, string>();

/**
 * Returns what is wrong with a cell; undefined where it is true. It names a file that exists and a declaration in
 * it; the file also contains the name of a parameter or field, or else the given words.
 */
export function faultOfCell(row: Row, cell: string): string | undefined {
  if (cell.startsWith('not applicable'))
    return NOT_APPLICABLE.test(cell) ? undefined : `"${cell}": expected "not applicable: " and a reason`;
  const faults = cell.split('; ').map((place) => faultOfPlace(row, place)).filter((fault) => fault !== undefined);
  return faults.length === 0 ? undefined : faults.join('; ');
}

function faultOfPlace(row: Row, place: string): string | undefined {
  const { file, thing, words } = PLACE.exec(place)?.groups ?? {};
  if (file === undefined || thing === undefined)
    return `"${place}": expected "src/file.ts thing" or "not applicable: reason"`;
  const text = textOf(file);
  if (text === undefined) return `"${place}": no such file`;
  if (!declares(text, thing)) return `"${place}": ${file} declares no ${thing}`;
  const missing = (words?.split(', ') ?? ownWords(row)).find((word) => !hasWord(text, word));
  return missing === undefined ? undefined : `"${place}": ${file} says nothing of ${missing}`;
}

/** The last part of a parameter's or field's name; what else a row is called is ours, not the wire's. */
function ownWords({ kind, name }: Row): string[] {
  return kind === 'parameter' || kind === 'field' ? [name.slice(name.lastIndexOf('.') + 1)] : [];
}

function declares(text: string, thing: string): boolean {
  return new RegExp(`^(?:export )?(?:async )?(?:function|const|interface|type|class) ${thing}\\b`, 'm').test(text);
}

function hasWord(text: string, word: string): boolean {
  return new RegExp(`(?<![\\w$])${word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}(?![\\w$])`).test(text);
}

function textOf(file: string): string | undefined {
  const known = texts.get(file);
  if (known !== undefined) return known;
  const path = `${ROOT}${file}`;
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, 'utf8');
  texts.set(file, text);
  return text;
}
