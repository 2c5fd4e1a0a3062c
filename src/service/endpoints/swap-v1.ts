import { z } from 'zod';
import type { Amount } from '../../core/amount.ts';
import type { Json } from '../../core/json.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { Body, Gateway, RawJson } from '../gateway.ts';
import type { CallOptions } from '../rate/rate-plan.ts';
import { parseBody } from '../response-body.ts';
import type { Dialect } from '../wire/dialect.ts';
import { wireAddress } from '../wire/fields.ts';
import { malformed, readWire } from '../wire/read.ts';
import type { QuoteInstructionsAnswer, QuoteSwapAnswer, QuoteTerms } from '../wire/v1-answers.ts';
import { readLabels, readQuote, readQuoteInstructions, readQuoteSwap } from '../wire/v1-answers.ts';
import type { JointRule, RequestRules, Rule } from './request-rules.ts';
import {
  aFlag, aU64, anAddress, anAmount, anInteger, checkRequest, labels, mustDiffer, notBoth, oneOf, optionalRule,
  queryOf, required,
} from './request-rules.ts';

/**
 * The swap API, first version, which the second one supersedes. Every method rejects with a GannetError of a SERVICE_
 * code; a request that breaks a stated rule with SERVICE_BAD_REQUEST (details: parameter), before it leaves.
 */
export interface SwapV1 {
  /** Returns a quote, with the document that has to go back unchanged. */
  quote(request: QuoteRequest, call?: CallOptions): Promise<QuoteAnswer>;
  /**
   * Returns the quote in a document that was kept, as the service gave it. Only a document that `quoteToKeep`
   * wrote also holds the request. Throws SERVICE_MALFORMED.
   */
  readQuote(document: string): QuoteAnswer;
  /** Returns a quote's transaction. A `simulationError` in it says that it would fail. */
  swap(request: QuoteSwapRequest, call?: CallOptions): Promise<QuoteSwapAnswer>;
  /** Returns a quote's instructions. */
  swapInstructions(request: QuoteSwapRequest, call?: CallOptions): Promise<QuoteInstructionsAnswer>;
  /** Returns the names of markets by program, as `dexes` and `excludeDexes` take them. */
  programIdToLabel(call?: CallOptions): Promise<ReadonlyMap<string, string>>;
}

/** The parameters of a quote of V1. */
export interface QuoteRequest {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  /** Of the input with ExactIn, of the output with ExactOut. */
  readonly amount: Amount;
  /** 0 to 65535; 50 by default. Of the output with ExactIn, of the input with ExactOut. */
  readonly slippageBps?: number | undefined;
  /** ExactIn by default; few markets know ExactOut. */
  readonly swapMode?: 'ExactIn' | 'ExactOut' | undefined;
  /** Names of the only markets to use. */
  readonly dexes?: readonly string[] | undefined;
  readonly excludeDexes?: readonly string[] | undefined;
  /** True by default. */
  readonly restrictIntermediateTokens?: boolean | undefined;
  readonly onlyDirectRoutes?: boolean | undefined;
  readonly asLegacyTransaction?: boolean | undefined;
  /** 0 to 65535; a request that passes it also passes the feeAccount to `/swap`. */
  readonly platformFeeBps?: number | undefined;
  /** A rough estimate; 64 by default. */
  readonly maxAccounts?: bigint | undefined;
  /** V1 by default. */
  readonly instructionVersion?: 'V1' | 'V2' | undefined;
  /** Has no effect here any more; `/swap` has it. */
  readonly dynamicSlippage?: boolean | undefined;
  readonly forBundle?: boolean | undefined;
}

/** A quote as it was read, its document (which goes back unchanged), and the request where that is known. */
export interface QuoteAnswer extends QuoteTerms {
  readonly raw: RawJson;
  /** Undefined in a quote of another origin: the answer does not hold it. */
  readonly asked?: Pick<QuoteRequest, 'platformFeeBps' | 'asLegacyTransaction' | 'instructionVersion'> | undefined;
}

