import type { ValueLimit } from '../trading/limits.ts';
import { urlOrigin } from './address.ts';
import type { PlainValue } from './node.ts';
import type { KeySource, RunConfig } from './run-config.ts';

/**
 * Returns a configuration as plain data for a run's manifest: enough to say what the run was and to read its strategies
 * again, and no secret. Amounts are smallest units as text; of addresses with secrets in them, the origin.
 */
export function redactedConfig(config: RunConfig): { [key: string]: PlainValue } {
  const { service, wallet, backtest, limits } = config;
  return {
    file: config.file,
    mode: config.mode,
    service: {
      base_url: urlOrigin(service.baseUrl), api_key: service.apiKey === undefined ? 'none' : 'set', dialect: service.dialect,
      plan: typeof service.plan === 'string' ? service.plan : null, requests_per_second: service.requestsPerSecond,
    },
    chain: { rpc_url: urlOrigin(config.chain.rpcUrl), commitment: config.chain.commitment },
    wallet: { key_from: keyFromText(wallet.keyFrom), address: wallet.address ?? null, sol_reserve: wallet.solReserve.toString() },
    seed: config.seed,
    backtest: {
      balances: Object.fromEntries([...backtest.balances].map(([mint, value]) => [mint, value.toString()])),
      quote_latency_ms: backtest.quoteLatencyMs, land_latency_ms: backtest.landLatencyMs, setting: backtest.setting,
    },
    tokens: config.tokens.all.map(({ symbol, mint, decimals }) => ({ symbol, mint, decimals })),
    limits: {
      max_slippage_bps: limits.maxSlippageBps, max_price_impact_bps: limits.maxPriceImpactBps, max_fee_bps: limits.maxFeeBps,
      max_trade: limitJson(limits.maxTrade),
      max_position: Object.fromEntries([...limits.maxPosition].map(([mint, limit]) => [mint, limitJson(limit)])),
      max_open_intents: limits.maxOpenIntents,
      max_swaps: {
        per_minute: limits.maxSwaps.perMinute ?? null, per_hour: limits.maxSwaps.perHour ?? null, per_day: limits.maxSwaps.perDay ?? null,
      },
      sol_reserve: limits.solReserve.toString(),
    },
    strategies: config.strategies.map(({ name, use, rawParams, budget, maxAgeMs }) => ({
      name, use, params: rawParams, budget: limitJson(budget), max_age_ms: maxAgeMs ?? null,
    })),
    recording: { ...config.recording },
    control: { ...config.control },
  };
}

function limitJson(limit: ValueLimit | undefined): PlainValue {
  return limit === undefined ? null : { mint: limit.mint, amount: limit.amount.toString() };
}

function keyFromText(source: KeySource | undefined): string | null {
  if (source === undefined) return null;
  return source.kind === 'env' ? `env:${source.name}` : `file:${source.path}`;
}
