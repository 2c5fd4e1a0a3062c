import { z } from 'zod';
import type { Json } from '../../core/json.ts';
import type { Body, Gateway, RawJson } from '../gateway.ts';
import type { CallOptions } from '../rate/priority.ts';
import { checkRequest, queryOf } from './request-rules.ts';
import { parseBody } from '../response-body.ts';
import type { QuoteAnswer, QuoteRequest, QuoteSwapRequest } from './swap-v1-request.ts';
import { QUOTE_RULES, quoteSwapRules } from './swap-v1-rules.ts';
import type { Dialect } from '../wire/dialect.ts';
import type { QuoteInstructionsAnswer } from '../wire/swap-instructions-v1.ts';
import { malformed, readWire } from '../wire/read.ts';
import { readQuoteInstructions } from '../wire/swap-instructions-v1.ts';
import { readLabels } from '../wire/swap-labels.ts';
import { readQuote } from '../wire/v1-answers.ts';
import type { QuoteSwapAnswer } from '../wire/swap-transaction-v1.ts';
import { readQuoteSwap } from '../wire/swap-transaction-v1.ts';

export type {
  PrioritizationFee, PriorityLevel, QuoteAnswer, QuoteRequest, QuoteSwapRequest,
} from './swap-v1-request.ts';
export type { QuoteInstructionsAnswer } from '../wire/swap-instructions-v1.ts';
export type { QuoteSwapAnswer } from '../wire/swap-transaction-v1.ts';

/**
 * The swap API, first version, which the second one supersedes. Every method rejects with a GannetError of a SERVICE_
 * code; a request that breaks a stated rule with SERVICE_BAD_REQUEST (details: parameter), before it leaves.
 */
export interface SwapV1 {
  /** Returns a quote, with the document that has to go back unchanged. */
  quote(request: QuoteRequest, call?: CallOptions): Promise<QuoteAnswer>;
  /**
   * Returns the quote in a document that was kept, as the service gave it. What was asked for is known of a document
   * that `quoteToKeep` wrote, and of no other. Throws SERVICE_MALFORMED.
   */
  readQuote(document: string): QuoteAnswer;
  /** Returns a quote's transaction. A `simulationError` in it says that it would fail. */
  swap(request: QuoteSwapRequest, call?: CallOptions): Promise<QuoteSwapAnswer>;
  /** Returns a quote's instructions. */
  swapInstructions(request: QuoteSwapRequest, call?: CallOptions): Promise<QuoteInstructionsAnswer>;
  /** Returns the names of markets by program, as `dexes` and `excludeDexes` take them. */
  programIdToLabel(call?: CallOptions): Promise<ReadonlyMap<string, string>>;
}

const SWAP_RULES = quoteSwapRules('POST /swap/v1/swap');
const INSTRUCTIONS_RULES = quoteSwapRules('POST /swap/v1/swap-instructions');

/** Returns the client of the first swap API. */
export function createSwapV1(gateway: Gateway, dialect: Dialect): SwapV1 {
  return {
    async quote(request, call) {
      checkRequest(QUOTE_RULES, request);
      const { json, raw } = await gateway.getDocument(
        { path: '/swap/v1/quote', query: queryOf(QUOTE_RULES, request), shareable: true }, call,
      );
      return { ...readQuote(json, request), raw, asked: request };
    },

    readQuote(document) {
      const { rawJson, asked } = keptQuote(document);
      return { ...readQuote(dialect.fromWire.json(parseBody(rawJson, undefined)), undefined), raw: { rawJson }, asked };
    },

    async swap(request, call) {
      checkRequest(SWAP_RULES, request);
      return readQuoteSwap(await gateway.post({ path: '/swap/v1/swap', body: bodyOf(request) }, call));
    },

    async swapInstructions(request, call) {
      checkRequest(INSTRUCTIONS_RULES, request);
      return readQuoteInstructions(
        await gateway.post({ path: '/swap/v1/swap-instructions', body: bodyOf(request) }, call),
      );
    },

    async programIdToLabel(call) {
      return readLabels(await gateway.get({ path: '/swap/v1/program-id-to-label', shareable: true }, call));
    },
  };
}

/** The member of a kept quote that holds what was asked for. It is Gannet's own, and no service receives it. */
const REQUEST_MEMBER = 'gannetRequest';

/** What the rules of a swap have to know of the request, and the answer does not tell. */
const KeptRequest = z.object({
  platformFeeBps: z.number().optional(),
  asLegacyTransaction: z.boolean().optional(),
  instructionVersion: z.enum(['V1', 'V2']).optional(),
});

/** The member at the beginning of a document. Its values hold no braces. */
const KEPT_REQUEST = new RegExp(`^\\s*\\{\\s*"${REQUEST_MEMBER}"\\s*:\\s*(\\{[^{}]*\\})\\s*,`);

/** Returns a quote's document for another process: the service's text, and before its members what was asked for. */
export function quoteToKeep({ raw: { rawJson }, asked }: QuoteAnswer): string {
  if (asked === undefined) return rawJson;
  return `{"${REQUEST_MEMBER}":${JSON.stringify(KeptRequest.parse(asked))},${rawJson.trimStart().slice(1)}`;
}

/** Parts what `quoteToKeep` joined. A document without the member is the service's own. */
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

/** Only what the rules name and the caller gave; the quote byte for byte as it came. */
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

/** Leaves out members that are undefined, which JSON has not got. */
function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
