import type * as Library from 'lightweight-charts';
import type { Millis } from '../../core/time.ts';
import type { NumberUnit } from '../number-text.ts';
import { numberText } from '../number-text.ts';
import type { Zone } from '../time-text.ts';
import { clockText, dayText, zoneOffset } from '../time-text.ts';
import type { ChartColours } from './chart-colours.ts';
import { faded, pageColours } from './chart-colours.ts';
import type { ChartLevel, ChartLine, ChartMark, TimeChartData, TimeGrid } from './chart-data.ts';
import { candlesOf, isBeforeGap, onGrid, placeOnGrid, timeGrid } from './chart-data.ts';

/** The library is a script of its own, before the one with this module. */
declare const LightweightCharts: typeof Library;

type Series = Library.ISeriesApi<Library.SeriesType>;

/** How a chart is drawn now. */
interface DrawingView {
  readonly zone: Zone;
  readonly isLog: boolean;
  readonly isCandles: boolean;
}

/** A chart on its canvas. Points are counted from the first one. */
interface ChartDrawing {
  draw(data: TimeChartData, view: DrawingView): void;
  /** Takes the colours of the page again. */
  recolour(): void;
  readonly grid: () => TimeGrid | undefined;
  /** Shows the values of one point, or of none. */
  moveTo(point: number | undefined): void;
  /** 0.5 shows half of the time around the middle, or around a point. */
  zoom(factor: number, point?: number): void;
  /** Shows the last part of the time, or all of it. */
  show(span: Millis | undefined): void;
  /** The wheel of a mouse zooms only while a reader is at work on the chart: else it scrolls the page. */
  setWheel(isOn: boolean): void;
  remove(): void;
}

const UPPER_SHARE = 3;
/** A level beyond the values by more than their range is not drawn: it would flatten them. */
const MOST_ROOM = 1;
const NOWHERE = 'rgba(0, 0, 0, 0)';

