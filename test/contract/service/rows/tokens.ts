import { section } from '../row.ts';

export const search = section('Token search', {
  prefix: 'search', client: 'src/service/endpoints/tokens.ts createTokens',
  sandbox: 'src/sandbox/service/tokens/discovery-endpoints.ts registerSearch',
}, [
  ['endpoint', '/ultra/v1/search', 'Answers 200 with a list of token records.'],
  ['parameter', 'query', 'Symbol, name or mint; required.'],
  ['rule', 'several terms', 'Several terms go with commas between them.'],
  ['rule', 'hundred mints', 'A hundred mints at most.'],
  ['rule', 'twenty results', 'Twenty results at most for a symbol or a name.'],
]);

export const discovery = section('Token discovery endpoint list', {
  prefix: 'discovery', client: 'src/service/endpoints/tokens.ts createTokens',
  sandbox: 'src/sandbox/service/tokens/discovery-endpoints.ts registerDiscovery',
}, [
  ['endpoint', '/search', 'Searches by symbol, name or mint.'],
  ['endpoint', '/tag', 'Tokens of one tag.'],
  ['endpoint', '/{category}/{interval}', 'Tokens of a category over an interval.'],
  ['endpoint', '/recent', 'Tokens whose first pool was made of late.'],
  ['endpoint', '/content', 'Approved content of up to fifty mints.'],
  ['endpoint', '/content/cooking', 'Approved content of tokens that trend.'],
  ['endpoint', '/content/feed', 'The content of one mint, page by page.'],
  ['rule', 'prefix', 'The prefix of the group is a setting (left open by the description).', {
    client: 'src/service/wire/dialect.ts loadDialect',
    sandbox: 'src/sandbox/service/http/dialect-edge.ts neutralTarget',
  }],
  ['parameter', 'search.query', 'The terms (left open by the description).'],
  ['parameter', 'tag.query', 'lst, verified or stocks (left open by the description).'],
  ['parameter', 'category', 'toporganicscore, toptraded or toptrending (left open by the description).'],
  ['parameter', 'interval', '5m, 1h, 6h or 24h (left open by the description).'],
  ['parameter', 'category.limit', '1 to 100, 50 where it is left out (left open by the description).'],
  ['parameter', 'content.mints', 'Up to fifty with commas between them (left open by the description).'],
  ['parameter', 'feed.mint', 'The mint (left open by the description).'],
  ['parameter', 'feed.page', 'From 1 (left open by the description).'],
  ['parameter', 'feed.limit', '1 to 100, 50 where it is left out (left open by the description).'],
]);
