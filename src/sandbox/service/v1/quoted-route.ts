import { hash } from 'node:crypto';
import type { GenesisToken } from '../../genesis.ts';
import { createRecent } from '../recent.ts';
import type { Route } from '../routing/routing.ts';
import type { QuoteRequest } from './quote-request.ts';

/** The service's memory of its quotes: `/swap` executes only those. */
export interface Quotes {
  remember(answer: object, quoted: QuotedRoute): void;
  /** Returns the quotes whose required members an answer repeats, the most similar one first. */
  find(answer: object): readonly QuotedRoute[];
  /** Returns what alone tells an answer from a quote that is known: the member, and its value in the quote. */
  oneChange(answer: object): { readonly member: string; readonly value: string } | undefined;
}

/** Quotes do not expire; the oldest are dropped. */
const LARGEST_COUNT = 10_000;
/** The quotes that are compared with an unknown one. */
const COMPARED_COUNT = 100;
/** The equal quotes that are kept: they differ in options alone. */
const MOST_EQUAL = 8;

/**
 * The required members identify a quote, without the threshold, which no transaction uses. Clients drop the optional
 * ones, and write numbers as texts.
 */
const REQUIRED =
  ['inputMint', 'inAmount', 'outputMint', 'outAmount', 'swapMode', 'slippageBps', 'priceImpactPct'] as const;
const REQUIRED_OF_STEP = ['ammKey', 'label', 'inputMint', 'outputMint', 'inAmount', 'outAmount'] as const;

interface KeptQuote {
  readonly answer: object;
  readonly quoted: QuotedRoute;
}

/** Returns a memory of the last ten thousand quotes. */
export function createQuotes(options: { nowMs: () => number }): Quotes {
  const recent = createRecent<readonly KeptQuote[]>({
    ...options, lifetimeMs: Number.POSITIVE_INFINITY, largestCount: LARGEST_COUNT,
  });
  let newest: readonly KeptQuote[] = [];
  return {
    remember(answer, quoted) {
      const kept: KeptQuote = { answer, quoted };
      const key = fingerprint(answer);
      recent.set(key, [kept, ...(recent.get(key) ?? [])].slice(0, MOST_EQUAL));
      newest = [kept, ...newest.slice(0, COMPARED_COUNT - 1)];
    },
    find(answer) {
      const given = membersOf(answer);
      const likenessOf = (kept: KeptQuote): number => {
        const members = membersOf(kept.answer);
        return [...given].filter(([path, value]) => members.get(path) === value).length;
      };
      return (recent.get(fingerprint(answer)) ?? [])
        .map((kept) => ({ quoted: kept.quoted, likeness: likenessOf(kept) }))
        .toSorted((a, b) => b.likeness - a.likeness).map(({ quoted }) => quoted);
    },
    oneChange(answer) {
      const given = identityOf(answer);
      for (const { answer: quote } of newest) {
        const identity = identityOf(quote);
        const changed = [...new Set([...identity.keys(), ...given.keys()])]
          .filter((path) => identity.get(path) !== given.get(path));
        if (changed.length === 1) return { member: changed[0]!, value: identity.get(changed[0]!) ?? 'nothing' };
      }
      return undefined;
    },
  };
}

/** Returns the required members of an answer by their paths, each as a text. */
function identityOf(answer: object): Map<string, string> {
  const members = membersOf(answer);
  const steps = new Set([...members.keys()].flatMap((path) => /^routePlan\.(\d+)\./.exec(path)?.[1] ?? []));
  const paths = [
    ...REQUIRED, ...[...steps].flatMap((step) => REQUIRED_OF_STEP.map((name) => `routePlan.${step}.swapInfo.${name}`)),
  ];
  return new Map(paths.flatMap((path) => (members.has(path) ? [[path, members.get(path)!] as const] : [])));
}

/** Values as texts: a number and the same number in quotes are one. */
function membersOf(value: object, prefix = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, member] of Object.entries(value) as readonly [string, unknown][]) {
    const path = `${prefix}${name}`;
    if (typeof member === 'object' && member !== null)
      for (const [inner, text] of membersOf(member, `${path}.`)) found.set(inner, text);
    else found.set(path, String(member));
  }
  return found;
}

/** The order of members does not matter. */
function fingerprint(answer: object): string {
  return hash('sha256', JSON.stringify([...identityOf(answer)].toSorted(([a], [b]) => (a < b ? -1 : 1))), 'base64');
}

/** A quote of the first version, in smallest units. */
export interface QuotedRoute {
  readonly request: QuoteRequest;
  readonly input: GenesisToken;
  readonly output: GenesisToken;
  readonly route: Route;
  readonly inAmount: bigint;
  /** What the user receives: after fees, before slippage; with ExactOut the requested amount. */
  readonly outAmount: bigint;
  /** Of the output. */
  readonly feeAmount: bigint;
  /** The least output with ExactIn, the most input with ExactOut. */
  readonly threshold: bigint;
}
