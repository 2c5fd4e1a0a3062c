import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Scenario } from './scenarios.ts';
import type { CrashWallet, CrashFixture } from './crash-fixture.ts';

/** The place of one wallet's life: configuration, state directory and environment. */
export interface Place {
  readonly dir: string;
  readonly stateDir: string;
  readonly config: string;
  readonly wallet: CrashWallet;
  /** For every process of it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Writes the configuration again with other strategies. */
  configure(strategies: string): void;
}

const USDC_UNITS = 1_000_000n;
const STRATEGY = join(import.meta.dirname, 'strategies', 'swap-when-allowed.ts');

/** Makes a funded wallet, a configuration and a folder. */
export async function openPlace(fixture: CrashFixture, {
  name, funds, strategies, isRecorded = true, risk = '', nodes = 1,
}: {
  readonly name: string;
  readonly funds: { readonly lamports: bigint; readonly usdc: number };
  readonly strategies: string;
  readonly isRecorded?: boolean | undefined;
  /** More of the section `risk`. */
  readonly risk?: string | undefined;
  /** How many nodes the daemon has. */
  readonly nodes?: 1 | 2 | undefined;
}): Promise<Place> {
  const dir = join(fixture.dir, name);
  mkdirSync(dir, { recursive: true });
  const wallet = await fixture.fund({ lamports: funds.lamports, usdc: BigInt(funds.usdc) * USDC_UNITS });
  const config = join(dir, 'gannet.yaml');
  const configure = (given: string): void => {
    writeFileSync(config, `mode: live
service: { base_url: "${fixture.service.url}", api_key: "\${GANNET_API_KEY}", requests_per_second: 1000 }
chain: { rpc_url: "${fixture.rpc.url}"${nodes === 1 ? '' : `, further_rpc_urls: ["${fixture.secondRpc.url}"]`} }
wallet: { key_from: env:GANNET_WALLET_KEY, address: ${wallet.address}, sol_reserve: "0.001 SOL" }
signer: { caps: { USDC: { per_trade: "1000", per_hour: "1000000", per_day: "1000000" }, SOL: { per_trade: "10",
    per_hour: "1000", per_day: "1000" } } }
risk:
  { max_trade: "1000 USDC", max_position: { SOL: "10000000 USDC" }, max_price_impact_bps: 400, max_fee_bps: 300,
      max_slippage_bps: 100, ${risk} max_swaps: { per_minute: 1000, per_hour: 100000, per_day: 100000 },
      protections: [{ kind: max_drawdown, limit_pct: 99 }] }
recording: { enabled: ${isRecorded} }
control: { port: 0 }
strategies:
${given}`);
  };
  configure(strategies);
  return {
    dir, config, wallet, configure,
    stateDir: join(dir, 'state'),
    environment: { ...fixture.environment, GANNET_API_KEY: 'crash-campaign-key', GANNET_WALLET_KEY: wallet.secret },
  };
}

/** Returns the arguments of a live run in a place. */
export function runArgs(place: Place, more: readonly string[] = []): string[] {
  return ['run', '--live', '--json', '--config', place.config, '--state-dir', place.stateDir, ...more];
}

/**
 * Returns the one strategy that does what a scenario is about; another name is another strategy, which has swapped
 * nothing yet.
 */
export function swapOf({ usdc, route }: Scenario, name = 'once'): string {
  const params = `{ spend: "${usdc} USDC", buy: SOL, route: ${route} }`;
  return `  - { use: ${JSON.stringify(STRATEGY)}, name: ${name}, budget: "${usdc} USDC", params: ${params} }\n`;
}

/**
 * Returns to which intent signed bytes (base64) belong: they leave only once they are in the journal. Undefined where
 * they are not.
 */
export function intentOf({ stateDir }: Place, base64: string): string | undefined {
  const path = join(stateDir, 'journal.sqlite');
  if (!existsSync(path)) return undefined;
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    return database.prepare('SELECT intent_id FROM attempts WHERE signed_transaction = ?')
      .get(Buffer.from(base64, 'base64'))?.['intent_id']?.toString();
  } finally {
    database.close();
  }
}
