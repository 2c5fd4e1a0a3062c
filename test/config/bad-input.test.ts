import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import bs58 from 'bs58';
import { afterAll, describe, expect, it } from 'vitest';
import { configError, formatIssue } from '../../src/config/config-issue.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { openHosts } from '../../src/daemon/hosts/strategy-hosts.ts';
import { systemClock } from '../../src/daemon/watch/system-clock.ts';
import { dialectNames } from '../../src/service/wire/dialect.ts';
import { GENESIS, issuesOf, loadText } from './load-text.ts';
import { temporaryFolder } from './temporary-folder.ts';

const hosts = openHosts({ clock: systemClock });
afterAll(() => hosts.close());
const APART = { ...GENESIS, strategyReader: hosts };

const WATCH = 'strategies: [{ use: book-watch, params: { market: TIDE, level: 0.6, rearm: 0.5 } }]\n';
const DCA = 'strategies: [{ use: dca, params: { buy: SOL, spend: "1 USDC", every: 10s } }]\n';
const STRATEGIES = (await readdir(join(import.meta.dirname, '../../strategies'))).filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length)).sort().join(', ');
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';

/** A strategy that watches what so many USDC buy. */
function dip(size: number, every: string, more: string): string {
  return `  - { use: mean-reversion, name: dip-${size}, ${more}, params: { pair: SOL/USDC, size: "${size} USDC", `
    + `every: ${every} } }\n`;
}

