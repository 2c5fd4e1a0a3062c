import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { strategyLimits } from '../../../../src/config/run-config.ts';
import { PROJECT_DIR } from '../../../../src/core/code-files.ts';
import { runToEnd } from '../../../../src/core/chunked-work.ts';
import { pluralize } from '../../../../src/core/text.ts';
import type { Millis } from '../../../../src/core/time.ts';
import { formatDuration } from '../../../../src/core/time.ts';
import { extremesStep, sampleStep } from '../../../../src/backtest/record/equity-sampler.ts';
import type { MarketEvent } from '../../../../src/market/event.ts';
import { impliedProbability } from '../../../../src/market/order-book.ts';
import type { TokenTable } from '../../../../src/market/token.ts';
import type { Axis } from './axis.ts';
import { placeOn, timeAxis, valueAxis } from './axis.ts';
import { drawnPoints } from '../../../../src/report/charts/downsample.ts';
import type { Markup } from '../../../../src/web/markup.ts';
import { markup, trusted } from '../../../../src/web/markup.ts';
import { stopwatch } from '../../../../src/research/stopwatch.ts';
import { measureInChunks } from '../../../../src/research/trials/measured-run.ts';
import { BASE_MODEL } from '../../../../src/trading/simulation-model.ts';
import type { CatalogueEntry, GeneratedMarket } from '../catalogue.ts';
import { GENERATED_START, generatedEvents } from '../catalogue.ts';
import { cursorOf, entryState, eventsFor } from '../entry-run.ts';

/** A value at a time. */
interface Point {
  readonly at: Millis;
  readonly value: number;
}

/** What a backtest of a strategy shows. */
interface Shown {
  /** What it watches first: a price, or the probability of an outcome. */
  readonly watched: readonly Point[];
  readonly subject: string;
  readonly equity: readonly Point[];
  readonly currency: string;
  readonly entries: readonly Millis[];
  readonly exits: readonly Millis[];
  readonly alerts: readonly Millis[];
}

const WIDTH = 640;
const LEFT = 56;
const PANEL = 110;
const GAP = 30;
/** A line is drawn by four points of each of this many parts. */
const PARTS = 90;
const MOST_MARKS = 60;

const STYLE = `text{font:11px system-ui,sans-serif;fill:#56606b}.grid{stroke:#d5dbe1}.price{stroke:#66707b}
.equity{stroke:#0b5fbd;stroke-width:1.5}path{fill:none}.entry{fill:#00705a}.exit{fill:#fff;stroke:#b0400a}
.alert{fill:#8a3fa0}rect{fill:#fff}
@media(prefers-color-scheme:dark){text{fill:#a3adb8}.grid{stroke:#343c46}.price{stroke:#97a2ae}.equity{stroke:#6cb0ff}
.entry{fill:#4fd1ae}.exit{fill:#12161b;stroke:#ff9d66}.alert{fill:#d79be8}rect{fill:#12161b}}`;

/** Returns what a picture depends on, as a hash: the strategy's code, its configuration, and the market. */
export function pictureStamp({ file, yaml }: CatalogueEntry, market: GeneratedMarket): string {
  const hash = createHash('sha256');
  for (const path of [file, yaml]) hash.update(readFileSync(join(PROJECT_DIR, path)));
  return hash.update(JSON.stringify(market)).digest('hex').slice(0, 16);
}

/** Returns the stamp of a picture. */
export function stampIn(svg: string): string | undefined {
  return /<!-- ([0-9a-f]{16}) -->/.exec(svg)?.[1];
}

/** Returns the picture of a strategy: what it watches and does above, and its equity below. */
export async function pictureOf(entry: CatalogueEntry, market: GeneratedMarket): Promise<string> {
  return drawing(shown(entry, eventsFor(entry, await generatedEvents([entry.config], market))), {
    name: entry.name, market, stamp: pictureStamp(entry, market),
  });
}

function shown({ config, own }: CatalogueEntry, events: readonly MarketEvent[]): Shown {
  const { tokens } = config;
  const currency = tokens.byMint(own.budget?.mint ?? tokens.bySymbol('USDC')!.mint)!;
  const [firstAt, lastAt] = [events[0]!.receivedAt, events.at(-1)!.receivedAt];
  const alerts: Millis[] = [];
  const { result: { fills }, series } = runToEnd(measureInChunks({
    state: entryState({ config, own }), strategies: [{ ...own, limits: strategyLimits(own) }], seed: 7,
    startAt: GENERATED_START, cursor: cursorOf(events), model: BASE_MODEL, stopwatch, currency, instruments: [],
    everyMs: sampleStep(lastAt - firstAt), extremesEveryMs: extremesStep(lastAt - firstAt), endAt: lastAt,
    interval: false, isMadeUp: true,
    onDecision: ({ at, proposal }) => { if (proposal.kind === 'alert') alerts.push(at); },
  }));
  const readings = events.map((event) => ({ at: event.receivedAt, feed: event.feed, ...readingOf(event, tokens) }));
  const watched = readings.find(({ value }) => value !== undefined);
  const of = (isEntry: boolean): Millis[] =>
    fills.filter(({ intent }) => (intent.inputMint === currency.mint) === isEntry).map(({ at }) => at);
  return {
    watched: readings.flatMap(({ at, feed, value }) =>
      (feed === watched?.feed && value !== undefined ? [{ at, value }] : [])),
    subject: watched?.subject ?? 'alerts', currency: currency.symbol,
    equity: own.budget === undefined ? [] : series.times.map((at, i) => ({ at, value: series.values[i]! })),
    entries: of(true), exits: of(false), alerts,
  };
}

