import type { TimeChartData } from './chart-data.ts';
import { createTimeChart } from './time-chart.ts';

/** Draws the charts whose data are in a page. The first one names the library. */
export function startCharts(page: Document): void {
  for (const [i, place] of [...page.querySelectorAll('.chart-place')].entries()) {
    const data = JSON.parse(place.querySelector('script')!.textContent) as TimeChartData;
    place.replaceChildren(createTimeChart(data, { zone: 'utc', hasCredit: i === 0 }).element);
  }
}
