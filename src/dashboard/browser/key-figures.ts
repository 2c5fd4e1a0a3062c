import type { Content } from '../../web/element.ts';
import { element } from '../../web/element.ts';
import { numberText } from '../../web/number-text.ts';
import { sparkline } from '../../web/charts/sparkline.ts';
import { spanText } from '../../web/time-text.ts';
import type { EquityCurve, PageFigure, PageState } from '../page-state.ts';
import { explain, signedText, symbolElement, toneOf } from './amounts.ts';
import { daemonNow } from './live-times.ts';
import { repaint } from './repaint.ts';
import { openSheet } from './sheet.ts';

/** The six figures below the sentence. */
interface KeyFigures {
  readonly element: HTMLElement;
  show(state: PageState | undefined, day: EquityCurve | undefined): void;
}

interface Tile {
  readonly name: string;
  readonly value: Content;
  readonly unit?: Content;
  readonly below: Content;
  readonly tone?: string;
  readonly isOld?: boolean;
  readonly spark?: readonly number[];
  readonly open: () => void;
}

const DAY_MS = 86_400_000;
const SPARK_POINTS = 60;
/** A longer value is set smaller, so that it fits its place. An arrow takes the place of two characters. */
const LONG_VALUE = 9;
const ARROW_WIDTH = 2;

/** Returns the six figures, each of which explains itself when it is pressed. */
export function createKeyFigures(): KeyFigures {
  const places = Array.from({ length: 6 }, () => element('li'));
  return {
    element: element('ul', { 'class': 'figures', 'aria-label': 'Key figures' }, places),
    show: (state, day) => {
      const tiles = state === undefined ? undefined : tilesOf(state, day);
      for (const [i, place] of places.entries()) {
        const tile = tiles?.[i];
        repaint(place, tile === undefined ? 'none' : [state!.figures, state!.swaps.length, tile.spark], () =>
          tile === undefined ? element('div', { class: 'tile is-empty' }, element('span', { class: 'tile-name' }, ' '),
            element('span', { class: 'tile-value' }, '–')) : tileElement(tile));
      }
    },
  };
}

function tileElement({ name, value, unit, below, tone, isOld, spark, open }: Tile): HTMLElement {
  const number = element('span', { class: `tile-value number ${tone ?? ''}`.trim() }, value);
  const width = number.textContent.length + (number.querySelector('.arrow') === null ? 0 : ARROW_WIDTH);
  number.classList.toggle('is-long', width > LONG_VALUE);
  if (unit !== undefined) number.append(' ', element('span', {}, unit));
  const made = element('button', { 'type': 'button', 'class': `tile${isOld === true ? ' old' : ''}`,
    'data-key': name }, element('span', { class: 'tile-name' }, name),
    number,
    element('span', { class: 'tile-below' }, below), spark !== undefined && sparkline(spark));
  made.addEventListener('click', open);
  return made;
}

function tilesOf({ figures, swaps }: PageState, day: EquityCurve | undefined): Tile[] {
  const { equity, today, since_start: all, drawdown, open_swaps: open, fees_today: fees } = figures;
  const now = daemonNow();
  const midnight = Math.floor(now / DAY_MS) * DAY_MS;
  const points = (day?.points ?? []).map(({ at, equity: value, deposits }) =>
    ({ at, value: Number(value), earned: Number(value) - Number(deposits) }));
  let top = -Infinity;
  const depths = points.map(({ earned }) => {
    top = Math.max(top, earned);
    return top > 0 ? earned / top - 1 : 0;
  });
  const oldest = swaps.reduce((least, { created_at: at }) => Math.min(least, at), Infinity);
  return [
    moneyTile('Equity', equity, {
      isChange: false, below: 'all cash and positions', spark: thin(points.map((p) => p.value)),
    }),
    moneyTile('Today', today, {
      isChange: true, below: shareOf(today, equity) ?? 'since 00:00 UTC',
      spark: thin(points.filter(({ at }) => at >= midnight).map(({ earned }) => earned)),
    }),
    moneyTile('Since start', all, {
      isChange: true, below: shareOf(all, equity) ?? 'of this run', spark: thin(points.map((p) => p.earned)),
    }),
    {
      name: 'Drawdown', value: drawdown === null ? '–' : numberText(-drawdown.now, 'share'),
      unit: element('span', { class: 'unit' }, '%'), spark: thin(depths),
      below: drawdown === null || drawdown.limit === null ? 'no limit is set' : [
        `limit ${numberText(drawdown.limit, 'share')} %`, meter(drawdown.now / drawdown.limit)],
      open: () => {
        openSheet('Drawdown', element('p', {}, drawdown?.explanation ?? 'There is no equity yet.'));
      },
    },
    {
      name: 'Open swaps', value: String(open), below: open === 0 ? 'none in flight'
        : `oldest ${oldest === Infinity ? 'just begun' : spanText(now - oldest)}`,
      open: () => {
        openSheet('Open swaps', element('p', {}, 'Swaps that were approved and have no known outcome yet. They stand '
          + 'with their steps under What happened and in the tab Swaps.'));
      },
    },
    moneyTile('Fees today', fees, { isChange: false, below: 'network fees and tips' }),
  ];
}

/** Returns so many of the values that each has a place in a small line. */
function thin(values: readonly number[]): number[] {
  const every = Math.max(1, Math.ceil(values.length / SPARK_POINTS));
  return values.filter((_, i) => i % every === 0 || i === values.length - 1);
}

function moneyTile(name: string, figure: PageFigure | null, { isChange, below, spark }: {
  readonly isChange: boolean; readonly below: Content; readonly spark?: readonly number[];
}): Tile {
  if (figure === null) {
    return { name, value: '–', below: 'not known yet', open: () => {
      openSheet(name, element('p', {}, 'There is no value yet: the first prices are missing.'));
    } };
  }
  const value = Number(figure.amount.text);
  return {
    name, value: isChange ? signedText(value) : numberText(value), unit: symbolElement(figure.amount.symbol), below,
    ...isChange ? { tone: toneOf(value) } : {}, ...spark === undefined ? {} : { spark }, isOld: !figure.is_known,
    open: () => { explain(name, figure); },
  };
}

/** Returns a change as a share of what there was before it. */
function shareOf(change: PageFigure | null, equity: PageFigure | null): Content | undefined {
  if (change === null || equity === null || change.amount.mint !== equity.amount.mint) return undefined;
  const before = Number(equity.amount.text) - Number(change.amount.text);
  if (!(before > 0)) return undefined;
  const share = Number(change.amount.text) / before;
  return element('span', { class: `number ${toneOf(share, 'share')}`.trim() }, signedText(share, 'share'), ' %');
}

/** Returns how much of a limit is used, as a bar. */
export function meter(share: number): HTMLElement {
  const bar = element('i');
  bar.style.setProperty('width', `${Math.max(0, Math.min(1, Number.isFinite(share) ? share : 0)) * 100}%`);
  return element('span', { 'class': `meter${share >= 0.8 ? ' is-near' : ''}`, 'aria-hidden': true }, bar);
}