/** Draws charts in a place of the page. `moved` hears which point the reader points at. */
export function createDrawing(place: HTMLElement, moved: (point: number | undefined) => void): ChartDrawing {
  const library = LightweightCharts;
  const chart = library.createChart(place, {
    autoSize: true,
    layout: { attributionLogo: false, fontSize: 12, panes: { enableResize: false } },
    crosshair: { mode: library.CrosshairMode.Magnet },
    handleScroll: { mouseWheel: false, vertTouchDrag: false },
    handleScale: { mouseWheel: false },
    timeScale: {
      fixLeftEdge: true, fixRightEdge: true, minBarSpacing: 0.02, lockVisibleTimeRangeOnResize: true,
      timeVisible: true, secondsVisible: true,
    },
  });
  let data: TimeChartData | undefined;
  let view: DrawingView = { zone: 'utc', isLog: false, isCandles: false };
  let grid: TimeGrid | undefined;
  let colours = pageColours();
  let structure = '';
  let series: Series[] = [];
  let marks: Library.ISeriesMarkersPluginApi<Library.Time> | undefined;
  let offset: Millis = 0;

  const timeOf = (at: Millis): Library.UTCTimestamp => ((at + offset) / 1_000) as Library.UTCTimestamp;
  const atOf = (time: Library.Time): Millis => Number(time) * 1_000 - offset;
  const tickText = (time: Library.Time, kind: Library.TickMarkType): string => {
    const at = atOf(time);
    switch (kind) {
      case library.TickMarkType.Year: return dayText(at, view.zone, true).slice(-4);
      case library.TickMarkType.Month: case library.TickMarkType.DayOfMonth: return dayText(at, view.zone);
      case library.TickMarkType.Time: case library.TickMarkType.TimeWithSeconds:
        return clockText(at, view.zone, kind === library.TickMarkType.TimeWithSeconds);
    }
  };
  chart.applyOptions({
    timeScale: { tickMarkFormatter: tickText },
    localization: { timeFormatter: (time: Library.Time) =>
      `${dayText(atOf(time), view.zone)} ${clockText(atOf(time), view.zone, (grid?.step ?? 0) < 60_000)}` },
  });
  chart.subscribeCrosshairMove(({ time }) => {
    moved(time === undefined || grid === undefined ? undefined : placeOnGrid(atOf(time), grid));
  });

  const isWhole = (): boolean => {
    const range = chart.timeScale().getVisibleLogicalRange();
    return range === null || grid === undefined || (range.from <= 1 && range.to >= grid.times.length - 2);
  };

  /** Makes the series that the data need; those of the same lines stay. */
  const build = (shown: TimeChartData): void => {
    const wanted = JSON.stringify([view.isCandles, shown.units, shown.lines.map(({ label, form, pane, tone }) =>
      [label, form, pane, tone])]);
    if (wanted === structure) return;
    structure = wanted;
    marks = undefined;
    for (const each of series) chart.removeSeries(each);
    series = shown.lines.map((line, i) => {
      const unit = shown.units[line.pane]!;
      const made = chart.addSeries(definitionOf(line, view.isCandles && i === 0), {
        priceLineVisible: false, lastValueVisible: i === 0 || line.pane > 0,
        priceFormat: { type: 'custom', minMove: 1e-9, formatter: (value: number) => axisText(value, unit) },
      }, line.pane);
      return made;
    });
    for (const [i, pane] of chart.panes().entries()) pane.setStretchFactor(i === 0 ? UPPER_SHARE : 1);
    if (series[0] !== undefined) marks = library.createSeriesMarkers(series[0], []);
  };

  const definitionOf = ({ form }: ChartLine, isCandles: boolean): Library.SeriesDefinition<Library.SeriesType> =>
    (isCandles ? library.CandlestickSeries : form === 'area' || form === 'depth' ? library.AreaSeries
      : library.LineSeries);

  const fillSeries = (shown: TimeChartData, on: TimeGrid): void => {
    for (const [i, line] of shown.lines.entries()) {
      const each = series[i]!;
      if (view.isCandles && i === 0) {
        each.setData(candlesOf(line.points, on).map((candle, place) =>
          ({ time: timeOf(on.times[place]!), ...candle })));
        continue;
      }
      const values = onGrid(line.points, on);
      each.setData(values.map((value, place) => {
        const time = timeOf(on.times[place]!);
        if (value === undefined || value === null) return { time };
        return isBeforeGap(values, place)
          ? { time, value, color: NOWHERE, lineColor: NOWHERE, topColor: NOWHERE, bottomColor: NOWHERE }
          : { time, value };
      }));
    }
    const values = onGrid(shown.lines[0]?.points ?? [], on);
    marks?.setMarkers(shown.marks.flatMap((mark) => {
      const at = placeOfMark(mark.at, on, values);
      return at === undefined ? [] : [markerOf(mark, timeOf(at), colours)];
    }));
    const first = series[0];
    if (first === undefined) return;
    for (const line of first.priceLines()) first.removePriceLine(line);
    for (const level of shown.levels) first.createPriceLine(priceLineOf(library, level, colours));
    first.applyOptions({ autoscaleInfoProvider: (original: () => Library.AutoscaleInfo | null) =>
      withLevels(original(), shown.levels) });
  };

  const paint = (): void => {
    colours = pageColours();
    const { text, soft, rule, main } = colours;
    const lineColour = { color: faded(text, 0.5), labelBackgroundColor: main };
    chart.applyOptions({
      layout: {
        background: { type: library.ColorType.Solid, color: NOWHERE }, textColor: soft,
        fontFamily: getComputedStyle(document.body).fontFamily, panes: { separatorColor: rule },
      },
      grid: { vertLines: { visible: false }, horzLines: { color: faded(rule, 0.8) } },
      crosshair: { vertLine: lineColour, horzLine: lineColour },
      rightPriceScale: { borderVisible: false }, timeScale: { borderColor: rule },
    });
    if (data === undefined) return;
    for (const [i, line] of data.lines.entries()) series[i]?.applyOptions(
      view.isCandles && i === 0 ? candleStyle(colours) : lineStyle(library, line, colours[line.tone]),
    );
  };

  return {
    draw: (next, nextView) => {
      const wasWhole = isWhole();
      const isNewKind = nextView.isCandles !== view.isCandles;
      data = next;
      view = nextView;
      grid = timeGrid(next, view.isCandles);
      offset = grid === undefined ? 0 : zoneOffset(grid.times.at(-1)!, view.zone);
      build(next);
      paint();
      if (grid === undefined) for (const each of series) each.setData([]);
      else fillSeries(next, grid);
      chart.priceScale('right', 0).applyOptions({
        mode: view.isLog ? library.PriceScaleMode.Logarithmic : library.PriceScaleMode.Normal,
        scaleMargins: { top: 0.12, bottom: 0.08 },
      });
      if (wasWhole || isNewKind) chart.timeScale().fitContent();
    },
    recolour: () => {
      paint();
      if (data !== undefined && grid !== undefined) fillSeries(data, grid);
    },
    grid: () => grid,
    moveTo: (point) => {
      if (point === undefined || grid === undefined || data === undefined || series[0] === undefined) {
        chart.clearCrosshairPosition();
        return;
      }
      const value = onGrid(data.lines[0]!.points, grid).slice(0, point + 1)
        .findLast((each) => each !== undefined && each !== null);
      const range = chart.timeScale().getVisibleLogicalRange();
      if (range !== null && (point < range.from || point > range.to)) {
        const half = (range.to - range.from) / 2;
        chart.timeScale().setVisibleLogicalRange({ from: point - half, to: point + half });
      }
      // Before its first drawing, the library has no place for a value.
      if (value === undefined || value === null || series[0].priceToCoordinate(value) === null) return;
      chart.setCrosshairPosition(value, timeOf(grid.times[point]!), series[0]);
    },
    zoom: (factor, point) => {
      const range = chart.timeScale().getVisibleLogicalRange();
      if (range === null || grid === undefined) return;
      const middle = point ?? (range.from + range.to) / 2;
      const least = Math.max(2, (range.to - range.from) * factor);
      const share = (middle - range.from) / (range.to - range.from);
      const from = Math.max(0, middle - least * share);
      chart.timeScale().setVisibleLogicalRange({ from, to: Math.min(grid.times.length - 1, from + least) });
    },
    show: (span) => {
      if (grid === undefined || span === undefined) {
        chart.timeScale().fitContent();
        return;
      }
      const last = grid.times.length - 1;
      chart.timeScale().setVisibleLogicalRange({ from: Math.max(0, last - span / grid.step), to: last });
    },
    setWheel: (isOn) => { chart.applyOptions({ handleScale: { mouseWheel: isOn } }); },
    remove: () => { chart.remove(); },
  };
}

