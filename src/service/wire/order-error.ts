/**
 * What the codes of an order without transaction mean, by the family of its router: the same number is another fault in
 * each.
 */
const MEANINGS = {
  pools: new Map([
    [1, 'the wallet has too little of the input token'],
    [2, 'the wallet has too little SOL for fees and rent'],
    [3, 'the trade is below the least that is carried out gasless'],
  ]),
  maker: new Map([
    [1, 'the wallet has too little of the input token'],
    [2, 'an associated token account is missing'],
    [3, 'no transaction could be made of the quote'],
  ]),
} as const;

/** The router whose quotes are a maker's. */
const MAKER_ROUTER = 'rfqz';

/** Returns what an order's errorCode means; undefined for a code that nobody has described. */
export function orderErrorMeaning(router: string, code: number | undefined): string | undefined {
  if (code === undefined) return undefined;
  return MEANINGS[router === MAKER_ROUTER ? 'maker' : 'pools'].get(code);
}
