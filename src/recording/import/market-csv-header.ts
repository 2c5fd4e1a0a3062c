import { nearest, printable } from '../../core/text.ts';
import type { CsvRow } from './csv.ts';
import { csvError } from './csv.ts';

const CANDLE = ['time', 'open', 'high', 'low', 'close', 'volume'] as const;
const QUOTE = ['time', 'input_mint', 'output_mint', 'in_amount', 'out_amount'] as const;
/** A column that has a meaning. */
export type Field = (typeof CANDLE)[number] | (typeof QUOTE)[number];
const FIELDS: readonly Field[] = [...new Set<Field>([...CANDLE, ...QUOTE])];
/** What has to be there for each of the forms. */
const CANDLE_NEEDS: readonly Field[] = CANDLE.filter((field) => field !== 'volume');
const FORMS: readonly (readonly Field[])[] = [CANDLE_NEEDS, QUOTE];

/** What a file's columns may be, for people. */
export const EXPECTED_COLUMNS = `expected the columns ${CANDLE.join(',')} (volume may be missing) or `
  + `${QUOTE.join(',')}; --map column=field says which column is which`;

/** Which column of the file holds which field, as `--map` says. */
export type ColumnMap = ReadonlyMap<string, string>;

/**
 * Returns the field that each column of a header holds, of candles or of quotes, undefined for those that hold none of
 * it. Throws CSV_INVALID.
 */
export function headerOf(row: CsvRow, map: ColumnMap): readonly (Field | undefined)[] {
  const unmapped = [...map.keys()].find((column) => !row.cells.includes(column));
  if (unmapped !== undefined) throw csvError(row, `--map names a column ${JSON.stringify(printable(unmapped, 40))}, `
    + `the file has ${printable(row.cells.join(','), 200)}`);
  const taken = new Set(map.values());
  // A column that is not asked for may have any name, a field's that another column stands for among them.
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

/** Returns the field that a `--map` names, undefined where there is none of that name. */
export function isField(name: string): boolean {
  return (FIELDS as readonly string[]).includes(name);
}

/**
 * Returns what the form needs of which most is there, by name or nearly so; undefined where it is as much of either.
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

/**
 * A column stands for one field at most, and a field for one column: that of its name in other letters, if there is
 * one.
 */
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

/** As it is typed. */
function mapped(name: string, field: Field): string {
  const text = `${name}=${field}`;
  return /^[\w.=-]+$/.test(text) ? text : JSON.stringify(text);
}