/** A name for the case, the file, and every line that must be said of it. */
const CASES: readonly (readonly [name: string, text: string, issues: readonly string[]])[] = [
  ['an empty file', '', ['bot.yaml:1:1 the file is empty: expected at least "strategies", see config/gannet.yaml']],
  [
    'a file of comments', '# nothing\n',
    ['bot.yaml:1:1 the file is empty: expected at least "strategies", see config/gannet.yaml'],
  ],
  ['a list', '- mode: paper\n', ['bot.yaml:1:1 expected keys and values such as "mode: paper"']],
  [
    'no strategies', 'mode: paper\n',
    ['bot.yaml:1:1 strategies: the key "strategies" is missing: expected a list of at least 1'],
  ],
  [
    'an empty list of strategies', 'strategies: []\n',
    ['bot.yaml:1:13 strategies: expected a list of at least 1, got an empty list'],
  ],
  ['a tab', `${WATCH}risk:\n\tmax_fee_bps: 1\n`, ['bot.yaml:3:1 a tab cannot indent YAML: use spaces']],
  [
    'two documents', `${WATCH}---\nmode: paper\n`,
    ['bot.yaml:2:1 expected one document, but "---" begins another: put it into a file of its own'],
  ],
  ['an open quote', `${WATCH}mode: "paper\n`, ['bot.yaml:3:1 this is not valid YAML: Missing closing "quote']],
  [
    'an old YAML version', `%YAML 1.1\n---\n${WATCH}`,
    ['bot.yaml:1:1 a configuration is read as YAML 1.2: remove the line "%YAML"'],
  ],
  ['a tag', `${WATCH}seed: !dice 6\n`, ['bot.yaml:2:7 this is not valid YAML: Unresolved tag: !dice']],
  [
    'a known tag of another kind', `${WATCH}seed: !!binary AAAA\n`,
    ['bot.yaml:2:16 seed: expected a plain value: the tag tag:yaml.org,2002:binary is not read'],
  ],
  [
    'an unknown alias', `${WATCH}risk: *common\n`,
    ['bot.yaml:2:7 risk: expected an anchor "&common" further up for this alias'],
  ],
  ['a number that is none', `${WATCH}seed: .nan\n`, ['bot.yaml:2:7 seed: expected a finite number, got .nan']],

  [
    'a key set twice', `mode: paper\n${WATCH}mode: live\n`,
    ['bot.yaml:3:1 mode: the key "mode" already stands in line 1: keep one of the two'],
  ],
  [
    'an unknown key at the top', `${WATCH}chian: {}\n`,
    ['bot.yaml:2:1 chian: unknown key "chian" (did you mean "chain"?)'],
  ],
  [
    'an unknown key in a section', `${WATCH}risk:\n  max_slipage_bps: 1\n`,
    ['bot.yaml:3:3 risk.max_slipage_bps: unknown key "max_slipage_bps" (did you mean "max_slippage_bps"?)'],
  ],
  ['an unknown key deeper down', `${WATCH}risk: { max_swaps: { per_fortnight_or_so: 1 } }\n`, [
    'bot.yaml:2:22 risk.max_swaps.per_fortnight_or_so: unknown key "per_fortnight_or_so"; known here are per_minute, '
      + 'per_hour, per_day',
  ]],
  ['an unknown key of a strategy',
    'strategies:\n  - use: book-watch\n    parms: {}\n    params: { market: TIDE, level: 0.6, rearm: 0.5 }\n', [
      'bot.yaml:3:5 strategies[0].parms: unknown key "parms" (did you mean "params"?)',
    ]],
  ['an unknown parameter',
    'strategies:\n  - use: mean-reversion\n    params: { pair: SOL/USDC, size: "25 USDC", windw: 20 }\n', [
      'bot.yaml:3:48 strategies[0].params.windw: unknown key "windw" (did you mean "window"?)',
    ]],
  ['keys that would change an object’s ancestry', `${WATCH}__proto__: { mode: live }\nconstructor: 1\n`, [
    'bot.yaml:2:1 __proto__: unknown key "__proto__"',
    'bot.yaml:3:1 constructor: unknown key "constructor"; known here are mode, service, chain, wallet, signer, seed, '
      + 'backtest, tokens, risk, swap, strategies, isolation, strategy_bounds, on_strategy_stop, reload, recording, '
      + 'control, signals, alerts, retention, notifications',
  ]],

  ['a wrong word', `mode: life\n${WATCH}`, ['bot.yaml:1:7 mode: expected "paper" or "live", got "life"']],
  [
    'a section without content', `risk:\n${WATCH}`,
    ['bot.yaml:1:1 risk: expected a mapping of keys to values, got nothing'],
  ],
  [
    'a section that is a list', `${WATCH}risk: [1]\n`,
    ['bot.yaml:2:7 risk: expected a mapping of keys to values, got a list'],
  ],
  [
    'a fraction for a whole number', `${WATCH}risk: { max_fee_bps: 1.5 }\n`,
    ['bot.yaml:2:22 risk.max_fee_bps: expected an integer of 0 to 10000, got 1.5'],
  ],
  [
    'a number beyond its bounds', `${WATCH}control: { port: 70000 }\n`,
    ['bot.yaml:2:18 control.port: expected an integer of 0 to 65535, got 70000'],
  ],
  [
    'a number in quotes', `${WATCH}seed: "7"\n`,
    ['bot.yaml:2:7 seed: expected an integer of at least 0, got "7": write it without quotes'],
  ],
  [
    'NO for a truth', `${WATCH}recording: { enabled: NO }\n`,
    ['bot.yaml:2:23 recording.enabled: expected true or false, got "NO": YAML 1.2 knows only true and false'],
  ],
  ['1e3 for a name',
    'strategies:\n  - name: 1e3\n    use: book-watch\n    params: { market: TIDE, level: 0.6, rearm: 0.5 }\n', [
      'bot.yaml:2:11 strategies[0].name: expected text such as "dca-sol", got 1e3: without quotes that is a number, '
        + 'write "1e3"',
    ]],
  ['0x10 for a market', 'strategies:\n  - use: book-watch\n    params: { market: 0x10, level: 0.6, rearm: 0.5 }\n', [
    'bot.yaml:3:23 strategies[0].params.market: expected text, got 0x10: without quotes that is a number, write "0x10"',
  ]],
  [
    'a number for an amount', `${DCA}risk: { max_trade: 25 }\n`,
    ['bot.yaml:2:20 risk.max_trade: expected text such as "200 USDC", got 25'],
  ],
  ['a number for a balance', `${DCA}backtest: { balances: { USDC: 10000 } }\n`, [
    'bot.yaml:2:31 backtest.balances.USDC: expected text such as "10000", got 10000: without quotes that is a number, '
      + 'write "10000"',
  ]],
  ['a duration without unit', `${DCA}backtest: { latency: { quote: "300" } }\n`, [
    'bot.yaml:2:31 backtest.latency.quote: expected a duration such as "300ms", or quantiles such as "p5 150ms, p50 '
      + '300ms, p95 900ms", or "recorded", or "recorded or 300ms", got "300"',
  ]],

  [
    'a mint that is no address', `tokens: { FISH: hello }\n${DCA}`,
    ['bot.yaml:1:17 tokens.FISH: expected a base58 address of 32 bytes, got "hello"'],
  ],
  ['a mint that the chain does not know', `tokens:\n  FISH: Barna97njkphfBK7ZbPjATySs3FHRJsMtw8WpfJd2Fa\n${DCA}`, [
    'bot.yaml:2:9 tokens.FISH: expected the address of a token, but the chain knows no such mint: Barna9…fJd2Fa',
  ]],
  [
    'one mint under two names', `tokens:\n  PEARL: ${PEARL}\n  ALSO: ${PEARL}\n${DCA}`,
    ['bot.yaml:3:9 tokens.ALSO: expected each token once, but PEARL is the same mint'],
  ],
  ['another token as USDC', `tokens: { USDC: ${PEARL} }\n${DCA}`, [
    'bot.yaml:1:17 tokens.USDC: expected USDC to be EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v: give another token '
      + 'an alias of its own',
  ]],
  ['a name with a slash', `tokens: { A/B: ${PEARL} }\n${DCA}`, [
    'bot.yaml:1:11 tokens["A/B"]: expected an alias of letters, digits, ".", "_", "-" or "$", at most 20, got "A/B"',
  ]],
  ['too many decimals in a budget',
    'strategies:\n  - use: dca\n    budget: "5.1234567 USDC"\n    params: { buy: SOL, spend: "1 USDC", every: 10s }\n',
    [
      'bot.yaml:3:13 strategies[0].budget: USDC: expected at most 6 decimal places, got 7 in "5.1234567"',
    ]],
  ['too many decimals in a parameter',
    'strategies:\n  - use: dca\n    params: { buy: SOL, spend: "0.1234567 USDC", every: 10s }\n', [
      'bot.yaml:3:32 strategies[0].params.spend: USDC: expected at most 6 decimal places, got 7 in "0.1234567"',
    ]],
  [
    'too many decimals in a limit', `${DCA}risk: { max_trade: "0.0000001 USDC" }\n`,
    ['bot.yaml:2:20 risk.max_trade: USDC: expected at most 6 decimal places, got 7 in "0.0000001"'],
  ],
  ['too many decimals in a balance', `${DCA}backtest: { balances: { USDC: "0.0000001" } }\n`, [
    'bot.yaml:2:31 backtest.balances.USDC: expected at most 6 decimal places, got 7 in "0.0000001"',
  ]],
  ['more than any account can hold', `${DCA}risk: { max_trade: "99999999999999999999 raw USDC" }\n`, [
    'bot.yaml:2:20 risk.max_trade: USDC: expected 0 to 18446744073709551615, got 99999999999999999999',
  ]],
  [
    'a limit of nothing', `${DCA}risk: { max_trade: "0 USDC" }\n`,
    ['bot.yaml:2:20 risk.max_trade: expected a limit above zero'],
  ],
  ['a position of an unknown token', `${DCA}risk: { max_position: { SOLL: "5 USDC" } }\n`, [
    'bot.yaml:2:25 risk.max_position.SOLL: unknown token "SOLL" (did you mean "SOL"?); known are SOL, USDC',
  ]],
  [
    'a reserve of another token', `${DCA}wallet: { sol_reserve: "5 USDC" }\n`,
    ['bot.yaml:2:24 wallet.sol_reserve: expected an amount of SOL such as "0.05 SOL", got "5 USDC"'],
  ],

  ['a strategy misspelt', 'strategies:\n  - use: mean-reversoin\n', [
    'bot.yaml:2:10 strategies[0].use: there is no strategy "mean-reversoin" in strategies/ (did you mean '
      + `"mean-reversion"?); known are ${STRATEGIES}`,
  ]],
  ['a strategy out of no package', 'strategies:\n  - use: npm:../sharks\n', [
    'bot.yaml:2:10 strategies[0].use: expected "npm:" and the name of a package, such as "npm:my-package" or '
      + '"npm:my-package/strategy", got "npm:../sharks"',
  ]],
  ['a strategy with a name like a path', 'strategies:\n  - use: Sharks!\n', [
    'bot.yaml:2:10 strategies[0].use: expected the name of a file in strategies/, a path such as '
      + '"./my-strategy.ts", or a package such as "npm:my-package", got "Sharks!"',
  ]],
  [
    'no strategy named', 'strategies:\n  - name: fish\n',
    ['bot.yaml:2:5 strategies[0].use: the key "use" is missing: expected text such as "dca"'],
  ],
  ['a name taken', 'strategies:\n  - &dca { use: dca, params: { buy: SOL, spend: "1 USDC", every: 10s } }\n  - *dca\n',
    [
      'bot.yaml:3:5 strategies[1]: the name "dca" is taken by strategies[0]: give each instance a "name" of its own',
    ]],
  ['a name given twice', 'strategies:\n  - { name: a, use: dca, params: &p { buy: SOL, spend: "1 USDC", every: 10s } '
    + '}\n  - { name: a, use: dca, params: *p }\n', [
    'bot.yaml:3:13 strategies[1].name: the name "a" is taken by strategies[0]: give each instance a "name" of its own',
  ]],
  ['a name of another form',
    'strategies:\n  - { name: Big Fish, use: dca, params: { buy: SOL, spend: "1 USDC", every: 10s } }\n', [
      'bot.yaml:2:13 strategies[0].name: expected lower case letters, digits and dashes, a letter first, at most 63, '
        + 'got "Big Fish"',
    ]],
  ['a parameter of another type',
    'strategies:\n  - use: mean-reversion\n    params:\n      pair: SOL/USDC\n      size: "25 USDC"\n      window: '
      + 'ten\n',
    [
      'bot.yaml:6:15 strategies[0].params.window: expected an integer of 2 to 10000, got "ten"',
    ]],
  ['parameters that are missing', 'strategies:\n  - use: sma-crossover\n    params: { fast: 5 }\n', [
    'bot.yaml:3:13 strategies[0].params.pair: the key "pair" is missing: expected text',
    'bot.yaml:3:13 strategies[0].params.size: the key "size" is missing: expected text',
  ]],
  ['no parameters where there must be some', 'strategies:\n  - use: book-watch\n', [
    'bot.yaml:2:5 strategies[0].params.market: the key "market" is missing: expected text',
    'bot.yaml:2:5 strategies[0].params.level: the key "level" is missing: expected a number above 0 and below 1',
    'bot.yaml:2:5 strategies[0].params.rearm: the key "rearm" is missing: expected a number above 0 and below 1',
  ]],
  ['parameters that contradict each other',
    'strategies:\n  - use: book-watch\n    params: { market: TIDE, level: 0.6, rearm: 0.7 }\n', [
      'bot.yaml:3:48 strategies[0].params.rearm: expected less than level, so that noise around it is not news, got '
        + '0.7',
    ]],
  ['a pair of an unknown token',
    'strategies:\n  - use: mean-reversion\n    params: { pair: SOL/USDT, size: "25 USDC" }\n', [
      'bot.yaml:3:21 strategies[0].params.pair: expected one of SOL, USDC (did you mean USDC?), got "SOL/USDT"',
    ]],

  ['an unset variable', 'service:\n  api_key: ${GANNET_API_KEY}\n' + WATCH, [
    'bot.yaml:2:12 service.api_key: the environment variable GANNET_API_KEY is not set: set it, or write '
      + 'GANNET_API_KEY=… into .env',
  ]],
  ['an unset variable within brackets', `${WATCH}service: { api_key: \${GANNET_API_KEY} }\n`, [
    'bot.yaml:2:21 service.api_key: the environment variable GANNET_API_KEY is not set: set it, or write '
      + 'GANNET_API_KEY=… into .env',
  ]],
  ['a variable without name', `${WATCH}service:\n  api_key: \${}\n`, [
    'bot.yaml:3:12 service.api_key: expected the name of an environment variable between the braces of "${…}": '
      + 'letters, digits and underscores',
  ]],
  ['a variable in a parameter',
    'strategies:\n  - use: book-watch\n    params: { market: "${MARKET}", level: 0.6, rearm: 0.5 }\n', [
      'bot.yaml:3:23 strategies[0].params.market: parameters decide what a run does, and a replay must find them here: '
        + 'write the value itself; ${…} is for secrets',
    ]],
  ['the wallet’s key by variable', `${WATCH}wallet:\n  key_from: \${GANNET_WALLET_KEY}\n`, [
    'bot.yaml:3:13 wallet.key_from: ${GANNET_WALLET_KEY} is a wallet\'s key, which a configuration only points at: '
      + 'write wallet.key_from: "env:GANNET_WALLET_KEY"',
  ]],

  ['a channel of an unknown kind', `${WATCH}notifications: [{ kind: pager, url: "https://hook.example" }]\n`, [
    'bot.yaml:2:25 notifications[0].kind: expected "webhook", "telegram", "discord", "slack" or "email", got "pager"',
  ]],
  ['a webhook without its address', `${WATCH}notifications: [{ kind: webhook, level: loud }]\n`, [
    'bot.yaml:2:17 notifications[0].url: the key "url" is missing: expected text such as '
      + '"https://hooks.example.org/gannet"',
    'bot.yaml:2:41 notifications[0].level: expected "info", "warning" or "critical", got "loud"',
  ]],
  ['secrets in the file, which are not repeated',
    `${WATCH}notifications:
  - { kind: telegram, token: "123456:${'x'.repeat(35)}", chat: "-1001" }
  - { kind: slack, url: "https://hooks.example/T1/secret" }
  - { kind: email, host: mail.example, user: me, password: hunter22, from: a@example.org, to: b@example.org }
`, [
      'bot.yaml:3:30 notifications[0].token: a secret belongs into the environment: write token: ${NAME}, and NAME=… '
        + 'into .env',
      'bot.yaml:4:25 notifications[1].url: a secret belongs into the environment: write url: ${NAME}, and '
        + 'NAME=… into .env',
      'bot.yaml:5:60 notifications[2].password: a secret belongs into the environment: write password: ${NAME}, and '
        + 'NAME=… into .env',
    ]],
  ['channels that would leak, or are the same',
    `${WATCH}notifications:
  - { kind: webhook, url: "http://me:secret@hook.example/x" }
  - { kind: webhook, url: "https://hook.example/y" }
  - { kind: email, host: mail.example, security: none, user: me, from: a@example.org, to: b@example.org }
  - kind: webhook
    name: night
    url: "https://hook.example/z"
    quiet_hours: { from: "22:00", to: "22:00", zone: Europe/Atlantis }
`, [
      'bot.yaml:3:27 notifications[0].url: a password must not leave this machine unencrypted: use https',
      'bot.yaml:4:5 notifications[1]: the name "webhook" is that of notifications[0] already: give each a "name" of '
        + 'its own',
      'bot.yaml:5:50 notifications[2].security: messages must not leave this machine unencrypted: use starttls or tls',
      'bot.yaml:5:62 notifications[2].user: "user" needs "password" too',
      'bot.yaml:9:39 notifications[3].quiet_hours.to: "from" and "to" are the same: leave quiet_hours out',
      'bot.yaml:9:54 notifications[3].quiet_hours.zone: expected an IANA time zone such as "Europe/Berlin" or "UTC", '
        + 'got "Europe/Atlantis"',
    ]],
  [
    'another commitment', `${WATCH}chain: { commitment: finalized }\n`,
    ['bot.yaml:2:22 chain.commitment: this version waits for "confirmed" and nothing else yet: remove the key'],
  ],

  ['a real service without wallet',
    `service: { base_url: https://swap.example }\n${WATCH.replace('0.5 }', '0.5, every: 1m }')}`, [
      'bot.yaml:1:22 service.base_url: a real service needs a wallet to quote for: add "wallet: { address: … }"; on '
        + 'paper no key is needed',
    ]],
  ['an API key over an open line', `${WATCH}service: { base_url: http://swap.example }\n`, [
    'bot.yaml:2:22 service.base_url: expected "embedded" or an https:// address without credentials or query (http:// '
      + 'on this machine only), got "http://swap.example"',
  ]],
  ['an RPC of another kind', `${WATCH}chain: { rpc_url: wss://rpc.example/secret }\n`, [
    'bot.yaml:2:19 chain.rpc_url: expected "embedded" or the http(s) address of a Solana RPC node, got another text '
      + '(not shown)',
  ]],
  [
    'a plan and a rate', `${WATCH}service: { plan: free, requests_per_second: 2 }\n`,
    ['bot.yaml:2:24 service.requests_per_second: expected either "plan" or "requests_per_second", got both'],
  ],
  ['a plan without key',
    `service: { base_url: https://swap.example, plan: pro }\nwallet: { address: ${PEARL} }\n${WATCH}`, [
      'bot.yaml:1:50 service.plan: the plan "pro" goes with an API key: set GANNET_API_KEY and write api_key: '
        + '${GANNET_API_KEY}, or take the plan "keyless"',
    ]],
  ['an unknown dialect', `${WATCH}service: { dialect: nutral }\n`, [
    'bot.yaml:2:21 service.dialect: there is no dialect "nutral" in config/dialects (did you mean "neutral"?); known '
      + `are ${dialectNames().join(', ')}`,
  ]],
  ['more polling than the plan leaves room for',
    `service: { plan: keyless }\n${WATCH.replace('0.5 }', '0.5, every: 1s }')}`, [
      'bot.yaml:1:18 service.plan: what the strategies watch takes 1 requests a second, the plan "keyless" allows 0.5 '
      + 'and leaves 0.381 of them for watching, '
      + 'so "book" of book-watch would be polled every 2.7s instead of every 1s: watch fewer things or less often '
      + '("every"), name a larger plan, or give the strategy a max_age that it can work with',
    ]],
  ['more polling than a rate of one’s own leaves room for',
    `service: { requests_per_second: 2 }\n${WATCH.replace('0.5 }', '0.5, every: 500ms }')}`, [
      'bot.yaml:1:33 service.requests_per_second: what the strategies watch takes 2 requests a second, '
      + 'service.requests_per_second allows 2 and leaves 1.5238 of them for watching, '
      + 'so "book" of book-watch would be polled every 657ms instead of every 500ms: watch fewer things or less often '
      + '("every"), name a larger plan, or give the strategy a max_age that it can work with',
    ]],
  ['a max_age that the plan cannot keep',
    'service: { plan: free }\nstrategies:\n'
      + `${[1, 2].map((size) => dip(size, '5s', 'max_age: 2s')).join('')}${dip(3, '1s', 'max_age: 60s')}`,
    [
      'bot.yaml:3:50 strategies[0].max_age: expected at least 5s, got 2s: its input "price" is polled every 5s, so it '
        + 'would be too old before the next poll; raise max_age, or poll more often ("every")',
      'bot.yaml:4:50 strategies[1].max_age: expected at least 5s, got 2s: its input "price" is polled every 5s, so it '
        + 'would be too old before the next poll; raise max_age, or poll more often ("every")',
    ]],
  ['a max_age that the plan cannot keep because too much is watched',
    `service: { plan: free }\nstrategies:\n${dip(1, '1s', 'max_age: 3s')}${dip(2, '1s', 'max_age: 2s')}`, [
      'bot.yaml:4:50 strategies[1].max_age: expected at least 2.7s, got 2s: what the strategies watch takes 2 requests '
      + 'a second, the plan "free" allows 1 and leaves 0.7619 of them for watching, '
      + 'so its input "price" would be polled every 2.7s instead of every 1s; raise max_age, watch fewer things or '
      + 'less often ("every"), or name a larger plan',
    ]],
  ['signals without the control API that takes them',
    `${WATCH}control: { enabled: false }\nsignals: { names: [entry] }\n`, [
      'bot.yaml:3:1 signals: expected the control API, which takes signals: remove "control: { enabled: false }"',
    ]],
  ['a signal whose name is none', `${WATCH}signals: { names: [Entry] }\n`, [
    'bot.yaml:2:20 signals.names[0]: expected lower-case letters, digits and dashes, got "Entry"',
  ]],
  ['a control API open to all', `${WATCH}control: { host: 0.0.0.0 }\n`, [
    'bot.yaml:2:18 control.host: with "0.0.0.0" others can reach the control API: set GANNET_CONTROL_TOKEN, or write '
      + '127.0.0.1',
  ]],
];

