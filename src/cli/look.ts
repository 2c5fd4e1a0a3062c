import type { CommandContext } from './command.ts';
import type { Configured } from './configured.ts';
import { openConfigured } from './configured.ts';
import type { ExitCode } from './exit-codes.ts';
import { untilInterrupted } from './interrupt.ts';

/** What a command sees that looks at the service once. */
export interface Look extends CommandContext, Configured {}

/** What a command passes that needs none of the configured tokens: the service is not asked about them. */
export const NO_TOKENS = { tokens: false } as const;

/** Returns the action of a command that looks at what the configuration names, and closes the connection behind it; an interrupt ends it at once. */
export function looking<Args extends readonly unknown[]>(
  action: (look: Look, ...args: Args) => Promise<ExitCode>, needs: { readonly tokens?: boolean } = {},
): (context: CommandContext, ...args: Args) => Promise<ExitCode> {
  return async (context, ...args) => {
    const configured = await openConfigured(context, 'look', needs);
    return untilInterrupted(context.interrupt, configured.world, () => action({ ...context, ...configured }, ...args));
  };
}
