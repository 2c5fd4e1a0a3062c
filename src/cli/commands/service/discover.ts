import type { Command } from 'commander';
import type { CommandModule, RunCommand } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import type { RequestFlags } from '../../input/request-flags.ts';
import { addFlags } from '../../input/request-flags.ts';
import { NO_TOKENS, serviceRequest } from '../../input/service-request.ts';
import { instant } from '../../output/figures.ts';
import { facts } from '../../output/table.ts';
import { reportRejected, tokenTable } from '../../output/token-table.ts';
import { printable } from '../../../core/text.ts';
import type { ContentFeedRequest } from '../../../service/endpoints/tokens.ts';
import { TOKEN_TAGS } from '../../../service/endpoints/tokens.ts';
import { TOKEN_CATEGORIES, TOKEN_INTERVALS } from '../../../market/token-record.ts';
import type { CallOptions } from '../../../service/rate/rate-plan.ts';
import type { Service } from '../../../service/service.ts';
import type { Records } from '../../../service/wire/read.ts';
import type { ContentFeed, ContentItem, TokenContent } from '../../../service/wire/token-content.ts';
import type { TokenRecord } from '../../../market/token-record.ts';

const WATCHING: CallOptions = { priority: 'watch' };
const FEED_FLAGS: RequestFlags<ContentFeedRequest, 'mint'> = {
  page: ['number', 'from 1'],
  limit: ['number', '1 to 100 (default: 50)'],
};

export const discoverCommand: CommandModule = (program, run) => {
  const discover = program.command('discover').description('lists of tokens, and content about them');
  addList(discover.command('recent').description('the tokens with the newest pools'), run, (service) =>
    service.tokens.recent(WATCHING));
  addList(discover.command('tag <tag>').description(`all tokens of a tag: ${TOKEN_TAGS.join(', ')}`), run, (
    service, [tag],
  ) => service.tokens.tag(String(tag), WATCHING));
  addList(discover.command('search <query...>')
    .description('the search of this endpoint group; compare "gannet tokens"'),
    run,
      (service, [query]) => service.tokens.discoverySearch([query ?? ''].flat(), WATCHING));
  const content = discover.command('content').description('approved content about tokens');
  addContent(content.command('of <mint...>', { isDefault: true }).description('about these tokens'), run, (
    service, [mints],
  ) => service.tokens.content([mints ?? ''].flat(), WATCHING));
  addContent(content.command('cooking').description('about the tokens that trend now'), run, (service) =>
    service.tokens.cooking(WATCHING));
  addFlags(content.command('feed <mint>').description('about one token, page by page'), FEED_FLAGS)
    .action(run(serviceRequest(async (
      { terminal, connections }, mint: string, flags: Omit<ContentFeedRequest, 'mint'>,
    ) => {
      const { rejected, ...feed } = await connections.service.tokens.contentFeed({ mint, ...flags }, WATCHING);
      reportRejected(terminal, rejected);
      terminal.result(feed, () => feedText(mint, feed));
      return EXIT.done;
    }, NO_TOKENS)));
  const category = discover.command('category <category> <interval>', { isDefault: true })
    .description(`the leading tokens: ${TOKEN_CATEGORIES.join(', ')} over ${TOKEN_INTERVALS.join(', ')}`);
  addFlags(category, { limit: ['number', '1 to 100 (default: 50)'] } as const)
    .action(run(serviceRequest(async (
      { terminal, connections }, name: string, interval: string, { limit }: { readonly limit?: number },
    ) => {
      const { records, rejected } =
        await connections.service.tokens.category({ category: name, interval, limit }, WATCHING);
      reportRejected(terminal, rejected);
      terminal.result(records, () => tokenTable(records, terminal.colour));
      return EXIT.done;
    }, NO_TOKENS)));
};

/** The arguments of a command. */
type Words = readonly (string | readonly string[])[];

function addList(
  command: Command, run: RunCommand, ask: (service: Service, words: Words) => Promise<Records<TokenRecord>>,
): void {
  command.action(run(serviceRequest(async ({ terminal, connections }, ...words: Words) => {
    const { records, rejected } = await ask(connections.service, words);
    reportRejected(terminal, rejected);
    terminal.result(records, () => tokenTable(records, terminal.colour));
    return EXIT.done;
  }, NO_TOKENS)));
}

function addContent(
  command: Command, run: RunCommand, ask: (service: Service, words: Words) => Promise<Records<TokenContent>>,
): void {
  command.action(run(serviceRequest(async ({ terminal, connections }, ...words: Words) => {
    const { records, rejected } = await ask(connections.service, words);
    reportRejected(terminal, rejected);
    terminal.result(records, () =>
      (records.length === 0 ? '  no content\n' : records.map((token) => contentText(token)).join('\n')));
    return EXIT.done;
  }, NO_TOKENS)));
}

function contentText({ mint, contents, tokenSummary, newsSummary }: TokenContent): string {
  return facts([
    ['token', mint],
    ['summary', tokenSummary?.summaryShort === undefined ? undefined : printable(tokenSummary.summaryShort, 600)],
    ['news', newsSummary?.summaryShort === undefined ? undefined : printable(newsSummary.summaryShort, 600)],
    ['content', contents.length === 0 ? 'no content' : contents.map(itemText)],
  ]);
}

function feedText(
  mint: string, { contents, tokenSummary, newsSummary, pagination }: Omit<ContentFeed, 'rejected'>,
): string {
  const { page, totalPages, total } = pagination;
  const place = page === undefined ? '' : `\n  page `
    + `${page}${totalPages === undefined ? '' : ` of ${totalPages}`}`
    + `${total === undefined ? '' : `, ${total} in all`}\n`;
  return contentText({ mint: mint as TokenContent['mint'], contents, tokenSummary, newsSummary }) + place;
}

function itemText({ content, contentType, status, submittedAt, postedAt, source }: ContentItem): string {
  const origin = [instant(postedAt ?? submittedAt), contentType, status, source]
    .filter((part) => part !== undefined && part !== '').map((part) => printable(part!, 60));
  return `${printable(content, 300)}${origin.length === 0 ? '' : `  (${origin.join(', ')})`}`;
}
