import { formatDecimal } from '../../src/core/amount.ts';
import { formatDuration } from '../../src/core/time.ts';
import type { DenialCategory, Protection, ProtectionAction, ProtectionRelease } from '../../src/trading/limits.ts';
import { DENIALS } from '../../src/trading/limits.ts';
import { DEFAULT_PROTECTIONS, PROTECTIONS } from '../../src/trading/protections/catalogue.ts';

/** The titles of the categories. */
const CATEGORIES: Readonly<Record<DenialCategory, string>> = {
  state: 'Trading states',
  proposal: 'The proposal itself',
  freshness: 'Age of data',
  count: 'Open swaps and rates',
  money: 'Budgets and balances',
  size: 'Sizes and exposure',
  token: 'Tokens',
  protection: 'Protections',
};

/** The effect of each action. */
const ACTIONS: Readonly<Record<ProtectionAction, string>> = {
  deny: 'refuses entries of its scope',
  'reduce-only': 'refuses entries of its scope, and the trading state says so',
  flatten: 'refuses entries and sells what the strategies of its scope hold',
  halt: 'refuses entries and exits of its scope, as TRADING_HALTED, except for a flatten that an operator orders',
};

/** The time of each release. */
const RELEASES: Readonly<Record<ProtectionRelease['kind'], string>> = {
  elapsed: 'a span after it was triggered; the cause no longer counts',
  cleared: 'as soon as its condition no longer holds',
  'next-day': 'at the next midnight, UTC; the cause no longer counts',
  operator: 'when an operator resumes all trading, or the strategy alone; the cause no longer counts',
};

/**
 * Returns docs/risk.md: every denial code and every protection, from the tables that risk itself uses.
 */
