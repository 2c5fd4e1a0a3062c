import { AsyncLocalStorage } from 'node:async_hooks';
import { readSync, writeSync } from 'node:fs';
import { flushCompileCache, registerHooks } from 'node:module';
import { deserialize } from 'node:v8';
import { config } from 'rxjs';
import { askStrategy, importModule } from '../../config/strategies/ask-strategy.ts';
import { isOwnModule } from '../../core/code-files.ts';
import { assert } from '../../core/assert.ts';
import { messageOf } from '../../core/errors.ts';
import { hardenProcess } from '../../core/harden-process.ts';
import { placeOf } from '../../core/throw-place.ts';
import { strayReason } from '../../core/watched-process.ts';
import type { Realm } from '../../engine/host/realm.ts';
import { createRealm } from '../../engine/host/realm.ts';
import type { PortfolioView, StrategyEffect } from '../../engine/host/strategy-call.ts';
import { declaredFeed } from '../../market/feed.ts';
import type { AskRequest, HostRequest, ReportedFault } from './host-messages.ts';
import { CHANNEL_FD, FRAME_BYTES_MAX, HEAD_BYTES, proposalJson, TEXT_MAX } from './host-messages.ts';

// The process in which strategies run. The daemon starts it in a box, hands it one message at a time, and takes nothing
// that it says for granted. What this file removes from itself makes an attack harder; what holds is the box.

/** Built-in modules without access to anything outside the language. */
const PURE_MODULES: ReadonlySet<string> = new Set([
  'assert', 'assert/strict', 'buffer', 'events', 'path', 'path/posix', 'querystring', 'string_decoder', 'url', 'util',
  'util/types',
]);
const STACK_FRAMES = 50;
const WAITS = 'it waits by the machine’s clock: take the time operators from "gannet", bound to ctx';

const realms = new Map<number, Realm>();
const faults: ReportedFault[] = [];
/** The instance whose code runs, in promises too. */
const running = new AsyncLocalStorage<number>();
const { setImmediate: afterwards } = globalThis;
const nextTick = process.nextTick.bind(process);
const { stringify } = JSON;
let current = 0;
let end: (code: number) => never;

/** Reads exactly `bytes`; ends the process where the daemon is gone. */
function read(bytes: Buffer): Buffer {
  for (let at = 0; at < bytes.length;) {
    const count = readSync(CHANNEL_FD, bytes, at, bytes.length - at, null);
    if (count === 0) end(0);
    at += count;
  }
  return bytes;
}

const head = Buffer.alloc(HEAD_BYTES);

function receive(): HostRequest {
  return deserialize(read(Buffer.allocUnsafe(read(head).readUInt32LE()))) as HostRequest;
}

function send(message: object): void {
  const text = stringify(message);
  const length = Buffer.byteLength(text);
  if (length > FRAME_BYTES_MAX) {
    send({ n: (message as { readonly n?: number }).n, tooLong: length });
    return;
  }
  const frame = Buffer.allocUnsafe(HEAD_BYTES + length);
  frame.writeUInt32LE(length);
  frame.write(text, HEAD_BYTES);
  for (let at = 0; at < frame.length;) at += writeSync(CHANNEL_FD, frame, at);
}

/** Reports what ends the strategy that is running: by default, that it acted outside the engine's time. */
function report(reason: string, error?: unknown, code: ReportedFault['code'] = 'STRATEGY_ASYNC'): void {
  const id = running.getStore() ?? current;
  if (!faults.some((fault) => fault.id === id))
    faults.push({ id, code, reason: reason.slice(0, TEXT_MAX.failure), place: placeOf(error) });
}

/** The portfolio of the strategy that is called. */
function portfolioOf(n: number): PortfolioView {
  const ask = (question: object): unknown => {
    send({ n, ...question });
    const told = receive();
    if (told.kind !== 'told') end(1);
    return told.value;
  };
  return {
    available: (mint) => ask({ asks: 'available', mint: String(mint) }) as ReturnType<PortfolioView['available']>,
    holding: (mint) => ask({ asks: 'holding', mint: String(mint) }) as ReturnType<PortfolioView['holding']>,
    openIntents: () => ask({ asks: 'open-intents' }) as number,
    equity: () => ask({ asks: 'equity' }) as ReturnType<PortfolioView['equity']>,
    budget: () => ask({ asks: 'budget' }) as ReturnType<PortfolioView['budget']>,
  };
}

function textOf(value: unknown): string {
  return String(value);
}

