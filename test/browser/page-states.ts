import type {
  EquityCurve, PageAmount, PageFigure, PagePosition, PageState, PageStrategy, PageSwap, PriceCurve, Story,
} from '../../src/dashboard/page-state.ts';

/** A name that would take over the page if it were markup, or turn it around if it were shown as it is. */
export const HOSTILE = '<img src=x onerror="document.title=\'owned\'">\u202Eevil\u0007\u200B';
export const BASE = Date.UTC(2026, 10, 23, 17, 4, 20);
const MINUTE = 60_000;
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const SOL = 'So11111111111111111111111111111111111111112';
export const SIGNATURE = '5wHu1qwD7q3Yp6o1yPEhXvQ5mXK2dKTVxhZ8oZ2PzYV3o4o2zC7nC4nY8P1n9qYp3sYt6s8Z1kQ2o3R4u5W6x7Y';
const BONK = 'DezXAZ8z7PnrnRzjz3wXBoRgixCa6xjnB7YaB1pPB263';

export function usdc(text: string): PageAmount {
  return { text, units: text.replace('.', ''), mint: USDC, symbol: 'USDC', decimals: 6 };
}

export function token(text: string, symbol = 'SOL', mint = SOL): PageAmount {
  return { text, units: text.replace('.', ''), mint, symbol, decimals: 9 };
}

export function figure(text: string, explanation: string, isKnown = true): PageFigure {
  return { amount: usdc(text), explanation, as_of: BASE - 4_000, is_known: isKnown };
}

/** Repeats exactly: the same pictures on every machine. */
function wave(i: number): number {
  const noise = Math.sin(i * 12.9898) * 43_758.5453;
  return noise - Math.floor(noise) - 0.5;
}

/** Returns the equity of some time with a deposit, a fall and a gap. */
export function equityCurve(minutes: number): EquityCurve {
  const points: EquityCurve['points'][number][] = [];
  let equity = 10_000;
  for (let i = 0; i < 480; i++) {
    equity *= 1 + 0.00004 + Math.sin(i / 38) * 0.00022 + wave(i) * 0.0011;
    if (i === 150) equity += 250;
    if (i > 300 && i < 318) continue;
    points.push({ at: BASE - Math.round(((480 - i) * minutes * MINUTE) / 480), equity: equity.toFixed(2),
      deposits: i < 150 ? '10000' : '10250', holding: (10_000 + i * 0.35 + Math.sin(i / 60) * 60
      + (i < 150 ? 0 : 250)).toFixed(2) });
  }
  const last = Number(points.at(-1)!.equity);
  return { currency: 'USDC', points: points.map((point) =>
    ({ ...point, equity: (Number(point.equity) * (10_412.86 / last)).toFixed(2) })) };
}

export function priceCurve(pair: string, minutes: number): PriceCurve {
  const scale = pair.startsWith('SOL') ? 182 : 0.0000214;
  const digits = pair.startsWith('SOL') ? 3 : 9;
  const points = Array.from({ length: 360 }, (_, i) => {
    const price = scale * (1 + Math.sin(i / 40) * 0.012 + wave(i) * 0.003);
    return { at: BASE - Math.round(((360 - i) * minutes * MINUTE) / 360), buy: (price * 1.0004).toFixed(digits),
      sell: (price * 0.9996).toFixed(digits) };
  });
  const fill = (i: number, side: 'buy' | 'sell', reason: string): PriceCurve['fills'][number] => ({
    at: points[i]!.at + 1_000, strategy: 'sol-dip', side, price: points[i]!.buy, amount: '0.5491', intent_id: `i-${i}`,
    reason,
  });
  return {
    pair, points,
    fills: [fill(90, 'buy', 'below the lower band'), fill(140, 'sell', 'back at the mean'),
      fill(250, 'buy', 'below the lower band'), fill(310, 'sell', 'take profit')],
    levels: [
      { strategy: 'sol-dip', kind: 'entry', price: (scale * 0.994).toFixed(digits) },
      { strategy: 'sol-dip', kind: 'stop', price: (scale * 0.978).toFixed(digits) },
      { strategy: 'sol-dip', kind: 'target', price: (scale * 1.014).toFixed(digits) },
    ],
  };
}

