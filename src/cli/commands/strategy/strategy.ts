import type { CommandModule } from '../../command.ts';
import { addCheck } from './check.ts';
import { addDescriptions } from './describe.ts';
import { addNew } from './scaffold.ts';

export const strategyCommand: CommandModule = (program, run) => {
  const group = program.command('strategy').description('lists, describes, checks and begins strategies');

  addDescriptions(group, run);
  addNew(group, run);
  addCheck(group, run);
};