function effectJson(effect: StrategyEffect): object {
  const { kind } = effect;
  if (kind === 'propose') return { kind, proposal: proposalJson(effect.proposal) };
  if (kind === 'watch') return { ...effect, specs: effect.specs.map(declaredFeed) };
  // A strategy without types may log what is no text.
  if (kind === 'log') return { kind, message: textOf(effect.message).slice(0, TEXT_MAX.log) };
  return kind === 'fail' ? { ...effect, message: effect.message.slice(0, TEXT_MAX.failure) } : effect;
}

/** Answers when the microtasks, ticks and timers of the call have run. */
function answer(n: number, content: () => object): void {
  afterwards(() => {
    for (const [id, realm] of realms) {
      const late = realm.late();
      if (late !== undefined) running.run(id, report, late);
    }
    send({ n, ...content(), faults: faults.splice(0) });
    serve();
  });
}

async function ask({ id, file, question }: AskRequest): Promise<string> {
  const { answer, here } = askStrategy(await importModule(file), question);
  if (here !== undefined) {
    const { name = here.strategy.name, seed } = question;
    realms.set(id, createRealm({ ...here, name, seed, locate: placeOf }));
  }
  return answer;
}

function serve(): void {
  const request = receive();
  switch (request.kind) {
    case 'ask': {
      current = request.id;
      void running.run(request.id, ask, request).then((said) => { answer(request.n, () => ({ said })); });
      return;
    }
    case 'call': {
      const { n, id, call } = request;
      const realm = realms.get(id);
      if (realm === undefined) end(1);
      current = id;
      let effects: StrategyEffect[];
      try {
        effects = running.run(id, () => realm.handle(call, portfolioOf(n)));
      } catch {
        // The realm takes what a strategy throws: this is a fault of the host.
        end(1);
      }
      answer(n, () => ({ effects: effects.map(effectJson) }));
      return;
    }
    case 'told': end(1);
  }
}

/** Refuses the modules of Node that reach outside the language. */
function refuseModules(): void {
  registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context);
      if (!resolved.url.startsWith('node:') || PURE_MODULES.has(resolved.url.slice('node:'.length))) return resolved;
      // Files of a build share what they need of Node, and the SDK is loaded when a strategy first imports it.
      if (context.parentURL !== undefined && isOwnModule(context.parentURL)) return resolved;
      throw new Error(`the module ${resolved.url} is not available to a strategy`);
    },
  });
}

function refuseTimer(): never {
  const error = new TypeError(WAITS);
  report(WAITS, error);
  throw error;
}

/** RxJS reports errors without a receiver by a timer without a delay. */
function soon(work: () => void, delay?: number): void {
  if (delay !== undefined || typeof work !== 'function') refuseTimer();
  nextTick(work);
}

/** Timers of the machine: a call that waits for one could not be repeated. */
function refuseTimers(): void {
  for (const [name, value] of Object.entries({ setTimeout: soon, setInterval: refuseTimer, setImmediate: refuseTimer }))
    Object.defineProperty(globalThis, name, { value, configurable: false, writable: false });
}

function asynchronous(error: unknown): void {
  report(strayReason('uncaughtException', messageOf(error)), error);
}

/** Gives back the right to write the cache of compiled code, now that the project's own code is loaded. */
function closeCache(): void {
  const folder = process.env['NODE_COMPILE_CACHE'];
  if (folder === undefined) return;
  flushCompileCache();
  const permission = process.permission as typeof process.permission & { drop(scope: string, path: string): void };
  permission.drop('fs.write', folder);
  assert(!permission.has('fs.write', folder), 'the right to write the cache of compiled code was not given back');
}

function prepare(): void {
  closeCache();
  // The author's line stands below those of RxJS.
  Error.stackTraceLimit = STACK_FRAMES;
  for (const name of Object.keys(console)) {
    if (typeof console[name as 'log'] === 'function') console[name as 'log'] = () => undefined;
  }
  // A supervisor signals every process of a service; this one ends with the daemon, when its channel closes.
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('uncaughtException', asynchronous);
  process.on('unhandledRejection', (error) => {
    report(strayReason('unhandledRejection', messageOf(error)), error);
  });
  config.onUnhandledError = asynchronous;
  // A stream that is given a descriptor would write to the channel.
  for (const name of ['stdin', 'stdout', 'stderr'])
    Object.defineProperty(process, name, { value: undefined, configurable: false, writable: false });
  process.removeAllListeners('warning');
  end = hardenProcess((error) => { report(error.message, error, 'STRATEGY_ENDED'); }).exit;
  refuseModules();
  refuseTimers();
}

prepare();
serve();