/** Returns a swap that has come as far as some steps. */
export function swap(id: string, reached: number, rest: Partial<PageSwap> = {}): PageSwap {
  const names = ['approved', 'quoted', 'signed', 'sent', 'landed'] as const;
  const isLanded = reached === names.length;
  return {
    intent_id: id, strategy: 'sol-dip', purpose: 'entry',
    reason: 'below the lower band: 179.46 against a mean of 181.72', created_at: BASE - 9_000,
    state: isLanded ? 'confirmed' : ['building', 'building', 'signed', 'submitted'][reached - 1] ?? 'approved',
    is_open: !isLanded, needs_operator: false, pays: usdc('100.00'), quoted: token('0.549120000'),
    received: isLanded ? token('0.549087000') : null, fee: null, buys: 'SOL', router: 'iris',
    signature: reached > 2 ? SIGNATURE : null,
    attempt: 1, code: null, cause: null,
    steps: names.map((name, i) => ({ name, at: i < reached ? BASE - 9_000 + i * 700 : null,
      detail: name === 'quoted' && i < reached ? '0.5491 SOL by iris' : null })),
    ...rest,
  };
}

export function story(id: string, minutesAgo: number, sentence: string, rest: Partial<Story> = {}): Story {
  return { id, at: BASE - minutesAgo * MINUTE, kind: 'run', level: 'good', sentence, strategy: null, swap: null,
    repeats: 0, ...rest };
}

export const STORIES: readonly Story[] = [
  story('s1', 64, 'Started on paper with 4 strategies', { kind: 'run' }),
  story('s2', 41, 'bought 0.549 SOL for 99.10 USDC at 180.47', { kind: 'swap', strategy: 'sol-dip',
    swap: swap('i-1', 5, { created_at: BASE - 41 * MINUTE }) }),
  story('s3', 33, 'sold 0.549 SOL for 100.62 USDC at 183.28, a profit of 1.52 USDC', { kind: 'swap',
    strategy: 'sol-dip', swap: swap('i-2', 5, { purpose: 'exit', pays: token('0.549087000'), quoted: usdc('100.65'),
      received: usdc('100.62'), buys: 'USDC', created_at: BASE - 33 * MINUTE }) }),
  story('s4', 21, 'wanted to buy BONK for 250 USDC: momentum of 2.1 %; denied, BUDGET_EXCEEDED: 180 USDC are free', {
    kind: 'denial', strategy: 'bonk-momentum', repeats: 6 }),
  story('s5', 14, 'The feed BONK/USDC was late for 42 s, and is fresh again', { kind: 'feed' }),
  story('s6', 12, 'swap of 80 USDC for BONK expired: the blockhash is too old', { kind: 'swap', level: 'good',
    strategy: 'bonk-momentum', swap: swap('i-3', 4, { state: 'expired', is_open: false, strategy: 'bonk-momentum',
      pays: usdc('80.00'), buys: 'BONK', code: 'BLOCKHASH_EXPIRED', cause: 'not on the chain after 150 blocks',
      created_at: BASE - 12 * MINUTE }) }),
  story('s7', 5, 'Cooldown of bonk-momentum after a loss of 3.10 USDC, for 10 minutes', { kind: 'protection',
    strategy: 'bonk-momentum' }),
  story('s9', 0.15, 'buys SOL for 100.00 USDC: below the lower band', { kind: 'swap', strategy: 'sol-dip',
    swap: swap('i-5', 3) }),
  story('s8', 3, 'bought 0.549 SOL for 100.00 USDC at 182.11', { kind: 'swap', strategy: 'sol-dip',
    swap: swap('i-4', 5, { created_at: BASE - 3 * MINUTE }) }),
];

