import type { StrategyInstance } from '../engine/host.ts';
import { Engine } from '../engine/engine.ts';
import type { Token } from '../market/token.ts';

/** Returns what strategies watch that could be bought with the currency: benchmarks buy it. */
export function watchedTokens(strategies: readonly StrategyInstance[], { tokens, currency }: { readonly tokens: readonly Token[]; readonly currency: Token }): Token[] {
  const mints = new Set(Engine.feedsOf(strategies).flatMap((spec) => {
    switch (spec.kind) {
      case 'quote': return [spec.inputMint, spec.outputMint];
      case 'token-stats': return [spec.mint];
      case 'order-book': return [];
    }
  }));
  return tokens.filter(({ mint }) => mint !== currency.mint && mints.has(mint));
}
