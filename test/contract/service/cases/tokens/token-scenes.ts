import { PublicKey } from '@solana/web3.js';
import { expect } from 'vitest';
import type { Answer, ServiceFixture } from '../../service-fixture.ts';

type Body = Answer['body'];

/** Where the discovery group is unless a dialect says otherwise. */
export const GROUP = '/tokens/v2';
export const SEARCH = '/ultra/v1/search';

/** Returns the mints of a list of records. */
export function idsOf(list: readonly Body[]): string[] {
  return list.map(({ id }) => id);
}

/** Returns the sandbox's own mints. */
export function mintsOf(fixture: ServiceFixture): string[] {
  return fixture.sandbox.addresses.tokens.map(({ mint }) => mint);
}

/** Returns addresses that no mint has. */
export function strangers(count: number): string[] {
  return Array.from({ length: count }, (_, place) =>
    new PublicKey(Uint8Array.from({ length: 32 }, () => place + 100)).toBase58());
}

/** Asks for a list and expects one. */
export async function listOf(fixture: ServiceFixture, path: string, query = {}): Promise<Body[]> {
  const answer = await fixture.get(path, query);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}
