import type { EarningsRequest } from '../service/lend.ts';
import { asTheService } from './answer-json.ts';
import type { CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { count } from './figures.ts';
import { looking, NO_TOKENS } from './look.ts';
import type { RequestFlags } from './request-flags.ts';
import { addFlags } from './request-flags.ts';
import { table } from './table.ts';

const FLAGS: RequestFlags<EarningsRequest> = {
  user: ['text', 'the wallet whose earnings they are'],
  positions: ['list', 'the addresses of the positions'],
};

export const lendCommand: CommandModule = (program, run) => {
  const command = program.command('lend').description('the lending product’s side endpoints')
    .command('earnings').description('what a user earned on positions');
  addFlags(command, FLAGS, ['user', 'positions']).action(run(looking(async ({ terminal, world }, flags: EarningsRequest) => {
    const earnings = await world.service.lend.earnings(flags, { priority: 'watch' });
    terminal.result(asTheService(earnings), () => table([
      ['position', 'earned', 'at slot'],
      ...earnings.map(({ address, earnings: earned, slot }) => [address, String(earned), count(slot)]),
    ], { right: [1, 2], colour: terminal.colour }));
    return EXIT.done;
  }, NO_TOKENS)));
};
