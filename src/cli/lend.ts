import type { EarningsRequest } from '../service/lend.ts';
import { asTheService } from './answer-json.ts';
import type { CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { count } from './figures.ts';
import { looking } from './look.ts';
import { ownAddress } from './own-wallet.ts';
import type { RequestFlags } from './request-flags.ts';
import { addFlags } from './request-flags.ts';
import { table } from './table.ts';

const FLAGS: RequestFlags<EarningsRequest> = {
  user: ['text', 'the wallet whose earnings they are; left out, the configured one'],
  positions: ['list', 'the addresses of the positions'],
};

export const lendCommand: CommandModule = (program, run) => {
  const command = program.command('lend').description('the lending product’s side endpoints')
    .command('earnings').description('what a user earned on positions');
  addFlags(command, FLAGS, ['positions']).action(run(looking(async (look, { user, positions }: Partial<EarningsRequest> & Pick<EarningsRequest, 'positions'>) => {
    const { terminal, world } = look;
    const earnings = await world.service.lend.earnings({ user: user ?? await ownAddress(look, '--user'), positions }, { priority: 'watch' });
    terminal.result(asTheService(earnings), () => table([
      // The service does not say of which token.
      ['position', 'earned, in the service’s unit', 'at slot'],
      ...earnings.map(({ address, earnings: earned, slot }) => [address, String(earned), count(slot)]),
    ], { right: [1, 2], colour: terminal.colour }));
    return EXIT.done;
  })));
};
