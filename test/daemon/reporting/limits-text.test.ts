import { describe, expect, it } from 'vitest';
import {
  describeLimits, describeProtections, describeSigner, describeSizes, describeTokenSafety,
} from '../../../src/daemon/reporting/limits-text.ts';
import { describeProtection } from '../../../src/trading/protections/protection-text.ts';
import { configOf } from '../../config/load-text.ts';

const WATCH = 'strategies: [{ use: book-watch, params: { market: TIDE, level: 0.6, rearm: 0.5 } }]\n';
const KINDS = [
  'cooldown, after: loss, for: 10m', 'cooldown, after: trade, for: 1m, scope: token',
  'loss_streak, losses: 3, within: 1d', 'low_profit, trades: 4, within: 2d, limit_pct: 1.5',
  'max_drawdown, limit_pct: 10', 'daily_loss, limit: "50 USDC", action: halt', 'fee_budget, limit: "0.05 SOL"',
  'stale_feed, after: 1m', 'blind_execution, unknowns: 2', 'unresolved_intent, after: 5m',
  'error_rate, failures: 5, within: 10m', 'reconciliation_mismatch', 'dead_man, after: 3d, action: flatten',
];

describe('the limits as text', () => {
  it('name every limit that is set with its value', async () => {
    const { limits, tokens } = await configOf(
      `${WATCH}risk: { max_trade: "5 USDC", max_position: { SOL: "7 USDC" }, max_exposure: "9 USDC", `
        + 'max_quote_age: 2s, max_quote_age_slots: 8, max_value_age: 1h }\n',
    );
    expect(describeSizes(limits, tokens)).toEqual([
      'slippage 50 bps, price impact 100 bps, fees 30 bps',
      'swaps at a time: 1, 6 per minute, 60 per hour, 300 per day, each up to 5 USDC, SOL up to 7 USDC, all positions '
        + 'up to 9 USDC',
      'quotes at most 2s old, quotes at most 8 slots old, values by prices at most 1h old',
    ]);
    const plain = await configOf(WATCH);
    expect(describeSizes(plain.limits, plain.tokens)).toEqual([
      'slippage 50 bps, price impact 100 bps, fees 30 bps',
      'swaps at a time: 1, 6 per minute, 60 per hour, 300 per day',
    ]);
  });

  it('describe the trigger, scope, action and end of every protection', async () => {
    const { limits, tokens } =
      await configOf(`${WATCH}risk: { protections: [${KINDS.map((kind) => `{ kind: ${kind} }`).join(', ')}] }\n`);
    const words = limits.protections!.map((protection) => describeProtection(protection, tokens));
    expect(new Set(words).size).toBe(KINDS.length);
    expect(words[0]).toMatch(/loss.*each strategy.*no entries for 10m/);
    expect(words[1]).toMatch(/each token.*no entries for 1m/);
    expect(words[3]).toContain('1.5 %');
    expect(words[5]).toMatch(/50 USDC.*halt until midnight UTC/);
    expect(words[6]).toMatch(/0\.05 SOL/);
    expect(words[12]).toMatch(/3d.*sell everything/);
  });

  it('fit on a few lines at a start without splitting a protection', async () => {
    const { limits, tokens } = await configOf(WATCH);
    const lines = [...describeLimits(limits, tokens), ...describeProtections(limits, tokens)];
    expect(lines.length).toBeLessThanOrEqual(10);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(118);
    expect(lines.join(' · ')).toContain('20 % under the highest equity: exits only · ');
  });

  it('name the length of a pause, in the short list too', async () => {
    const { limits, tokens } = await configOf(
      `${WATCH}risk: { protections: [{ kind: cooldown, after: loss, for: 10m }, { kind: stale_feed, after: 1m }] }\n`,
    );
    expect(describeProtections(limits, tokens).join(' · ')).toMatch(
      /a swap with a loss .*: no entries for 10m · a feed silent for 1m .each strategy.: no entries( · |$)/,
    );
    expect(limits.protections!.map((protection) => describeProtection(protection, tokens))[1])
      .toMatch(/no entries while it lasts$/);
  });

  it('mention missing protections and disabled token checks', async () => {
    const { limits, tokens } = await configOf(`${WATCH}risk: { protections: [], token_safety: { enabled: false } }\n`);
    expect(describeProtections(limits, tokens)).toEqual(['none: nothing stops trading automatically']);
    expect(describeLimits(limits, tokens)).toContain('tokens are bought without checks');
    const none = await configOf(`${WATCH}risk: { token_safety: { trusted: [] } }\n`);
    expect(describeTokenSafety(none.limits.tokenSafety, none.tokens))
      .toBe('tokens are checked before they are bought');
  });

  it('name the spending caps and programs of the signer', async () => {
    const { signer, tokens } = await configOf(
      `${WATCH}signer: { caps: { USDC: { per_trade: "5", per_day: "9" } }, `
        + 'destinations: [Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij] }\n',
    );
    expect(describeSigner(signer, tokens))
      .toEqual([
        '5 USDC a swap, 9 USDC a day', 'no swap for more than 150 bps less than a quote of its own, at most 5s old',
        'tokens may also go to Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij',
        'priority of a swap up to 0.001 SOL, tips up to 0.0001 SOL',
      ]);
  });
});
