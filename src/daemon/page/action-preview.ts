import { pluralize } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import type { ActionPreview, PagePosition } from '../../dashboard/page-state.ts';
import { showAmount } from '../../market/market-text.ts';
import type { Mint } from '../../market/token.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { roughAmount } from './page-sentence.ts';
import { pagePositions } from './page-strategies.ts';

/** An action that sells, before it is ordered. */
export interface PreviewQuery {
  readonly action: 'flatten' | 'sell';
  readonly strategy?: string | undefined;
  /** The mint of the token to sell; absent for every token. */
  readonly mint?: string | undefined;
}

/** Returns what an action would do, in a sentence; undefined for an unknown strategy or token. */
export function previewAction(state: EngineState, now: Millis, { action, strategy, mint }: PreviewQuery):
ActionPreview | undefined {
  if (strategy !== undefined && !state.strategies.has(strategy)) return undefined;
  const positions = pagePositions(state, now, { strategy, mint: mint as Mint | undefined });
  if (mint !== undefined && positions.length === 0) return undefined;
  const after = action === 'flatten'
    ? `. ${strategy === undefined ? 'No strategy buys' : `${strategy} does not buy`} until you resume` : '';
  if (positions.length === 0) return { sentence: `There is no position to sell${after}`, positions };
  const swaps = positions.reduce((sum, position) => sum + partsOf(state, position), 0);
  const unpriced = positions.filter(({ value }) => value === null).length;
  const worth = valueText(state, positions);
  const caps = capText(state, positions);
  const sentence = `Sells ${pluralize(positions.length, 'position')}${worth === '' ? '' : `, about ${worth} now`}`
    + `${unpriced === 0 ? '' : `, of which ${unpriced} ${unpriced === 1 ? 'has' : 'have'} no price`}`
    + `, in ${pluralize(swaps, 'swap')}${caps === '' ? '' : ` (the signer signs at most ${caps} a swap)`}`
    + `${haltText(state, action)}${after}`;
  return { sentence, positions };
}

function partsOf({ limits: { caps } }: EngineState, { amount: { mint, units } }: PagePosition): number {
  const most = caps?.get(mint as Mint)?.perTrade;
  if (most === undefined || most === 0n) return 1;
  return Number((BigInt(units) + most - 1n) / most);
}

function valueText({ tokens }: EngineState, positions: readonly PagePosition[]): string {
  const sums = new Map<Mint, bigint>();
  for (const { value } of positions) {
    if (value === null) continue;
    const mint = value.mint as Mint;
    sums.set(mint, (sums.get(mint) ?? 0n) + BigInt(value.units));
  }
  return [...sums].map(([mint, sum]) => roughAmount(tokens, mint, sum).slice(1)).join(' and ');
}

/** The caps that split a position. */
function capText(state: EngineState, positions: readonly PagePosition[]): string {
  const split = new Set(positions.filter((position) => partsOf(state, position) > 1).map(({ amount }) => amount.mint));
  return [...split].map((mint) =>
    showAmount(state.tokens, mint as Mint, state.limits.caps!.get(mint as Mint)!.perTrade!)).join(' or ');
}

function haltText({ trading }: EngineState, action: PreviewQuery['action']): string {
  if (trading !== 'halted') return '';
  return action === 'flatten' ? '; it lifts the halt for sales' : '; nothing is sold while trading is halted';
}
