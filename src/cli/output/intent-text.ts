import { clockTime } from './figures.ts';
import { facts, table } from './table.ts';
import { formatDecimal } from '../../core/amount.ts';
import { causeText } from '../../daemon/reporting/alert-text.ts';
import { showAmount, symbolOf, withTokenNames } from '../../market/market-text.ts';
import type { Mint, TokenTable } from '../../market/token.ts';
import { SOL_DECIMALS } from '../../solana/constants.ts';
import type { IntentListing, IntentStory } from '../../store/journal-listing.ts';
import type { Proposal } from '../../trading/proposal.ts';


/** Returns swaps as text, one a line. */
export function intentsText(intents: readonly IntentListing[], tokens: TokenTable): string {
  if (intents.length === 0) return '  no swap\n';
  return table([
    ['swap', 'approved, UTC', 'state', 'route', 'pays', 'gets', 'attempts'],
    ...intents.map((intent) => [
      intent.intent_id, clockTime(intent.created_at), intent.state, intent.route,
      shown(tokens, intent.input_mint, intent.amount_in), shown(tokens, intent.output_mint, intent.amount_out),
      String(intent.attempts.length),
    ]),
  ], { right: [6], optional: [6, 3] });
}

/** Returns one swap as text, with all its transitions. */
export function intentText(story: IntentStory, tokens: TokenTable): string {
  return facts(intentFacts(story, tokens));
}

/** Returns the facts about a swap. */
export function intentFacts(
  story: IntentStory, tokens: TokenTable,
): [string, string | readonly string[] | undefined][] {
  const { input_mint: input, output_mint: output, transitions, attempts } = story;
  const wanted = story.minimum_out === null
    ? symbolOf(tokens, output) : `at least ${shown(tokens, output, story.minimum_out)}`;
  const filled = story.state === 'confirmed' && story.amount_out !== null;
  return [
    ['swap', `${story.intent_id}, ${story.state}, by the route "${story.route}"`],
    ['why', withTokenNames(tokens, story.reason)],
    ['order', `${shown(tokens, input, story.amount_in)} for ${wanted}, slippage up to ${story.max_slippage_bps} bps`],
    ['quoted', story.quoted_out === null ? undefined
      : `${shown(tokens, output, story.quoted_out)}${story.router === null ? '' : ` by ${story.router}`}`],
    ['filled', filled ? `${shown(tokens, output, story.amount_out)}${againstQuote(story)}` : undefined],
    ['cost', costText(story)],
    ['signed', attempts.flatMap((attempt) => [
      `attempt ${attempt.number}, ${attempt.state}: ${attempt.signature}`,
      `message ${attempt.message_hash.slice(0, 16)}…, valid until block ${attempt.last_valid_block_height}, fee paid `
        + `by ${attempt.fee_payer}`,
    ])],
    ['course', [
      `${clockTime(story.created_at)} UTC  approved`,
      ...transitions.map(({ at, attempt, state, code, reason, gateway_request_id: requestId }) =>
        `${delayText(at - story.created_at)}  ${state}`
          + (attempt === 1 ? '' : ` (attempt ${attempt})`)
          + separated(withTokenNames(tokens, causeText(code, reason)))
          + (requestId === null ? '' : ` (request ${requestId})`)),
    ]],
  ];
}

/** Returns the time since the approval, in milliseconds because a swap takes few of them, as wide as an instant. */
function delayText(ms: number): string {
  return `+${(ms / 1_000).toFixed(3)} s`.padStart('2026-11-21 23:16:29 UTC'.length);
}

function separated(why: string): string {
  return why === '' ? '' : `: ${why}`;
}

function costText({ fee_lamports: fee, rent_lamports: rent }: IntentStory): string | undefined {
  if (fee === null) return undefined;
  const deposit = rent === null || rent === '0' ? ''
    : `, and ${formatDecimal(BigInt(rent), SOL_DECIMALS)} SOL as a deposit (returned when the account is closed)`;
  return `${formatDecimal(BigInt(fee), SOL_DECIMALS)} SOL in network fees${deposit}`;
}

/** Returns the difference from the quote, in basis points rounded to a tenth. */
function againstQuote({ quoted_out: quoted, amount_out: filled }: IntentStory): string {
  if (quoted === null || filled === null || quoted === '0') return '';
  const tenths = (BigInt(filled) - BigInt(quoted)) * 100_000n / BigInt(quoted);
  if (tenths === 0n) return ', as quoted';
  return `, ${Number(tenths < 0n ? -tenths : tenths) / 10} bps ${tenths < 0n ? 'less' : 'more'} than quoted`;
}

function shown(tokens: TokenTable, mint: string, amount: string | null): string {
  return amount === null ? '' : showAmount(tokens, mint as Mint, BigInt(amount));
}

/** Returns a logged proposal as text; amounts in a log are strings. */
export function proposalText(tokens: TokenTable, proposal: Proposal): string {
  if (proposal.kind === 'alert') return `an alert, ${proposal.level}: ${proposal.message}`;
  const { inputMint, outputMint, amount, limit } = proposal;
  const size: unknown = amount;
  const input = size === 'all' ? `all its ${symbolOf(tokens, inputMint)}`
    : typeof size === 'string' || typeof size === 'bigint' ? showAmount(tokens, inputMint, BigInt(size))
      : `${(size as { readonly fraction: number }).fraction * 100} % of its ${symbolOf(tokens, inputMint)}`;
  const least = limit === undefined ? '' : `, for at least ${showAmount(tokens, outputMint, BigInt(limit))}`;
  return `to swap ${input} to ${symbolOf(tokens, outputMint)}${least}`;
}
