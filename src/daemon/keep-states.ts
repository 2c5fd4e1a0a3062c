import type { Engine } from '../engine/engine.ts';
import type { StrategyState } from '../trading/strategy-state.ts';

/**
 * Writes down what strategies keep, where something changed. What could not be written is handed out again the next
 * time, so that an outcome is never taken for seen without the state that holds it. Throws what writing throws.
 */
export function keepStates(engine: Pick<Engine, 'takeStrategyStates' | 'returnStrategyStates'>, write: (states: readonly StrategyState[]) => void): void {
  const states = engine.takeStrategyStates();
  try {
    write(states);
  } catch (error) {
    engine.returnStrategyStates(states);
    throw error;
  }
}