export function riskPage(): string {
  return `${[
    '# Risk: limits, protections and their codes',
    'Generated from `src/trading/limits.ts` and `src/trading/protections/` by `npm run docs:risk`; a test compares '
      + 'them.',
    'These rules check every proposal of a strategy before it becomes a swap, and every further attempt of a swap '
      + 'again. '
      + 'The first refusal is the answer. An **exit** leads back into the token of the strategy’s budget; every other '
      + 'swap '
      + 'is an **entry**. Limits on size, rate, price and token never refuse an exit. '
      + 'Data that is missing, too old, or not a number counts as over the limit.',
    ...(Object.keys(CATEGORIES) as DenialCategory[]).map(section),
    '## Protections',
    'YAML writes names with underscores. Each protection has a scope (`strategy` and `token` count each one '
      + 'separately), '
      + 'an action and a release. A swap that `halt` refuses is denied as `TRADING_HALTED`. '
      + 'A triggered protection stays triggered over restarts, and under a changed configuration as long as one of its '
      + 'kind and scope remains. Several may be triggered at once: the strongest action gives the code, `halt` before '
      + '`flatten` before `reduce-only` before `deny`. A release resets that protection only; others of its kind keep '
      + 'their values. An amount that the chain has again is no longer missing, whatever brought it back.',
    table(['kind', 'code', 'scopes', 'releases', 'after a release other than `cleared`'],
      Object.entries(PROTECTIONS).map(([kind, { code, scopes, releases, begins }]) =>
        [tick(kind), tick(code), list(scopes), list(releases), begins])),
    table(['action', 'effect'], Object.entries(ACTIONS).map(([name, text]) => [tick(name), text])),
    table(['release', 'when'], Object.entries(RELEASES).map(([name, text]) => [tick(name), text])),
    'Equity is the sale value of a strategy’s book in its budget’s token, less its network fees. The equity of all '
      + 'strategies together is in the first budget’s token. Deposits into the wallet are no profit. The result of an '
      + 'exit '
      + 'is its proceeds less the average cost of the sold amount and less the fee. A holding with a stale price keeps '
      + 'its '
      + 'last price; without any price, the last known equity stays. Until a price arrives, no peak rises, and entries '
      + 'of '
      + 'that strategy are refused (`VALUE_UNKNOWN`), under a global limit those of every strategy. So watch the price '
      + 'of '
      + 'every holding. A profit never triggers a protection.',
    '## A token without a price',
    'A held token without quotes, such as a delisted one, makes the equity unknown, because the drawdown cannot be '
      + 'computed. Entries are refused as long as it is held. The refusal names the token and its holder. Exits are '
      + 'still '
      + 'allowed. Any of these ends the refusals:',
    steps([
      'It has a price again: watch its quotes at the held size by an input of a strategy. A service that was silent '
        + 'continues by itself.',
      'It is sold, where there is still a buyer: by its strategy, or by `gannet flatten`, which sells every holding.',
      'It is sent out of the wallet with another wallet program. The daemon sees that it is gone, and books it out.',
      'It is written off: give `max_drawdown` and `daily_loss` the scope `strategy`, so that only the strategy that '
        + 'holds '
        + 'it waits. The global limit is gone then; set a smaller budget instead.',
    ]),
    '## Exits that are too large for one swap',
    'An exit that is too large for one swap is sold in parts: a flatten, an exit that a protection orders, and a '
      + 'strategy’s own exit. Each part is within `signer.caps` (per trade, and the rest of the hour and the day), '
      + '`risk.max_trade`, and the known depth: from a quote whose price impact exceeds `risk.max_price_impact_bps`, '
      + 'or '
      + 'from a swap that was refused as too large (`IMPACT_EXCEEDS_MAX`, `SIZE_BEYOND_LADDER`), which is tried again '
      + 'at '
      + 'half its size. Parts are of equal size. One swap of a token is open at a time, and the next part follows its '
      + 'outcome.',
    'For a strategy’s own exit, the state keeps the rest with its limit in proportion. The engine proposes the parts, '
      + 'and '
      + 'continues after a restart. Until the last part, `ctx.openIntents()` counts the exit as one, and other swaps '
      + 'of '
      + 'that strategy from or into the token are refused (`EXIT_UNDER_WAY`). Where a cap has no room, the exit waits: '
      + 'a '
      + 'critical alert states the remaining amount, the time of the next part and that of the last one. A proposal '
      + 'that '
      + 'meets such a cap is refused as `CAP_USED_UP`, and the engine executes it as soon as there is room.',
    'After eight failed parts in a row, a critical alert reports it. Where the cause is transient (a node, a disk, a '
      + 'cap, '
      + 'a price, a congested chain), the engine tries every minute until all is sold. Where it is permanent, such as '
      + 'a '
      + 'token without a route, the exit is given up, and its key is free again. The depth of a quote never makes a '
      + 'part '
      + 'smaller than 1/64 of the exit. A flatten replaces the exit.',
    'The engine counts signed swaps like the signer, in its own state, so that live, paper, backtest and replay decide '
      + 'the same. The signer’s counters are binding: where the signer refuses, its answer states the room that is '
      + 'left, '
      + 'and corrects the engine’s count. `gannet config check` states the duration of a full exit of the largest '
      + 'position, and refuses caps under which it takes a day or more.',
    '## Tokens that the configuration does not name',
    '`risk.discovered_tokens: { per_token: "50 USDC", total: "200 USDC", min_age: 1d, verified: true }` allows '
      + 'strategies to buy what they watch with `ctx.watch`. Without the section such a swap is `PROPOSAL_INVALID`.',
    steps([
      'While a token is watched, `risk.token_safety` checks it, which cannot be switched off then. Its first pool must '
        + 'be older than `min_age`, the service must call it verified, and its decimals must be those of its mint '
        + 'account. The first check takes up to ten seconds; a `retry` of the proposal waits for it.',
      'The cost of what is held and under way stays within `per_token`, and that of all such tokens together within '
        + '`total`. A loss gives no new room.',
      'A holding can be sold into the token of the budget at any time, with or without the section, whatever a check '
        + 'found.',
      'The signer counts purchases by what they spend. On a real service it signs a sale of an unnamed token only into '
        + 'a token with a cap, and only with the section.',
    ]),
    '## Default protections',
    'A configuration without `protections` has these, in backtests too. `protections: []` turns them off.',
    table(['kind', 'limit', 'scope', 'action', 'release'], DEFAULT_PROTECTIONS.map(defaultRow)),
  ].join('\n\n')}\n`;
}

function section(category: DenialCategory): string {
  const rows = Object.entries(DENIALS).filter(([, facts]) => facts.category === category)
    .map(([code, { meaning, scope, trigger, action, release }]) =>
      [tick(code), meaning, scope, trigger, action, release]);
  return `## ${CATEGORIES[category]}\n\n${table(['code', 'meaning', 'scope', 'trigger', 'action', 'release'], rows)}`;
}

function defaultRow({ trigger: { kind, ...rest }, scope, action, release }: Protection): string[] {
  return [
    tick(kind),
    Object.entries(rest).map(([name, value]) => limitText(name, value as number | bigint | string)).join(', ') || '–',
    scope, action, releaseText(release),
  ];
}

function limitText(name: string, value: number | bigint | string): string {
  if (typeof value === 'bigint') return `${formatDecimal(value, 9)} SOL`;
  if (name.endsWith('Ms')) return `${name === 'withinMs' ? 'within' : 'after'} ${formatDuration(Number(value))}`;
  return name.endsWith('Pct') ? `${value} %` : `${value} ${name}`;
}

function releaseText(release: Protection['release']): string {
  return release.kind === 'elapsed' ? `after ${formatDuration(release.afterMs)}` : release.kind;
}

function steps(items: readonly string[]): string {
  return items.map((item, i) => `${i + 1}. ${item}`).join('\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function list(items: readonly string[]): string {
  return items.map(tick).join(', ');
}

function tick(text: string): string {
  return `\`${text}\``;
}
