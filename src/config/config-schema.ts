import { z } from 'zod';
import { parseDuration } from '../core/time.ts';
import { SIGNAL_NAME } from '../market/signal.ts';
import { PLAN_NAMES } from '../service/rate/rate-plan.ts';
import { notificationsSchema } from './notifications/channel-config.ts';
import { alertsSchema } from './operations/alerts-config.ts';
import { retentionSchema } from './operations/retention-config.ts';
import { backtestSchema } from './schema-backtest.ts';
import {
  address, amount, duration, HOST_NAME, isDuration, isRpcUrl, isWebsocketUrl, isServiceUrl, PUBLIC_URL,
} from './schema-fields.ts';
import { riskSchema } from './risk-limits.ts';
import { swapSchema } from './strategies/swap-options.ts';
import { exitsSchema } from './strategies/exit-config.ts';

// The shape of the file, as people write it: what depends on tokens, strategies or another section is checked when it
// is resolved. Descriptions and examples end up in the JSON schema, where editors show them.

/** The form of an instance's name; it stands in ids, file names and logs. */
const INSTANCE_NAME = /^[a-z][a-z0-9-]{0,62}$/;
const ALIAS = /^[A-Za-z0-9$._-]{1,20}$/;

const service = z.strictObject({
  base_url: z.string()
    .refine(isServiceUrl, {
      message: 'expected "embedded" or an https:// address without credentials or query (http:// on this machine only)',
    })
    .default('embedded')
    .meta({
      description: 'The swap service: "embedded" starts one on this machine with a market and a chain of its own; else '
        + 'its https address.',
      examples: ['embedded'],
    }),
  api_key: z.string().min(1).optional()
    .meta({
      description: 'The service’s key. Keep it out of the file: ${GANNET_API_KEY}.', examples: ['${GANNET_API_KEY}'],
    }),
  dialect: z.string().regex(INSTANCE_NAME, { message: 'expected the name of a file in config/dialects, without .yaml' })
    .default('neutral')
    .meta({
      description: 'Router, field and provider names on the wire: config/dialects/<name>.yaml. A host that is listed '
        + 'in one of them is spoken to in that one.',
      examples: ['neutral'],
    }),
  plan: z.enum(PLAN_NAMES).optional()
    .meta({ description: 'What your API key allows; without one, "keyless". It bounds how much can be watched: about '
      + 'three quarters of it, the rest is kept for swaps.' }),
  requests_per_second: z.number().positive().max(10_000).optional()
    .meta({ description: 'Instead of a plan: the sustained requests per second that the service allows.' }),
}).meta({ description: 'Where quotes, orders and market data come from.' });

const chain = z.strictObject({
  rpc_url: z.string()
    .refine(isRpcUrl, { message: 'expected "embedded" or the http(s) address of a Solana RPC node' })
    .default('embedded')
    .meta({
      description: 'The Solana RPC node: "embedded" goes with the embedded service; else its address.',
      examples: ['embedded'],
    }),
  further_rpc_urls: z.array(
    z.string().refine((text) => text !== 'embedded' && isRpcUrl(text), {
      message: 'expected the http(s) address of a Solana RPC node',
    }).meta({ examples: ['https://other-rpc.example'] }),
  ).max(4).default([])
    .meta({
      description: 'More nodes of the same network, best of other providers. Reads go to the healthiest node, and to '
        + 'the next where it fails; signed bytes go to all; no swap counts as expired or failed unless two nodes say '
        + 'so.',
    }),
  ws_url: z.string()
    .refine((text) => text === 'off' || isWebsocketUrl(text), {
      message: 'expected "off" or the ws(s) address of a Solana RPC node',
    }).optional()
    .meta({
      description: 'Where the node takes subscriptions, which say when to ask it: a landed swap is known at once, with '
        + 'fewer requests. By default the address of each node with ws in place of http, and the next port where one '
        + 'is written. "off" asks at intervals alone.',
      examples: ['wss://rpc.example', 'off'],
    }),
  commitment: z.enum(['confirmed', 'finalized']).default('confirmed')
    .meta({ description: 'When a swap counts as landed. This version knows "confirmed" only.' }),
}).meta({ description: 'The chain on which swaps land.' });

const wallet = z.strictObject({
  key_from: z.string().optional()
    .meta({
      description: 'Where the key is, never the key itself: env:NAME or file:PATH (mode 0600, base58 or a Solana CLI '
        + 'array; from the working directory).',
      examples: ['env:GANNET_WALLET_KEY', 'file:wallet.json'],
    }),
  address: address().optional()
    .meta({ description: 'The wallet’s address; where a key is given too, they must agree.' }),
  sol_reserve: amount('0.05 SOL').optional()
    .meta({
      description: 'SOL that no strategy may spend: a wallet without SOL cannot pay for an exit. Left out, 0.05 SOL.',
      examples: ['0.05 SOL'],
    }),
}).meta({ description: 'Whose money it is. May be left out on the embedded service, which has a funded wallet.' });

