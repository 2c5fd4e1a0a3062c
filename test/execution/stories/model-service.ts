import type { Amount } from '../../../src/core/amount.ts';
import type { ErrorCode } from '../../../src/core/errors.ts';
import { GannetError } from '../../../src/core/errors.ts';
import type { Signer, SwapService } from '../../../src/execution/ports.ts';
import type { Mint } from '../../../src/market/token.ts';
import type { SwapInstruction, SwapRequest, SwapTerms } from '../../../src/trading/swap-terms.ts';
import type { Life } from './life.ts';
import type { ModelChain, ModelMessage } from './model-chain.ts';
import { LIFE_BLOCKS, blockhashOf, heightOf, idOf, readMessage, writeMessage } from './model-chain.ts';
import type { Wire } from './weather.ts';

const FAULTS: readonly ErrorCode[] = ['SERVICE_TIMEOUT', 'SERVICE_UNREACHABLE', 'SERVICE_STATUS'];
const SLIPPAGE_BPS = 50n;

/** What the service does with one question for a swap; what is left out is as it should be. */
export interface Trick {
  /** By how many blocks the blockhash is older than the newest. */
  readonly ageBlocks: number;
  /** By how much the last valid block height that it states is off. */
  readonly offBlocks: number;
  /** The bytes of an earlier answer to the same question, if there was one. */
  readonly repeats: boolean;
  readonly payer: 'us' | 'sponsor';
  /** For another wallet, for another amount, or nothing at all. */
  readonly breaks?: 'taker' | 'amount' | 'nothing' | undefined;
}

export const NO_TRICK: Trick = { ageBlocks: 0, offBlocks: 0, repeats: false, payer: 'us' };

/** All that outlives a process: what was asked for and handed over so far. */
export class ModelService {
  readonly #chain: ModelChain;
  readonly #tricks: readonly Trick[];
  readonly #priceOf: (mint: Mint) => bigint;
  readonly #name: string;
  readonly #known = new Map<string, Uint8Array>();
  #asked = 0;

  constructor(options: {
    readonly chain: ModelChain; readonly tricks: readonly Trick[]; readonly priceOf: (mint: Mint) => bigint;
    readonly name: string;
  }) {
    this.#name = options.name;
    this.#chain = options.chain;
    this.#tricks = options.tricks;
    this.#priceOf = options.priceOf;
  }

  /** Returns the service as a process reaches it. */
  port(wire: Wire, life: Life, onReceived: (message: ModelMessage) => void): SwapService {
    return {
      order: (request) => wire.ask(life, FAULTS, () => {
        const terms = this.#terms(request);
        if (request.taker === undefined) return terms;
        const { trick, bytes, lastValidBlockHeight } = this.#assemble(request);
        return {
          ...terms, requestId: `request-${this.#asked}`, lastValidBlockHeight, signatureFeePayer: trick.payer,
          inAmount: (trick.breaks === 'amount' ? terms.inAmount * 2n : terms.inAmount) as Amount,
          taker: trick.breaks === 'taker' ? 'them' : request.taker,
          ...(trick.breaks === 'nothing' ? {} : { transaction: bytes }),
        };
      }),
      build: (request) => wire.ask(life, FAULTS, () => {
        const { bytes, lastValidBlockHeight } = this.#assemble(request);
        const swapInstruction: SwapInstruction = { programId: 'swap', accounts: [], data: bytes };
        return {
          ...this.#terms(request), lastValidBlockHeight, blockhash: readMessage(bytes).blockhash,
          computeBudgetInstructions: [], setupInstructions: [], otherInstructions: [], swapInstruction,
          lookupTables: {},
        };
      }),
      execute: ({ signedTransaction }) => wire.ask(life, FAULTS, () => {
        const message = readMessage(signedTransaction);
        onReceived(message);
        if (!wire.chance(wire.weather.lies)) return { status: 'success', signature: idOf(message) } as const;
        return wire.chance(0.5) ? { status: 'success', signature: 'us/another' } as const
          : { status: 'failed', code: -1_000, signature: idOf(message) } as const;
      }),
    };
  }

  #terms({ inputMint, outputMint, amount }: SwapRequest): SwapTerms {
    const outAmount = (amount * this.#priceOf(inputMint)) / this.#priceOf(outputMint);
    return {
      inputMint, outputMint, inAmount: amount, outAmount: outAmount as Amount,
      threshold: (outAmount - (outAmount * SLIPPAGE_BPS) / 10_000n) as Amount,
      priceImpact: 0, feeBps: 0, router: 'model',
    };
  }

  #assemble(
    request: SwapRequest,
  ): { readonly trick: Trick; readonly bytes: Uint8Array; readonly lastValidBlockHeight: bigint } {
    const trick = this.#tricks[this.#asked] ?? NO_TRICK;
    this.#asked += 1;
    const question = `${request.inputMint} ${request.outputMint} ${request.amount}`;
    const known = this.#known.get(question);
    const blockhash = blockhashOf(this.#chain.heightAt(this.#chain.tip) - trick.ageBlocks);
    const { inputMint, outputMint, outAmount } = this.#terms(request);
    const fresh = {
      id: `${this.#name}-${this.#asked}`, payer: trick.payer, inputMint, outputMint, amountIn: request.amount,
      amountOut: outAmount - 1n, blockhash,
    };
    const bytes = trick.repeats && known !== undefined ? known : writeMessage(fresh);
    this.#known.set(question, bytes);
    const lastValidBlockHeight = BigInt(heightOf(readMessage(bytes).blockhash) + LIFE_BLOCKS + trick.offBlocks);
    return { trick, bytes, lastValidBlockHeight };
  }
}

/** Returns a signer that holds bytes against the terms, as its policy does. */
export function modelSigner(wire: Wire, life: Life): Signer {
  return {
    address: 'us',
    sign: (transaction, terms) => wire.ask(life, ['SIGN_REFUSED'], () => {
      const message = readMessage(transaction);
      const isMeant = message.inputMint === terms.inputMint && message.outputMint === terms.outputMint
        && message.amountIn === terms.amountIn && message.amountOut >= terms.minimumOut;
      if (!isMeant)
        throw new GannetError('SIGN_REFUSED', 'not what was meant', { details: { code: 'TERMS_MISMATCH' } });
      return { transaction, signature: `us/${message.id}`, messageHash: message.id, ...(message.payer === 'us'
        ? { transactionId: idOf(message) } : {}) };
    }),
  };
}
