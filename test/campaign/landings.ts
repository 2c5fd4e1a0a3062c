import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { createChain, type Chain } from '../../src/chain/chain.ts';
import { httpTransport, type RpcTransport } from '../../src/chain/rpc-client.ts';
import type { Amount, Bps } from '../../src/core/amount.ts';
import { medianOf } from '../../src/core/median.ts';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import { systemClock } from '../../src/daemon/watch/system-clock.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { createService } from '../../src/service/service.ts';
import { loadDialect } from '../../src/service/wire/dialect.ts';
import { parseSecretKey } from '../../src/signer/key.ts';
import { createSigner } from '../../src/signer/sign.ts';
import { openJournal } from '../../src/store/journal.ts';
import type { Executor } from '../../src/trading/executor.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import type { Route } from '../../src/trading/proposal.ts';
import { memoryFolder } from '../execution/memory-folder.ts';
import { startSocketNode } from '../chain/socket-node.ts';

// How soon the live executor knows of a landing, and how many requests to the node it makes for a swap: without
// subscriptions, with those of the sandbox, and with a node that takes a websocket and stays silent. The ways alternate
// swap by swap, in one process with the sandbox, on the machine's own clock. Slots of 400 ms are those of the network,
// where a confirmation takes about two of them; longer ones show what a slow confirmation costs.

const WAYS = ['polls alone', 'subscriptions', 'silent websocket'] as const;
/** The first ones load packages, and show whether a node can be relied on. */
const WARM_UP = 5;

interface Way {
  readonly name: (typeof WAYS)[number];
  readonly chain: Chain;
  readonly executor: Executor;
  readonly counted: { requests: number };
}

/** What one swap took. */
interface Row {
  readonly sinceLandedMs: number;
  readonly sinceConfirmedMs: number;
  readonly requests: number;
}

function countedTransport(rpcUrl: string, counted: { requests: number }): RpcTransport {
  const transport = httpTransport({ rpcUrl });
  return {
    post(body, signal) {
      counted.requests += 1;
      return transport.post(body, signal);
    },
    close: () => transport.close(),
  };
}

/** Tells when the wallet's next transaction lands, and when the chain counts it as confirmed. */
function landingOf({ chain }: Sandbox, owner: string): { landedAt?: number; confirmedAt?: number; stop: () => void } {
  let slot: number | undefined;
  const times: ReturnType<typeof landingOf> = { stop: () => { for (const stop of stops) stop(); } };
  const note = (): void => {
    if (slot !== undefined && chain.slotAt('confirmed') >= slot) times.confirmedAt ??= performance.now();
  };
  const stops = [
    chain.onLanded((landed) => {
      if (chain.transaction(landed.signature)?.accountKeys.includes(owner) !== true) return;
      times.landedAt ??= performance.now();
      slot ??= chain.transaction(landed.signature)!.slot;
      note();
    }),
    chain.onSlot(note),
  ];
  return times;
}

function outcomeOf(executor: Executor, intent: Intent): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    let last: Outcome | undefined;
    executor.execute(intent).subscribe({
      next: (outcome) => { last = outcome; }, error: reject, complete: () => { resolve(last!); },
    });
  });
}

interface Plan {
  readonly swaps: number;
  readonly slotMs: number;
  readonly routes: readonly Route[];
}

async function measure({ swaps, slotMs, routes }: Plan): Promise<void> {
  const sandbox = await startSandbox({ speed: 0, slotMs });
  const silent = await startSocketNode();
  const { base_url: baseUrl, rpc_url: rpcUrl, ws_url: wsUrl, tokens } = sandbox.addresses;
  const service = createService({
    baseUrl, apiKey: 'landings', clock: systemClock, plan: { requestsPerSecond: 1_000 },
    dialect: loadDialect('neutral'),
  });
  const signer = createSigner(parseSecretKey(bs58.encode(Keypair.generate().secretKey)));
  sandbox.chain.airdrop(signer.address, 10_000_000_000n);
  const { decimals } = tokens.find(({ mint }) => mint === USDC_MINT)!;
  sandbox.chain.fundToken({ owner: signer.address, mint: USDC_MINT, amount: 10_000n * 10n ** BigInt(decimals) });
  const journal = openJournal({ path: join(memoryFolder('gannet-landings-'), 'journal.sqlite'), clock: systemClock });
  const addresses = { 'polls alone': [], 'subscriptions': [wsUrl], 'silent websocket': [silent.url] };
  const ways = WAYS.map((name): Way => {
    const counted = { requests: 0 };
    const transport = countedTransport(rpcUrl, counted);
    const chain = createChain({ rpcUrl, clock: systemClock, transport, wsUrls: addresses[name] });
    const executor = createLiveExecutor({ service: service.swap, chain, signer, journal, clock: systemClock });
    return { name, chain, executor, counted };
  });
  const rows = new Map<string, Row[]>();
  try {
    for (let swap = 0; swap < swaps + WARM_UP; swap++) for (const route of routes) for (const way of ways) {
      // Each swap begins anywhere in a slot: the end of the one before it is at the beginning of one.
      await sleep(Math.random() * slotMs);
      const intent: Intent = {
        id: `${way.name} ${route} ${swap}`, strategy: 'landings', createdAt: systemClock.now(), inputMint: USDC_MINT,
        outputMint: SOL_MINT, amountIn: 1_000_000n as Amount, purpose: 'entry', maxSlippageBps: 100 as Bps,
        maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps, route, reason: 'measured',
      };
      const times = landingOf(sandbox, signer.address);
      way.counted.requests = 0;
      const { state, reason } = await outcomeOf(way.executor, intent);
      const endedAt = performance.now();
      times.stop();
      if (state !== 'confirmed') throw new Error(`${intent.id}: ${state}, ${reason ?? 'no reason'}`);
      if (swap < WARM_UP) continue;
      const key = `${route}, ${way.name}`;
      rows.set(key, [...rows.get(key) ?? [], {
        sinceLandedMs: endedAt - times.landedAt!, requests: way.counted.requests,
        sinceConfirmedMs: endedAt - (times.confirmedAt ?? endedAt),
      }]);
    }
  } finally {
    for (const { chain } of ways) await chain.close();
    await service.close();
    journal.close();
    await silent.close();
    await sandbox.close();
  }
  for (const [name, each] of rows) {
    const median = (of: (row: Row) => number): string => (medianOf(each.map(of)) ?? NaN).toFixed(0);
    const requests = each.reduce((sum, row) => sum + row.requests, 0) / each.length;
    process.stdout.write(`${name}: ${each.length} swaps, median ${median((row) => row.sinceLandedMs)} ms from landing `
      + `and ${median((row) => row.sinceConfirmedMs)} ms from confirmation to the outcome, ${requests.toFixed(1)} `
      + 'requests\n');
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      'swaps': { type: 'string', default: '50' }, 'slot-ms': { type: 'string', default: '400' },
      'route': { type: 'string', multiple: true, default: ['build', 'order'] },
    },
  });
  await measure({
    swaps: Number(values.swaps), slotMs: Number(values['slot-ms']), routes: values.route as readonly Route[],
  });
}
