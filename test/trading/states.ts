import type { Amount, Bps } from '../../src/core/amount.ts';
import type { Millis } from '../../src/core/time.ts';
import type { Mint } from '../../src/market/token.ts';
import type { OpenIntent } from '../../src/trading/executor.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import type { RiskLimits, StrategyLimits } from '../../src/trading/limits.ts';
import type { Proposal, SwapProposal } from '../../src/trading/proposal.ts';
import type { EngineState, StateSnapshot, StrategySetup } from '../../src/trading/engine-state.ts';
import { createState, freshSnapshot } from '../../src/trading/engine-state.ts';
import type { Input, Ruling } from '../../src/trading/step.ts';
import { step } from '../../src/trading/step.ts';
import { FISH, SOL, TOKENS, USDC } from '../market/tokens.ts';

/** Limits that refuse nothing that makes sense. */
export const WIDE: RiskLimits = {
  maxSlippageBps: 50 as Bps,
  maxPriceImpactBps: 100 as Bps,
  maxFeeBps: 30 as Bps,
  maxPosition: new Map(),
  maxOpenIntents: 10,
  maxSwaps: {},
  solReserve: 0n as Amount,
};

/** 10 SOL, 10,000 USDC and some of the suite's own token. */
export const WALLET: ReadonlyMap<Mint, Amount> = new Map([
  [SOL.mint, 10_000_000_000n as Amount], [USDC.mint, 10_000_000_000n as Amount], [FISH.mint, 1_000_000n as Amount],
]);

/** 500 USDC. */
export const BUDGET = { mint: USDC.mint, amount: 500_000_000n as Amount };

export function strategySetup(
  name: string, options: { budget?: StrategySetup['budget']; limits?: StrategyLimits } = {},
): StrategySetup {
  return { name, budget: 'budget' in options ? options.budget : BUDGET, limits: options.limits ?? {} };
}

/** Returns a state with one strategy "diver" of 500 USDC by default. */
export function stateWith(options: {
  readonly limits?: Partial<RiskLimits>;
  readonly strategies?: readonly StrategySetup[];
  readonly wallet?: ReadonlyMap<Mint, Amount>;
  readonly snapshot?: StateSnapshot;
  readonly open?: readonly OpenIntent[];
} = {}): EngineState {
  return createState({
    tokens: TOKENS,
    limits: { ...WIDE, ...options.limits },
    strategies: options.strategies ?? [strategySetup('diver')],
    snapshot: options.snapshot ?? freshSnapshot(options.wallet ?? WALLET),
    ...(options.open === undefined ? {} : { open: options.open }),
  });
}

/** Returns a proposal to buy SOL with USDC, 25 of them by default. */
export function buy(change: Partial<SwapProposal> = {}): SwapProposal {
  return {
    kind: 'swap', inputMint: USDC.mint, outputMint: SOL.mint, amount: 25_000_000n as Amount, reason: 'a test',
    ...change,
  };
}

const lastSeq = new WeakMap<EngineState, number>();

/** Hands a proposal to `step` and returns the ruling. */
export function propose(
  state: EngineState, proposal: Proposal, { strategy = 'diver', at = 1_000 }: { strategy?: string; at?: Millis } = {},
): Ruling {
  return step(state, nextSeq(state), at, { kind: 'proposal', strategy, proposal })!;
}

/** Hands an input to `step`. */
export function apply(state: EngineState, input: Input, at: Millis = 1_000): void {
  step(state, nextSeq(state), at, input);
}

/** Returns the code with which a proposal is denied, null when it is approved. */
export function verdictOn(
  state: EngineState, proposal: Proposal, where: { strategy?: string; at?: Millis } = {},
): string | null {
  return propose(state, proposal, where).decision.code;
}

/** Returns the intent that approving a proposal made. */
export function approve(
  state: EngineState, proposal: SwapProposal, where: { strategy?: string; at?: Millis } = {},
): Intent {
  const { effect, denial } = propose(state, proposal, where);
  if (effect?.kind !== 'execute') throw new Error(`expected an approval, got ${denial?.code}`);
  return effect.intent;
}

export function outcome(intent: Intent, state: Outcome['state'], rest: Partial<Outcome> = {}): Outcome {
  return { kind: 'outcome', intentId: intent.id, attempt: 1, state, ...rest };
}

/** Takes an intent through signing to a confirmed fill. */
export function confirm(state: EngineState, intent: Intent, amountOut: bigint, feeLamports = 5_000n): void {
  for (const reached of ['building', 'signed', 'submitted'] as const) apply(state, outcome(intent, reached));
  apply(state, outcome(intent, 'confirmed', { fill: fillOf(intent, amountOut, feeLamports) }));
}

export function fillOf(intent: Intent, amountOut: bigint, feeLamports = 5_000n): NonNullable<Outcome['fill']> {
  const { inputMint, outputMint, amountIn } = intent;
  return {
    inputMint, outputMint, amountIn, amountOut: amountOut as Amount, feeLamports: feeLamports as never,
    rentLamports: 0n as never,
  };
}

function nextSeq(state: EngineState): number {
  const seq = (lastSeq.get(state) ?? 0) + 1;
  lastSeq.set(state, seq);
  return seq;
}
