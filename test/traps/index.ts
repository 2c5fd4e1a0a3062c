import { staleQuote } from './01-stale-quote.ts';
import { lostAnswer } from './02-lost-answer.ts';
import { noTransaction } from './03-no-transaction.ts';
import { gasless } from './04-gasless.ts';
import { maker } from './05-maker.ts';
import { whoPaysRent } from './06-who-pays-rent.ts';
import { everythingInSol } from './07-everything-in-sol.ts';
import { token2022 } from './08-token-2022.ts';
import { symbols } from './09-symbols.ts';
import { prices } from './10-prices.ts';
import { largeAmounts } from './11-large-amounts.ts';
import { anotherAnswer } from './12-another-answer.ts';
import { refusals } from './13-refusals.ts';
import { noQuotes } from './14-no-quotes.ts';
import { unknownMint } from './15-unknown-mint.ts';
import { oneSidedBooks } from './16-one-sided-books.ts';
import { bookDirection } from './17-book-direction.ts';
import { pages } from './18-pages.ts';
import { hostileText } from './19-hostile-text.ts';
import { quotesOfV1 } from './20-quotes-of-v1.ts';
import type { Trap } from './trap.ts';

/** All traps that are known. */
export const TRAPS: readonly Trap[] = [
  staleQuote, lostAnswer, noTransaction, gasless, maker, whoPaysRent, everythingInSol, token2022,
  symbols, prices, largeAmounts, anotherAnswer,
  refusals, noQuotes, unknownMint, oneSidedBooks, bookDirection, pages, hostileText, quotesOfV1,
];