function axisText(value: number, { kind }: NumberUnit): string {
  return `${numberText(value, kind)}${kind === 'share' ? ' %' : ''}`;
}

function lineStyle(
  library: typeof Library, { form }: ChartLine, colour: string,
): Library.SeriesPartialOptions<Library.LineStyleOptions & Library.AreaStyleOptions> {
  switch (form) {
    case 'area':
      return { lineColor: colour, topColor: faded(colour, 0.24), bottomColor: faded(colour, 0.02), lineWidth: 2 };
    case 'depth':
      return {
        lineColor: colour, topColor: faded(colour, 0.1), bottomColor: faded(colour, 0.28), lineWidth: 1,
        invertFilledArea: true,
      };
    case 'thin': return { color: colour, lineWidth: 1, crosshairMarkerRadius: 3 };
    case 'dotted': return { color: colour, lineWidth: 1, lineStyle: library.LineStyle.Dotted };
    case 'steps': return { color: colour, lineWidth: 2, lineType: library.LineType.WithSteps };
    case 'line': return { color: colour, lineWidth: 2 };
  }
}

/** Rising candles are hollow, so that green and red stay for profit and loss. */
function candleStyle({ main, bg }: ChartColours): Partial<Library.CandlestickStyleOptions> {
  return {
    upColor: bg, downColor: main, borderUpColor: main, borderDownColor: main, wickUpColor: main, wickDownColor: main,
  };
}

function isKnown(value: number | null | undefined): boolean {
  return value !== null && value !== undefined;
}

/** Returns the time of the last step with a value before a mark, else of the first one after it: a mark needs one. */
function placeOfMark(
  at: Millis, grid: TimeGrid, values: readonly (number | null | undefined)[],
): Millis | undefined {
  const place = placeOnGrid(at, grid);
  if (place < 0 || place >= grid.times.length) return undefined;
  const before = values.slice(0, place + 1).findLastIndex(isKnown);
  return grid.times[before >= 0 ? before : values.findIndex(isKnown)];
}

function markerOf(
  { kind, value }: ChartMark, time: Library.UTCTimestamp, { main, second, third }: ChartColours,
): Library.SeriesMarker<Library.Time> {
  const isBelow = kind === 'buy' || kind === 'deposit';
  const isMoney = kind === 'deposit' || kind === 'withdrawal';
  const style = {
    color: isMoney ? third : kind === 'buy' ? main : second,
    shape: isMoney ? 'circle' : kind === 'buy' ? 'arrowUp' : 'arrowDown',
    size: isMoney ? 0.6 : 1.4,
  } as const;
  return value === undefined
    ? { time, position: isBelow ? 'belowBar' : 'aboveBar', ...style }
    : { time, price: value, position: isBelow ? 'atPriceBottom' : 'atPriceTop', ...style };
}

function priceLineOf(
  library: typeof Library, { kind, value, label }: ChartLevel, { main, second, third, warn }: ChartColours,
): Library.CreatePriceLineOptions {
  const colour = { stop: second, target: main, entry: third, limit: warn }[kind];
  return {
    price: value, title: label, color: colour, lineWidth: 1, axisLabelVisible: true,
    lineStyle: kind === 'entry' ? library.LineStyle.Dotted : library.LineStyle.Dashed,
  };
}

function withLevels(
  info: Library.AutoscaleInfo | null, levels: readonly ChartLevel[],
): Library.AutoscaleInfo | null {
  const range = info?.priceRange;
  if (info === null || range === null || range === undefined) return info;
  const room = (range.maxValue - range.minValue) * MOST_ROOM;
  const near = levels.map(({ value }) => value)
    .filter((value) => value >= range.minValue - room && value <= range.maxValue + room);
  return {
    ...info, priceRange: {
      minValue: Math.min(range.minValue, ...near), maxValue: Math.max(range.maxValue, ...near),
    },
  };
}
