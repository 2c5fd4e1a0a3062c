import type { Json } from '../../../src/core/json.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import { readSwapBuild } from '../../../src/service/wire/build-answer.ts';
import { readExecuteAnswer } from '../../../src/service/wire/execute-answer.ts';
import { readOrderBook } from '../../../src/service/wire/order-book-answer.ts';
import { readSwapOrder } from '../../../src/service/wire/order-answer.ts';
import { MARKETS, readEvents } from '../../../src/service/wire/prediction-events.ts';
import { HISTORY } from '../../../src/service/wire/prediction-history.ts';
import { POSITIONS, readPosition } from '../../../src/service/wire/prediction-position.ts';
import type { ReportUnread } from '../../../src/service/wire/read.ts';
import { readPage } from '../../../src/service/endpoints/paged-list.ts';
import { readContentFeed, readContents } from '../../../src/service/wire/token-content.ts';
import { readTokenRecords } from '../../../src/service/wire/token-record.ts';
import { readQuote, readQuoteInstructions, readQuoteSwap } from '../../../src/service/wire/v1-answers.ts';
import type { RoutePlanEntry } from '../../../src/service/wire/swap-terms.ts';
import { ASKED, ASKED_BY_TAKER, buildAnswer, mintNumber, PROGRAM, SIGNATURE, TAKER, tokenAnswer } from '../answers.ts';
import {
  eventAnswer, flatMarketAnswer, historyAnswer, liveHistoryAnswer, livePositionAnswer, marketAnswer, pageAnswer,
  POSITION,
} from '../endpoints/prediction-answers.ts';
import {
  fullOrder, liveOrder, PAYER, quoteAnswer, quoteInstructionsAnswer, quoteSwapAnswer, routeStep,
} from '../swap-answers.ts';

/** An answer with every member that its reader knows. */
export interface Sample {
  readonly name: string;
  readonly answer: unknown;
  readonly read: (answer: Json, unread: ReportUnread) => unknown;
  /** The names of members that make the whole answer, or the whole record of a list, unreadable. */
  readonly decides: RegExp;
  /** The names of members without which their element of a list for people is left out. */
  readonly elements?: RegExp;
  /** Members of the reading that come from a member of another name. */
  readonly becomes?: Readonly<Record<string, readonly string[]>>;
}

const IMPACT = ['priceImpact', 'priceImpactBasis'];
const IMPACTS = {
  priceImpact: ['statedPriceImpact', ...IMPACT], priceImpactPct: IMPACT, inUsdValue: IMPACT, outUsdValue: IMPACT,
  percent: ['bps'], totalTime: ['totalTimeMs'],
};
const STEP = /^routePlan\.swapInfo(\.(inputMint|outputMint|inAmount|outAmount))?$/;
const STEPS = [routeStep(), routeStep({
  swapInfo: {
    ...routeStep()['swapInfo'] as object, feeAmount: '7', feeMint: SOL_MINT,
  }, percent: 33,
})];
const TERMS = 'inputMint|outputMint|inAmount|outAmount|otherAmountThreshold|feeBps';
const INSTRUCTION =
  { programId: PROGRAM, accounts: [{ pubkey: TAKER, isSigner: true, isWritable: false }], data: 'AQID' };
const INSTRUCTIONS = '(computeBudget|setup|other)Instructions|(tokenLedger|swap|cleanup)Instruction'
  + '|address(es)?(By)?LookupTableAddress(es)?';
const CONTENT = {
  mint: mintNumber(0),
  contents: [{
    contentId: 'c', content: 'text', contentType: 'text', status: 'approved', source: 'site',
    submittedAt: 1_790_000_000,
    submittedBy: { id: 'u', username: 'name', role: 'user' }, updatedAt: 1_790_000_000,
    updatedBy: { id: 'v', username: 'other', role: 'admin' }, postedAt: 1_790_000_000,
  }],
  tokenSummary: { summaryFull: 'long', summaryShort: 'short', updatedAt: 1_790_000_000, citations: ['https://a'] },
  newsSummary: { summaryFull: 'long', summaryShort: 'short', updatedAt: 1_790_000_000, citations: ['https://b'] },
};
const PAGINATION = { limit: 50, total: 1, page: 1, totalPages: 1 };