export const SOL_POSITION: PagePosition = {
  strategy: 'sol-dip', amount: token('0.549087000'), value: usdc('100.31'), cost: usdc('100.00'), profit: usdc('0.31'),
  since: BASE - 3 * MINUTE, pair: 'SOL/USDC', is_moving: false, unsold: null,
};

const SPARK = Array.from({ length: 40 }, (_, i) => 182 + Math.sin(i / 5) * 1.2 + wave(i));

function strategy(name: string, rest: Partial<PageStrategy> = {}): PageStrategy {
  return {
    name, use: 'mean-reversion', standing: 'trading', level: 'good', stopped: null, budget: usdc('500.00'),
    cash: usdc('400.12'), equity: figure('500.43', 'Cash and positions at the last price.'),
    profit: figure('0.43', 'Equity less budget.'), positions: [], swaps: 12, fees: token('0.000180000'),
    last_decision: { seq: 812, at: BASE - 40_000, verdict: 'approved',
      sentence: 'keeps its position: 0.4 % above its entry', code: null, intent_id: null },
    next_due: BASE + 8_000, pairs: ['SOL/USDC'], ...rest,
  };
}

/** Returns a state of a daemon that trades, with what a test changes. */
export function pageState(rest: Partial<PageState> = {}): PageState {
  return {
    role: 'operator', at: BASE, run_id: 'run-20261123-1600', mode: 'paper', is_real_money: false,
    started_at: BASE - 64 * MINUTE, phase: 'trading',
    sentence: { text: 'Trading on paper · 4 strategies · all feeds fresh · +12.40 USDC today', level: 'good',
      standing: 'trading', reasons: [], needs: [] },
    figures: {
      equity: figure('10412.86', 'Cash of all strategies and positions at the price at which they can be sold.'),
      today: figure('12.4', 'Equity now less equity at midnight UTC, less what was paid in.'),
      since_start: figure('-3.18', 'Equity now less equity at the first instant of this run with all prices.'),
      drawdown: { now: 0.0124, limit: 0.1, explanation: 'Under the highest equity of this run.' },
      open_swaps: 1, fees_today: { ...figure('0', 'Network fees and tips since midnight UTC.'),
        amount: token('0.002150000') },
    },
    profit: [
      { period: 'today', profit: figure('12.4', 'Change of equity since midnight UTC.'), from: BASE - 1e7 },
      { period: '7d', profit: figure('84.02', 'Change of equity in 7 days.'), from: BASE - 6e8 },
      { period: '30d', profit: figure('-21.5', 'Change of equity in 30 days.'), from: BASE - 2e9 },
      { period: 'all', profit: figure('162.86', 'Change of equity since the first sample.'), from: BASE - 4e9 },
    ],
    strategies: [
      strategy('sol-dip', { positions: [SOL_POSITION] }),
      strategy('bonk-momentum', { use: 'momentum', standing: 'exits-only', level: 'good', pairs: ['BONK/USDC'],
        profit: figure('-6.21', 'Equity less budget.'), positions: [{ ...SOL_POSITION, strategy: 'bonk-momentum',
          amount: token('4672897.19', 'BONK', BONK), value: usdc('97.40'), profit: usdc('-2.60'), pair: 'BONK/USDC' }],
        last_decision: { seq: 809, at: BASE - 21 * MINUTE, verdict: 'denied', code: 'BUDGET_EXCEEDED', intent_id: null,
          sentence: 'wanted to buy BONK for 250 USDC: momentum of 2.1 %; denied, BUDGET_EXCEEDED' } }),
      strategy('grid', { use: 'grid', profit: figure('18.18', 'Equity less budget.'),
        pairs: ['SOL/USDC', 'BONK/USDC'] }),
      strategy('dca-weekly', { use: 'dca', last_decision: null, next_due: BASE + 3 * 86_400_000,
        profit: null, equity: null }),
    ],
    markets: [
      { pair: 'SOL/USDC', strategies: ['sol-dip', 'grid'], price: '182.41', at: BASE - 2_000, every_ms: 5_000,
        health: 'fresh', spark: SPARK },
      { pair: 'BONK/USDC', strategies: ['bonk-momentum'], price: '0.00002141', at: BASE - 4_000, every_ms: 5_000,
        health: 'fresh', spark: SPARK.map((value) => value / 1e7) },
    ],
    feeds: { total: 6, healthy: 6, failing: [] },
    swaps: [swap('i-5', 3)],
    limits: [
      { group: 'swaps', name: 'swaps in the last hour', used: '9', limit: '60', share: 0.15, effect: 'denies more' },
      { group: 'position', name: 'position in SOL', used: '100.31 USDC', limit: '1,000 USDC', share: 0.1,
        effect: 'denies buys' },
      { group: 'drawdown', name: 'max drawdown', used: '1.24 %', limit: '10 %', share: 0.124, effect: 'reduce only' },
      { group: 'cap', name: 'USDC signed in the last day', used: '2,610 USDC', limit: '3,000 USDC', share: 0.87,
        effect: 'the signer signs nothing more' },
      { group: 'trade', name: 'one trade', used: null, limit: '200 USDC', share: null, effect: 'denies larger ones' },
    ],
    protections: [],
    requests: [{ name: 'swap', allowed_per_second: 1, used_per_second: 0.62, sent: 2_412, refused: 3, queued: 0,
      in_flight: 1, cool_down_until: null }],
    alerts: [{ id: 'a1', at: BASE - 12 * MINUTE, level: 'warning', strategy: 'bonk-momentum', code: 'BLOCKHASH_EXPIRED',
      message: 'a swap expired and was not repeated: the price had moved by 0.8 %' }],
    denials: { BUDGET_EXCEEDED: 7, COOLDOWN: 3 }, dead_man: null, ...rest,
  };
}

