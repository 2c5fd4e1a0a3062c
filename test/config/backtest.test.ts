import { describe, expect, it } from 'vitest';
import { redactedConfig } from '../../src/config/config-record.ts';
import { latencyText, readLatency, readLatencyQuantiles } from '../../src/config/schema-backtest.ts';
import { USDC_MINT } from '../../src/market/token.ts';
import { BASE_MODEL } from '../../src/trading/simulation-model.ts';
import { configOf, issuesOf } from './load-text.ts';

const WATCH = 'strategies: [{ use: book-watch, params: { market: TIDE, level: 0.6, rearm: 0.5 } }]\n';

describe('the section "backtest"', () => {
  it('says how swaps are simulated, every key of it', async () => {
    const { backtest: { model } } = await configOf(`${WATCH}
backtest:
  latency: { quote: recorded, sign: 2ms, land: "p10 800ms, p50 1500ms, p97.5 20s" }
  setting: optimistic
  extrapolate: true
  other_side_haircut_bps: 25
  max_price_age: 5m
  max_quote_age: 20s
  own_impact: { share: 0.5, decay: 2m }
  landing: { adverse_bps: 3, drop_probability: 0.02, unknown_probability: 0, expiry: 90s, last_look_bps: 4 }
  costs: { signatures: 2, compute_units: 150000, micro_lamports_per_unit: 1000, tip: "0.0001 SOL",
    platform_fee_bps: 5, platform_fee_in: input }
  transfer_fees: { USDC: { bps: 100, max: "5" }, SOL: { bps: 1 } }
`);
    expect(model).toEqual({
      setting: 'optimistic',
      latency: {
        quote: 'recorded', sign: [{ share: 0.5, latencyMs: 2 }],
        land: [{ share: 0.1, latencyMs: 800 }, { share: 0.5, latencyMs: 1_500 }, { share: 0.975, latencyMs: 20_000 }],
      },
      extrapolate: true, otherSideHaircutBps: 25, maxPriceAgeMs: 300_000,
      fillQuoteAge: { maxMs: 20_000, leastMs: 2_000 },
      ownImpact: { share: 0.5, decayMs: 120_000 },
      landing: { adverseBps: 3, dropProbability: 0.02, unknownProbability: 0, expiryMs: 90_000, lastLookBps: 4 },
      costs: {
        signatures: 2, computeUnitLimit: 150_000, microLamportsPerUnit: 1_000n, tipLamports: 100_000n,
        platformFeeBps: 5, platformFeeIn: 'input',
      },
      transferFees: new Map([
        [USDC_MINT, { bps: 100, maximum: 5_000_000n }],
        ['So11111111111111111111111111111111111111112', { bps: 1, maximum: 2n ** 64n - 1n }],
      ]),
    });
  });

  it('is kept in a manifest as plain data', async () => {
    const config = await configOf(
      `${WATCH}backtest: { latency: { land: "p50 1s, p90 3s" }, costs: { tip: "0.5 SOL" }, transfer_fees: { USDC: { `
        + 'bps: 7 } } }\n',
    );
    const { simulation } = redactedConfig(config).backtest;
    expect(JSON.parse(JSON.stringify(simulation))).toEqual(simulation);
    expect(simulation).toMatchObject({
      setting: 'base', latency: { quote: 'recorded or 300ms', sign: '5ms', land: 'p50 1000ms, p90 3000ms' },
      costs: { tip_lamports: '500000000', micro_lamports_per_unit: '20000' },
      transfer_fees: { [USDC_MINT]: { bps: 7, maximum: '18446744073709551615' } },
    });
  });

  it.each([
    [
      'latency: { land: "p50 2s, p90 1s" }',
      'latency.land: expected a duration such as "300ms", or quantiles such as "p5 150ms, p50 300ms, p95 900ms", or '
        + '"recorded", or "recorded or 300ms", got "p50 2s, p90 1s"',
    ],
    ['latency: { land: 9999d }', 'latency.land: expected at most 1h, got "9999d"'],
    ['latency: { quote: "p50 1s, p99 2h" }', 'latency.quote: expected at most 1h, got "p50 1s, p99 2h"'],
    ['latency: { land: 2m }', 'latency.land: expected that some swaps land before they expire (landing.expiry: 1m10s), '
      + 'got "2m": none ever would'],
    [
      'latency: { sign: recorded }',
      'latency.sign: expected a duration such as "300ms", or quantiles such as "p5 150ms, p50 300ms, p95 900ms", got '
        + '"recorded"',
    ],
    ['setting: kind', 'setting: expected "optimistic", "base" or "pessimistic", got "kind"'],
    ['extrapolate: yes', 'extrapolate: expected true or false, got "yes": YAML 1.2 knows only true and false'],
    ['landing: { drop_probability: 1.5 }', 'landing.drop_probability: expected a number of 0 to 1, got 1.5'],
    ['own_impact: { share: -0.1 }', 'own_impact.share: expected a number of 0 to 1, got -0.1'],
    ['own_impact: { decay: 0s }', 'own_impact.decay: expected a duration such as "5s", "250ms" or "1h30m", got "0s"'],
    ['costs: { signatures: 0 }', 'costs.signatures: expected an integer of 1 to 12, got 0'],
    ['costs: { tip: "1 USDC" }', 'costs.tip: expected an amount of SOL such as "0.0001 SOL", got "1 USDC"'],
    ['costs: { tip: "1.5 SOL" }', 'costs.tip: expected at most 1 SOL, got "1.5 SOL"'],
    // issue 13.7: a fee above the limit would keep every swap from being made, and seem a better result.
    [
      'costs: { platform_fee_bps: 31 }',
      'costs.platform_fee_bps: expected at most risk.max_fee_bps (30), got 31: every simulated swap would be given up '
        + 'for its fee',
    ],
    ['costs: { platform_fee: 5 }', 'costs.platform_fee: unknown key "platform_fee" (did you mean "platform_fee_in"?)'],
    ['transfer_fees: { FISH: { bps: 1 } }', 'transfer_fees.FISH: unknown token "FISH"; known are SOL, USDC'],
    [
      'transfer_fees: { USDC: { max: "5" } }',
      'transfer_fees.USDC.bps: the key "bps" is missing: expected an integer of 0 to 10000',
    ],
    [
      'transfer_fees: { USDC: { bps: 1, max: "0.0000001" } }',
      'transfer_fees.USDC.max: expected at most 6 decimal places, got 7 in "0.0000001"',
    ],
  ])('is refused where it says %s', async (text, message) => {
    const issues = await issuesOf(`${WATCH}backtest: { ${text} }\n`);
    expect(issues).toHaveLength(1);
    expect(issues[0]).toContain(`backtest.${message}`);
  });

  it('cannot take a paper run’s latency from a recording: there is none', async () => {
    expect(await issuesOf(`${WATCH}backtest: { latency: { land: recorded } }\n`)).toEqual([
      'bot.yaml:2:30 backtest.latency.land: expected a duration or quantiles, got "recorded": a paper run has no '
        + 'recording to take it from',
    ]);
  });
});

describe('the text of a latency', () => {
  it('is read and written to the same again', () => {
    for (const text of [
      '300ms', 'recorded', 'recorded or 300ms', 'recorded or p50 1ms, p90 2ms', 'p5 150ms, p50 300ms, p97.5 900ms',
      'p50 1ms, p99.999 1ms',
    ]) expect(latencyText(readLatency(text)!)).toBe(text);
  });

  it('is refused unless shares rise and latencies do not fall', () => {
    for (const text of [
      '', 'p50', 'p50 1', 'p0 1s', 'p100 1s', 'p50 1s, p50 2s', 'p90 1s, p50 2s', 'p50 2s, p90 1s', '1s, 2s', 'p50 1s,',
      'P50 1s', 'recorded, 1s',
    ]) {
      expect(readLatencyQuantiles(text), text).toBeUndefined();
    }
  });

  it('has defaults in the form that it reads', () => {
    const { quote, sign, land } = BASE_MODEL.latency;
    for (const latency of [quote, sign, land]) expect(readLatencyQuantiles(latencyText(latency))).toEqual(latency);
  });
});