/** A priority with the limit of its fee. */
interface PriorityLevel {
  readonly priorityLevel: 'medium' | 'high' | 'veryHigh';
  readonly maxLamports: number;
  /** Measured over the whole chain instead of the accounts of the swap; false by default. */
  readonly global?: boolean | undefined;
}

/**
 * A priority fee or a tip, not both: lamports, the service's choice, a level with a limit, or a tip with or without its
 * payer.
 */
export type PrioritizationFee =
  | number
  | 'auto'
  | { readonly priorityLevelWithMaxLamports: PriorityLevel }
  | { readonly bundleTipLamports: number }
  | { readonly bundleTipLamportsWithPayer: { readonly lamports: number; readonly payer: string } };

/** The request that turns a quote of V1 into a transaction or into its instructions. */
export interface QuoteSwapRequest {
  readonly userPublicKey: string;
  readonly quoteResponse: QuoteAnswer;
  /** Pays fees and rent in the user's place. */
  readonly payer?: string | undefined;
  /** True by default; false needs a wrapped-SOL account that exists. */
  readonly wrapAndUnwrapSol?: boolean | undefined;
  /** The service's choice by default. */
  readonly useSharedAccounts?: boolean | undefined;
  /** A token account of the input or the output; needed where the quote was asked for with platformFeeBps. */
  readonly feeAccount?: string | undefined;
  readonly trackingAccount?: string | undefined;
  readonly prioritizationFeeLamports?: PrioritizationFee | undefined;
  /** As in the quote. */
  readonly asLegacyTransaction?: boolean | undefined;
  readonly destinationTokenAccount?: string | undefined;
  /** A wallet that gets the output, where that is SOL and the instructions are V2. */
  readonly nativeDestinationAccount?: string | undefined;
  readonly dynamicComputeUnitLimit?: boolean | undefined;
  readonly skipUserAccountsRpcCalls?: boolean | undefined;
  readonly dynamicSlippage?: boolean | undefined;
  readonly computeUnitPriceMicroLamports?: bigint | undefined;
  /** 0 to 255. */
  readonly blockhashSlotsToExpiry?: number | undefined;
}

const UINT16 = { min: 0, max: 65_535 } as const;
const UINT8 = { min: 0, max: 255 } as const;

const PRIORITY_LEVELS: readonly unknown[] = ['medium', 'high', 'veryHigh'];

const PRIORITIZATION_FEE: Rule = optionalRule(
  'whole lamports, "auto", {priorityLevelWithMaxLamports: {priorityLevel: medium, high or veryHigh, maxLamports, '
    + 'global: true or false or nothing}}, {bundleTipLamports} or {bundleTipLamportsWithPayer: {lamports, payer}}',
  (value) => value === 'auto' || isLamports(value)
    || (isRecord(value) && Object.keys(value).length > 0 && Object.entries(value).every(isFeeForm)),
);

/** What the reference states of `GET /swap/v1/quote`, line by line. */
const QUOTE_RULES: RequestRules<QuoteRequest> = {
  endpoint: 'GET /swap/v1/quote',
  parameters: {
    inputMint: required(anAddress),
    outputMint: required(anAddress),
    amount: required(anAmount),
    slippageBps: anInteger(UINT16),
    swapMode: oneOf(['ExactIn', 'ExactOut']),
    dexes: labels,
    excludeDexes: labels,
    restrictIntermediateTokens: aFlag,
    onlyDirectRoutes: aFlag,
    asLegacyTransaction: aFlag,
    platformFeeBps: anInteger(UINT16),
    maxAccounts: aU64,
    instructionVersion: oneOf(['V1', 'V2']),
    dynamicSlippage: aFlag,
    forBundle: aFlag,
  },
  joint: [
    mustDiffer('outputMint', 'inputMint'),
    notBoth('dexes', 'excludeDexes'),
  ],
  elsewhere: {
    taker: 'a quote of V1 knows no wallet; it is userPublicKey of /swap',
    feeAccount: '/swap has it',
    mode: '/build of V2 has it',
  },
};

