import { groupThousands } from '../core/text.ts';
import type { Millis } from '../core/time.ts';
import { shortDuration } from '../core/time.ts';
import { LONG_IDLE, denialText, idleShare, limitedBy } from '../research/trials/denial-summary.ts';
import { IMPLAUSIBLE_SHARPE } from '../research/trials/verdict.ts';
import type { Markup } from '../web/markup.ts';
import { markup } from '../web/markup.ts';
import type { ReportFigures, ReportInput } from './report-input.ts';

const DAY_MS = 86_400_000;

/** Returns the result of a backtest in one sentence, with what changes its meaning. */
export function headlineOf(input: ReportInput, { figure, isGiven }: ReportFigures): Markup {
  const { run: { record, result: { startAt, endAt }, assessment: { metrics: { total_return: total } } } } = input;
  const span = spanText(endAt - startAt);
  const cautions = cautionsOf(input);
  const told = cautions.length > 0 && markup` <strong class="caution">${capital(cautions.join(', and '))}.</strong>`;
  if (record.fills.length === 0)
    return markup`<b>No swap</b> in ${span}: this run says nothing about the strategy.${told}`;
  if (total === null)
    return markup`The holdings could not be valued: this run says nothing about the strategy.${told}`;
  const tone = total > 0 ? 'gain' : total < 0 ? 'loss' : 'even';
  const held = isGiven('result.versus') && markup`, ${figure('result.versus')}`;
  const fell = isGiven('total.max_drawdown') && markup`, max drawdown ${figure('total.max_drawdown')}`;
  return markup`<b class="${tone}">${figure('result.return')}</b> in ${span} after costs${held}${fell}.${told}`;
}

/** Returns a span in whole days from two days on. */
function spanText(span: Millis): string {
  const days = Math.round(span / DAY_MS);
  return days < 2 ? shortDuration(span) : `${groupThousands(String(days))} days`;
}

/** Returns what changes the meaning of a result. */
function cautionsOf({ run: { record, result, assessment: { metrics: { sharpe } } } }: ReportInput): string[] {
  const { denials, fills, startAt, endAt } = result;
  const idle = idleShare({ fills, startAt, endAt });
  const denied = limitedBy({ denials, fills: fills.length, idle });
  return [
    ...(record.isMadeUp === true ? ['the market is generated'] : []),
    ...(sharpe !== null && sharpe > IMPLAUSIBLE_SHARPE ? ['its Sharpe ratio is more than real markets pay'] : []),
    ...(denied === undefined ? [] : [idle >= LONG_IDLE && fills.length > 0
      ? `nothing was traded in the last ${(idle * 100).toFixed(0)} % of the time, mostly by ${denialText(denied.code)}`
      : `the risk limits refused at least as many swaps as were made, mostly by ${denialText(denied.code)}`]),
  ];
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
