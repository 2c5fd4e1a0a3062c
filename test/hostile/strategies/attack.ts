import type { Observable } from 'rxjs';
import { mergeMap } from 'rxjs';
import { z } from 'zod';
import type { Pair, PricedQuote, Proposal, Strategy, StrategyContext } from '../../../src/strategy/index.ts';
import { amount, defineStrategy, duration, pair, quotes } from '../../../src/strategy/index.ts';

// What hostile strategies share. Each attack says before it acts that it tries, and after it whether it worked. Both
// are alerts, because an alert is all that a strategy without files and network can say.

/** What the attacks aim at: invented secrets, listeners and files that a run of the suite has put there. */
const aimSchema = z.strictObject({
  /** The wallet's key as a JSON array, mode 0600. */
  keyFile: z.string(),
  /** A file with a secret word that every user of the machine can read. */
  canaryFile: z.string(),
  stateDir: z.string(),
  /** The checkout. */
  project: z.string(),
  /** A folder in which an attack that can write leaves a file with its name. */
  marks: z.string(),
  /** The listener of each attack over TCP, by its name. */
  tcp: z.record(z.string(), z.int()),
  udp: z.int(),
  /** The path of a listening Unix socket. */
  unix: z.string(),
  /** A process that does nothing but wait. */
  victim: z.int(),
});

/** What the attacks aim at. */
export type Aim = z.output<typeof aimSchema>;

/** What an attack has in its hands. */
export interface Hands {
  /** The name of the attack. */
  readonly name: string;
  readonly aim: Aim;
  readonly ctx: StrategyContext;
  readonly pair: Pair;
  readonly quote: PricedQuote;
  /** Hands a value to the engine as if it were a proposal. */
  readonly propose: (value: unknown) => void;
  /** Leaves a file that shows that this process can write, with what the attack has found. */
  readonly mark: (found: unknown) => void;
}

/** An attack. What it returns, or its promise resolves to, is what it gained; undefined where it gained nothing. */
export type Act = (hands: Hands) => unknown;

/** Attacks by name. */
export type Acts = Readonly<Record<string, Act>>;

/** The modules of Node that attacks use, where they can get hold of them. */
interface Builtins {
  readonly child_process: typeof import('node:child_process');
  readonly cluster: typeof import('node:cluster');
  readonly dgram: typeof import('node:dgram');
  readonly dns: typeof import('node:dns');
  readonly fs: typeof import('node:fs');
  readonly http: typeof import('node:http');
  readonly http2: typeof import('node:http2');
  readonly https: typeof import('node:https');
  readonly inspector: typeof import('node:inspector');
  readonly module: typeof import('node:module');
  readonly net: typeof import('node:net');
  readonly repl: typeof import('node:repl');
  readonly sqlite: typeof import('node:sqlite');
  readonly tls: typeof import('node:tls');
  readonly trace_events: typeof import('node:trace_events');
  readonly v8: typeof import('node:v8');
  readonly vm: typeof import('node:vm');
  readonly wasi: typeof import('node:wasi');
  readonly worker_threads: typeof import('node:worker_threads');
}

type BuiltinName = keyof Builtins;

const reached = new Map<string, unknown>();
const refused = new Map<string, string>();

/** Imports modules of Node, by names that no reader of the text recognises as imports. Throws nothing. */
export async function reach(...names: readonly BuiltinName[]): Promise<void> {
  for (const name of names) {
    try {
      reached.set(name, await import(`node:${name}`));
    } catch (error) {
      refused.set(name, String(error));
    }
  }
}

/** Returns a module by any of the ways in which a process hands modules out. Throws where none leads to it. */
export function take<Name extends BuiltinName>(name: Name): Builtins[Name] {
  const known = reached.get(name);
  if (known !== undefined) return known as Builtins[Name];
  const ways: readonly (() => unknown)[] = [
    () => process.getBuiltinModule(name),
    () => member(process, 'mainModule', 'require')(name),
    () => member(globalThis, 'require')(name),
  ];
  for (const way of ways) {
    const found = quietly(way);
    if (found !== undefined) return found as Builtins[Name];
  }
  throw new Error(`no way to node:${name}: ${refused.get(name) ?? 'not imported'}`);
}

