import { expect } from 'vitest';
import { microUsd } from '../../src/cli/output/figures.ts';
import { collect } from '../../src/service/endpoints/paged-list.ts';
import type { Trap } from './trap.ts';

const HISTORY = '/prediction/v1/history';
const SEARCH = '/prediction/v1/events/search';

export const pages: Trap = {
  number: 18,
  title: 'pages of the prediction lists are cut at 20 without a word, and dollars are counted in millionths',
  plays: [
    {
      says: 'who asks for a hundred gets twenty: our client goes on to the end, with nothing missed and nothing twice',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const owner = fixture.sandbox.addresses.wallet.address;
        const readPage = (): ReturnType<typeof fixture.get> =>
          fixture.get(HISTORY, { ownerPubkey: owner, start: 0, end: 100 });
        const cut = await readPage();
        expect(cut.body.data).toHaveLength(20);
        expect(cut.body.pagination).toMatchObject({ hasNext: true });
        const total = cut.body.pagination.total as number;
        expect(total).toBeGreaterThan(60);
        const { records, rejected } = await collect(fixture.service.prediction.allHistory({ owner }));
        expect(rejected).toEqual([]);
        const ids = records.map(({ id }) => id);
        // The owner may trade while it is read.
        expect(ids.length).toBeGreaterThanOrEqual(total);
        expect(ids.length).toBeLessThanOrEqual((await readPage()).body.pagination.total as number);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids).toEqual(expect.arrayContaining((cut.body.data as { id: number }[]).map(({ id }) => id)));
        const regatta = await collect(fixture.service.prediction.allEventMarkets('REGATTA27'));
        expect(new Set(regatta.records.map(({ marketId }) => marketId)).size).toBe(24);
      },
    },
    {
      says: 'entries that come in front while it reads shift the pages: still every entry once',
      async play(fixture) {
        const owner = fixture.sandbox.addresses.wallet.address;
        const read = async (onBatch: (batch: number) => Promise<void>): Promise<number[]> => {
          const ids: number[] = [];
          let batches = 0;
          for await (const { records } of fixture.service.prediction.allHistory({ owner })) {
            ids.push(...records.map(({ id }) => id));
            await onBatch(batches++);
          }
          return ids;
        };
        const before = await read(() => Promise.resolve());
        // What a market is resolved to is written into the ledger of everybody who is in it.
        const markets = [...new Set((await collect(fixture.service.prediction.allPositions({ owner })))
          .records.filter(({ marketMetadata }) => marketMetadata?.status === 'open').map(({ marketId }) => marketId))]
          .filter((marketId) => !['SPRINGTIDE-26DEC31', 'HERRINGRUN-27MAR01'].includes(marketId)).slice(0, 3);
        expect(markets.length).toBeGreaterThan(0);
        const during = await read(async (batch) => {
          if (batch < markets.length)
            await fixture.lever('POST', 'resolve', { market_id: markets[batch], result: 'no' });
        });
        expect(new Set(during).size).toBe(during.length);
        expect(before.every((id) => during.includes(id))).toBe(true);
        const after = await read(() => Promise.resolve());
        expect(after.length).toBeGreaterThan(before.length);
        // Up to the newest that was seen nothing is missing; what came after it is for the next reading.
        const newest = Math.max(...during);
        expect([...during].sort((a, b) => a - b)).toEqual(after.filter((id) => id <= newest).sort((a, b) => a - b));
        expect(newest).toBeGreaterThan(Math.max(...before));
      },
    },
    {
      says: 'a volume in the trillions is a number of dollars, exact beyond 2^53 and shown as dollars',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const search = { query: 'harbour master', provider: 'provider_b' };
        const raw = await fixture.get(SEARCH, search);
        // The same answer once more: volumes grow with every slot.
        await fixture.fault({ path: SEARCH, fault: { kind: 'malformed', body: raw.text }, times: 1 });
        const { records: [event] } = await fixture.service.prediction.searchEvents(search);
        const volume = BigInt(raw.body.data[0].volumeUsd as string);
        expect(volume).toBeGreaterThan(100_000_000_000n);
        expect(event!.volumeUsd).toBe(volume);
        expect(microUsd(event!.volumeUsd)).toMatch(/^\$\d{3},\d{3}\.00$/);
        await fixture.fault({
          path: SEARCH, fault: { kind: 'patch', set: { '/data/0/volumeUsd': '18014398509481985' } },
        });
        const { records: [huge] } = await fixture.service.prediction.searchEvents(search);
        expect(huge!.volumeUsd).toBe(18_014_398_509_481_985n);
        expect(microUsd(huge!.volumeUsd)).toBe('$18,014,398,509.481985');
      },
    },
  ],
};
