/** The configuration of a run that names none, where the file is there. */
export const DEFAULT_FILE = 'config/gannet.yaml';

/**
 * The configuration of a run without a file: the text of `config/gannet.yaml`, which a test holds equal to this, so
 * that Gannet starts from any folder.
 */
export const DEFAULT_CONFIG = `# yaml-language-server: $schema=./gannet.schema.json
#
# What \`npm start\` runs: real transactions, signed and landed, on a market and a chain that live on this machine.
# The embedded service brings a funded wallet, so nothing here needs a key, an account or a network.
# Everything that can be set is described in gannet.schema.json; an editor that knows YAML schemas shows it as you type.

mode: live # signs and lands; "paper" would only pretend to

service:
  base_url: embedded # a swap service with a seeded market, started with Gannet
chain:
  rpc_url: embedded # its chain, which really executes what is signed

# Names for mint addresses. A name means what you say here, never what a token calls itself: the embedded market has
# an impostor that also calls itself PEARL.
tokens:
  SOL: So11111111111111111111111111111111111111112
  USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v
  PEARL: Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij

# What no strategy may exceed, whatever it proposes.
risk:
  max_slippage_bps: 50 # 0.5 %
  max_price_impact_bps: 100
  max_fee_bps: 30
  max_trade: "200 USDC"
  max_exposure: "8000 USDC" # all positions together
  max_open_intents: 2
  max_swaps: { per_minute: 20, per_hour: 1000, per_day: 20000 }
  max_fees_per_day: "0.5 SOL"
  # What stops trading when it goes wrong. Exits stay possible, except under "halt".
  protections:
    - { kind: max_drawdown, limit_pct: 20, action: reduce_only } # under the highest equity; until an operator resumes
    - { kind: daily_loss, limit: "800 USDC", action: halt } # until midnight UTC
    - { kind: cooldown, after: loss, for: 30s } # each strategy by itself
    - { kind: loss_streak, losses: 10, within: 1d } # no entries for an hour
    - { kind: error_rate, failures: 20, within: 10m } # signed swaps that fail or expire
    - { kind: blind_execution, unknowns: 3 } # unknown outcomes in a row
    - { kind: unresolved_intent, after: 10m }
    - { kind: stale_feed, after: 2m } # no entries on a price that does not come any more
    - { kind: reconciliation_mismatch } # the chain has less than the books
  token_safety: # any other token is checked before it is bought
    trusted: [SOL, USDC]

# What the process with the key keeps by its own counting, whatever the rest of Gannet asks of it; in whole tokens.
signer:
  caps:
    USDC: { per_trade: "200", per_hour: "10000", per_day: "100000" }
    SOL: { per_trade: "40", per_hour: "200", per_day: "1000" }
    PEARL: { per_trade: "2000", per_hour: "5000", per_day: "20000" }

# They run in a process of their own, without network, files and key; docs/isolation.md says how to set its bounds.
strategies:
  # Buys a little SOL every ten seconds. The service assembles the transaction and lands it. One swap at a time spends
  # USDC: "begin: next" keeps the first purchases of this strategy and of the next one as far apart as all later ones.
  - use: dca
    name: dca-sol
    budget: "3000 USDC"
    params: { buy: SOL, spend: "1 USDC", every: 10s, route: order, watch: 10s, begin: next }

  # The same for PEARL, five seconds apart; but the transaction is composed here and lands through the RPC.
  - use: dca
    name: dca-pearl
    budget: "3000 USDC"
    params: { buy: PEARL, spend: "1 USDC", every: 10s, offset: 5s, route: build, watch: 10s, begin: next }

  # Buys SOL when its price falls two standard deviations under its recent mean, sells when it is back.
  - use: mean-reversion
    name: sol-dip
    budget: "2000 USDC"
    max_age: 15s # no trade on prices older than this
    params: { pair: SOL/USDC, size: "25 USDC", every: 5s, window: 20, k: 2 }

  # Never trades: tells when the odds of a prediction market cross a level.
  - use: book-watch
    name: spring-tide
    params: { market: SPRINGTIDE-26DEC31, level: 0.6, rearm: 0.5, every: 5s }
`;
