import type { CodedTexts } from '../columns/batch-columns.ts';

/** One list of texts for each column of a kind, whatever number a segment gave them. */
export interface Dictionaries {
  readonly all: string[][];
  /** Returns the number of a column's list and, by the segment's number of a text, the one in the list. */
  codesOf(column: string, texts: CodedTexts['texts']): { readonly list: number; readonly codes: Int32Array };
}

/** Returns no lists yet. */
export function createDictionaries(): Dictionaries {
  const all: string[][] = [];
  const places = new Map<string, { readonly list: number; readonly known: Map<string, number> }>();
  return {
    all,
    codesOf(column, texts) {
      let place = places.get(column);
      if (place === undefined) {
        place = { list: all.length, known: new Map() };
        places.set(column, place);
        all.push([]);
      }
      const { list, known } = place;
      return {
        list,
        codes: Int32Array.from(texts, (text) => {
          let code = known.get(text);
          if (code === undefined) {
            code = all[list]!.push(text) - 1;
            known.set(text, code);
          }
          return code;
        }),
      };
    },
  };
}
