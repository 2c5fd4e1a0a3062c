import { formatDecimal } from '../core/amount.ts';
import type { Mint, Token, TokenTable } from '../market/token.ts';
import type { Intent, Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import type { AlertProposal, SwapProposal } from '../trading/proposal.ts';
import type { Ruling } from '../trading/step.ts';

/** The members of every record: when it happened since the start of the run, and its line of text. */
interface RecordBase {
  readonly at: string;
  /** The name of its strategy in the run. */
  readonly strategy: string;
  /** `10s buy 25 USDC -> SOL "below the band" key=dip-1` and the like. Of several, the name stands after the time. */
  readonly line: string;
}

/** A proposed swap that risk approved. */
export interface SwapRecord extends RecordBase {
  readonly kind: 'swap';
  /** The amount spent, with its token. */
  readonly amount: string;
  readonly from: string;
  readonly to: string;
  readonly reason: string;
  readonly key: string | undefined;
  readonly tag: string | undefined;
  readonly proposal: SwapProposal;
}

/** A proposed swap that risk refused. */
export interface DenialRecord extends Omit<SwapRecord, 'kind'> {
  readonly kind: 'denial';
  readonly code: string;
  readonly why: string;
}

/** The end of a swap, or that it is unknown. */
export interface OutcomeRecord extends RecordBase {
  readonly kind: 'outcome';
  readonly state: Outcome['state'];
  /** The amount that a fill brought, with its token. */
  readonly received: string | undefined;
  readonly code: string | undefined;
  readonly key: string | undefined;
  readonly tag: string | undefined;
}

/** An alert of the strategy, or of the engine about it. */
export interface AlertRecord extends RecordBase {
  readonly kind: 'alert';
  readonly level: AlertProposal['level'];
  readonly message: string;
  readonly data: AlertProposal['data'];
}

/** Everything that happened in a run. */
export type RunRecord = SwapRecord | DenialRecord | OutcomeRecord | AlertRecord;

/** Writes records in the words of the test: symbols for mints, whole tokens for smallest units. */
export class RecordWriter {
  readonly #tokens: TokenTable;
  readonly #money: ReadonlyMap<string, Mint>;

  /** `money` is the token that a sale brings, by the name of each strategy. */
  constructor(tokens: TokenTable, money: ReadonlyMap<string, Mint>) {
    this.#tokens = tokens;
    this.#money = money;
  }

  /** Returns an amount with its token. */
  amount(mint: Mint, units: bigint): string {
    const token = this.#tokens.byMint(mint);
    return token === undefined ? `${units} raw ${mint}` : `${formatDecimal(units, token.decimals)} ${token.symbol}`;
  }

  /** Returns the record of a ruling. */
  ruling(at: string, { decision, denial, effect }: Ruling): SwapRecord | DenialRecord | AlertRecord {
    const { proposal, strategy } = decision;
    const head = this.#head(at, strategy);
    if (proposal.kind === 'alert') {
      const { level, message, data } = proposal;
      return { kind: 'alert', at, strategy, line: `${head} ${level} "${message}"`, level, message, data };
    }
    const intent = effect?.kind === 'execute' ? effect.intent : undefined;
    const swap = this.#swap(strategy, proposal, intent);
    const record = { ...swap, at, strategy, proposal };
    if (denial === undefined) return { ...record, kind: 'swap', line: `${head} ${swap.line}` };
    const { code, reason: why } = denial;
    return { ...record, kind: 'denial', code, why, line: `${head} denied ${swap.line}: ${code}` };
  }

  /** Returns the record of an outcome; undefined for a step on the way. */
  outcome(at: string, intent: Intent, { state, fill, code }: Outcome): OutcomeRecord | undefined {
    if (!isTerminal(state) && state !== 'unknown') return undefined;
    const { strategy, key, tag } = intent;
    const received = fill === undefined ? undefined : this.amount(fill.outputMint, fill.amountOut);
    const spent = this.amount(intent.inputMint, intent.amountIn);
    const line = `${this.#head(at, strategy)} ${state === 'confirmed' ? 'filled' : state} ${spent} -> `
      + (received ?? this.#symbol(intent.outputMint)) + (code === undefined ? '' : ` (${code})`) + suffix({ key, tag });
    return { kind: 'outcome', at, strategy, line, state, received, code, key, tag };
  }

  /** The time, and the name of the strategy where the run has several. */
  #head(at: string, strategy: string): string {
    return this.#money.size > 1 ? `${at} ${strategy}` : at;
  }

  #swap(
    strategy: string, proposal: SwapProposal, intent: Intent | undefined,
  ): Omit<SwapRecord, 'kind' | 'at' | 'strategy' | 'proposal'> {
    const { inputMint, outputMint, reason, key, tag } = proposal;
    const from = this.#symbol(inputMint);
    const to = this.#symbol(outputMint);
    const amount = intent === undefined ? this.#size(proposal) : this.amount(inputMint, intent.amountIn);
    const money = this.#money.get(strategy);
    const verb = inputMint === money ? 'buy' : outputMint === money ? 'sell' : 'swap';
    const line = `${verb} ${amount} -> ${to} "${reason}"${suffix({ key, tag })}`;
    return { line, amount, from, to, reason, key, tag };
  }

  #size({ inputMint, amount }: SwapProposal): string {
    if (amount === 'all') return `all ${this.#symbol(inputMint)}`;
    return typeof amount === 'bigint' ? this.amount(inputMint, amount)
      : `${amount.fraction * 100} % of ${this.#symbol(inputMint)}`;
  }

  #symbol(mint: Mint): string {
    const token: Token | undefined = this.#tokens.byMint(mint);
    return token?.symbol ?? mint;
  }
}

function suffix({ key, tag }: { readonly key?: string | undefined; readonly tag?: string | undefined }): string {
  return `${key === undefined ? '' : ` key=${key}`}${tag === undefined ? '' : ` tag=${tag}`}`;
}
