import type { CommandModule } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { takerAddress } from '../../input/configured-wallet.ts';
import type { RequestFlags } from '../../input/request-flags.ts';
import { addFlags } from '../../input/request-flags.ts';
import { NO_TOKENS, serviceRequest } from '../../input/service-request.ts';
import { asTheService } from '../../output/answer-json.ts';
import { count } from '../../output/figures.ts';
import { table } from '../../output/table.ts';
import type { EarningsRequest } from '../../../service/endpoints/lend.ts';

const FLAGS: RequestFlags<EarningsRequest> = {
  user: ['text', 'the wallet of the earnings (default: the configured one)'],
  positions: ['list', 'the addresses of the positions'],
};

export const lendCommand: CommandModule = (program, run) => {
  const command = program.command('lend').description('endpoints of the lending product')
    .command('earnings').description('the earnings of a user on positions');
  addFlags(command, FLAGS, ['positions']).action(run(serviceRequest(async (
    request, { user, positions }: Partial<EarningsRequest> & Pick<EarningsRequest, 'positions'>,
  ) => {
    const { terminal, connections } = request;
    const earnings = await connections.service.lend.earnings(
      { user: user ?? await takerAddress(request, '--user'), positions }, { priority: 'watch' },
    );
    terminal.result(asTheService(earnings), () => table([
      // The service does not name the token.
      ['position', 'earned, in the service’s unit', 'at slot'],
      ...earnings.map(({ address, earnings: earned, slot }) => [address, String(earned), count(slot)]),
    ], { right: [1, 2], colour: terminal.colour }));
    return EXIT.done;
  }, NO_TOKENS)));
};