/** Returns the number that an event is about, and its name; nothing where it is about none. */
function readingOf(
  event: MarketEvent, tokens: TokenTable,
): { readonly value: number | undefined; readonly subject: string } | undefined {
  if (event.kind === 'quote' || event.kind === 'quote-detail') {
    const [from, to] = [tokens.byMint(event.inputMint)!, tokens.byMint(event.outputMint)!];
    const rate = (Number(event.outAmount) / Number(event.inAmount)) * 10 ** (from.decimals - to.decimals);
    // A purchase is read as the price of what is bought.
    return from.symbol === 'USDC' ? { value: 1 / rate, subject: `${to.symbol} in ${from.symbol}` }
      : { value: rate, subject: `${from.symbol} in ${to.symbol}` };
  }
  if (event.kind === 'order-book')
    return { value: impliedProbability(event, 1), subject: `probability of ${event.marketId}` };
  if (event.kind !== 'token-stats' && event.kind !== 'token-record') return undefined;
  const mint = event.kind === 'token-stats' ? event.mint : event.record.id;
  const { usdPrice } = event.kind === 'token-stats' ? event.values : event.record.values;
  return { value: usdPrice, subject: `${tokens.byMint(mint)?.symbol ?? 'token'} in US dollars` };
}

interface Drawn {
  readonly name: string;
  readonly market: GeneratedMarket;
  readonly stamp: string;
}

function drawing(
  { watched, subject, equity, currency, entries, exits, alerts }: Shown, { name, market, stamp }: Drawn,
): string {
  const endAt = GENERATED_START + market.days * 86_400_000;
  const x = timeAxis(GENERATED_START, endAt);
  const panels = [
    { title: subject, points: watched, style: 'price' },
    ...(equity.length < 2 ? [] : [{ title: `equity in ${currency}`, points: equity, style: 'equity' }]),
  ];
  const height = panels.length * (PANEL + GAP) + GAP;
  const marks = [
    ...entries.map((at) => ({ at, style: 'entry' })), ...exits.map((at) => ({ at, style: 'exit' })),
    ...alerts.map((at) => ({ at, style: 'alert' })),
  ];
  const summary = [
    pluralize(entries.length, 'purchase'), pluralize(exits.length, 'sale'), pluralize(alerts.length, 'alert'),
  ].join(', ');
  const span = formatDuration(Math.round(endAt - GENERATED_START));
  const { markup: svg } = markup`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>${name}: ${summary} in ${span} of a generated market</title><style>${trusted(STYLE)}</style>
<rect width="${WIDTH}" height="${height}"/>
${panels.map((panel, i) => panelOf(panel, { x, top: GAP + i * (PANEL + GAP), marks: i === 0 ? marks : [] }))}
<text x="${LEFT}" y="${height - 4}">${summary}; ${span}, ${market.market}, seed ${market.seed}</text></svg>
`;
  return svg.replace('</svg>', `<!-- ${stamp} --></svg>`);
}

/** Returns a line with its axes, and with marks on it. */
function panelOf({ title, points, style }: {
  readonly title: string; readonly points: readonly Point[]; readonly style: string;
}, { x, top, marks }: {
  readonly x: Axis; readonly top: number; readonly marks: readonly { readonly at: Millis; readonly style: string }[];
}): Markup {
  const y = valueAxis(points.map(({ value }) => value), { kind: 'price', steps: 3 })
    ?? { low: 0, high: 1, ticks: [] };
  const across = (at: Millis): number => round(LEFT + placeOn(x, at) * (WIDTH - LEFT - 10));
  const down = (value: number): number => round(top + (1 - placeOn(y, value)) * PANEL);
  const places = drawnPoints(points.map(({ value }) => value), { times: points.map(({ at }) => at), parts: PARTS });
  const line = places.map((i) => `${across(points[i]!.at)} ${down(points[i]!.value)}`).join('L');
  const valueAt = (at: Millis): number =>
    points.findLast((point) => point.at <= at)?.value ?? points[0]?.value ?? y.low;
  const rows = y.ticks.map(({ value, text }) => markup`<path class="grid" d="M${LEFT} ${down(value)}H${WIDTH - 10}"/>
<text x="${LEFT - 6}" y="${down(value) + 4}" text-anchor="end">${text}</text>`);
  const columns = x.ticks.filter(({ isMinor }) => !isMinor).map(({ value, text }) =>
    markup`<text x="${across(value)}" y="${top + PANEL + 13}" text-anchor="middle">${text}</text>`);
  const dots = thinned(marks).map(({ at, style: mark }) =>
    markup`<circle class="${mark}" cx="${across(at)}" cy="${down(valueAt(at))}" r="3"/>`);
  return markup`<text x="${LEFT}" y="${top - 6}">${title}</text>${rows}${columns}
<path class="${style}" d="${line === '' ? '' : `M${line}`}"/>${dots}
`;
}

/** Returns at most so many marks that the picture stays small: each n-th. */
function thinned<T>(marks: readonly T[]): readonly T[] {
  const step = Math.ceil(marks.length / MOST_MARKS);
  return marks.filter((_, i) => i % step === 0);
}

const round = (value: number): number => Math.round(value * 10) / 10;
