// Follow what a search finds
//
// `predictionEvents` polls the events whose title contains a word. `ctx.watch` reads the markets of the first active
// one, and `switchMap` ends the watch of the one before. Titles are texts of others, so the alert names the event by
// its identifier. The same pattern serves for tokens with `tokenList`.
import { defineStrategy, predictionEvent, predictionEvents } from 'gannet';
import { distinctUntilChanged, filter, map, switchMap } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'event-search',
  summary: 'Alerts at the number of open markets of the first event that a search finds.',
  losesMoneyWhen: 'It never trades.',
  params: z.strictObject({ word: z.string().min(3).describe('a word of the title') }),
  inputs: (p) => ({ found: predictionEvents({ search: p.word, limit: 5 }, { every: '5m' }) }),
  run: ({ found }, _params, ctx) => found.pipe(
    map(({ events }) => events.find(({ isActive }) => isActive === true)?.eventId),
    filter((eventId) => eventId !== undefined), distinctUntilChanged(),
    switchMap((eventId) => ctx.watch(predictionEvent(eventId, { every: '1m' }))),
    map(({ eventId, markets }) => `${eventId}: ${markets.filter(({ status }) => status === 'open').length} markets`),
    distinctUntilChanged(),
    map((text) => ctx.alert('info', text)),
  ),
});
