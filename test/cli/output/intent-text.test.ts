import { describe, expect, it } from 'vitest';
import { intentText } from '../../../src/cli/output/intent-text.ts';
import type { IntentStory } from '../../../src/store/journal-listing.ts';
import { SOL, TOKENS, USDC } from '../../market/tokens.ts';

const AT = 1_790_000_000_000;
const STORY: IntentStory = {
  intent_id: 'dca-1', strategy: 'dca', state: 'abandoned', route: 'order', input_mint: USDC.mint, output_mint: SOL.mint,
  amount_in: '1000000', amount_out: null, created_at: AT,
  attempts: [{
    number: 1, state: 'expired', signature: 'S'.repeat(88), message_hash: 'ab'.repeat(32),
    last_valid_block_height: '429', fee_payer: 'F'.repeat(44),
  }], purpose: 'entry', reason: 'purchase', minimum_out: null, max_slippage_bps: 50, quoted_out: null, router: null,
  fee_lamports: null, rent_lamports: null,
  transitions: [{
    at: AT + 1_234, attempt: 1, state: 'abandoned', router: null, quoted_out: null, signature: null,
    code: 'CAP_EXCEEDED_HOUR', gateway_request_id: 'edge-42', reason: 'nothing was signed: CAP_EXCEEDED_HOUR, 4 USDC',
  }],
};

describe('the text of a swap', () => {
  const text = intentText(STORY, TOKENS);

  it('shows milliseconds since the approval, and each code once', () => {
    expect(text).toMatch(/course +2026-09-21 14:13:20 UTC  approved\n/);
    expect(text).toMatch(
      /approved\n +\+1\.234 s  abandoned: nothing was signed: CAP_EXCEEDED_HOUR, 4 USDC \(request edge-42\)\n/,
    );
  });

  it('fits into 130 columns except for values from outside', () => {
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(130);
    expect(text).toMatch(
      /signed +attempt 1, expired: S{88}\n +message abababababababab…, valid until block 429, fee paid by F{44}\n/,
    );
  });
});
