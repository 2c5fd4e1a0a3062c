import type { CommandModule } from '../../command.ts';
import { addCheck } from './check.ts';

export const strategyCommand: CommandModule = (program, run) => {
  const group = program.command('strategy').description('examines strategies');

  addCheck(group, run);
};
