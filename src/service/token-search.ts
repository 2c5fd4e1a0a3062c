import type { Gateway } from './gateway.ts';
import { badRequest } from './gateway.ts';
import type { CallOptions } from './priority.ts';
import { wireAddress } from './wire/fields.ts';
import type { TokenRecords } from './wire/token-record.ts';
import { readTokenRecords } from './wire/token-record.ts';

/** The most mints one search may name. */
export const MAX_SEARCH_MINTS = 100;

/** The token search. */
export interface TokenSearch {
  /**
   * Returns the tokens that match any of the terms: symbols, names or mints. Mints beyond a hundred go in further
   * requests. A mint that the service does not know is missing from the answer.
   */
  search(terms: readonly string[], call?: CallOptions): Promise<TokenRecords>;
}

/** Returns the client of the token search. */
export function createTokenSearch(gateway: Gateway): TokenSearch {
  return {
    async search(terms, call) {
      const batches = batchesOf(terms);
      const answers = await Promise.all(batches.map((batch) =>
        gateway.get({ path: '/ultra/v1/search', query: { query: batch.join(',') }, shareable: true }, call)));
      return merge(answers.map(readTokenRecords));
    },
  };
}

/** Words and mints are searched apart: the limit of the one and the number of results of the other do not mix. */
function batchesOf(terms: readonly string[]): string[][] {
  if (terms.length === 0) throw badRequest('expected at least one symbol, name or mint', '');
  for (const term of terms) {
    if (term.trim() === '' || term.includes(',') || term.length > 200) {
      throw badRequest('expected each search term to be 1 to 200 characters without a comma', term);
    }
  }
  const distinct = [...new Set(terms)];
  const words = distinct.filter((term) => !isMint(term));
  const mints = distinct.filter(isMint);
  const batches = words.length > 0 ? [words] : [];
  for (let first = 0; first < mints.length; first += MAX_SEARCH_MINTS) batches.push(mints.slice(first, first + MAX_SEARCH_MINTS));
  return batches;
}

function isMint(term: string): boolean {
  return wireAddress.safeParse(term).success;
}

function merge(answers: readonly TokenRecords[]): TokenRecords {
  const byId = new Map(answers.flatMap(({ records }) => records).map((record) => [record.id, record]));
  return { records: [...byId.values()], rejected: answers.flatMap(({ rejected }) => rejected) };
}