const QUOTE_SWAP_JOINT_RULES: readonly JointRule<QuoteSwapRequest>[] = [
  {
    parameter: 'prioritizationFeeLamports',
    words: 'either a priority fee or a tip, not both',
    holds: ({ prioritizationFeeLamports: fee }) => typeof fee !== 'object' || Object.keys(fee).length === 1,
  },
  {
    parameter: 'computeUnitPriceMicroLamports',
    words: 'sets the same price as prioritizationFeeLamports: expected one of them, got both',
    holds: ({ computeUnitPriceMicroLamports, prioritizationFeeLamports }) =>
      computeUnitPriceMicroLamports === undefined || prioritizationFeeLamports === undefined,
  },
  {
    parameter: 'feeAccount',
    words: 'required where platformFeeBps was passed to /quote, got nothing',
    holds: ({ feeAccount, quoteResponse: { asked, platformFee } }) =>
      feeAccount !== undefined
        || (asked === undefined ? (platformFee?.feeBps ?? 0) === 0 : asked.platformFeeBps === undefined),
  },
  {
    parameter: 'asLegacyTransaction',
    words: 'must match the quote',
    holds: ({ asLegacyTransaction = false, quoteResponse: { asked } }) =>
      asked === undefined || asLegacyTransaction === (asked.asLegacyTransaction ?? false),
  },
  notBoth('destinationTokenAccount', 'nativeDestinationAccount'),
  {
    parameter: 'nativeDestinationAccount',
    words: `only where the output is SOL: expected a quote for ${SOL_MINT}, got another`,
    holds: ({ nativeDestinationAccount, quoteResponse }) =>
      nativeDestinationAccount === undefined || quoteResponse.outputMint === SOL_MINT,
  },
  {
    parameter: 'nativeDestinationAccount',
    words: 'only with V2 instructions: expected a quote that was asked for with instructionVersion V2',
    holds: ({ nativeDestinationAccount, quoteResponse: { asked } }) =>
      nativeDestinationAccount === undefined || asked === undefined || asked.instructionVersion === 'V2',
  },
];

const SWAP_RULES = quoteSwapRules('POST /swap/v1/swap');
const INSTRUCTIONS_RULES = quoteSwapRules('POST /swap/v1/swap-instructions');

/** The member of a stored quote that holds the request. It is Gannet's own, and no service receives it. */
const REQUEST_MEMBER = 'gannetRequest';

/** The members of the request that the rules of a swap need and that the answer does not hold. */
const KeptRequest = z.object({
  platformFeeBps: z.number().optional(),
  asLegacyTransaction: z.boolean().optional(),
  instructionVersion: z.enum(['V1', 'V2']).optional(),
});

/** The member at the beginning of a document. Its values hold no braces. */
const KEPT_REQUEST = new RegExp(`^\\s*\\{\\s*"${REQUEST_MEMBER}"\\s*:\\s*(\\{[^{}]*\\})\\s*,`);

/** Returns the client of the first swap API. */
export function createSwapV1(gateway: Gateway, dialect: Dialect): SwapV1 {
  return {
    async quote(request, call) {
      checkRequest(QUOTE_RULES, request);
      return gateway.get({
        path: '/swap/v1/quote', query: queryOf(QUOTE_RULES, request), shareable: true,
        read: (answer, { raw, unread }) => ({ ...readQuote(answer, request, unread), raw, asked: request }),
      }, call);
    },

    readQuote(document) {
      const { rawJson, asked } = keptQuote(document);
      return { ...readQuote(dialect.fromWire.json(parseBody(rawJson, undefined)), undefined), raw: { rawJson }, asked };
    },

    async swap(request, call) {
      checkRequest(SWAP_RULES, request);
      return gateway.post({
        path: '/swap/v1/swap', body: bodyOf(request), read: (answer, { unread }) => readQuoteSwap(answer, unread),
      }, call);
    },

    async swapInstructions(request, call) {
      checkRequest(INSTRUCTIONS_RULES, request);
      return gateway.post({
        path: '/swap/v1/swap-instructions', body: bodyOf(request),
        read: (answer, { unread }) => readQuoteInstructions(answer, unread),
      }, call);
    },

    async programIdToLabel(call) {
      return gateway.get({ path: '/swap/v1/program-id-to-label', shareable: true, read: readLabels }, call);
    },
  };
}

