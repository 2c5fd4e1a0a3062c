// Be told once about each of many things
//
// A list shows the same entries at every poll. Keep what was told in a state, so that a restart does not repeat it,
// and bound it: a state has at most 64 KiB. Here the entries are prediction positions of an account that can be
// claimed.
import { defineStrategy, predictionPositions } from 'gannet';
import type { PredictionPositionsEvent } from 'gannet';
import { mergeMap } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'account-winnings',
  summary: 'Alerts once at each prediction position that can be claimed.',
  losesMoneyWhen: 'It never trades.',
  params: z.strictObject({ owner: z.string().describe('the address of the account') }),
  inputs: (p) => ({ held: predictionPositions(p.owner, { every: '1m' }) }),
  run: ({ held }, _params, ctx) => {
    const told = ctx.stateful('told', { all: [] as string[], fresh: [] as string[] },
      ({ all }, { positions }: PredictionPositionsEvent) => {
        const fresh = positions.filter(({ claimable, claimed }) => claimable === true && claimed !== true)
          .map(({ pubkey }) => pubkey).filter((pubkey) => !all.includes(pubkey));
        return { all: [...all, ...fresh].slice(-500), fresh };
      });
    return held.pipe(told, mergeMap(({ state: { fresh }, event: { positions } }) => positions
      .filter(({ pubkey }) => fresh.includes(pubkey))
      .map(({ marketId, payoutUsd = 0n }) => ctx.alert('info', `${marketId} can be claimed`, { payoutUsd }))));
  },
});
