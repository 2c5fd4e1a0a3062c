import type { CommandModule } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { NO_TOKENS, serviceRequest } from '../../input/service-request.ts';
import { reportRejected, tokenTable } from '../../output/token-table.ts';

export const tokensCommand: CommandModule = (program, run) => {
  program.command('tokens <query...>')
    .description('token records by symbol, name or mint; symbols are not unique, so trade by mint')
    .action(run(serviceRequest(async ({ terminal, connections }, query: string[]) => {
      const { records, rejected } = await connections.service.tokens.search(query, { priority: 'watch' });
      reportRejected(terminal, rejected);
      terminal.result(records, () => tokenTable(records, terminal.colour));
      return records.length > 0 ? EXIT.done : EXIT.failed;
    }, NO_TOKENS)));
};
