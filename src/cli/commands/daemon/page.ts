import type { CommandContext, CommandModule } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { roughDuration } from '../../../core/time.ts';
import { daemonClient } from '../../../daemon/control/control-client.ts';
import { loginLink } from '../../../daemon/control/control-file.ts';

/** The answer of a daemon that has made a login code. */
interface LoginCode {
  readonly code: string;
  readonly role: 'operator' | 'viewer';
  readonly valid_ms: number;
  /** `control.public_url` of the daemon, where it has one. */
  readonly page_url?: string | undefined;
}

export const pageCommand: CommandModule = (program, run) => {
  program.command('page')
    .description('prints a link that opens the running daemon’s page in a browser and logs in, once')
    .action(run((context) => page(context)));
};

async function page(context: CommandContext): Promise<ExitCode> {
  const daemon = daemonClient(context);
  const answer = await daemon.post('/session/code', {}) as unknown as LoginCode;
  const { code, role, valid_ms: validMs, page_url: url = daemon.control.url } = answer;
  const link = loginLink(url, code);
  context.terminal.result({ url, login_url: link, role, valid_ms: validMs }, () =>
    `  ${link}\n  logs ${role === 'operator' ? 'an operator' : 'a viewer, who only reads,'} in once, within `
    + `${roughDuration(validMs)}; keep it to yourself\n`);
  return EXIT.done;
}
