import { nearest, printable } from '../../core/text.ts';
import type { CsvRow } from './csv.ts';
import { csvError } from './csv.ts';

const CANDLE = ['time', 'open', 'high', 'low', 'close', 'volume'] as const;
const QUOTE = ['time', 'input_mint', 'output_mint', 'in_amount', 'out_amount'] as const;
/** A known column. */
export type Field = (typeof CANDLE)[number] | (typeof QUOTE)[number];
const FIELDS: readonly Field[] = [...new Set<Field>([...CANDLE, ...QUOTE])];
/** The required columns of each form. */
const CANDLE_NEEDS: readonly Field[] = CANDLE.filter((field) => field !== 'volume');
const FORMS: readonly (readonly Field[])[] = [CANDLE_NEEDS, QUOTE];

/** The accepted columns of a file, for messages. */
export const EXPECTED_COLUMNS = `expected the columns ${CANDLE.join(',')} (volume may be missing) or `
  + `${QUOTE.join(',')}; --map column=field says which column is which`;

/** The field of each column, from `--map`. */
export type ColumnMap = ReadonlyMap<string, string>;

/**
 * Returns the field of each column of a header of candles or quotes, undefined for other columns. Throws CSV_INVALID.
 */
export function headerOf(row: CsvRow, map: ColumnMap): readonly (Field | undefined)[] {
  const unmapped = [...map.keys()].find((column) => !row.cells.includes(column));
  if (unmapped !== undefined) throw csvError(row, `--map names a column ${JSON.stringify(printable(unmapped, 40))}, `
    + `the file has ${printable(row.cells.join(','), 200)}`);
  const taken = new Set(map.values());
  // An unmapped column may have any name, also that of a field to which another column is mapped.
  const fields = row.cells.map((name): Field | undefined => {
    const field = map.get(name) ?? (taken.has(name) ? undefined : name);
    return FIELDS.find((known) => known === field);
  });
  const needs = nearestForm(row.cells, fields);
  if (needs === undefined) throw csvError(row, `${EXPECTED_COLUMNS}; found ${printable(row.cells.join(','), 200)}`);
  const missing = needs.filter((field) => !fields.includes(field));
  if (missing.length > 0) {
    const hints = hintsOf(row.cells.filter((_, index) => fields[index] === undefined), missing)
      .map(([name, field]) => `--map ${printable(mapped(name, field), 80)}`);
    throw csvError(
      row,
      `${EXPECTED_COLUMNS}; ${missing.join(', ')} missing${hints.length === 0 ? '' : `: perhaps ${hints.join(' ')}`}`,
    );
  }
  const twice = fields.find((field, index) => field !== undefined && fields.indexOf(field) !== index);
  if (twice !== undefined) throw csvError(row, `two columns are ${twice}`);
  const form: readonly Field[] = needs === CANDLE_NEEDS ? CANDLE : QUOTE;
  return fields.map((field) => (field !== undefined && form.includes(field) ? field : undefined));
}

/** Returns whether a field of this name exists. */
export function isField(name: string): boolean {
  return (FIELDS as readonly string[]).includes(name);
}

/**
 * Returns the required columns of the form that fits best, by exact or similar names; undefined where both fit equally.
 */
function nearestForm(names: readonly string[], fields: readonly (Field | undefined)[]): readonly Field[] | undefined {
  const whole = FORMS.find((needs) => needs.every((field) => fields.includes(field)));
  if (whole !== undefined) return whole;
  const unknown = names.filter((_, index) => fields[index] === undefined);
  const [candle, quote] = FORMS.map((needs) => {
    const missing = needs.filter((field) => !fields.includes(field));
    return needs.length - missing.length + hintsOf(unknown, missing).length;
  }) as [number, number];
  return candle === quote ? undefined : candle > quote ? CANDLE_NEEDS : QUOTE;
}

/** Suggests one field for each column and one column for each field, preferring a name that differs in case only. */
function hintsOf(
  names: readonly string[], missing: readonly Field[],
): readonly (readonly [name: string, field: Field])[] {
  const left = new Set<Field>(missing);
  const isNamed = (name: string): boolean => (missing as readonly string[]).includes(name.toLowerCase());
  return names.toSorted((a, b) => Number(isNamed(b)) - Number(isNamed(a))).flatMap((name) => {
    const close = nearest(name, left);
    const field = missing.find((each) => each === close);
    if (field === undefined) return [];
    left.delete(field);
    return [[name, field] as const];
  });
}

/** Returns a mapping as it is typed in a shell. */
function mapped(name: string, field: Field): string {
  const text = `${name}=${field}`;
  return /^[\w.=-]+$/.test(text) ? text : JSON.stringify(text);
}
