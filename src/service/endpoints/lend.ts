import type { Gateway } from '../gateway.ts';
import type { CallOptions } from '../rate/priority.ts';
import type { RequestRules } from './request-rules.ts';
import { anAddress, checkRequest, optionalRule, queryOf, required } from './request-rules.ts';
import { wireAddress } from '../wire/fields.ts';
import type { LendEarning } from '../wire/lend-earnings.ts';
import { readLendEarnings } from '../wire/lend-earnings.ts';

/** Whose earnings on which positions. */
export interface EarningsRequest {
  readonly user: string;
  /** At least one address. */
  readonly positions: readonly string[];
}

/** The lending API, as far as the reference describes it. */
export interface Lend {
  /** Returns what a user earned on positions. Rejects with a GannetError of a SERVICE_ code. */
  earnings(request: EarningsRequest, call?: CallOptions): Promise<readonly LendEarning[]>;
}

/** What is known of `GET /lend/v1/earn/earnings`. */
export const EARNINGS_RULES: RequestRules<EarningsRequest> = {
  endpoint: 'GET /lend/v1/earn/earnings',
  parameters: {
    user: required(anAddress),
    positions: required(optionalRule('base58 addresses, at least one',
      (value) => Array.isArray(value) && value.length > 0
        && value.every((position) => wireAddress.safeParse(position).success))),
  },
  joint: [],
};

/** Returns the client of the lending API. */
export function createLend(gateway: Gateway): Lend {
  return {
    async earnings(request, call) {
      checkRequest(EARNINGS_RULES, request);
      const answer = await gateway.get(
        { path: '/lend/v1/earn/earnings', query: queryOf(EARNINGS_RULES, request), shareable: true }, call,
      );
      return readLendEarnings(answer, request.user);
    },
  };
}
