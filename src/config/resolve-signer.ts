import type { Amount } from '../core/amount.ts';
import type { Mint, Token } from '../market/token.ts';
import type { SpendCap } from '../trading/limits.ts';
import type { ProblemList } from './config-issue.ts';
import type { ConfigFile } from './config-schema.ts';
import type { ConfigPath } from './config-tree.ts';
import type { AmountReader } from './resolve-tokens.ts';
import type { SignerConfig } from './run-config.ts';

interface SignerScope {
  readonly amounts: AmountReader;
  readonly problems: ProblemList;
}

type CapsEntry = NonNullable<ConfigFile['signer']>['caps'][string];
const SPANS = ['per_trade', 'per_hour', 'per_day'] as const;

/** Returns what the section "signer" allows, read as the signer's own process reads it. */
export function resolveSigner({ signer }: ConfigFile, scope: SignerScope): SignerConfig {
  if (signer === undefined) return { programs: [], destinations: [], caps: new Map() };
  refuseRepeated(['signer', 'programs'], signer.programs, scope.problems);
  refuseRepeated(['signer', 'destinations'], signer.destinations, scope.problems);
  const caps = new Map<Mint, SpendCap>();
  for (const [alias, entry] of Object.entries(signer.caps)) {
    const path = ['signer', 'caps', alias];
    const token = scope.amounts.token(path, alias, 'key');
    if (token !== undefined) caps.set(token.mint, resolveCaps(entry, { path, token }, scope));
  }
  return { programs: signer.programs, destinations: signer.destinations, caps };
}

function resolveCaps(entry: CapsEntry, { path, token }: { readonly path: ConfigPath; readonly token: Token }, {
  amounts, problems,
}: SignerScope): SpendCap {
  if (SPANS.every((span) => entry[span] === undefined) && !problems.isFaulty(path)) {
    problems.add(path, 'expected at least one of per_trade, per_hour and per_day: without any, nothing is capped');
  }
  const read = (span: typeof SPANS[number]): Amount | undefined => {
    const text = entry[span];
    const cap = text === undefined ? undefined : amounts.ofToken([...path, span], text, token);
    if (cap === 0n)
      problems.add([...path, span], 'expected a cap above zero; what is not to be spent at all needs no strategy');
    return cap;
  };
  const caps = SPANS.map((span) => ({ span, cap: read(span) }))
    .filter((known): known is { span: typeof SPANS[number]; cap: Amount } => known.cap !== undefined);
  for (const [index, { span, cap }] of caps.entries()) {
    const larger = caps[index + 1];
    if (larger !== undefined && cap > larger.cap) {
      problems.add(
        [...path, larger.span], `expected at least what ${span} allows, ${entry[span]}, got ${entry[larger.span]}`,
      );
    }
  }
  const of = (span: typeof SPANS[number]): Amount | undefined => caps.find((known) => known.span === span)?.cap;
  return { perTrade: of('per_trade'), perHour: of('per_hour'), perDay: of('per_day') };
}

function refuseRepeated(path: ConfigPath, addresses: readonly string[], problems: ProblemList): void {
  for (const [index, address] of addresses.entries()) {
    const first = addresses.indexOf(address);
    if (first < index)
      problems.add([...path, index], `expected each address once, but it is that of position ${first} too`);
  }
}