describe('a faulty configuration', () => {
  it.each(CASES)('is refused at its place: %s', async (_name, text, issues) => {
    expect(await issuesOf(text)).toEqual(issues);
    expect(await issuesOf(text, APART), 'where strategies are read in a process of their own').toEqual(issues);
  });

  it('is two Telegram channels that take the commands of one bot', async () => {
    const bot = 'kind: telegram, token: "${BOT}"';
    const text = `${WATCH}notifications:
  - { ${bot}, chat: "4001", commands: true }
  - { ${bot}, chat: "4002", name: second, commands: true }
  - { ${bot}, chat: "4003", name: silent }
  - { kind: telegram, token: "\${OTHER}", chat: "4001", name: other, commands: true }
`;
    const environment = { BOT: `123456:${'x'.repeat(35)}`, OTHER: `654321:${'x'.repeat(35)}` };
    expect(await issuesOf(text, { environment })).toEqual([
      'bot.yaml:4:78 notifications[1].commands: notifications[0] takes the commands of this bot already, and Telegram '
        + 'gives each message to one reader: leave "commands" out, or give the channel a bot of its own',
    ]);
  });

  it('is one with a token for signals that is weak, or that of an operator', async () => {
    const text = `${WATCH}signals: { names: [entry] }\n`;
    expect(await issuesOf(text, { environment: { GANNET_SIGNALS_TOKEN: 'letmein' } })).toEqual([
      expect.stringMatching(/^bot\.yaml:2:10 signals: GANNET_SIGNALS_TOKEN: expected at least 128 random bits/),
    ]);
    const token = 'Qz7mB4xL9tWc2Vn8Rk5Jd1Hf6Gs3Py0E';
    expect(await issuesOf(text, { environment: { GANNET_SIGNALS_TOKEN: token, GANNET_CONTROL_TOKEN: token } }))
      .toEqual([expect.stringMatching(/^bot\.yaml:2:10 signals: GANNET_SIGNALS_TOKEN: expected a token of its own/)]);
    expect(await issuesOf(WATCH, { environment: { GANNET_SIGNALS_TOKEN: 'letmein' } })).toEqual([]);
  });

  it('is one with a weak token of the control API in the environment, unless there is no such API', async () => {
    const environment = { GANNET_CONTROL_TOKEN: 'letmein', GANNET_CONTROL_VIEWER_TOKEN: 'a'.repeat(40) };
    const text = `${WATCH}control: { port: 0 }\n`;
    expect(await issuesOf(text, { environment })).toEqual([
      expect.stringMatching(/^bot\.yaml:2:10 control: GANNET_CONTROL_TOKEN: expected at least 128 random bits/),
      expect.stringMatching(/^bot\.yaml:2:10 control: GANNET_CONTROL_VIEWER_TOKEN: .*only 1 different character/),
    ]);
    expect(await issuesOf(`${WATCH}control: { enabled: false }\n`, { environment })).toEqual([]);
  });

  it('says every fault at once, in the order of the file', async () => {
    const lines = await issuesOf([
      'mode: paper',
      'risk: { max_fee_bps: many, max_trade: "0.0000001 USDC" }',
      'tokens: { FISH: hello }',
      'service: { api_key: "${NOT_SET}" }',
      'strategies:',
      '  - use: mean-reversoin',
      '  - use: mean-reversion',
      '    params: { pair: SOL/USDC, size: "25 USDC", windw: 20, k: -1 }',
      'modus: live',
    ].join('\n'));
    expect(lines.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'bot.yaml:2:22 risk.max_fee_bps:',
      'bot.yaml:2:39 risk.max_trade:',
      'bot.yaml:3:17 tokens.FISH:',
      'bot.yaml:4:21 service.api_key:',
      'bot.yaml:6:10 strategies[0].use:',
      'bot.yaml:8:48 strategies[1].params.windw:',
      'bot.yaml:8:62 strategies[1].params.k:',
      'bot.yaml:9:1 modus:',
    ]);
  });

  it('may know every documented key, and says which of them are not carried out yet', async () => {
    expect(await issuesOf(`
mode: paper
service: { base_url: embedded, api_key: "\${KEY}", dialect: neutral, plan: free }
chain: { rpc_url: embedded, commitment: confirmed }
wallet: { key_from: env:GANNET_WALLET_KEY, address: ${PEARL}, sol_reserve: "0.05 SOL" }
signer: { programs: [${PEARL}], destinations: [${PEARL}],
  caps: { USDC: { per_trade: "200", per_hour: "1000", per_day: "3000" } } }
seed: 7
backtest: { balances: { USDC: "10000" }, latency: { quote: 300ms, land: 1500ms }, setting: base }
tokens: { PEARL: ${PEARL} }
risk:
  max_slippage_bps: 50
  max_price_impact_bps: 100
  max_fee_bps: 30
  max_trade: "200 USDC"
  max_position: { SOL: "1000 USDC" }
  max_open_intents: 1
  max_swaps: { per_minute: 6, per_hour: 60, per_day: 300 }
  protections:
    - { kind: daily_loss, limit: "50 USDC", action: halt }
    - { kind: max_drawdown, limit_pct: 10, action: reduce_only }
    - { kind: cooldown, after: "loss", for: "10m" }
strategies:
  - use: mean-reversion
    name: sol-dip
    budget: "500 USDC"
    params: { pair: SOL/USDC, size: "25 USDC", window: 20 }
    warmup: 2h
    max_age: 15s
recording: { enabled: true, dir: ./state/recordings }
control: { enabled: true, port: 7070, host: 127.0.0.1 }
notifications: [{ kind: webhook, url: "\${KEY}", level: warning }]
`, { environment: { KEY: 'https://hook.example/k' } })).toEqual([]);
  });

  it('has the place of the value with any line ends and a byte order mark', async () => {
    expect(await issuesOf('\uFEFFmode: life\r\nstrategies:\r\n  - use: absent\r\n')).toEqual([
      'bot.yaml:1:7 mode: expected "paper" or "live", got "life"',
      `bot.yaml:3:10 strategies[0].use: there is no strategy "absent" in strategies/; known are ${STRATEGIES}`,
    ]);
  });

  it('is refused where it is not text', async () => {
    expect(await issuesOf(Uint8Array.of(0x6d, 0xff, 0xfe)))
      .toEqual(['bot.yaml:1:1 expected text in UTF-8: save the file in that encoding']);
  });

  it('is refused where it is far too large', async () => {
    expect(await issuesOf('#'.repeat(1_048_577))).toEqual(['bot.yaml:1:1 expected at most 1048576 bytes, got 1048577']);
  });

  it('cannot grow by aliases', async () => {
    const levels = Array.from({ length: 30 }, (_, i) => `x${i + 1}: &x${i + 1} [*x${i}, *x${i}, *x${i}, *x${i}]`);
    const lines = await issuesOf(['x0: &x0 fish', ...levels, WATCH].join('\n'));
    expect(lines)
      .toContainEqual(expect.stringContaining('expected at most 20000 values in 32 levels, with aliases followed'));
    expect(lines.length).toBeLessThan(60);
  });

  it('cannot contain itself', async () => {
    expect(await issuesOf(`risk: &risk [*risk, *risk]\n${WATCH}`))
      .toContainEqual(expect.stringContaining('an alias that holds itself has no end'));
  });

  it('is named in one sentence where it is a strategy’s code', async () => {
    for (const file of ['mine.ts', 'mine.mjs', 'MINE.JS']) {
      const result = await loadConfig({ file, workingDir: '/nowhere', environment: {}, ...GENESIS });
      expect(result).toMatchObject({ ok: false, code: 'CONFIG_INVALID', issues: [{ file, message: expect.stringMatching(
        /^expected a configuration in YAML, got the code of a strategy: write a file that names it under "strategies"/,
      ) as string }] });
    }
  });

  it('cannot forge lines or control a terminal with its text', async () => {
    const [line] = await issuesOf(`mode: "life\\n\\e[2Jbot.yaml is fine"\n${WATCH}`);
    expect(line).toBe('bot.yaml:1:7 mode: expected "paper" or "live", got "life\\u000a\\u001b[2Jbot.yaml is fine"');
  });
});

