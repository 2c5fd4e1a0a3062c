import type { WireFault } from './wire.ts';

/** A swap and what the fixture does to it. */
export interface Scenario {
  readonly name: string;
  readonly route: 'order' | 'build';
  /** In whole USDC: above 150 a maker fills. */
  readonly usdc: number;
  /** What the wallet has for fees, in lamports: with hardly any, a third party pays. */
  readonly lamports: bigint;
  /** A third party pays, for as long as the wallet has bought no SOL. */
  readonly isGasless?: boolean | undefined;
  /** How its intent ends without a crash. */
  readonly ends: readonly string[];
  /** What happens to the signed bytes on their way. */
  readonly fault?: { readonly fault: WireFault; readonly times?: number } | undefined;
  /** A fault of the sandbox itself, at /swap/v2/execute. */
  readonly sandboxFault?: { readonly fault: Readonly<Record<string, unknown>>; readonly times?: number } | undefined;
  /** Nothing lands: the chain's slots pass faster, so that it can soon be proven. */
  readonly expires?: boolean | undefined;
  /** What the bought token's price is multiplied with once the bytes are signed. */
  readonly priceAfterSigning?: number | undefined;
}

const RICH = 1_000_000_000n;
/** Less than a hundredth of a SOL. */
const POOR = 5_000_000n;
const SMALL = 25;
const FIRM = 400;
/** Longer than the client waits before it posts again, shorter than the bytes live; of the machine's own time. */
const LATE_MS = 400;

const WAYS = {
  'order': { route: 'order', usdc: SMALL, lamports: RICH },
  'order, gasless': { route: 'order', usdc: SMALL, lamports: POOR, isGasless: true },
  'maker': { route: 'order', usdc: FIRM, lamports: RICH },
  'build': { route: 'build', usdc: SMALL, lamports: RICH },
} as const;

/** What can become of the bytes. */
const FATES: readonly (Omit<Scenario, 'name' | 'route' | 'usdc' | 'lamports' | 'ends'>
  & { readonly ends?: readonly string[]; readonly fate: string; readonly ways?: readonly (keyof typeof WAYS)[] })[] = [
  { fate: 'success' },
  { fate: 'slippage', ends: ['abandoned', 'failed'], priceAfterSigning: 1.2, ways: ['order', 'build'] },
  { fate: 'no last look', ends: ['abandoned', 'expired'], expires: true, priceAfterSigning: 1.2, ways: ['maker'] },
  { fate: 'never lands', ends: ['expired'], expires: true, fault: { fault: { kind: 'drop_before' } } },
  { fate: 'answer dropped after landing', fault: { fault: { kind: 'drop_after' }, times: 1 } },
  { fate: 'dropped before', fault: { fault: { kind: 'drop_before' }, times: 1 } },
  { fate: '503', fault: { fault: { kind: 'status', status: 503 }, times: 2 } },
  {
    fate: '500, landed', sandboxFault: { fault: { kind: 'unknown', landed: true }, times: 1 }, ways: ['order', 'maker'],
  },
  {
    fate: '500, not landed', sandboxFault: { fault: { kind: 'unknown', landed: false }, times: 1 },
    ways: ['order', 'maker'],
  },
  {
    fate: 'refused by the maker', expires: true, sandboxFault: { fault: { kind: 'reject' }, times: 1 }, ways: ['maker'],
  },
  { fate: 'lands late', fault: { fault: { kind: 'late', ms: LATE_MS } } },
];

/** Every way to swap with everything that can become of it. */
export const SCENARIOS: readonly Scenario[] = Object.entries(WAYS).flatMap(([way, swap]) => FATES
  .filter(({ ways }) => ways === undefined || (ways as readonly string[]).includes(way))
  .map(({ fate, ways: _ways, ...rest }) => ({ name: `${way}: ${fate}`, ends: ['confirmed'], ...swap, ...rest })));

/** Returns the scenario of a name. */
export function scenarioOf(name: string): Scenario {
  const scenario = SCENARIOS.find((candidate) => candidate.name === name);
  if (scenario === undefined)
    throw new Error(`there is no scenario "${name}"; known are ${SCENARIOS.map((each) => each.name).join('; ')}`);
  return scenario;
}
