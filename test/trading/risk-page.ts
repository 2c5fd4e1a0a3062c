import { formatDecimal } from '../../src/core/amount.ts';
import { formatDuration } from '../../src/core/time.ts';
import type { DenialCategory, DenialFacts } from '../../src/trading/denials.ts';
import { DENIAL_CATEGORIES, DENIALS } from '../../src/trading/denials.ts';
import type { Protection } from '../../src/trading/limits.ts';
import { ACTIONS, DEFAULT_PROTECTIONS, PROTECTIONS, RELEASES } from '../../src/trading/protections/catalogue.ts';

/**
 * Returns docs/risk.md: every code with which risk refuses a swap and every protection, from the tables that risk
 * itself reads.
 */
export function riskPage(): string {
  return `${[
    '# Risk: limits, protections and their codes',
    'Generated from `src/trading/denials.ts` and `src/trading/protections/` by `npm run docs:risk`; a test holds it against them.',
    'Every proposal of a strategy passes these rules before it becomes a swap, and every further attempt of a swap passes them again. The first refusal is the answer. '
      + 'An **exit** leads back into the token of the strategy’s budget; everything else is an **entry**. Limits on size, rate, price and token never refuse an exit. '
      + 'What is missing, too old, or no number counts as too much.',
    ...(Object.keys(DENIAL_CATEGORIES) as DenialCategory[]).map(section),
    '## What each protection looks at',
    'YAML writes names with underscores. Each has a scope (`strategy` and `token` count each by itself), an action and a release. A swap that `halt` refuses is denied as `TRADING_HALTED`. '
      + 'What has come on is kept over restarts, and over a changed configuration as long as one of its kind and scope is left. Several may be on at once: '
      + 'the strongest speaks, `halt` before `flatten` before `reduce-only` before `deny`. One that begins anew does so for itself: '
      + 'others of its kind go on from where they were. What the chain had less and has again is no longer missing, whatever brought it.',
    table(['kind', 'code', 'scopes', 'releases', 'a release other than `cleared` begins anew'],
      Object.entries(PROTECTIONS).map(([kind, { code, scopes, releases, begins }]) => [tick(kind), tick(code), list(scopes), list(releases), begins])),
    table(['action', 'does'], Object.entries(ACTIONS).map(([name, text]) => [tick(name), text])),
    table(['release', 'lets go'], Object.entries(RELEASES).map(([name, text]) => [tick(name), text])),
    'Equity is what a strategy’s book would sell for in its budget’s token, less its network fees; of all together, in the first budget’s token. '
      + 'Deposits into the wallet are no profit. The result of an exit is its proceeds less the average cost of what was sold and less the fee. '
      + 'What has too old a price counts at its last one; where there is none at all the last known equity stays. Until a price comes in, no highest goes up, '
      + 'and entries of that strategy are refused (`VALUE_UNKNOWN`), under a limit of all together those of every strategy: watch what is held. '
      + 'Profit never stops anything.',
    '## A token that has no price any more',
    'One token that is held and no longer quoted, delisted or dead, makes everything’s worth unknown, and stops entries for as long as it is held: nobody knows how deep the drawdown is. '
      + 'The refusal names the token and who holds it. Exits still pass. What lets entries go again:',
    steps([
      'It has a price again: watch its quotes at the size that is held, by an input of a strategy; a service that was silent comes back by itself.',
      'It is sold, where anybody still buys it: by its strategy, or by `gannet flatten`, which sells whatever is held.',
      'It is sent out of the wallet, by the wallet’s own means; the daemon sees that it is gone, and it is no longer anybody’s.',
      'It is written off knowingly: give `max_drawdown` and `daily_loss` the scope `strategy`, so that only the strategy that holds it waits. The limit over everything is gone then; set a smaller budget instead of it.',
    ]),
    '## Exits that are too large for one swap',
    'An exit that is larger than one swap may be is sold in parts: a flatten, an exit that a protection orders, and a strategy’s own. '
      + 'Each part fits `signer.caps` (per trade, and what the hour and the day leave), `risk.max_trade`, and the depth that is known: '
      + 'a quote whose price impact is over `risk.max_price_impact_bps`, or a swap that was refused as too large (`IMPACT_EXCEEDS_MAX`, `SIZE_BEYOND_LADDER`), which is tried again at half its size. '
      + 'Parts are of one size. One swap of a token is open at a time, and the next part follows its outcome.',
    'Of a strategy’s own exit the state keeps what is left, with its limit in proportion; the engine proposes the parts, and goes on after a restart. '
      + 'Until the last part, `ctx.openIntents()` counts the exit as one, and other swaps of that strategy from or into the token are refused (`EXIT_UNDER_WAY`). '
      + 'Where a cap leaves no room, the exit waits: a critical alert says what remains, when the next part goes and when the last one. '
      + 'A proposal that meets such a cap is refused as `CAP_USED_UP` and made by the engine all the same as soon as there is room. '
      + 'After eight parts in a row that came to nothing, a critical alert says so. Where the cause may pass by itself (a node, a disk, a cap, a price, a congested chain), the engine goes on every minute until all is sold. Where it cannot pass, such as a token without a route, the exit is given up, and its key is free again. What a quote says of the depth never makes a part smaller than 1/64 of the exit. A flatten replaces it.',
    'The engine counts signed swaps as the signer does, in its own state, so that live, paper, backtest and replay decide the same. '
      + 'The signer’s counters decide: where they refuse, their answer says what is left, and the engine’s count is corrected by it. '
      + '`gannet config check` says how long a full exit of the largest position takes, and refuses caps under which it takes a day or more.',
    '## Where the configuration says nothing',
    'These are on, in backtests too. `protections: []` turns them off.',
    table(['kind', 'limit', 'scope', 'action', 'release'], DEFAULT_PROTECTIONS.map(defaultRow)),
  ].join('\n\n')}\n`;
}

function section(category: DenialCategory): string {
  const rows = (Object.entries(DENIALS) as [string, DenialFacts][]).filter(([, facts]) => facts.category === category)
    .map(([code, { meaning, scope, trigger, action, release }]) =>
      [tick(code), meaning, scope, trigger, action, release]);
  return `## ${DENIAL_CATEGORIES[category]}\n\n${table(['code', 'meaning', 'scope', 'trigger', 'action', 'release'], rows)}`;
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