/** Returns a state whose texts come from an attacker, and whose numbers are larger than any column. */
export function hostileState(): PageState {
  const base = pageState();
  const huge: PageAmount = { text: '123456789012345678901234567890.123456789', units: '9'.repeat(39), mint: HOSTILE,
    symbol: `${HOSTILE}VERYLONGSYMBOLWITHOUTEND`, decimals: null };
  const hugeFigure: PageFigure = { amount: huge, explanation: HOSTILE, as_of: BASE, is_known: true };
  return {
    ...base,
    sentence: { text: `Trading ${HOSTILE}`, level: 'act', standing: 'trading', reasons: [HOSTILE],
      needs: [{ what: HOSTILE, since: null, remedy: { kind: 'outside' } }] },
    figures: { ...base.figures, equity: hugeFigure, today: hugeFigure, since_start: hugeFigure,
      fees_today: hugeFigure },
    profit: base.profit.map((each) => ({ ...each, profit: hugeFigure })),
    strategies: [{ ...base.strategies[0]!, name: HOSTILE, use: HOSTILE, standing: HOSTILE, stopped: HOSTILE,
      profit: hugeFigure, equity: hugeFigure, cash: huge, pairs: [`${HOSTILE}/USDC`],
      positions: [{ ...SOL_POSITION, strategy: HOSTILE, amount: huge, value: huge, profit: huge, cost: huge,
        unsold: HOSTILE }],
      last_decision: { ...base.strategies[0]!.last_decision!, sentence: HOSTILE } }],
    markets: [{ ...base.markets[0]!, pair: `${HOSTILE}/USDC`, price: '1e400', strategies: [HOSTILE] }],
    swaps: [swap('i-9', 2, { strategy: HOSTILE, reason: HOSTILE, pays: huge, quoted: huge, buys: HOSTILE,
      router: HOSTILE, cause: HOSTILE, signature: HOSTILE, intent_id: HOSTILE })],
    alerts: [{ ...base.alerts[0]!, message: HOSTILE, strategy: HOSTILE }],
    limits: [{ ...base.limits[0]!, name: HOSTILE, used: HOSTILE, limit: HOSTILE, effect: HOSTILE }],
    denials: { [HOSTILE]: 3 },
  };
}
