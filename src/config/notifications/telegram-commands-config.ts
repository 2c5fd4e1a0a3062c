import { z } from 'zod';
import type { ProblemList } from '../config-issue.ts';
import type { ConfigPath } from '../config-tree.ts';

/** The keys of a Telegram channel that takes commands. */
export const telegramCommandKeys = {
  commands: z.boolean().default(false).meta({
    description: 'Whether people of the chat may send /status, /profit, /positions, /halt and /resume.',
  }),
  users: z.array(z.string().regex(/^\d{1,20}$/, { message: 'expected the number of a user in quotes' })).min(1).max(50)
    .optional().meta({
      description: 'Whose commands are taken. Left out, the user of a private chat; a group needs it.',
      examples: [['123456789']],
    }),
};

/** Who may give commands by Telegram. */
export interface TelegramCommandsConfig {
  readonly users: readonly string[];
}

/** Returns who may give commands; undefined where no one may. */
export function resolveTelegramCommands(
  { commands, users, chat }: { readonly commands: boolean; readonly users?: string[] | undefined;
    readonly chat: string; },
  path: ConfigPath, problems: ProblemList,
): TelegramCommandsConfig | undefined {
  if (!commands) {
    if (users !== undefined) problems.add([...path, 'users'], 'without "commands: true" it has no effect: remove it');
    return undefined;
  }
  if (chat.startsWith('@')) {
    problems.add([...path, 'commands'],
      'commands need the number of a chat: the owner of a name such as "@name" can change');
  } else if (chat.startsWith('-') && users === undefined) {
    problems.add([...path, 'commands'],
      'in a group every member could give commands: list the numbers of those who may in "users"');
  }
  return { users: users ?? [chat] };
}
