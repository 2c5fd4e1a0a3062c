import { formatDecimal } from '../core/amount.ts';
import { showAmount, spoken, symbolOf } from '../market/market-text.ts';
import { whyText } from '../daemon/why-text.ts';
import type { Mint, TokenTable } from '../market/token.ts';
import type { IntentListing, IntentStory } from '../store/listing.ts';
import { clockTime } from './figures.ts';
import { facts, table } from './table.ts';

const SOL_DECIMALS = 9;

/** Returns swaps for people, one a line. */
export function listText(intents: readonly IntentListing[], tokens: TokenTable): string {
  if (intents.length === 0) return '  no swap\n';
  return table([
    ['swap', 'approved, UTC', 'state', 'route', 'pays', 'gets', 'tries'],
    ...intents.map((intent) => [
      intent.intent_id, clockTime(intent.created_at), intent.state, intent.route,
      shown(tokens, intent.input_mint, intent.amount_in), shown(tokens, intent.output_mint, intent.amount_out), String(intent.attempts.length),
    ]),
  ], { right: [6], optional: [6, 3] });
}

/** Returns one swap for people, with its whole way. */
export function journeyText(story: IntentStory, tokens: TokenTable): string {
  return facts(journeyFacts(story, tokens));
}

/** Returns the rows that tell of a swap. */
export function journeyFacts(story: IntentStory, tokens: TokenTable): [string, string | readonly string[] | undefined][] {
  const { input_mint: input, output_mint: output, transitions, attempts } = story;
  const filled = story.state === 'confirmed' && story.amount_out !== null;
  return [
    ['swap', `${story.intent_id}, ${story.state}, by the route "${story.route}"`],
    ['why', spoken(tokens, story.reason)],
    ['asked', `${shown(tokens, input, story.amount_in)} for ${story.minimum_out === null ? symbolOf(tokens, output) : `at least ${shown(tokens, output, story.minimum_out)}`}, slippage up to ${story.max_slippage_bps} bps`],
    ['quoted', story.quoted_out === null ? undefined : `${shown(tokens, output, story.quoted_out)}${story.router === null ? '' : ` by ${story.router}`}`],
    ['filled', filled ? `${shown(tokens, output, story.amount_out)}${againstQuote(story)}` : undefined],
    ['cost', costText(story)],
    ['signed', attempts.flatMap((attempt) => [
      `try ${attempt.number}, ${attempt.state}: ${attempt.signature}`,
      `message ${attempt.message_hash.slice(0, 16)}…, valid until block ${attempt.last_valid_block_height}, fee paid by ${attempt.fee_payer}`,
    ])],
    ['journey', [
      `${clockTime(story.created_at)} UTC  approved`,
      ...transitions.map(({ at, attempt, state, code, reason }) =>
        `${laterText(at - story.created_at)}  ${state}${attempt === 1 ? '' : ` (try ${attempt})`}${separated(spoken(tokens, whyText(code, reason)))}`),
    ]],
  ];
}

/** As wide as the instant that it counts from: a swap is a matter of milliseconds, and they are what one looks for. */
function laterText(ms: number): string {
  return `+${(ms / 1_000).toFixed(3)} s`.padStart('2026-11-21 23:16:29 UTC'.length);
}

function separated(why: string): string {
  return why === '' ? '' : `: ${why}`;
}

function costText({ fee_lamports: fee, rent_lamports: rent }: IntentStory): string | undefined {
  if (fee === null) return undefined;
  const deposit = rent === null || rent === '0' ? '' : `, and ${formatDecimal(BigInt(rent), SOL_DECIMALS)} SOL as a deposit (back when the account is closed)`;
  return `${formatDecimal(BigInt(fee), SOL_DECIMALS)} SOL in network fees${deposit}`;
}

/** In basis points of the quote, rounded to a tenth. */
function againstQuote({ quoted_out: quoted, amount_out: filled }: IntentStory): string {
  if (quoted === null || filled === null || quoted === '0') return '';
  const tenths = (BigInt(filled) - BigInt(quoted)) * 100_000n / BigInt(quoted);
  if (tenths === 0n) return ', as quoted';
  return `, ${Number(tenths < 0n ? -tenths : tenths) / 10} bps ${tenths < 0n ? 'less' : 'more'} than quoted`;
}

function shown(tokens: TokenTable, mint: string, amount: string | null): string {
  return amount === null ? '' : showAmount(tokens, mint as Mint, BigInt(amount));
}
