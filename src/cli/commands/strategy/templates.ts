// The files of a project of one's own and of a strategy that begins there. Paths are relative to the project.

/** A file by its path, with its text. */
export type ProjectFiles = Readonly<Record<string, string>>;

/** What the files of a strategy differ in. */
export interface StrategyPlace {
  readonly name: string;
  /** The module of the SDK and that of the tests, as the strategy and its test import them. */
  readonly sdk: string;
  readonly testing: string;
  /** The import of the test runner; its tests are written with `test` and `assert`. */
  readonly runner: string;
  /** The strategy's file as the test imports it, and as the configuration names it. */
  readonly fromTest: string;
  readonly use: string;
}

/** Returns the code of a strategy that buys dips. */
export function strategyCode({ name, sdk }: StrategyPlace): string {
  return `import { amount, bollinger, defineStrategy, duration, pair, quotes } from '${sdk}';
import { EMPTY, mergeMap, of } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: '${name}',
  summary: 'Buys when the price is far below its recent mean, sells when it is back.',
  losesMoneyWhen: 'The price keeps falling: it buys the first dip and holds it all the way down.',
  params: z.strictObject({
    pair: pair().describe('what to trade, "SOL/USDC"'),
    size: amount().describe('what one purchase costs, in the quote token'),
    every: duration().default('1m').describe('how often the price is polled'),
    window: z.int().min(2).default(20).describe('how many prices make the mean'),
    k: z.number().positive().default(2).describe('how many standard deviations below the mean is a dip'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: p.every }) }),
  run: ({ price }, p, ctx) => price.pipe(
    bollinger(p.window, p.k),
    mergeMap(({ quote, lower, z: deviation }) => {
      if (ctx.openIntents() > 0) return EMPTY;
      if (ctx.available(p.pair.base) > 0n)
        return deviation >= 0 ? of(ctx.sell(p.pair, 'all', 'back at the mean')) : EMPTY;
      return quote.price < lower ? of(ctx.buy(p.pair, p.size, 'below the lower band')) : EMPTY;
    }),
  ),
});
`;
}

/** Returns the test of that strategy. */
export function strategyTest({ name, testing, runner, fromTest }: StrategyPlace): string {
  return `import assert from 'node:assert/strict';
import { test } from '${runner}';
import { paramErrors, testStrategy } from '${testing}';
import strategy from '${fromTest}';

const params = { pair: 'SOL/USDC', size: '25 USDC', window: 4, k: 1.4 };

test('${name} buys a dip and sells at the mean', () => {
  const run = testStrategy(strategy, { params, budget: '500 USDC' });
  run.series('1m', { price: [102, 98, 100, 95, 96, 97] });
  assert.deepEqual(run.lines(), [
    '3m buy 25 USDC -> SOL "below the lower band"',
    '3m filled 25 USDC -> 0.263157894 SOL',
    '5m sell 0.263157894 SOL -> USDC "back at the mean"',
    '5m filled 0.263157894 SOL -> 25.526315 USDC',
  ]);
  assert.equal(run.equity(), '500.526315 USDC');
});

test('${name} buys once, however deep the price falls', () => {
  const run = testStrategy(strategy, { params }).series('1m', { price: [102, 98, 100, 95, 90, 80] });
  assert.equal(run.approved.length, 1);
});

test('${name} needs a window of two prices', () => {
  assert.equal(paramErrors(strategy, { ...params, window: 1 }).length, 1);
});
`;
}

/** Returns the configuration that runs that strategy on paper, on the embedded service. */
export function strategyYaml({ name, use }: StrategyPlace): string {
  return `# On paper, on the market that comes with Gannet: nothing is signed, and no account is needed.
mode: paper
service: { base_url: embedded }
chain: { rpc_url: embedded }

tokens:
  SOL: So11111111111111111111111111111111111111112
  USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v

strategies:
  - use: ${use}
    name: ${name}
    budget: "500 USDC"
    params: { pair: SOL/USDC, size: "25 USDC", every: 10s, window: 20, k: 2 }
`;
}

/** The versions and places that a project's package.json names. */
interface ProjectPackages {
  readonly project: string;
  /** Where npm finds Gannet: a version or \`file:…\`. */
  readonly gannet: string;
  readonly versions: Readonly<Record<'rxjs' | 'zod' | 'typescript' | '@types/node', string>>;
}

/** Returns the files of a project beside its strategy. */
export function projectFiles({ project, gannet, versions }: ProjectPackages, strategy: string): ProjectFiles {
  const { typescript, '@types/node': nodeTypes, ...shared } = versions;
  return {
    'package.json': `${JSON.stringify({
      name: project, private: true, type: 'module',
      scripts: { test: 'node --test', types: 'tsc', start: 'gannet run' },
      dependencies: { gannet, ...shared },
      devDependencies: { '@types/node': nodeTypes, typescript },
    }, undefined, 2)}\n`,
    'tsconfig.json': `${JSON.stringify({
      compilerOptions: {
        target: 'es2024', module: 'nodenext', types: ['node'], strict: true, noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true, verbatimModuleSyntax: true, erasableSyntaxOnly: true,
        allowImportingTsExtensions: true, skipLibCheck: true, noEmit: true,
      },
      include: ['strategies', 'test'],
    }, undefined, 2)}\n`,
    '.gitignore': 'node_modules/\nstate/\n.env\n',
    '.env.example': `# Secrets only: copy to .env, which git ignores. On the embedded service nothing here is needed.

# The swap service's API key. YAML: service.api_key: \${GANNET_API_KEY}
#GANNET_API_KEY=

# The path of a file with the wallet's secret key (mode 0600). YAML: wallet.key_from: file:\${GANNET_WALLET_FILE}
#GANNET_WALLET_FILE=
`,
    'README.md': readme(project, strategy),
  };
}

function readme(project: string, strategy: string): string {
  return `# ${project}

A strategy for Gannet: \`strategies/${strategy}.ts\`, tested by \`test/${strategy}.test.ts\` and run by
\`config/gannet.yaml\`.

\`\`\`sh
npm install
npm test
npx gannet config check
npx gannet recording generate --config config/gannet.yaml --days 3 --out state/market
npx gannet backtest config/gannet.yaml --recording state/market --report state/report.html
npx gannet strategy check ./strategies/${strategy}.ts --config config/gannet.yaml
npx gannet run --duration 5m
\`\`\`

The market is generated, so a backtest on it shows that the strategy works, not that it earns. \`npx gannet strategy new
NAME\` begins another strategy, and \`npx gannet strategy list\` shows those that come with Gannet.
`;
}
