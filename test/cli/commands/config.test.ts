import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { configCommand } from '../../../src/cli/commands/config.ts';
import { runCommand } from '../in-process.ts';
import { temporaryFolder } from '../../store/fixtures.ts';

const CONFIG =
  `tokens: { SOL: So11111111111111111111111111111111111111112, USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v }
strategies: [{ use: dca, budget: "10 USDC", params: { buy: SOL, spend: "1 USDC", every: 1h } }]
`;

async function check(more: string): ReturnType<typeof runCommand> {
  const dir = temporaryFolder();
  writeFileSync(`${dir}/own.yaml`, CONFIG + more);
  return runCommand(configCommand, ['config', 'check', `${dir}/own.yaml`], { stateDir: dir });
}

describe('issue 13.19: config check warns of a dead man’s switch without notifications', () => {
  it('warns in the text and the JSON', async () => {
    const { code, document, text } = await check('risk: { protections: [{ kind: dead_man, after: 1d }] }\n');
    expect(code).toBe(0);
    expect(document['warnings']).toEqual([expect.stringContaining('dead_man is set without notifications')]);
    expect(text).toMatch(/warnings +dead_man is set without notifications/);
  });

  it('does not warn without one', async () => {
    const { document, text } = await check('');
    expect(document['warnings']).toEqual([]);
    expect(text).not.toContain('warnings');
  });
});

describe('config check', () => {
  it('says where strategies run, what they may use, and what becomes of their positions', async () => {
    const { code, document, text } = await check('on_strategy_stop: exit\nstrategy_bounds: { call_time: 1s }\n');
    expect(code).toBe(0);
    expect(document).toMatchObject({
      isolation: 'shared', strategy_bounds: { call_ms: 1_000, memory_mb: 160 }, on_stop: { dca: 'exit' },
    });
    expect(text).toContain('a call takes at most 1s, a process holds at most 160 MB');
    expect(text).toContain('positions of a strategy that was stopped are sold: dca');
  });

  it('warns of strategies in the process that trades', async () => {
    const { document } = await check('isolation: off\n');
    expect(document['warnings']).toEqual([expect.stringContaining('isolation is off: the code of strategies runs in')]);
  });
});