describe('a file that cannot be read', () => {
  it('is distinguished from a faulty file', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'sub'));
    const missing = await loadFile('no.yaml', folder);
    const isFolder = await loadFile('sub', folder);
    expect(missing).toEqual({
      ok: false, code: 'CONFIG_NOT_FOUND', rate: undefined,
      issues: [{
        file: 'no.yaml', line: 1, column: 1, path: '',
        message: 'there is no such file: name another with --config, or leave it out to run on the embedded service',
      }],
    });
    expect(isFolder).toMatchObject({
      ok: false, code: 'CONFIG_NOT_FOUND', issues: [{ message: 'expected a YAML file, got a folder' }],
    });
  });
});

describe('a refusal', () => {
  it('to trade live has the code of other faults where there are some', async () => {
    const live = 'mode: live\nservice: { base_url: https://swap.example }\nchain: { rpc_url: https://rpc.example }\n'
      + 'wallet: { key_from: env:K }\n';
    expect(await loadText(live + WATCH.replace('0.5 }', '0.5, every: 10s }')))
      .toMatchObject({ ok: false, code: 'LIVE_REFUSED' });
    expect(await loadText(`${live}modus: 1\n${WATCH.replace('0.5 }', '0.5, every: 10s }')}`))
      .toMatchObject({ ok: false, code: 'CONFIG_INVALID' });
  });

  it('still says the request rate that was too high', async () => {
    expect(await loadText(`service: { plan: free }\n${WATCH.replace('0.5 }', '0.5, every: 250ms }')}`)).toMatchObject({
      ok: false, rate: { requestsPerSecond: 4, allowedPerSecond: 1, feeds: [{ expectedMs: 1_313 }] },
    });
  });

  it('becomes one error with a line for each issue', async () => {
    const result = await loadText('mode: life\nmodus: 1\n' + WATCH);
    if (result.ok) throw new Error('expected a refusal');
    const error = configError(result);
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: result.issues.map(formatIssue).join('\n') });
  });
});

