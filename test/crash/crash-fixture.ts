import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bs58 from 'bs58';
import type { Profile, SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import { PROJECT } from '../e2e/gannet.ts';
import type { ChainReader } from './chain-reader.ts';
import { createChainReader } from './chain-reader.ts';
import type { Line } from './wire.ts';
import { openLine } from './wire.ts';

/** A service and a chain that outlive every daemon, reached over lines on which things get lost. */
export interface CrashFixture {
  readonly service: Line;
  readonly rpc: Line;
  /** A second node of the same chain. */
  readonly secondRpc: Line;
  readonly chain: ChainReader;
  /** What every process of this fixture is started with: its time, and where temporary files go. */
  readonly environment: Readonly<Record<string, string>>;
  /** Files of this fixture alone. */
  readonly dir: string;
  /** Makes a wallet with lamports and units of USDC. */
  fund(funds: { readonly lamports: bigint; readonly usdc: bigint }): Promise<CrashWallet>;
  /** Works one of the sandbox's levers. */
  lever(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<unknown>;
  /** Multiplies the price of SOL as it was in the beginning. */
  priceSol(factor: number): Promise<void>;
  close(): Promise<void>;
}

export interface CrashWallet {
  readonly address: string;
  /** Base58 of 64 bytes. */
  readonly secret: string;
}

export const SOL = 'So11111111111111111111111111111111111111112';
export const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const SANDBOX = join(PROJECT, 'src', 'sandbox', 'main.ts');
const FAST_TIME = new URL('preload/fast-time.ts', import.meta.url).href;
const CRASH_POINTS = new URL('preload/crash-points.ts', import.meta.url).href;

/** Folders of fixtures that are open: a campaign that is interrupted takes them with it. */
const folders = new Set<string>();
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** How much faster time runs than on the wall; what is read within milliseconds must still be fresh. */
export const TIME_FACTOR = 10;

/** Opens a fixture whose market stands still unless a scenario moves it. */
export async function openCrashFixture(
  { seed, timeFactor = TIME_FACTOR, profile = 'reference' }: {
    readonly seed: number; readonly timeFactor?: number; readonly profile?: Profile | undefined;
  },
): Promise<CrashFixture> {
  const dir = mkdtempSync(join(tmpdir(), 'gannet-crash-'));
  folders.add(dir);
  const temporary = join(dir, 'tmp');
  mkdirSync(temporary);
  const environment =
    { TMPDIR: temporary, TZ: 'UTC', GANNET_TIME_FACTOR: String(timeFactor), GANNET_TIME_ANCHOR: String(Date.now()) };
  const sandbox = spawn(process.execPath,
    ['--disable-warning=ExperimentalWarning', '--import', FAST_TIME, SANDBOX], {
      stdio: ['pipe', 'pipe', 'inherit'], env: { PATH: process.env['PATH'] ?? '', ...environment },
    });
  sandbox.stdin.on('error', () => undefined).write(`${JSON.stringify({ seed, speed: 0, profile })}\n`);
  const exited = once(sandbox, 'exit');
  const [line] = await once(createInterface({ input: sandbox.stdout }), 'line') as [string];
  const addresses = JSON.parse(line) as SandboxAddresses;
  const [service, rpc, secondRpc] =
    await Promise.all([addresses.base_url, addresses.rpc_url, addresses.rpc_url].map(openLine)) as [Line, Line, Line];

  const lever: CrashFixture['lever'] = async (method, path, body) => {
    const response = await fetch(`${addresses.base_url}/sandbox/${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${method} /sandbox/${path}: ${response.status} ${text}`);
    return JSON.parse(text) as unknown;
  };
  const { prices } =
    await lever('GET', 'state') as { readonly prices: readonly { readonly mint: string; readonly usd: number }[] };
  const solUsd = prices.find(({ mint }) => mint === SOL)!.usd;

  return {
    service, rpc, secondRpc, environment, dir, lever,
    chain: createChainReader(addresses.rpc_url),
    async fund({ lamports, usdc }) {
      const wallet = newWallet();
      await lever('POST', 'fund', { owner: wallet.address, mint: SOL, amount: lamports.toString() });
      await lever('POST', 'fund', { owner: wallet.address, mint: USDC, amount: usdc.toString() });
      return wallet;
    },
    async priceSol(factor) {
      await lever('POST', 'price', { mint: SOL, usd: solUsd * factor });
    },
    async close() {
      await Promise.all([service.close(), rpc.close(), secondRpc.close()]);
      sandbox.kill('SIGTERM');
      await exited;
      rmSync(dir, { recursive: true, force: true });
      folders.delete(dir);
    },
  };
}

/** Returns the options with which Node runs a process in a fixture's time; with points, it can be told when to die. */
export function preloads({ points }: { readonly points: boolean }): string[] {
  return [FAST_TIME, ...(points ? [CRASH_POINTS] : [])].map((module) => `--import=${module}`);
}

/**
 * Returns the same as one text for the environment, with room for all the garbage of a start: these processes live for
 * seconds.
 */
export function nodeOptions(given: { readonly points: boolean }): string {
  return [...preloads(given), '--max-semi-space-size=64'].join(' ');
}

function newWallet(): CrashWallet {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { d, x } = privateKey.export({ format: 'jwk' });
  const publicKey = Buffer.from(x!, 'base64url');
  return {
    address: bs58.encode(publicKey), secret: bs58.encode(Buffer.concat([Buffer.from(d!, 'base64url'), publicKey])),
  };
}
