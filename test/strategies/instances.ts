import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import { outputAt } from '../../src/market/quote.ts';
import type { Strategy } from '../../src/strategy/index.ts';
import { withTokens } from '../../src/strategy/params.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { EngineState } from '../../src/trading/engine-state.ts';
import type { Effect } from '../../src/trading/step.ts';
import { TOKENS } from '../market/tokens.ts';
import { fillOf } from '../trading/states.ts';

/** Returns a strategy as a configuration with these parameters uses it. Throws what its schema throws. */
export function configured(strategy: Strategy, params: unknown, name = strategy.name): StrategyInstance {
  return { name, strategy, params: withTokens(TOKENS, () => strategy.params.parse(params)) };
}

/** Fills every swap at once at the last price of its pair, in either direction. */
export function fillAtOnce(stateOf: () => EngineState): (effect: Effect, engine: Engine) => void {
  return (effect, engine) => {
    if (effect.kind !== 'execute') return;
    const { intent } = effect;
    const { market } = stateOf();
    const direct = market.latestQuote(intent.inputMint, intent.outputMint);
    const reverse = market.latestQuote(intent.outputMint, intent.inputMint);
    const amountOut = direct !== undefined
      ? outputAt(direct, intent.amountIn)
      : outputAt({ inAmount: reverse!.outAmount, outAmount: reverse!.inAmount }, intent.amountIn);
    const base = { kind: 'outcome', intentId: intent.id, attempt: 1 } as const;
    for (const state of ['building', 'signed', 'submitted'] as const)
      engine.accept({ ...base, state }, engine.clock.now());
    engine.accept({ ...base, state: 'confirmed', fill: fillOf(intent, amountOut) }, engine.clock.now());
  };
}
