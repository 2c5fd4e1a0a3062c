import { z } from 'zod';
import { GannetError } from '../../core/errors.ts';
import type { Gateway } from '../gateway.ts';
import type { CallOptions } from '../rate/rate-plan.ts';
import { wireAddress, wireList, wireU64 } from '../wire/fields.ts';
import { malformed, readWire } from '../wire/read.ts';
import type { RequestRules } from './request-rules.ts';
import { anAddress, checkRequest, optionalRule, queryOf, required } from './request-rules.ts';
import type { LendEarning } from '../../market/lending.ts';

/** An owner and the positions whose earnings are asked for. */
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

/** Returns the client of the lending API. */
export function createLend(gateway: Gateway): Lend {
  return {
    async earnings(request, call) {
      checkRequest(EARNINGS_RULES, request);
      return gateway.get({
        path: '/lend/v1/earn/earnings', query: queryOf(EARNINGS_RULES, request), shareable: true,
        read: (answer) => readLendEarnings(answer, request.user),
      }, call);
    },
  };
}

/** The known rules of `GET /lend/v1/earn/earnings`. */
const EARNINGS_RULES: RequestRules<EarningsRequest> = {
  endpoint: 'GET /lend/v1/earn/earnings',
  parameters: {
    user: required(anAddress),
    positions: required(optionalRule('base58 addresses, at least one',
      (value) => Array.isArray(value) && value.length > 0
        && value.every((position) => wireAddress.safeParse(position).success))),
  },
  joint: [],
};

const WHAT = 'lend earnings';

const WireEarnings = wireList(z.object({
  address: wireAddress,
  ownerAddress: wireAddress,
  earnings: z.union([z.number(), z.bigint()], { error: 'expected a number' }).transform(Number),
  slot: wireU64,
}), 10_000);

/** Members of the answer before it changed. */
const REMOVED = ['totalDeposits', 'totalWithdraws', 'totalBalance', 'totalAssets'] as const;

/**
 * Returns the earnings in an answer. Throws SERVICE_MALFORMED where they are another owner's or cannot be read, with an
 * explanation where they come in the form that was given up.
 */
function readLendEarnings(answer: unknown, user: string): readonly LendEarning[] {
  if (!WireEarnings.safeParse(answer).success) refuseOldForm(answer);
  const earnings = readWire(WireEarnings, answer, WHAT);
  const stranger = earnings.findIndex(({ ownerAddress }) => ownerAddress !== user);
  if (stranger >= 0) throw malformed(
    `${WHAT}, ${stranger}.ownerAddress: expected ${user}, who was asked for`, earnings[stranger]!.ownerAddress,
  );
  return earnings;
}

function refuseOldForm(answer: unknown): void {
  const [record] = Array.isArray(answer) ? answer as unknown[] : [answer];
  if (typeof record !== 'object' || record === null) return;
  const { earnings, slot } = record as { readonly earnings?: unknown; readonly slot?: unknown };
  const removed = REMOVED.filter((name) => Object.hasOwn(record, name));
  if (removed.length === 0 && !(typeof earnings === 'string' && slot === undefined)) return;
  const found = [...removed, ...(typeof earnings === 'string' ? ['earnings as text'] : []), ...(slot === undefined
    ? ['no slot'] : [])];
  throw new GannetError('SERVICE_MALFORMED',
    `${WHAT}: expected a list of {address, ownerAddress, earnings: number, slot: number}, got the form that was given `
      + `up (${found.join(', ')}): the totals were removed, earnings became a number, slot was added; check `
      + 'service.base_url');
}
