import type { ChartPoint, TimeChartData } from '../../web/charts/chart-data.ts';
import { createTimeChart } from '../../web/charts/time-chart.ts';
import { element } from '../../web/element.ts';
import { numberText, unitText } from '../../web/number-text.ts';
import type { PageRange, PriceCurve } from '../page-state.ts';
import { RANGES } from './equity-panel.ts';
import type { PageApi } from './page-api.ts';
import { ApiError } from './page-api.ts';
import { preferences } from './preferences.ts';

/** The price chart of a pair. */
export interface PricePanel {
  readonly element: HTMLElement;
  refresh(): Promise<void>;
  setZone(): void;
  remove(): void;
}

/** Returns the price chart of a pair, with what was bought and sold there; of one strategy where it is named. */
export function createPricePanel(api: PageApi, pair: string, strategy?: string): PricePanel {
  let range: PageRange = '1d';
  let read = 0;
  const chart = createTimeChart(priceChart(pair, undefined, strategy), {
    zone: preferences.zone,
    ranges: { names: RANGES, chosen: range, choose: (name) => {
      range = name as PageRange;
      void refresh();
    } },
  });
  const refresh = async (): Promise<void> => {
    const own = ++read;
    try {
      const query = new URLSearchParams({ pair, range }).toString();
      const curve = await api.get(`/api/prices?${query}`) as PriceCurve;
      if (own === read) chart.update(priceChart(pair, curve, strategy));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const none = { pair, points: [], fills: [], levels: [] };
      if (own === read && error.status === 404) chart.update(priceChart(pair, none, strategy));
    }
  };
  void refresh();
  return {
    element: element('div', { class: 'price-panel' }, chart.element), refresh,
    setZone: () => { chart.setZone(preferences.zone); },
    remove: () => { chart.remove(); },
  };
}

function priceChart(pair: string, curve: PriceCurve | undefined, strategy: string | undefined): TimeChartData {
  const unit = { kind: 'price', symbol: pair.split('/').at(-1) ?? '' } as const;
  const points = curve?.points ?? [];
  const isOwn = ({ strategy: name }: { readonly strategy: string }): boolean =>
    strategy === undefined || name === strategy;
  const side = (name: 'buy' | 'sell'): ChartPoint[] => points.filter((point) => point[name] !== null)
    .map((point): ChartPoint => [point.at, Number(point[name])]);
  const [buys, sells] = [side('buy'), side('sell')];
  return {
    title: pair, units: [unit], hasCandles: true,
    lines: [
      ...buys.length === 0 ? [] : [{ label: 'Buy', tone: 'main', form: 'line', pane: 0, points: buys } as const],
      ...sells.length === 0 ? [] : [{ label: 'Sell', tone: buys.length === 0 ? 'main' : 'third', form: 'thin', pane: 0,
        points: sells } as const],
    ],
    marks: (curve?.fills ?? []).filter(isOwn).map(({ at, side: kind, price, amount, reason }) => ({
      at, kind,
      text: `${kind === 'buy' ? 'bought' : 'sold'} ${numberText(Number(amount))} at ${unitText(Number(price), unit)}`
        + (reason === '' ? '' : `: ${reason}`),
    })),
    levels: (curve?.levels ?? []).filter(isOwn).map(({ kind, price, strategy: name }) => ({
      kind, value: Number(price), label: strategy === undefined ? `${kind} ${name}` : kind,
    })),
    empty: curve === undefined ? 'Reading prices…' : 'There are no prices of this pair in this range.',
  };
}