/** Returns a quote's document for another process: the service's text, with the request before its members. */
export function quoteToKeep({ raw: { rawJson }, asked }: QuoteAnswer): string {
  if (asked === undefined) return rawJson;
  return `{"${REQUEST_MEMBER}":${JSON.stringify(KeptRequest.parse(asked))},${rawJson.trimStart().slice(1)}`;
}

/** Reverses `quoteToKeep`. A document without the member is the service's own. */
function keptQuote(document: string): { readonly rawJson: string; readonly asked?: QuoteAnswer['asked'] } {
  const found = KEPT_REQUEST.exec(document);
  const rawJson = found === null ? document : `{${document.slice(found[0].length)}`;
  const json = parseBody(rawJson, undefined);
  if (typeof json === 'object' && json !== null && Object.hasOwn(json, REQUEST_MEMBER)) {
    throw malformed(`quote, ${REQUEST_MEMBER}: expected it once, as the first member`, rawJson);
  }
  if (found === null) return { rawJson };
  return { rawJson, asked: readWire(KeptRequest, parseBody(found[1]!, undefined), `quote, ${REQUEST_MEMBER}`) };
}

/** Returns the members that the rules name and the caller gave; the quote stays byte for byte as it came. */
function bodyOf(request: QuoteSwapRequest): Body {
  const members = Object.keys(SWAP_RULES.parameters).flatMap((name): [string, Json | RawJson][] => {
    const value = request[name as keyof QuoteSwapRequest];
    if (value === undefined) return [];
    if (name === 'quoteResponse') return [[name, request.quoteResponse.raw]];
    // As a number: the service takes no text here, and a double could not say all of them.
    return [[name, typeof value === 'bigint' ? { rawJson: value.toString() } : toJson(value)]];
  });
  return { members: Object.fromEntries(members) };
}

/** Leaves out undefined members, which JSON does not have. */
function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

/**
 * Returns what the reference states of the body of `POST /swap/v1/swap`, line by line; `/swap-instructions` takes the
 * same.
 */
function quoteSwapRules(
  endpoint: 'POST /swap/v1/swap' | 'POST /swap/v1/swap-instructions',
): RequestRules<QuoteSwapRequest> {
  return {
    endpoint,
    parameters: {
      userPublicKey: required(anAddress),
      quoteResponse: required(optionalRule('a quote of V1 as it came', (value) =>
        typeof value === 'object' && value !== null && 'raw' in value)),
      payer: anAddress,
      wrapAndUnwrapSol: aFlag,
      useSharedAccounts: aFlag,
      feeAccount: anAddress,
      trackingAccount: anAddress,
      prioritizationFeeLamports: PRIORITIZATION_FEE,
      asLegacyTransaction: aFlag,
      destinationTokenAccount: anAddress,
      nativeDestinationAccount: anAddress,
      dynamicComputeUnitLimit: aFlag,
      skipUserAccountsRpcCalls: aFlag,
      dynamicSlippage: aFlag,
      computeUnitPriceMicroLamports: aU64,
      blockhashSlotsToExpiry: anInteger(UINT8),
    },
    joint: QUOTE_SWAP_JOINT_RULES,
    elsewhere: {
      taker: 'V1 calls it userPublicKey', slippageBps: 'the quote has it', platformFeeBps: 'the quote has it',
    },
  };
}

function isFeeForm([name, value]: readonly [string, unknown]): boolean {
  if (name === 'bundleTipLamports') return isLamports(value);
  if (!isRecord(value)) return false;
  if (name === 'bundleTipLamportsWithPayer')
    return isLamports(value['lamports']) && wireAddress.safeParse(value['payer']).success;
  return name === 'priorityLevelWithMaxLamports' && PRIORITY_LEVELS.includes(value['priorityLevel'])
    && isLamports(value['maxLamports'])
    && (value['global'] === undefined || typeof value['global'] === 'boolean');
}

function isLamports(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
