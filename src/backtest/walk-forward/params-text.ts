import { canonicalJson } from '../../core/json.ts';
import type { TrialParams } from '../trial.ts';

/** Returns parameters for people: "window 20, k 2"; with the strategy's name where there are several. */
export function paramsText(params: TrialParams): string {
  const strategies = Object.entries(params);
  const parts = strategies.flatMap(([strategy, own]) => Object.entries(own).map(([name, value]) =>
    `${strategies.length > 1 ? `${strategy}.` : ''}${name} ${typeof value === 'string' ? value : canonicalJson(value)}`));
  return parts.length === 0 ? 'as configured' : parts.join(', ');
}
