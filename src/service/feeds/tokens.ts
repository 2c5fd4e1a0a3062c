import { GannetError } from '../../core/errors.ts';
import type { TokenSubjects } from '../../market/feeds/tokens.ts';
import type { Mint } from '../../market/token.ts';
import type { TokenRecord, TokenRecords } from '../wire/token-record.ts';
import type { FeedRequests } from './feed-request.ts';

/** The requests of the feeds about tokens. */
export const TOKEN_REQUESTS: FeedRequests<keyof TokenSubjects> = {
  'token-stats': async (specs, { tokens }, call) => {
    const answer = await tokens.search(specs.map(({ mint }) => mint), call);
    return specs.map(({ mint }) => {
      const record = recordOf(mint, answer);
      if (record instanceof GannetError) return record;
      const { values, updatedAt: eventAt } = record;
      return { ...(eventAt === undefined ? {} : { eventAt }), mint, values };
    });
  },
};

function recordOf(mint: Mint, { records, rejected }: TokenRecords): TokenRecord | GannetError {
  const record = records.find(({ id }) => id === mint);
  if (record !== undefined) return record;
  const spoilt = rejected.find(({ id }) => id === mint);
  if (spoilt !== undefined) return new GannetError('SERVICE_MALFORMED', spoilt.message);
  return new GannetError('TOKEN_UNKNOWN', `expected a record of the token ${mint}, the service gave none`);
}
