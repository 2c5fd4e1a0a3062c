import type { GenesisToken } from '../../genesis.ts';
import type { ContentPiece, ContentSummary } from '../../market/token-content.ts';
import type { ServiceContext } from '../context.ts';

/** Pieces that are shown beside others' pieces; the feed has them all. */
const MOST_SHOWN = 10;

/** Returns what was approved about one token: its newest pieces and the summaries, null where there is none. */
export function contentRecord(mint: string, context: ServiceContext): object {
  const token = context.tokens.get(mint);
  if (token === undefined) return { mint, contents: [], tokenSummary: null, newsSummary: null };
  return { mint, contents: pieces(token, { start: 0, count: MOST_SHOWN }, context), ...summaries(token, context) };
}

/** Returns a page of everything about one token; pages count from 1. */
export function contentFeed(
  mint: string, { page, limit }: { page: number; limit: number }, context: ServiceContext,
): object {
  const token = context.tokens.get(mint);
  const total = token === undefined ? 0 : context.contents.count(token);
  return {
    contents: token === undefined ? [] : pieces(token, { start: (page - 1) * limit, count: limit }, context),
    ...(token === undefined ? { tokenSummary: null, newsSummary: null } : summaries(token, context)),
    pagination: { limit, total, page, totalPages: Math.ceil(total / limit) },
  };
}

function pieces(token: GenesisToken, range: { start: number; count: number }, context: ServiceContext): object[] {
  return context.contents.pieces(token, range).map((piece) => pieceRecord(token, piece, context));
}

function pieceRecord(token: GenesisToken, piece: ContentPiece, { prediction: { timeline } }: ServiceContext): object {
  return {
    contentId: `${token.mint.slice(0, 8)}-${piece.number}`,
    content: piece.text,
    contentType: piece.type,
    status: 'approved',
    source: piece.source,
    submittedAt: timeline.isoTime(piece.submittedSlot),
    submittedBy: piece.author,
    updatedAt: timeline.isoTime(piece.approvedSlot),
    updatedBy: { id: 'user-eider', username: 'eider', role: 'moderator' },
    postedAt: timeline.isoTime(piece.postedSlot),
  };
}

function summaries(token: GenesisToken, context: ServiceContext): object {
  return {
    tokenSummary: summaryRecord(context.contents.tokenSummary(token), context),
    newsSummary: summaryRecord(context.contents.newsSummary(token), context),
  };
}

function summaryRecord(summary: ContentSummary | undefined, context: ServiceContext): object | null {
  if (summary === undefined) return null;
  return {
    summaryFull: summary.full, summaryShort: summary.short,
    updatedAt: context.prediction.timeline.isoTime(summary.slot), citations: summary.citations,
  };
}
