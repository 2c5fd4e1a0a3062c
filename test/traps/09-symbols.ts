import { expect } from 'vitest';
import { document } from '../e2e/gannet.ts';
import type { Amount } from '../../src/core/amount.ts';
import { propose, stateWith } from '../trading/states.ts';
import type { Trap } from './trap.ts';
import { USDC } from './trap-fixture.ts';

export const symbols: Trap = {
  number: 9,
  title: 'a symbol is no name: impostors carry the same one, and a search returns what only sounds alike',
  plays: [
    {
      says: 'a search by symbol returns every token with it, the impostor too, and makes no choice',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const { records } = await fixture.service.tokens.search(['PEARL']);
        const pearls = records.filter(({ symbol }) => symbol === 'PEARL');
        expect(new Set(pearls.map(({ id }) => id)).size).toBeGreaterThanOrEqual(2);
        expect(pearls.filter(({ isVerified }) => isVerified === true)).toHaveLength(1);
        // By mint there is one, whatever it calls itself.
        for (const { id } of pearls)
          expect((await fixture.service.tokens.search([id])).records.map((record) => record.id)).toEqual([id]);
      },
    },
    {
      says: 'a command takes a configured alias or a mint; a symbol of the service is refused',
      async play(fixture) {
        const { records } = await fixture.service.tokens.search(['PEARL']);
        const [genuine, impostor] = [
          records.find(({ isVerified }) => isVerified === true)!.id,
          records.find(({ symbol, isVerified }) => symbol === 'PEARL' && isVerified !== true)!.id,
        ];
        const [bySymbol, byAlias] = await Promise.all([
          fixture.gannet(['quote', 'PEARL', 'USDC', '1', '--json']),
          fixture.gannet(['quote', 'PEARL', 'USDC', '1', '--json'], `tokens: { PEARL: ${genuine} }\n`),
        ]);
        expect(bySymbol.code).toBe(2);
        expect(document(bySymbol)['error'])
          .toMatchObject({ code: 'TOKEN_UNKNOWN', message: expect.stringContaining('"PEARL"') });
        expect(document(byAlias)).toMatchObject({ input_mint: genuine });
        expect(byAlias.stdout).not.toContain(impostor);
      },
    },
    {
      says: 'a symbol instead of a mint, an unnamed token and an alias of a well-known token are faults with places',
      async play(fixture) {
        const impostor = (await fixture.service.tokens.search(['PEARL']))
          .records.find(({ isVerified }) => isVerified !== true)!.id;
        const checked = await fixture.gannet(['config', 'check', '--json'], `tokens: { PEARL: PEARL, USDC: ${impostor} }
strategies:
  - { use: dca, budget: "10 USDC", params: { buy: KELP, spend: "1 USDC", every: 1m } }
`);
        expect(checked.code).toBe(2);
        const { valid, issues } =
          document(checked) as unknown as { valid: boolean; issues: { path: string; line: number; message: string }[] };
        expect(valid).toBe(false);
        expect(issues.map(({ path }) => path))
          .toEqual(expect.arrayContaining(['tokens.PEARL', 'tokens.USDC', 'strategies[0].params.buy']));
        expect(issues.every(({ line }) => line > 0)).toBe(true);
      },
    },
    {
      says: 'a token that is not configured is never traded, whichever strategy proposes it',
      async play(fixture) {
        const impostor = (await fixture.service.tokens.search(['PEARL']))
          .records.find(({ isVerified }) => isVerified !== true)!.id;
        const { denial } = propose(stateWith(), {
          kind: 'swap', inputMint: USDC, outputMint: impostor, amount: 1_000_000n as Amount,
          reason: 'it is called PEARL',
        });
        expect(denial)
          .toMatchObject({ reason: expect.stringContaining(`${impostor} is not among the configured tokens`) });
      },
    },
  ],
};
