import type { HistogramBin } from '../metrics/histogram.ts';
import type { Markup } from './markup.ts';
import { markup } from './markup.ts';

/** Returns a histogram as bars, losses apart from gains; each bar says its range and its count when it is pointed at, the table below says them to everybody. */
export function histogramChart(title: string, bins: readonly HistogramBin[], show: (value: number) => string): Markup {
  if (bins.length === 0) return markup`<figure class="chart"><figcaption>${title}</figcaption><p class="none">No round trip was completed.</p></figure>`;
  const most = bins.reduce((largest, { count }) => Math.max(largest, count), 1);
  return markup`<figure class="chart"><figcaption>${title}</figcaption>
<div class="bars" role="img" aria-label="${title}">${bins.map(({ from, to, count }) => markup`<div class="bar ${from < 0 ? 'loss' : 'gain'}" style="height:${Math.max(count === 0 ? 0 : 1, (count / most) * 100).toFixed(1)}%" title="${show(from)} to ${show(to)}: ${count}"></div>`)}</div>
<div class="times"><span>${show(bins[0]!.from)}</span><span>up to ${most} each</span><span>${show(bins.at(-1)!.to)}</span></div></figure>`;
}
