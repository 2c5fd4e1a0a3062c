import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { GannetError } from '../../src/core/errors.ts';
import { adjustmentAlerts } from '../../src/daemon/adjustment-text.ts';
import type { KeptLedger } from '../../src/daemon/wallet-keeper.ts';
import { createWalletKeeper } from '../../src/daemon/wallet-keeper.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { AdjustWallet } from '../../src/trading/command.ts';
import type { EngineState } from '../../src/trading/state.ts';
import { step } from '../../src/trading/step.ts';
import type { World } from '../chain/sandbox-world.ts';
import { startWorld } from '../chain/sandbox-world.ts';
import { advance } from '../service/virtual-time.ts';
import { intentOf } from '../store/sample-journey.ts';
import { stateWith } from '../trading/states.ts';

let world: World;
beforeAll(async () => { world = await startWorld(); });
afterAll(async () => { await world.close(); });

interface Kept {
  readonly state: EngineState;
  readonly booked: AdjustWallet[];
  readonly waits: string[];
  readonly clock: VirtualClock;
  readonly node: { silent: boolean; asked: number; heights: number };
  readonly journal: { behind: boolean };
  readonly ledger: KeptLedger & { ended: boolean };
  readonly keeper: ReturnType<typeof createWalletKeeper>;
  readonly address: string;
}

async function keep(): Promise<Kept> {
  const { address } = world.wallet();
  const clock = new VirtualClock(0);
  const state = stateWith({ wallet: await world.chain.balances(address) });
  const booked: AdjustWallet[] = [];
  const node = { silent: false, asked: 0, heights: 0 };
  const journal = { behind: false };
  const keeper = createWalletKeeper({
    wallet: address, clock, onFault: () => undefined,
    chain: {
      ...world.chain,
      finalizedBlockHeight: async () => {
        node.heights += 1;
        return world.chain.finalizedBlockHeight();
      },
      balances: async (owner) => {
        node.asked += 1;
        if (node.silent) throw new GannetError('CHAIN_UNREACHABLE', 'no answer');
        return world.chain.balances(owner);
      },
    },
    journal: { isBehind: () => journal.behind, isOwnTransaction: () => false, lastLanded: () => undefined },
  });
  const ledger = {
    state, version: () => booked.length, ended: false,
    accept: (command: AdjustWallet) => {
      booked.push(command);
      step(state, booked.length, 0, command);
    },
    hasEnded: () => ledger.ended,
  };
  return { state, booked, waits: [], clock, node, journal, ledger, keeper, address };
}

const told = ({ booked }: Kept): unknown => booked.map(({ mint, change, cause }) => [mint, change, cause]);

describe('a ledger before its strategies run', () => {
  it('holds what came in meanwhile once it is settled, and nothing is booked twice', async () => {
    const at = await keep();
    world.node.fundToken({ owner: at.address, mint: USDC_MINT, amount: 5_000_000n });
    world.node.advanceSlots(4);
    await at.keeper.settle(at.ledger, () => undefined);
    await at.keeper.settle(at.ledger, () => undefined);
    expect(told(at)).toEqual([[USDC_MINT, '5000000', 'deposit']]);
    expect(at.state.portfolio.wallet.get(USDC_MINT)).toBe(5_000_000n);
  });

  it('waits for a node that does not answer, says why, and ends when the run does', async () => {
    const at = await keep();
    at.node.silent = true;
    const settling = at.keeper.settle(at.ledger, (why) => { at.waits.push(why); });
    for (let second = 0; second < 6; second++) await advance(at.clock, 1_000);
    expect(at.waits.length).toBeGreaterThan(1);
    expect(new Set(at.waits)).toEqual(new Set(['no answer']));
    at.ledger.ended = true;
    await advance(at.clock, 2_000);
    await settling;
    expect(at.booked).toEqual([]);
  });

  it('waits for the disk where the journal is behind, and says so: it is not the node’s fault', async () => {
    const at = await keep();
    at.journal.behind = true;
    const settling = at.keeper.settle(at.ledger, (why) => { at.waits.push(why); });
    await advance(at.clock, 5_000);
    expect(new Set(at.waits)).toEqual(new Set([expect.stringContaining('journal')]));
    at.ledger.ended = true;
    await advance(at.clock, 2_000);
    await settling;
  });

  it('asks how far the chain is before it asks for balances as of then: what was wrong before is put right', async () => {
    const at = await keep();
    await at.keeper.settle(at.ledger, () => undefined);
    expect(at.node.heights).toBe(at.node.asked);
    expect(at.node.asked).toBeGreaterThan(0);
  });

  it('is settled as soon as the node answers again', async () => {
    const at = await keep();
    at.node.silent = true;
    world.node.airdrop(at.address, 9n);
    world.node.advanceSlots(4);
    const settling = at.keeper.settle(at.ledger, () => undefined);
    await advance(at.clock, 1_000);
    at.node.silent = false;
    const watched = expect.poll(async () => {
      await advance(at.clock, 1_000);
      return at.booked.length;
    }).toBe(1);
    await watched;
    await settling;
    expect(told(at)).toEqual([[SOL_MINT, '9', 'deposit']]);
  });
});

describe('a ledger while strategies run', () => {
  it('is held against the chain every minute, but not while a swap is under way or not yet written down', async () => {
    const at = await keep();
    const intent = intentOf(1);
    at.state.intents.add({ intent, state: 'approved' });
    const watching = at.keeper.watch(at.ledger, (error) => { throw error; });
    onTestFinished(() => { watching.unsubscribe(); });
    await advance(at.clock, 61_000);
    expect(at.node.asked).toBe(0);
    at.state.intents.delete(intent.id);
    at.journal.behind = true;
    await advance(at.clock, 60_000);
    expect(at.node.asked).toBe(0);
    at.journal.behind = false;
    await expect.poll(async () => {
      await advance(at.clock, 60_000);
      return at.node.asked;
    }).toBeGreaterThan(0);
  });
});

const adjust = (change: string, cause: AdjustWallet['cause']): AdjustWallet => ({ kind: 'command', name: 'adjust-wallet', mint: USDC_MINT, change, cause, reason: 'why' });

const alertsAfter = (change: string, cause: AdjustWallet['cause']): unknown => {
  const state = stateWith({ wallet: new Map([[USDC_MINT, 600_000_000n as Amount]]) });
  step(state, 1, 0, adjust(change, cause));
  return adjustmentAlerts(state, adjust(change, cause)).map(({ level, message }) => `${level}: ${message}`);
};

describe('what is told of money that others moved', () => {
  it('is what it was, at the level it deserves', () => {
    expect(alertsAfter('1', 'deposit')).toEqual(['info: 0.000001 USDC came into the wallet: why. The ledger has it now']);
    expect(alertsAfter('-1000000', 'withdrawal')).toEqual(['warning: 1 USDC left the wallet: why. The ledger has it now']);
    expect(alertsAfter('-1', 'mismatch')).toEqual(['critical: the wallet lacks 0.000001 USDC: why. The ledger has it now']);
  });

  it('is whose book is not covered any more', () => {
    expect(alertsAfter('-200000000', 'withdrawal')).toEqual([
      expect.stringMatching(/^warning: 200 USDC left/), expect.stringMatching(/^warning: the wallet has 400 USDC, less than the 500 USDC in the books of diver: .*BALANCE_INSUFFICIENT/),
    ]);
  });
});
