import { expect } from 'vitest';
import { amount } from '../../../src/core/amount.ts';
import { isGannetError } from '../../../src/core/errors.ts';
import type { Mint } from '../../../src/market/token.ts';
import type { Service } from '../../../src/service/service.ts';
import type { Answer, Query, Wallet, ServiceFixture } from './service-fixture.ts';
import { SOL, USDC } from './service-fixture.ts';

export const DIGITS = /^\d+$/;
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
/** A valid address that no wallet of the sandbox owns. */
export const STRANGER = 'Gu11Ke8cLnWj8gkvT1PzL1nGdCGZ1E2uGTxUykcRTZ9r';

/** Two dozen dollars for SOL: small enough for every pool, too small for a maker. */
export const BUY_SOL = { inputMint: USDC, outputMint: SOL, amount: '25000000' } as const;

/** Leaves the pools' own router alone. */
export const POOLS_ONLY = { excludeRouters: 'rfqz,routerA,routerB' } as const;
/** Leaves the makers alone. */
export const MAKERS_ONLY = { excludeRouters: 'iris,routerA,routerB' } as const;

/** Returns the same mints and amount as our client takes them. */
export function asked({ inputMint, outputMint, amount: units }: {
  readonly inputMint: string; readonly outputMint: string; readonly amount: string;
}): {
  readonly inputMint: Mint; readonly outputMint: Mint; readonly amount: ReturnType<typeof amount>;
} {
  return { inputMint: inputMint as Mint, outputMint: outputMint as Mint, amount: amount(BigInt(units)) };
}

/** Asks for an order and expects one. */
export async function orderOf(fixture: ServiceFixture, query: Query): Promise<Answer['body']> {
  const answer = await fixture.get('/swap/v2/order', query);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** Asks for a build and expects one. */
export async function buildOf(fixture: ServiceFixture, query: Query): Promise<Answer['body']> {
  const answer = await fixture.get('/swap/v2/build', query);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** Signs an order with everybody given and posts it. */
export async function execute(
  fixture: ServiceFixture, order: Answer['body'], ...wallets: readonly Wallet[]
): Promise<Answer> {
  expect(order.transaction, `${order.errorMessage}`).toEqual(expect.stringMatching(/.{100}/));
  let transaction: string = order.transaction;
  for (const wallet of wallets) transaction = await wallet.sign(transaction);
  return fixture.post('/swap/v2/execute', { signedTransaction: transaction, requestId: order.requestId });
}

/** Executes an order and expects it to land. */
export async function landed(
  fixture: ServiceFixture, order: Answer['body'], ...wallets: readonly Wallet[]
): Promise<Answer['body']> {
  const { status, body, text } = await execute(fixture, order, ...wallets);
  expect([status, body?.status], text).toEqual([200, 'Success']);
  return body;
}

/** Returns the market's price of a whole token in US dollars. */
export async function usdPrice(fixture: ServiceFixture, mint: string): Promise<number> {
  const { prices } = await fixture.control('/sandbox/state');
  return prices.find((price: { mint: string }) => price.mint === mint).usd;
}

/** Returns what an amount of smallest units is worth. */
export async function usdWorth(fixture: ServiceFixture, mint: string, units: string | bigint): Promise<number> {
  return (Number(units) / 10 ** fixture.decimals(mint)) * (await usdPrice(fixture, mint));
}

/** Returns the labels of a route. */
export function labelsOf(answer: Answer['body']): string[] {
  return answer.routePlan.map((entry: { swapInfo: { label: string } }) => entry.swapInfo.label);
}

/**
 * Expects both sides to refuse: the sandbox with a 400 that names what is wrong, our client with SERVICE_BAD_REQUEST
 * before anything leaves.
 */
export async function refusedByBoth(fixture: ServiceFixture, refusal: {
  readonly theirs: () => Promise<Answer>;
  readonly ours: (service: Service) => Promise<unknown>;
  /** What both name. */
  readonly about: RegExp;
}): Promise<void> {
  const answer = await refusal.theirs();
  expect(answer.status, answer.text).toBe(400);
  expect(neutralText(fixture, answer.body.error ?? answer.body.message)).toMatch(refusal.about);
  await refusedByOurs(fixture, refusal.ours, refusal.about);
}

/** Returns a sentence of the service with the names of parameters in neutral words. */
export function neutralText({ dialect }: ServiceFixture, text: string): string {
  return ['bundleTipLamports', 'forBundle']
    .reduce((said, name) => said.replaceAll(dialect.toWire.queryName(name), name), text);
}

/** Expects our client to refuse before anything leaves. */
export async function refusedByOurs(
  fixture: ServiceFixture, ours: (service: Service) => Promise<unknown>, about: RegExp,
): Promise<void> {
  const sent = (): number => Object.values(fixture.service.stats()).reduce((sum, bucket) => sum + bucket.sent, 0);
  const before = sent();
  const thrown: unknown = await ours(fixture.service).then(() => undefined, (error: unknown) => error);
  expect(isGannetError(thrown) ? thrown.code : thrown).toBe('SERVICE_BAD_REQUEST');
  expect((thrown as Error).message).toMatch(about);
  expect(sent()).toBe(before);
}
