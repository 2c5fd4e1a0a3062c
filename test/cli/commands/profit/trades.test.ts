import { describe, expect, it } from 'vitest';
import { tradesCommand } from '../../../../src/cli/commands/profit/trades.ts';
import { temporaryFolder } from '../../../store/fixtures.ts';
import { runCommand } from '../../in-process.ts';

async function since(text: string): Promise<unknown> {
  return runCommand(tradesCommand, ['trades', '--since', text], { stateDir: temporaryFolder() });
}

describe('gannet trades --since', () => {

  it.each(['yesterday', '2026-11', '-1'])('names both of its forms where it gets %s', async (text) => {
    await expect(since(text)).rejects.toThrow(/expected a duration such as "7d", or a day of UTC such as 2026-11-01/);
  });

  it('names a day that does not exist', async () => {
    await expect(since('2026-02-30')).rejects.toThrow(/there is no day 2026-02-30/);
  });
});
