import type { CommandContext, CommandModule } from '../../command.ts';
import { asJson, asText } from './lookahead-answer.ts';
import { EXIT } from '../../exit-codes.ts';
import { wholeNumber } from '../../input/flags.ts';
import { openResearchInput } from '../../input/open-research-input.ts';
import { RECORDING_FLAG } from '../../input/research-flags.ts';
import { progressLine } from '../../output/progress.ts';
import { tokenTable } from '../../../market/token.ts';
import { checkWarmUps, findLeaks } from '../../../research/lookahead/find-leaks.ts';
import type { LookaheadProgress } from '../../../research/lookahead/lookahead.ts';

interface LookaheadFlags {
  readonly recording: string;
  readonly times: number;
  readonly seed: number;
  readonly warmUp?: boolean;
}

export const lookaheadCommand: CommandModule = (program, run) => {
  program.command('lookahead <config>')
    .description('changes the future of a recording and reports decisions that differ before the change')
    .requiredOption(...RECORDING_FLAG)
    .option('--times <n>', 'the number of instants at which the future is changed', wholeNumber(1, 999_999), 9)
    .option('--seed <n>', 'the seed of the instants and of the noise', wholeNumber(1, 999_999), 1)
    .option('--warm-up', 'also checks whether a longer history before the start changes decisions')
    .action(run(async (context: CommandContext, file: string, flags: LookaheadFlags) => {
      const { terminal, interrupt } = context;
      const { setup, recording } = await openResearchInput(context, { file, recording: flags.recording });
      const { events } = recording;
      const progress = progressLine(terminal, 'events');
      const onProgress = ({ done, all }: LookaheadProgress): void => {
        progress.show(Math.round(done * events), Math.round(all * events));
      };
      const result = await findLeaks(setup, flags, { recording, interrupt, onProgress }).finally(progress.end);
      const warmUps = flags.warmUp === true ? await checkWarmUps(setup, flags, { recording, interrupt }) : undefined;
      const tokens = tokenTable(setup.tokens);
      const answer = { result, warmUps, startAt: setup.firstAt, endAt: setup.lastAt, events, tokens };
      const isClean = result.clean && [...warmUps?.values() ?? []].every(({ leak }) => leak === undefined);
      terminal.result(asJson(answer, isClean), () => asText(answer));
      return isClean ? EXIT.done : EXIT.failed;
    }));
};
