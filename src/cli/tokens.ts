import type { CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { looking, NO_TOKENS } from './look.ts';
import { tellRejected, tokenTable } from './token-table.ts';

export const tokensCommand: CommandModule = (program, run) => {
  program.command('tokens <query...>')
    .description('token records by symbol, name or mint; symbols are not unique, so trade by mint')
    .action(run(looking(async ({ terminal, world }, query: string[]) => {
      const { records, rejected } = await world.service.tokens.search(query, { priority: 'watch' });
      tellRejected(terminal, rejected);
      terminal.result(records, () => tokenTable(records, terminal.colour));
      return records.length > 0 ? EXIT.done : EXIT.failed;
    }, NO_TOKENS)));
};
