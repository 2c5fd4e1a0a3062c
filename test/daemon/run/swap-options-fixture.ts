import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { asyncScheduler } from 'rxjs';
import { createChain } from '../../../src/chain/chain.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { formatIssue } from '../../../src/config/config-issue.ts';
import type { RunConfig } from '../../../src/config/run-config.ts';
import type { Amount, Bps } from '../../../src/core/amount.ts';
import { GannetError } from '../../../src/core/errors.ts';
import { createLiveExecutor } from '../../../src/execution/live-executor.ts';
import type { Signer } from '../../../src/execution/ports.ts';
import type { Mint } from '../../../src/market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import { createService } from '../../../src/service/service.ts';
import { loadDialect } from '../../../src/service/wire/dialect.ts';
import { createAuthoriser } from '../../../src/signer/authorise.ts';
import { parseSecretKey } from '../../../src/signer/key.ts';
import { readSignerSettings } from '../../../src/signer/settings.ts';
import { createSigner } from '../../../src/signer/sign.ts';
import type { Fill, Intent, Outcome } from '../../../src/trading/intent.ts';
import { NO_SWAP_OPTIONS } from '../../../src/trading/swap-options.ts';
import { openJournal } from '../../../src/store/journal.ts';
import { GENESIS } from '../../config/load-text.ts';
import { outcomesOf } from '../../execution/execution-fixture.ts';
import { impatientClock } from '../../execution/impatient-clock.ts';
import { startTestSandbox, type TestSandbox } from '../../sandbox/service/sandbox-client.ts';
import { COUNTERS_KEY } from '../../signer/session.ts';

const SLOT_MS = 20;
/** The executor waits 400 ms between two questions; no test needs to. */
const CLOCK_FACTOR = 200;

/** What one swap of a configuration came to. */
export interface OptionsRun {
  readonly outcomes: readonly Outcome[];
  readonly last: Outcome;
  /** Of the transaction that landed; a refused swap has none. */
  readonly fill: Fill | undefined;
  /** The labels of the pools that it went through. */
  readonly exchanges: readonly string[];
  /** How many blocks after the request its bytes were valid. */
  readonly blocksLeft: number;
  /** How far the least output that its bytes guarantee is below the quote. */
  readonly slippageBps: number;
}

/** A sandbox, a wallet, and everything from the text of a configuration to the block. */
export interface OptionsFixture {
  readonly sandbox: TestSandbox;
  readonly wallet: string;
  readonly pearl: Mint;
  /** Returns the faults of a configuration with the given sections. */
  faults(sections: Sections): Promise<readonly string[]>;
  /** Makes one swap by a configuration, signed by a signer with the rules of the same file, or of another one. */
  swap(sections: Sections, swap?: Partial<Intent>, rules?: Sections): Promise<OptionsRun>;
  close(): Promise<void>;
}

/** Lines of YAML without their section, with two spaces before each. */
export interface Sections {
  readonly swap?: string;
  /** In the strategy's own entry instead of the section for all. */
  readonly own?: string;
  readonly signer?: string;
  readonly risk?: string;
}

/**
 * Starts a sandbox whose market stands still, and a wallet with SOL, USDC and PEARL. With `serviceThrough`, the swaps
 * and the signer ask the service at the address that it returns for the sandbox's.
 */
