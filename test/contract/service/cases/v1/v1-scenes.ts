import { expect } from 'vitest';
import type { QuoteAnswer } from '../../../../../src/service/endpoints/swap-v1.ts';
import { sent } from '../../compose.ts';
import { asked, refusedByOurs } from '../../scenes.ts';
import type { Answer, Query, Wallet, ServiceFixture } from '../../service-fixture.ts';
import { SOL, USDC } from '../../service-fixture.ts';

type Body = Answer['body'];
type Trade = Query & { readonly inputMint: string; readonly outputMint: string; readonly amount: string };

export const V1_SWAP = '/swap/v1/swap';
export const SALE = { inputMint: SOL, outputMint: USDC, amount: '100000000' } as const;
export const BUY = { inputMint: USDC, outputMint: SOL, amount: '25000000' } as const;
/** What breaks a rule is a 400, what is no such body at all a 422. */
export const REFUSED = [400, 422];

/** Asks for a quote of V1 and expects one. */
export async function quoteOf(fixture: ServiceFixture, query: Query): Promise<Body> {
  const answer = await fixture.get('/swap/v1/quote', query);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** Asks for the same quote with our client. */
export function ourQuote(
  fixture: ServiceFixture, { inputMint, outputMint, amount, ...more }: Trade,
): Promise<QuoteAnswer> {
  return fixture.service.swapV1.quote({ ...asked({ inputMint, outputMint, amount }), ...more });
}

/** Makes a transaction of a quote and expects one. */
export async function swapOf(
  fixture: ServiceFixture, query: Trade, body: Readonly<Record<string, unknown>>,
): Promise<Body> {
  const answer = await fixture.post(V1_SWAP, { quoteResponse: await quoteOf(fixture, query), ...body });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** Signs such a transaction, lands it and returns what the chain says. */
export function landedV1(fixture: ServiceFixture, body: Body, ...wallets: readonly Wallet[]): Promise<unknown> {
  return sent(fixture, body.swapTransaction, ...wallets);
}

/** Expects the service to refuse a body, and our client to refuse it before it leaves; `ours` is what differs there. */
export async function v1Refused(
  fixture: ServiceFixture, query: Trade, change: Readonly<Record<string, unknown>>, about: RegExp,
  ours: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const userPublicKey = fixture.wallet.address;
  const answer =
    await fixture.post(V1_SWAP, { userPublicKey, quoteResponse: await quoteOf(fixture, query), ...change });
  expect(REFUSED, answer.text).toContain(answer.status);
  expect(answer.body.error).toMatch(about);
  const quote = await ourQuote(fixture, query);
  await refusedByOurs(
    fixture, ({ swapV1 }) => swapV1.swap({ userPublicKey, quoteResponse: quote, ...change, ...ours }), about,
  );
}

/** Returns a share of an amount in basis points, rounded up, as V1 rounds its thresholds. */
export function ceilShare(amount: string, bps: number): bigint {
  return (BigInt(amount) * BigInt(bps) + 9_999n) / 10_000n;
}