const SWAPS: readonly Sample[] = [
  {
    name: 'the order of a wallet', read: (answer, unread) => readSwapOrder(answer, ASKED_BY_TAKER, unread),
    answer: fullOrder({ routePlan: STEPS }),
    decides: new RegExp(
      `^(${TERMS}|requestId|taker|transaction|lastValidBlockHeight|signatureFeePayer|maker|expireAt)$`,
    ),
    elements: STEP, becomes: IMPACTS,
  },
  {
    name: 'an order without a wallet', read: (answer, unread) => readSwapOrder(answer, ASKED, unread),
    answer: liveOrder({
      routePlan: STEPS, requestId: 'r-1', signatureFeePayer: PAYER, maker: PAYER, expireAt: '1758598698',
      lastValidBlockHeight: '5', errorCode: 1, errorMessage: 'x', error: 'y', transaction: '', taker: '',
    }),
    decides: new RegExp(`^(${TERMS}|taker|transaction)$`), elements: STEP, becomes: IMPACTS,
  },
  {
    name: 'a build', read: (answer, unread) => readSwapBuild(answer, ASKED_BY_TAKER, unread),
    answer: buildAnswer({
      routePlan: STEPS, cleanupInstruction: INSTRUCTION, otherInstructions: [INSTRUCTION], priceImpact: -0.001,
      priceImpactPct: '-0.001', feeBps: 1, router: 'iris', contextSlot: 9,
      platformFee: { amount: '30006', feeBps: 2, feeMint: USDC_MINT },
    }),
    decides: new RegExp(`^(${TERMS}|(${INSTRUCTIONS}|blockhashWithMetadata)(\\..*)?)$`),
    elements: STEP, becomes: IMPACTS,
  },
  {
    name: 'the answer to a transaction', read: readExecuteAnswer,
    answer: {
      status: 'Success', signature: SIGNATURE, code: 0, error: 'none', slot: '7', totalInputAmount: '1',
      totalOutputAmount: '2', inputAmountResult: '3', outputAmountResult: '4',
      swapEvents: [
        { inputMint: SOL_MINT, inputAmount: '1', outputMint: USDC_MINT, outputAmount: '2' },
        { inputMint: SOL_MINT, inputAmount: '3', outputMint: USDC_MINT, outputAmount: '4' },
      ],
    },
    decides: /^(status|signature|code)$/, elements: /^swapEvents\./,
  },
  {
    name: 'a quote of V1', read: (answer, unread) => readQuote(answer, undefined, unread),
    answer: quoteAnswer({ routePlan: STEPS, platformFee: { amount: '1', feeBps: 2, feeMint: USDC_MINT } }),
    decides: /^(inputMint|inAmount|outputMint|outAmount|otherAmountThreshold|swapMode|slippageBps)$/, elements: STEP,
    becomes: {
      ...IMPACTS, ...Object.fromEntries([mintNumber(7)].map((market) => [market, ['mostReliableAmmsQuoteReport']])),
    },
  },
  {
    name: 'a transaction of V1', read: readQuoteSwap, answer: quoteSwapAnswer(),
    decides: /^(swapTransaction|lastValidBlockHeight)$/, becomes: { swapTransaction: ['transaction'] },
  },
  {
    name: 'the instructions of V1', read: readQuoteInstructions,
    answer: quoteInstructionsAnswer({
      tokenLedgerInstruction: INSTRUCTION, cleanupInstruction: INSTRUCTION, otherInstructions: [INSTRUCTION],
      addressesByLookupTableAddress: { [PROGRAM]: [TAKER] }, blockhashWithMetadata: {
        blockhash: Array.from({ length: 32 }, (_, i) => i + 1), lastValidBlockHeight: 5,
      },
    }),
    decides: new RegExp(`^(${INSTRUCTIONS})(\\..*)?$`),
    becomes: {
      blockhashWithMetadata: ['blockhash', 'lastValidBlockHeight'], blockhash: ['lastValidBlockHeight'],
      lastValidBlockHeight: ['blockhash'],
    },
  },
];