const cap = z.strictObject({
  per_trade: z.string().optional()
    .meta({ description: 'The most that one swap may spend, in whole tokens.', examples: ['200'] }),
  per_hour: z.string().optional().meta({ description: 'The most of any hour.', examples: ['1000'] }),
  per_day: z.string().optional().meta({ description: 'The most of any day.', examples: ['3000'] }),
});

const priceGuard = z.strictObject({
  max_deviation_bps: z.int().min(1).max(5_000).optional()
    .meta({ description: 'How far below its own quote the minimum output of a swap may be. Left out, '
      + 'risk.max_slippage_bps and risk.max_price_impact_bps together.', examples: [150] }),
  quote_ttl: duration('5s').refine((text) => !isDuration(text) || parseDuration(text) <= 60_000, {
    message: 'expected a duration of at most 60s',
  }).default('5s').meta({ description: 'How old a quote may be that a swap is compared with.' }),
  max_quotes_per_minute: z.int().min(1).max(60_000).optional()
    .meta({ description: 'How many quotes the signer may ask for; they count against the plan too. Left out, 60; on '
      + 'the embedded service, 60000.', examples: [60] }),
}).meta({ description: 'The signer asks the service for a price itself and signs no swap that is worse by more.' });

/** The section "signer": what its process may sign beside its built-in rules, and how much. */
const signerSchema = z.strictObject({
  programs: z.array(address()).default([])
    .meta({ description: 'Programs that may be called beside those known to everybody; without a reader of their own, '
      + 'only after a simulation.' }),
  destinations: z.array(address()).default([])
    .meta({ description: 'Accounts that may receive tokens beside the wallet’s own.' }),
  caps: z.record(z.string(), cap).default({})
    .meta({ description: 'What may be spent of each token, by its alias: { USDC: { per_trade: "200", per_hour: "1000", '
      + 'per_day: "3000" } }. On a real service, what has no cap is not spent.' }),
  price_guard: priceGuard.prefault({}),
  max_tip: amount('0.0001 SOL').optional()
    .meta({ description: 'The most that the tips of one swap may be, to any receiver; up to 0.005 SOL. Left out, '
      + '0.0001 SOL; "0 SOL" allows none.' }),
  max_priority_fee: amount('0.001 SOL').optional()
    .meta({ description: 'The most that the wallet pays for the priority of one swap, up to 0.01 SOL. Left out, 0.001 '
      + 'SOL.' }),
  fee_accounts: z.record(address(), z.int().min(1).max(10_000)).default({})
    .meta({ description: 'Accounts that may get a fee of your own out of a swap, each with its largest share in '
      + 'hundredths of a percent: the account itself, or its token accounts.' }),
}).meta({
  description: 'What may be signed, whatever the rest of Gannet asks for: the process with the key keeps these itself.',
});

const strategy = z.strictObject({
  use: z.string().min(1).meta({
    description: 'A file in strategies/ by its name, a path from this file’s folder, or a package installed there.',
    examples: ['dca', './my-strategy.ts', 'npm:my-package'],
  }),
  name: z.string().regex(INSTANCE_NAME, {
    message: 'expected lower case letters, digits and dashes, a letter first, at most 63',
  }).optional()
    .meta({
      description: 'What this instance is called; unique. Left out, the name of the strategy.', examples: ['dca-sol'],
    }),
  budget: amount('500 USDC').optional().meta({ description:
    'What it may spend, and what it is measured against. Without one it can watch and alert, but not swap.' }),
  params: z.record(z.string(), z.unknown()).prefault({})
    .meta({ description: 'The strategy’s own parameters: `gannet strategy describe NAME`.' }),
  max_age: duration('15s').optional().meta({ description: 'Swaps are refused, exits too, while anything the strategy '
    + 'watches is older than this. With it, feeds may be polled less often than "every" where the plan is too small, '
    + 'as long as they stay this young.' }),
  warmup: duration('2h').optional().meta({
    description: 'How much of the recording is replayed before the start, so that it need not begin with nothing seen.',
  }),
  max_exposure: amount('1000 USDC').optional()
    .meta({ description: 'What its positions together may be worth, with what is under way and reserved.' }),
  swap: swapSchema.optional()
    .meta({ description: 'How the swaps of this instance are requested, in place of the options for all.' }),
  exits: exitsSchema.optional(),
  on_stop: z.enum(['hold', 'exit']).optional()
    .meta({ description: 'For this instance, in place of on_strategy_stop.' }),
}).meta({ description: 'One running instance of a strategy.' });

const bounds = z.strictObject({
  call_time: duration('250ms').default('250ms')
    .meta({ description: 'The longest time of one call of a strategy, 10ms to 10s.', examples: ['250ms'] }),
  memory_mb: z.int().min(96).max(8_192).default(160)
    .meta({ description: 'The most memory of one process of strategies, in megabytes.' }),
}).meta({ description: 'What a strategy may use. One that uses more is stopped, and the others go on.' });

