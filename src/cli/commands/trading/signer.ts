import type { CommandModule } from '../../command.ts';
import { GannetError } from '../../../core/errors.ts';
import { SIGNER_SOCKET } from '../../../signer/command-process.ts';
import { ACCEPT_COUNTERS } from './run.ts';

/** The help of a command that the first process serves alone: no process that loads this file has a key. */
export const signerCommand: CommandModule = (program, run) => {
  program.command('signer')
    .description(`serves the wallet's key on the Unix socket of ${SIGNER_SOCKET}, for a daemon of another user`)
    .option(...ACCEPT_COUNTERS)
    .action(run(async () => {
      throw new GannetError('USAGE', 'only bin/gannet starts the signer: this process was started without it');
    }));
};
