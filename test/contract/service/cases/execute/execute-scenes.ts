import { BUY_SOL, MAKERS_ONLY, orderOf, POOLS_ONLY } from '../../scenes.ts';
import type { Answer, Wallet, ServiceFixture } from '../../service-fixture.ts';
import { SOL, USDC } from '../../service-fixture.ts';

type Body = Answer['body'];

export const EXECUTE = '/swap/v2/execute';
export const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;
/** Large enough for a maker. */
export const FIRM = { inputMint: USDC, outputMint: SOL, amount: '400000000' } as const;

/** Returns a wallet with what an order costs. */
export function buyer(fixture: ServiceFixture): Promise<Wallet> {
  return fixture.newWallet({ [SOL]: '100000000', [USDC]: '1000000000' });
}

/** Returns an order that pools fill. */
export function pooledOrder(fixture: ServiceFixture, taker: Wallet): Promise<Body> {
  return orderOf(fixture, { ...BUY_SOL, taker: taker.address, ...POOLS_ONLY });
}

/** Returns an order that a maker fills. */
export function firmOrder(fixture: ServiceFixture, taker: Wallet): Promise<Body> {
  return orderOf(fixture, { ...FIRM, taker: taker.address, ...MAKERS_ONLY });
}

/** Returns a transaction as our client takes it. */
export function bytesOf(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, 'base64'));
}

/** Returns a fault of /execute: twice where it is to hit the request and our client's. */
export function onExecute(fault: object, times: 1 | 2): object {
  return { match: { method: 'POST', path: EXECUTE }, fault, times };
}