const WINDOW = { priceChange: -2.5, buyVolume: 100 };
const TOKENS: readonly Sample[] = [
  {
    name: 'a token', read: readTokenRecords,
    answer: [tokenAnswer(mintNumber(1)), tokenAnswer(mintNumber(2), {
      mintAuthority: TAKER, freezeAuthority: TAKER, dev: 'dev', icon: 'https://i', twitter: 'https://t', issuer: 'I',
      launchpad: 'pad', graduatedPool: 'pool', graduatedAt: '2024-06-08T00:00:00Z',
      createdAt: '2024-06-07T10:56:42.584Z',
      firstPool: { id: 'pool', createdAt: '2024-06-07T10:56:42.584Z' }, isVerified: true, organicScoreLabel: 'high',
      audit: {
        isSus: false, mintAuthorityDisabled: true, freezeAuthorityDisabled: false, topHoldersPercentage: 15.45,
        devBalancePercentage: 0.5, devMints: 1,
      },
      apy: { platformEarn: 3.5 }, liquidity: 2e6, stats1h: WINDOW, stats7d: WINDOW,
    })],
    decides: /^(id|symbol|name|decimals|mintAuthority|freezeAuthority)$/,
    becomes: {
      apy: ['platformEarn'], stats5m: ['5m'], stats1h: ['1h'],
      ...Object.fromEntries(['stats5m', 'stats1h'].map((name) => [name, ['priceChange', 'buyVolume']])),
    },
  },
  {
    name: 'the content of a token', read: readContents, answer: { data: [CONTENT] },
    decides: /^data(\.mint|\.contents(\.contentId|\.content)?)?$/,
  },
  {
    name: 'a page of content', read: readContentFeed, answer: { data: { ...CONTENT, pagination: PAGINATION } },
    decides: /^data(\.contents(\.contentId|\.content)?|\.pagination)?$/,
  },
];

const PREDICTION: readonly Sample[] = [
  {
    name: 'an event', read: readEvents, answer: { data: [eventAnswer('TIDES')] },
    decides: /^data(\.eventId|\.markets(\.marketId)?)?$/,
  },
  {
    name: 'a market of a page', read: (answer, unread) => readPage(MARKETS, answer, unread),
    answer: pageAnswer([marketAnswer('A'), flatMarketAnswer('B')], { start: 0, end: 20 }),
    decides: /^(data(\.marketId)?|pagination(\..*)?)$/,
  },
  {
    name: 'a position of a page', read: (answer, unread) => readPage(POSITIONS, answer, unread),
    answer: pageAnswer([livePositionAnswer()], { start: 0, end: 20 }),
    // The two names of the cost contradict each other where one of them is another number.
    decides: /^(data(\.(pubkey|marketId|isYes|owner|ownerPubkey|totalCostUsd|sizeUsd))?|pagination(\..*)?)$/,
    becomes: { contractsDecimal: ['contractsMicro'] },
  },
  {
    name: 'a position', read: (answer, unread) => readPosition(answer, POSITION, unread),
    answer: livePositionAnswer({ claimableAt: 1_790_000_001 }),
    decides: /^(pubkey|marketId|isYes|owner|ownerPubkey|totalCostUsd|sizeUsd)$/,
    becomes: { contractsDecimal: ['contractsMicro'] },
  },
  {
    name: 'an entry of the ledger', read: (answer, unread) => readPage(HISTORY, answer, unread),
    answer: pageAnswer([liveHistoryAnswer(1), historyAnswer(2, { minSellPriceUsd: '1' })], { start: 0, end: 20 }),
    decides: /^(data(\.(id|eventType|timestamp))?|pagination(\..*)?)$/,
    becomes: Object.fromEntries(['contracts', 'filledContracts', 'contractsSettled']
      .map((name) => [name, [name, `${name}Micro`]])),
  },
  {
    name: 'an order book', read: (answer, unread) => readOrderBook(answer, unread) ?? {},
    answer: {
      yes: [[30, 5], [29, 2]], no: [[69, 5]], yes_dollars: [['0.3000', 5], ['0.2900', 2]], no_dollars: [['0.6900', 5]],
    },
    // Cents that are another price than the dollars contradict them.
    decides: /^(yes|no)(_dollars)?$/,
  },
];

/** One answer of each reader. */
export const SAMPLES: readonly Sample[] = [...SWAPS, ...TOKENS, ...PREDICTION];

/** Returns the only step of a route, as `/build` tells it. */
export function readBuildLike(changes: Readonly<Record<string, unknown>>): RoutePlanEntry | undefined {
  return readSwapBuild(buildAnswer({ routePlan: [routeStep(changes)] }), ASKED_BY_TAKER).routePlan[0];
}
