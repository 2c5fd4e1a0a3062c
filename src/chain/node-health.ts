import type { Clock, Millis } from '../core/time.ts';

/**
 * The state of a node. `unchecked`: its network is not known yet. `lagging`: it answers, but is behind the others.
 * `lost`: it does not answer. `wrong-network`: it belongs to another network and is never used.
 */
export type NodeState = 'unchecked' | 'healthy' | 'lagging' | 'lost' | 'wrong-network';

/** The calls of a node by outcome. `refused`: the node answered with an error. */
interface NodeCalls {
  readonly ok: number;
  readonly refused: number;
  readonly invalid: number;
  readonly unreachable: number;
}

/** The figures of one node. */
export interface NodeStats {
  /** Its host, and a number where two nodes share one. */
  readonly name: string;
  readonly state: NodeState;
  readonly calls: NodeCalls;
  /** The moving average of answered calls; undefined before the first. */
  readonly latencyMs: Millis | undefined;
  /** The share of the last calls without a usable answer, 0 to 1. */
  readonly errorRate: number;
  /** How far it is behind the furthest node; undefined while unknown, and for a node that is alone. */
  readonly slotsBehind: number | undefined;
}

/** Consecutive calls without a usable answer after which a node is lost. */
const FAILURES_MAX = 3;
/**
 * Consecutive answers to probes after which a lost node is back: 2, and twice as many at each further loss within ten
 * minutes, because a node that flaps must not raise an alert each time.
 */
const PROBES_MIN = 2;
const PROBES_MAX = 64;
const CALM_MS: Millis = 600_000;
const LATENCY_WEIGHT = 0.2;
const ERROR_WEIGHT = 0.1;
const REST_MS: Millis = 1_000;
const REST_MAX_MS: Millis = 30_000;

/** Measures the health of one node by the calls to it. */
export class NodeHealth {
  readonly name: string;
  readonly #clock: Clock;
  readonly #calls = { ok: 0, refused: 0, invalid: 0, unreachable: 0 };
  #state: NodeState;
  #latencyMs: Millis | undefined;
  #errorRate = 0;
  #failures = 0;
  #probes = 0;
  #losses = 0;
  #lostAt: Millis = -Infinity;
  #rests = 0;
  #restsUntil: Millis = 0;
  /** How far it is behind the furthest node. */
  slotsBehind: number | undefined;

  constructor(name: string, clock: Clock, state: NodeState) {
    this.name = name;
    this.#clock = clock;
    this.#state = state;
  }

  get state(): NodeState {
    return this.#state;
  }

  /** Whether the node counts requests and asked for fewer. */
  get isResting(): boolean {
    return this.#clock.now() < this.#restsUntil;
  }

  /** The cost of a read: its latency, several times as much where calls fail. */
  get cost(): number {
    return (this.#latencyMs ?? 0) * (1 + 4 * this.#errorRate);
  }

  /** Counts an answer, errors of the node included. */
  answered(spanMs: Millis, outcome: 'ok' | 'refused'): void {
    this.#calls[outcome] += 1;
    this.#failures = 0;
    if (outcome === 'ok') this.#rests = 0;
    this.#errorRate *= 1 - ERROR_WEIGHT;
    const latencyMs = Math.max(0, spanMs);
    this.#latencyMs = this.#latencyMs === undefined ? latencyMs
      : this.#latencyMs + (latencyMs - this.#latencyMs) * LATENCY_WEIGHT;
  }

  /** Counts a call without a usable answer. One without any answer in time shows a lost node at once. */
  failed(outcome: 'invalid' | 'unreachable', isTimeout: boolean): void {
    this.#calls[outcome] += 1;
    this.#failures += 1;
    this.#probes = 0;
    this.#errorRate += (1 - this.#errorRate) * ERROR_WEIGHT;
    const isLost = isTimeout || this.#failures >= FAILURES_MAX;
    if (!isLost || this.#state === 'wrong-network' || this.#state === 'lost') return;
    const now = this.#clock.now();
    this.#losses = now - this.#lostAt > CALM_MS ? 1 : this.#losses + 1;
    this.#lostAt = now;
    this.#state = 'lost';
  }

  /** Leaves the node alone for a while, each time for longer: it counts requests, and there were too many. */
  rest(): void {
    this.#restsUntil = this.#clock.now() + Math.min(REST_MS * 2 ** this.#rests, REST_MAX_MS);
    this.#rests += 1;
  }

  /** Records the answer to a probe: its network, and how far it is behind the furthest node. */
  probed({ isRightNetwork, slotsBehind, isLagging }: {
    readonly isRightNetwork: boolean; readonly slotsBehind: number; readonly isLagging: boolean;
  }): void {
    this.slotsBehind = slotsBehind;
    this.#probes += 1;
    const isBack = this.#state !== 'lost' || this.#probes >= Math.min(PROBES_MIN ** this.#losses, PROBES_MAX);
    if (!isRightNetwork) this.#state = 'wrong-network';
    else if (isBack) this.#state = isLagging ? 'lagging' : 'healthy';
  }

  /** Returns the figures so far. */
  stats(): NodeStats {
    return {
      name: this.name, state: this.#state, calls: { ...this.#calls }, latencyMs: this.#latencyMs,
      errorRate: this.#errorRate, slotsBehind: this.slotsBehind,
    };
  }
}