/** Returns a member of a member, as a function. Throws where there is none. */
export function member(from: object, ...path: readonly string[]): (...given: readonly unknown[]) => unknown {
  const steps = path.slice(0, -1);
  const owner = steps.reduce<object>((at, name) => Reflect.get(at, name) as object, from);
  const found: unknown = Reflect.get(owner, path.at(-1)!);
  if (typeof found !== 'function') throw new TypeError(`${path.join('.')} is gone`);
  return (...given) => Reflect.apply(found, owner, given) as unknown;
}

/** Returns the result of work, undefined where it throws. */
export function quietly<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

const paramsSchema = z.strictObject({
  pair: pair(),
  size: amount(),
  every: duration(),
  attacks: z.array(z.string()).min(1),
  aim: aimSchema,
});

/** The parameters of a hostile strategy. */
export type AttackParams = z.output<typeof paramsSchema>;

/** Returns a strategy that makes the attacks of a file that its parameters select. */
export function hostile(name: string, acts: Acts): Strategy {
  return defineStrategy({
    name,
    summary: 'Attacks the process that runs it, and all that is within its reach.',
    params: paramsSchema,
    inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: p.every }) }),
    run: ({ price }, p, ctx) => attack(price, { acts, p, ctx }),
  });
}

function attack(price: Observable<PricedQuote>, { acts, p, ctx }: {
  readonly acts: Acts; readonly p: AttackParams; readonly ctx: StrategyContext;
}): Observable<Proposal> {
  const news: string[] = [];
  // Lists are made and read by position alone: an attack may have changed what iteration does.
  return price.pipe(mergeMap((quote, index) => {
    const proposals: unknown[] = [];
    const say = (level: 'info' | 'critical', text: string): void => {
      proposals[proposals.length] = ctx.alert(level, text);
    };
    const due = index < 2 ? p.attacks.length : 0;
    for (let n = 0; n < due; n++) {
      const name = p.attacks[n]!;
      if (index === 0) say('info', `tries ${name}`);
      else {
        attempt(acts[name] ?? missing, handsFor(name, { p, ctx, quote, proposals }), news);
        say('info', `tried ${name}`);
      }
    }
    for (let n = 0; n < news.length; n++) say('critical', news[n]!);
    news.length = 0;
    return proposals as Proposal[];
  }));
}

function missing({ name }: Hands): never {
  throw new Error(`there is no attack ${name}`);
}

function handsFor(name: string, { p, ctx, quote, proposals }: {
  readonly p: AttackParams; readonly ctx: StrategyContext; readonly quote: PricedQuote; readonly proposals: unknown[];
}): Hands {
  return {
    name, ctx, quote, aim: p.aim, pair: p.pair,
    propose: (value) => { proposals[proposals.length] = value; },
    mark: (found) => { take('fs').writeFileSync(`${p.aim.marks}/${name}`, textOf(found)); },
  };
}

/** Makes an attack. What it gained is told with the next price, and marked where this process can write. */
function attempt(act: Act, hands: Hands, news: string[]): void {
  const { name, ctx } = hands;
  const gained = (found: unknown): void => {
    if (found === undefined) return;
    quietly(() => { hands.mark(found); });
    news[news.length] = `worked ${name}: ${textOf(found)}`;
  };
  const failed = (error: unknown): void => { quietly(() => { ctx.log(`${name}: ${String(error).slice(0, 300)}`); }); };
  try {
    const found = act(hands);
    if (found instanceof Promise) found.then(gained, failed);
    else gained(found);
  } catch (error) {
    failed(error);
  }
}

function textOf(found: unknown): string {
  return (typeof found === 'string' ? found : quietly(() => JSON.stringify(found)) ?? String(found)).slice(0, 1_500);
}