export async function startOptionsFixture(
  { serviceThrough }: { readonly serviceThrough?: (baseUrl: string) => Promise<string> } = {},
): Promise<OptionsFixture> {
  const sandbox = await startTestSandbox({ speed: 0, slotMs: SLOT_MS });
  const { base_url: ownUrl, rpc_url: rpcUrl } = sandbox.addresses;
  const baseUrl = serviceThrough === undefined ? ownUrl : await serviceThrough(ownUrl);
  const folder = mkdtempSync(join(tmpdir(), 'gannet-swap-options-'));
  const key = parseSecretKey(bs58.encode(Keypair.generate().secretKey));
  const pearl = sandbox.mint('PEARL') as Mint;
  for (const [mint, amount] of [[SOL_MINT, '90000000000'], [USDC_MINT, '9000000000'], [pearl, '900000000']])
    await sandbox.post('/sandbox/fund', { owner: key.address, mint, amount });
  const clock = impatientClock(CLOCK_FACTOR);
  const service = createService({
    baseUrl, apiKey: 'swap-options', clock: asyncScheduler, plan: { requestsPerSecond: 100_000 },
    dialect: loadDialect('neutral'),
  });
  const chain = createChain({ rpcUrl, clock: asyncScheduler });
  let number = 0;

  function write(sections: Sections): string {
    number += 1;
    const file = join(folder, `bot-${number}.yaml`);
    writeFileSync(file, configText(sections, { baseUrl, rpcUrl, address: key.address }));
    return file;
  }

  function load(file: string): ReturnType<typeof loadConfig> {
    return loadConfig({ file, workingDir: folder, environment: {}, purpose: 'check', ...GENESIS });
  }

  async function configOf(sections: Sections): Promise<RunConfig> {
    const loaded = await load(write(sections));
    if (!loaded.ok) throw new Error(loaded.issues.map(formatIssue).join('\n'));
    return loaded.config;
  }

  async function signerOf(sections: Sections): Promise<Signer & { readonly close: () => void | Promise<void> }> {
    const settings = readSignerSettings({ args: ['--config', write(sections)], environment: {}, workingDir: folder });
    const authoriser = await createAuthoriser({
      wallet: key.address, countersKey: COUNTERS_KEY,
      settings: { ...settings, countersDir: join(folder, `counters-${number}`), acceptNewCounters: true },
    });
    const signer = createSigner(key);
    return {
      address: key.address,
      async sign(transaction, terms) {
        const word = await authoriser.authorise(transaction, terms);
        if (word.allowed) return signer.sign(word.transaction);
        throw new GannetError('SIGN_REFUSED', word.message, { details: { code: word.code } });
      },
      close: () => authoriser.close(),
    };
  }

  return {
    sandbox, wallet: key.address, pearl,
    async faults(sections) {
      const loaded = await load(write(sections));
      return loaded.ok ? [] : loaded.issues.map((issue) => formatIssue(issue).replace(/^.*\.yaml:/, ''));
    },
    async swap(sections, overrides = {}, rules = sections) {
      const config = await configOf(sections);
      const options = config.strategies[0]!.swap ?? NO_SWAP_OPTIONS;
      const signer = await signerOf(rules);
      const journal = openJournal({ path: join(folder, `journal-${number}.sqlite`), clock });
      const pools = sandbox.chain.pools().map(({ address }) => ({ address, ...sandbox.chain.readPool(address) }));
      const { pools: named } = (await sandbox.get('/sandbox/state')).body as {
        pools: readonly { readonly address: string; readonly label: string }[];
      };
      let blocksLeft = 0;
      let slippageBps = 0;
      try {
        const executor = createLiveExecutor({
          service: service.swap, chain, signer, journal, clock, swapOptions: () => options,
          mayTryAgain: () => ({ code: 'TEST', reason: 'one attempt' }),
        });
        const intent: Intent = {
          id: `option-${number}`, strategy: 'buyer', createdAt: clock.now(), purpose: 'entry', inputMint: USDC_MINT,
          outputMint: pearl, amountIn: 20_000_000n as Amount, maxSlippageBps: config.limits.maxSlippageBps,
          maxPriceImpactBps: 100 as Bps, maxFeeBps: config.limits.maxFeeBps, route: options.route ?? 'order',
          reason: 'an option', ...overrides,
        };
        const outcomes = await outcomesOf(executor, intent, ({ state, lastValidBlockHeight }) => {
          if (state !== 'signed') return;
          blocksLeft = Number(lastValidBlockHeight) - sandbox.chain.blockHeight;
          const { quotedOut, threshold } = journal.openIntents()[0]!.attempts[0]!;
          slippageBps = Number((quotedOut - threshold) * 10_000n / quotedOut);
        });
        const last = outcomes.at(-1)!;
        const exchanges = pools.flatMap(({ address, reserveA }) =>
          (sandbox.chain.readPool(address).reserveA === reserveA ? []
            : [named.find((pool) => pool.address === address)!.label]));
        return { outcomes, last, fill: last.fill, exchanges, blocksLeft, slippageBps };
      } finally {
        journal.close();
        await signer.close();
      }
    },
    async close() {
      await Promise.all([service.close(), chain.close()]);
      await sandbox.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function configText(
  { swap, own, signer = '', risk = '' }: Sections,
  { baseUrl, rpcUrl, address }: { readonly baseUrl: string; readonly rpcUrl: string; readonly address: string },
): string {
  return `mode: live
service: { base_url: "${baseUrl}", api_key: swap-options, plan: pro }
chain: { rpc_url: "${rpcUrl}" }
wallet: { key_from: "env:SWAP_OPTIONS_KEY", address: ${address} }
tokens: { PEARL: Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij }
risk:
  max_trade: "1000 USDC"
  max_exposure: "5000 USDC"
  max_swaps: { per_minute: 6, per_hour: 60, per_day: 300 }
  protections: [{ kind: daily_loss, limit: "500 USDC", action: halt }]
${risk}
signer:
  caps:
    USDC: { per_trade: "1000", per_hour: "5000", per_day: "5000" }
    SOL: { per_trade: "50", per_hour: "80", per_day: "80" }
    PEARL: { per_trade: "1000", per_hour: "5000", per_day: "5000" }
  price_guard: { max_deviation_bps: 300 }
${signer}
${swap === undefined ? '' : `swap:\n${swap}`}
strategies:
  - use: dca
    name: buyer
    budget: "500 USDC"
    params: { buy: PEARL, spend: "20 USDC", every: 10s }
${own === undefined ? '' : `    swap:\n${own.replaceAll(/^ {2}/gm, '      ')}`}
`;
}
