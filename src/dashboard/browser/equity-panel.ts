import type { ChartMark, TimeChartData } from '../../web/charts/chart-data.ts';
import { createTimeChart } from '../../web/charts/time-chart.ts';
import { element } from '../../web/element.ts';
import { unitText } from '../../web/number-text.ts';
import type { EquityCurve, PageRange, PageState } from '../page-state.ts';
import { figureButton } from './amounts.ts';
import { ApiError } from './page-api.ts';
import type { PageApi } from './page-api.ts';
import { preferences } from './preferences.ts';
import { repaint } from './repaint.ts';

/** The equity chart and the profit of four periods. */
interface EquityPanel {
  readonly element: HTMLElement;
  show(state: PageState): void;
  refresh(): Promise<void>;
  setZone(): void;
}

/** The ranges that the daemon has data for. */
export const RANGES: readonly PageRange[] = ['1h', '1d', '7d', '30d', 'all'];
const PERIODS = { 'today': 'Today', '7d': '7 days', '30d': '30 days', 'all': 'All' } as const;

/** Returns the chart of the whole equity. `dayRead` gets the curve of a day, for small lines elsewhere. */
export function createEquityPanel(api: PageApi, dayRead: (curve: EquityCurve) => void): EquityPanel {
  let range: PageRange = '1d';
  let read = 0;
  const chart = createTimeChart(equityChart(undefined), {
    zone: preferences.zone, hasTitle: false, hasCredit: true,
    ranges: { names: RANGES, chosen: range, choose: (name) => {
      range = name as PageRange;
      void refresh();
    } },
  });
  const periods = element('div', { class: 'periods' });
  const refresh = async (): Promise<void> => {
    const own = ++read;
    try {
      const curve = await api.get(`/api/equity?range=${range}`) as EquityCurve;
      if (own !== read) return;
      chart.update(equityChart(curve));
      dayRead(range === '1d' ? curve : await api.get('/api/equity?range=1d') as EquityCurve);
    } catch (error) {
      // The bar at the top says that the daemon does not answer; the next refresh reads the curve again.
      if (!(error instanceof ApiError)) throw error;
    }
  };
  return {
    element: element('section', { 'class': 'panel equity', 'aria-labelledby': 'equity-title' },
      element('h2', { id: 'equity-title' }, 'Equity'), chart.element, periods),
    refresh,
    setZone: () => { chart.setZone(preferences.zone); },
    show: ({ profit }) => {
      repaint(periods, profit, () => profit.map(({ period, profit: figure }) => element('div', { class: 'period' },
        element('span', { class: 'soft' }, PERIODS[period]), figure === null ? element('span', { class: 'soft' }, '–')
          : figureButton(`Profit: ${PERIODS[period]}`, figure, true, `period-${period}`))));
    },
  };
}

/** Returns the chart of an equity curve, with its drawdown below: what was paid in or out is neither. */
function equityChart(curve: EquityCurve | undefined): TimeChartData {
  const points = (curve?.points ?? []).map(({ at, equity, deposits, holding }) => ({
    at, equity: Number(equity), deposits: Number(deposits), holding: holding === null ? null : Number(holding),
  }));
  const unit = { kind: 'amount', symbol: curve?.currency ?? '' } as const;
  const first = points[0]?.deposits ?? 0;
  let top = -Infinity;
  const depths = points.map(({ at, equity, deposits }): readonly [number, number] => {
    const earned = equity - (deposits - first);
    top = Math.max(top, earned);
    return [at, top > 0 ? earned / top - 1 : 0];
  });
  const marks = points.flatMap(({ at, deposits }, i): ChartMark[] => {
    const paid = i === 0 ? 0 : deposits - points[i - 1]!.deposits;
    if (paid === 0) return [];
    return [paid > 0 ? { at, kind: 'deposit', text: `deposit of ${unitText(paid, unit)}` }
      : { at, kind: 'withdrawal', text: `withdrawal of ${unitText(-paid, unit)}` }];
  });
  const holding = points.filter(({ holding: value }) => value !== null);
  return {
    title: 'Equity', units: [unit, { kind: 'share' }], marks, levels: [],
    lines: [
      { label: 'Equity', tone: 'main', form: 'area', pane: 0, points: points.map(({ at, equity }) => [at, equity]) },
      ...holding.length === 0 ? [] : [{ label: 'Just holding', tone: 'third', form: 'thin', pane: 0,
        points: points.map(({ at, holding: value }) => [at, value] as const) } as const],
      { label: 'Drawdown', tone: 'loss', form: 'depth', pane: 1, points: depths },
    ],
    empty: curve === undefined ? 'Reading the equity…'
      : 'There is no equity in this range yet. It begins when everything has a price.',
  };
}