describe('a wallet’s key in the file', () => {
  const bytes = Uint8Array.from({ length: 64 }, (_, i) => (i * 37 + 11) % 256);
  const base58 = bs58.encode(bytes);
  const forms = {
    'in base58': `"${base58}"`,
    'as a list': `[${[...bytes].join(', ')}]`,
    'as a text with a list': `"[${[...bytes].join(',')}]"`,
    'in hex': `"${Buffer.from(bytes).toString('hex')}"`,
    'with a character too many': `"${base58}X"`,
  };
  const places: Readonly<Record<string, (key: string) => string>> = {
    'wallet.key_from': (key) => `${WATCH}wallet:\n  key_from: ${key}\n`,
    'wallet.secret': (key) => `${WATCH}wallet:\n  secret: ${key}\n`,
    'tokens.FISH': (key) => `${WATCH}tokens:\n  FISH: ${key}\n`,
    'strategies[0].params.market': (key) =>
      `strategies:\n  - use: book-watch\n    params: { level: 0.6, rearm: 0.5, market: ${key} }\n`,
    'mode': (key) => `${WATCH}mode: ${key}\n`,
  };
  const cases = Object.entries(forms)
    .flatMap(([form, key]) => Object.entries(places).map(([path, place]) => [form, path, place(key)] as const));

  it.each(cases)('%s at %s is refused and never repeated', async (_form, path, text) => {
    const lines = await issuesOf(text);
    expect(lines).toEqual([
      expect.stringContaining(`${path}: this has the form of a wallet’s key, and a configuration never holds one`),
    ]);
    expect(repeats(lines.join('\n'), base58, bytes)).toBe(false);
  });

  it('is refused where it stands as a key', async () => {
    const lines = await issuesOf(`${WATCH}wallet: { ${base58}: 1 }\n`);
    expect(lines).toEqual([expect.stringMatching(/^bot\.yaml:2:11 wallet.*: this has the form of a wallet’s key/)]);
    expect(repeats(lines.join('\n'), base58, bytes)).toBe(false);
  });

  it('is not repeated where the file is no YAML', async () => {
    for (const text of [
      `wallet: ${base58}: x`, `*${base58}`, `!${base58} x`, `"${base58}`, `? [${[...bytes].join(', ')}`,
    ]) {
      const lines = await issuesOf(text);
      expect(lines.length).toBeGreaterThan(0);
      expect(repeats(lines.join('\n'), base58, bytes)).toBe(false);
    }
  });

  it('is refused where another variable carries it', async () => {
    const lines = await issuesOf(`${WATCH}service: { api_key: \${MINE} }\n`, { environment: { MINE: base58 } });
    expect(lines)
      .toEqual([expect.stringContaining('${MINE} is a wallet\'s key, which a configuration only points at')]);
    expect(repeats(lines.join('\n'), base58, bytes)).toBe(false);
  });

  it('is refused as a seed where a place is expected', async () => {
    const seed = bs58.encode(bytes.subarray(0, 32));
    for (const place of [seed, `env:${seed}`, `file:${seed}`]) {
      const lines = await issuesOf(`${WATCH}wallet: { key_from: "${place}" }\n`);
      expect(lines).toEqual([expect.stringContaining('wallet.key_from: expected "env:NAME" or "file:PATH"')]);
      expect(repeats(lines.join('\n'), seed, bytes)).toBe(false);
    }
  });
});

