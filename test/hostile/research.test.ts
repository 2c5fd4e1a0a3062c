import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ended, Playground } from '../e2e/gannet.ts';
import { createPlayground } from '../e2e/gannet.ts';
import { CATALOGUE } from './catalogue.ts';
import { furnish } from './bare-run.ts';
import { packStrategies } from './hosted-run.ts';
import type { Targets } from './targets.ts';
import { createTargets, leaksInFiles } from './targets.ts';

// The short form on the machine of a researcher: a strategy of a stranger is tried over a recording.

const FILES = new Set(['key', 'files', 'network', 'processes', 'loading', 'signer', 'control', 'terminal']);
const attacks = CATALOGUE.filter(({ file, alone, refused, name }) =>
  FILES.has(file) && !alone && !refused && name !== 'written-to-standard-output').map(({ name }) => name);
const NEIGHBOUR = '{ use: dca, budget: "2000 USDC", params: { buy: SOL, spend: "25 USDC", every: 30m, watch: 15m } }';

let playground: Playground;
let targets: Targets;
const ended: Record<string, Ended> = {};

function config(): string {
  return `mode: paper
tokens: { SOL: So11111111111111111111111111111111111111112, USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v }
backtest: { balances: { USDC: "10000", SOL: "1" } }
risk: { max_trade: "50 USDC" }
strategies:
  - ${NEIGHBOUR}
  - ${JSON.stringify({
    use: './input-strategies/together.ts', name: 'culprit', budget: '100 USDC',
    params: { pair: 'SOL/USDC', size: '25 USDC', every: '15m', attacks, aim: targets.aim },
  })}
`;
}

beforeAll(async () => {
  playground = createPlayground();
  const stateDir = playground.path('victim');
  furnish(playground, stateDir);
  targets = await createTargets(playground, { stateDir, attacks: [...attacks, 'control'] });
  packStrategies(playground, [{ name: 'culprit', file: 'together', attacks }]);
  const file = playground.write('input-research.yaml', config());
  const grid = playground.write('input-grid.yaml', 'params: { dca.every: [30m, 1h] }\n');
  const recording = playground.path('recording');
  const research = ['--recording', recording, '--json', '--state-dir', playground.path('research')];
  const environment = { GANNET_API_KEY: targets.canaries.apiKey, GANNET_WALLET_KEY: targets.canaries.wallet.base58 };
  const made = await playground.ask([
    'recording', 'generate', '--days', '1', '--every', '15m', '--seed', '7', '--out', recording, '--json',
    '--state-dir', playground.dir,
  ]);
  expect(made.code, made.stderr).toBe(0);
  [ended['backtest'], ended['sweep']] = await Promise.all([
    playground.run(['backtest', file, ...research], { environment }),
    playground.run(['sweep', file, '--grid', grid, '--workers', '1', ...research], { environment }),
  ]);
});
afterAll(async () => {
  await targets.close();
  await playground.close();
});

describe.each(['backtest', 'sweep'])('a %s with a strategy of a stranger', (command) => {
  it('comes to its end, or says why not', () => {
    const { code, stdout } = ended[command]!;
    const said = JSON.parse(stdout) as { readonly error?: { readonly code: string } };
    expect([0, 1, 2]).toContain(code);
    expect(said.error?.code).toBeOneOf([undefined, 'STRATEGY_INVALID']);
  });

  it('loses no secret and no file to it', () => {
    const { stdout, stderr } = ended[command]!;
    expect([
      ...targets.arrivals(), ...targets.marks(), ...targets.damage(),
      ...leaksInFiles(playground.path('research'), targets), ...targets.leaksIn(Buffer.from(stdout + stderr)),
    ]).toEqual([]);
  });
});
