import type { SignerConfig } from '../config/run-config.ts';
import type { TokenTable } from '../market/token.ts';
import { showAmount } from '../market/market-text.ts';

/** Returns what the configuration lets the signer spend and call, one line each; nothing where it says nothing. */
export function describeSigner({ programs, destinations, caps }: SignerConfig, tokens: TokenTable): string[] {
  const spending = [...caps].map(([mint, { perTrade, perHour, perDay }]) => {
    const spans = [['a swap', perTrade], ['an hour', perHour], ['a day', perDay]] as const;
    return spans.filter(([, cap]) => cap !== undefined).map(([span, cap]) => `${showAmount(tokens, mint, cap!)} ${span}`).join(', ');
  });
  return [
    ...spending,
    ...(programs.length === 0 ? [] : [`programs beside the known ones: ${programs.join(', ')}`]),
    ...(destinations.length === 0 ? [] : [`tokens may also go to ${destinations.join(', ')}`]),
  ];
}