describe('a value from the environment', () => {
  it('is shown in no message', async () => {
    const secret = 'swordfish-0123456789';
    const places = ['mode: ${S}\n', 'service: { plan: "${S}" }\n', 'service: { dialect: "${S}" }\n',
      'risk: { max_trade: "${S}" }\n', 'risk: { max_fee_bps: "${S}" }\n',
        'tokens: { FISH: "${S}" }\n', 'control: { host: "${S}" }\n',
        'backtest: { balances: { USDC: "${S}" }, latency: { quote: "${S}" } }\n'];
    for (const text of [
      ...places.map((place) => place + WATCH), 'strategies: [{ use: "${S}" }]\n', 'strategies: [{ use: "${S}.ts" }]\n',
    ]) {
      const lines = await issuesOf(text, { environment: { S: secret } });
      expect(lines.length, text).toBeGreaterThan(0);
      expect(lines.join('\n')).not.toContain('swordfish');
    }
  });
});

describe.each([
  ['in this process', GENESIS], ['in a process of its own', APART],
])('a strategy of one’s own, read %s,', (_where, reader) => {
  const define = JSON.stringify(join(import.meta.dirname, '../../src/strategy/define.ts'));
  const input = JSON.stringify(join(import.meta.dirname, '../../src/strategy/input.ts'));
  const cases: readonly (readonly [string, string, string])[] = [
    ['does not parse', 'export default {', 'strategy "./own.ts" cannot be loaded: own.ts:'],
    ['throws', 'throw new Error("ashore");', 'strategy "./own.ts" cannot be loaded: own.ts:1:7: ashore'],
    [
      'exports nothing', 'export const name = "own";',
      'expected the default export of ./own.ts to be what defineStrategy returns: export default defineStrategy({ … })',
    ],
    [
      'exports something of its own making', 'export default { name: "own", run: () => undefined };',
      'expected the default export of ./own.ts to be what defineStrategy returns',
    ],
  ];

  it.each(cases)('that %s is refused at its name', async (_name, source, message) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'own.ts'), source);
    await writeFile(join(folder, 'bot.yaml'), 'strategies:\n  - use: ./own.ts\n');
    const result =
      await loadConfig({ file: 'bot.yaml', workingDir: folder, environment: {}, ...reader });
    expect(result).toMatchObject({
      ok: false,
      issues: [{ line: 2, column: 10, path: 'strategies[0].use', message: expect.stringContaining(message) as string }],
    });
  });

  it.each(reader === APART ? [
    ['export const a = 1;\nexport default {\n  b: = 2,\n};', 'own.ts:3:6: Expression expected'],
    ['const a = 1;\nimport { b } from "./absent.ts";\nexport default [a, b];', 'own.ts:2:20: Cannot find module'],
    ['const a = 1;\nfunction fail() { throw new Error("ashore"); }\nfail(a);', 'own.ts:2:25: ashore'],
    ['export const a = 1;\nexport default {\n  b: = 2,\n};', 'own.js:3:6: Unexpected token', 'own.js'],
    ['import "./beside.js";\nexport default 1;', 'beside.js:2:7: Unexpected token', 'own.js'],
  ] : [])('that cannot be loaded names its line: %j', async (source, message, name = 'own.ts') => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, name), source);
    await writeFile(join(folder, 'beside.js'), 'export const c = 3;\nconst = 4;\n');
    await writeFile(join(folder, 'bot.yaml'), `strategies:\n  - use: ./${name}\n`);
    const result = await loadConfig({ file: 'bot.yaml', workingDir: folder, environment: {}, ...reader });
    expect(result).toMatchObject({ ok: false, issues: [{ message: expect.stringContaining(message) as string }] });
  });

  it('that watches nothing cannot have a max_age', async () => {
    const folder = await temporaryFolder();
    const [rxjs, zod] = ['rxjs', 'zod'].map((name) => JSON.stringify(import.meta.resolve(name)));
    const source = `import { NEVER } from ${rxjs}; import { z } from ${zod}; import { defineStrategy } from ${define};
      export default defineStrategy({
        name: 'own', summary: 'Sleeps.', params: z.strictObject({}), inputs: () => ({}), run: () => NEVER,
      });`;
    await writeFile(join(folder, 'own.ts'), source);
    await writeFile(join(folder, 'bot.yaml'), 'strategies:\n  - use: ./own.ts\n    max_age: 5s\n');
    const result =
      await loadConfig({ file: 'bot.yaml', workingDir: folder, environment: {}, ...reader });
    expect(result).toMatchObject({
      ok: false, issues: [{
        line: 3, column: 5, path: 'strategies[0].max_age',
        message: 'own watches nothing with these parameters, so nothing of it can be too old: remove the key',
      }],
    });
  });

  it('whose inputs throw is refused at its parameters', async () => {
    const folder = await temporaryFolder();
    const zod = JSON.stringify(import.meta.resolve('zod'));
    await writeFile(join(folder, 'own.ts'), `
      import { z } from ${zod};
      import { defineStrategy } from ${define};
      import { orderBook } from ${input};
      export default defineStrategy({
        name: 'own', summary: 'Throws.', params: z.strictObject({ every: z.string() }),
        inputs: (p) => ({ book: orderBook('TIDE', p) }), run: () => undefined,
      });
    `);
    await writeFile(join(folder, 'bot.yaml'), 'strategies:\n  - use: ./own.ts\n    params: { every: soon }\n');
    const result =
      await loadConfig({ file: 'bot.yaml', workingDir: folder, environment: {}, ...reader });
    expect(result).toMatchObject({
      ok: false, issues: [{
        line: 3, column: 13, path: 'strategies[0].params',
        message: 'expected a duration such as "5s", "250ms" or "1h30m", got "soon"',
      }],
    });
  });
});

function loadFile(file: string, workingDir: string): ReturnType<typeof loadConfig> {
  return loadConfig({ file, workingDir, environment: {}, ...GENESIS });
}

/** Whether a text holds twelve characters of a key in a row, or its first bytes. */
function repeats(text: string, base58: string, bytes: Uint8Array): boolean {
  const parts = [base58, Buffer.from(bytes).toString('hex')]
    .flatMap((key) => Array.from({ length: key.length - 11 }, (_, i) => key.slice(i, i + 12)));
  return parts.some((part) => text.includes(part))
    || text.replaceAll(' ', '').includes([...bytes].slice(0, 6).join(','));
}
