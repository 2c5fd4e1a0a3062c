import type { Markup } from '../markup.ts';
import { jsonInPage, markup } from '../markup.ts';
import type { TimeChartData } from './chart-data.ts';
import { chartSummary } from './chart-text.ts';

/**
 * Returns the place of a chart in a page that holds its data. Without a script it says what the chart would show;
 * `startCharts` draws it.
 */
export function chartPlace(data: TimeChartData): Markup {
  return markup`<div class="chart-place"><h3>${data.title}</h3><p>${chartSummary(data)}</p>
<script type="application/json">${jsonInPage(data)}</script></div>`;
}