/** The whole file. */
export const configSchema = z.strictObject({
  mode: z.enum(['paper', 'live']).default('paper')
    .meta({ description: 'paper: decides and fills on paper. live: signs and lands; on a real service and chain only '
      + 'with limits, caps and --live on the command line.' }),
  service: service.prefault({}),
  chain: chain.prefault({}),
  wallet: wallet.optional(),
  signer: signerSchema.optional(),
  seed: z.int().min(0).default(7)
    .meta({ description: 'Where all simulated chance begins: the same seed, the same run.' }),
  backtest: backtestSchema.prefault({}),
  tokens: z.record(
    z.string().regex(ALIAS, { message: 'expected an alias of letters, digits, ".", "_", "-" or "$", at most 20' }),
    address(),
  ).default({})
    .meta({ description: 'Names for mint addresses, yours and unique. SOL and USDC are known without being listed.' }),
  risk: riskSchema.prefault({}),
  swap: swapSchema.optional()
    .meta({ description: 'How swaps are requested, for all strategies without options of their own. docs/swaps.md.' }),
  strategies: z.array(strategy).min(1).meta({ description: 'What runs.' }),
  isolation: z.enum(['shared', 'per_strategy', 'off']).default('shared')
    .meta({ description: 'Where the code of strategies runs, in run and in paper. shared: the project’s own in one '
      + 'process without files, network and keys, each other file in one of its own. per_strategy: each in one of its '
      + 'own. off: the project’s own in the process that trades; other files are refused.' }),
  strategy_bounds: bounds.prefault({}),
  on_strategy_stop: z.enum(['hold', 'exit']).default('hold')
    .meta({ description: 'What becomes of the positions of a strategy that was stopped. hold: they stay, and an alert '
      + 'says so. exit: they are sold.' }),
  reload: z.enum(['on_change', 'by_command']).optional()
    .meta({ description: 'When changed code and parameters of strategies are taken over while the daemon runs. '
      + 'on_change: as soon as a file changes, the default of mode: paper. by_command: by "gannet reload" alone, the '
      + 'only one of mode: live.' }),
  recording: z.strictObject({
    enabled: z.boolean().default(true).meta({ description: 'Without a recording a run cannot be replayed.' }),
    dir: z.string().min(1).optional().meta({
      description: 'Where recordings go, from the working directory; left out, the state directory’s "recordings".',
      examples: ['./state/recordings'],
    }),
  }).prefault({}).meta({ description: 'Everything the strategies saw, for replay and backtest.' }),
  control: z.strictObject({
    enabled: z.boolean().default(true),
    port: z.int().min(0).max(65_535).default(7070)
      .meta({ description: '0 takes any free port. Left out, the next free port is taken where 7070 is in use.' }),
    host: z.string().min(1).default('127.0.0.1')
      .meta({ description: 'Anything but this machine needs GANNET_CONTROL_TOKEN in the environment.' }),
    allowed_hosts: z.array(z.string().regex(HOST_NAME, { message: 'expected a host name such as gannet.example.com' }))
      .max(20).default([])
      .meta({ description: 'Names under which a reverse proxy serves the API, by https.',
        examples: [['gannet.example.com']] }),
    public_url: z.string().regex(PUBLIC_URL, { message: 'expected https://, a host name and nothing after it' })
      .optional().meta({ description: 'Where browsers find the page, for login links; its name is allowed too.',
        examples: ['https://gannet.example.com'] }),
    tls: z.strictObject({
      cert: z.string().min(1).meta({ description: 'The certificate with its chain, as PEM.' }),
      key: z.string().min(1).meta({ description: 'The key, as PEM, of mode 0600 or 0640.' }),
    }).optional().meta({ description: 'TLS of the API itself. Renewed files are used within a minute.' }),
    trusted_proxies: z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])).max(20).default([])
      .meta({ description: 'Reverse proxies whose X-Forwarded-For names the client.', examples: [['127.0.0.1']] }),
  }).prefault({}).meta({ description: 'The control API, which `gannet status` and its siblings talk to.' }),
  signals: z.strictObject({
    names: z.array(z.string().regex(SIGNAL_NAME, { message: 'expected lower-case letters, digits and dashes' }))
      .min(1).max(50)
      .meta({ description: 'What other programs may send: POST /api/signals/NAME.', examples: [['entry', 'exit']] }),
    token_file: z.string().min(1).optional().meta({
      description: 'A file of mode 0600 or 0400 with the token that they need. Left out, GANNET_SIGNALS_TOKEN of the '
        + 'environment; without both, the run makes one and keeps it in the state directory.',
      examples: ['/run/secrets/signals-token'],
    }),
  }).optional().meta({ description: 'Signals of other programs, taken by the control API as an input of strategies.' }),
  alerts: alertsSchema.prefault({}),
  retention: retentionSchema.prefault({}),
  notifications: notificationsSchema.optional(),
}).meta({ title: 'Gannet configuration', description: 'Keys are snake_case, durations "5s", amounts decimal text with '
  + 'their token: "1.5 SOL". Secrets come from the environment: ${NAME}.' });

/** The file as read: every default filled in, nothing resolved. */
export type ConfigFile = z.output<typeof configSchema>;
export type StrategyEntry = ConfigFile['strategies'][number];

export const strategyEntrySchema = strategy;

/** Returns the JSON schema (draft 7) of a configuration file, as editors want it. */
export function configJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(configSchema, { io: 'input', target: 'draft-07' });
}
