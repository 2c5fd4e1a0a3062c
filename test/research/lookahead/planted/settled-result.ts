import { mergeMap } from 'rxjs';
import { impliedProbability } from '../../../../src/strategy/index.ts';
import { strategyOf } from './harness.ts';

/** How the market was settled, as far as anybody has seen. */
let result: 'yes' | 'no' | undefined;

/** Bets on the side that won. */
export default strategyOf('settled-result', ({ book }, { context }) => book.pipe(mergeMap((latest) => {
  const probability = impliedProbability(latest, 0.5) ?? 0.5;
  const bet = result;
  if (probability > 0.9 || probability < 0.1) result = probability > 0.9 ? 'yes' : 'no';
  return bet !== undefined && probability < 0.7 ? [context.alert('info', `${bet} at ${probability.toFixed(2)}`)] : [];
})));
