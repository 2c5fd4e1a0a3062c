import crypto from 'node:crypto';
import { replaceMember } from './replace-member.ts';

const UUID = '5eed5eed-5eed-4eed-8eed-5eed5eed5eed';
const BYTE = 0xa5;

let isFixed = false;

/** Lets what the thread draws from node:crypto be held fast, for good: what is imported by name cannot be replaced later. */
export function prepareChance(): void {
  instead(crypto, 'randomBytes', ([size]) => Buffer.alloc(Number(size), BYTE));
  instead(crypto, 'randomInt', ([low, high]) => (typeof high === 'number' ? low : 0));
  instead(crypto, 'randomUUID', () => UUID);
  instead(crypto, 'randomFillSync', ([buffer]) => filled(buffer));
  instead(crypto, 'getRandomValues', ([buffer]) => filled(buffer));
  instead(crypto.webcrypto.constructor.prototype as object, 'getRandomValues', ([buffer]) => filled(buffer));
  instead(crypto.webcrypto.constructor.prototype as object, 'randomUUID', () => UUID);
}

function instead(owner: object, name: string, fixed: (args: readonly unknown[]) => unknown): void {
  Reflect.set(owner, name, new Proxy(Reflect.get(owner, name) as (...args: unknown[]) => unknown, {
    apply: (target, self, args: unknown[]): unknown => (isFixed ? fixed(args) : Reflect.apply(target, self, args)),
  }));
}

/** Holds chance fast, and returns what lets it go. */
export function fixChance(): () => void {
  isFixed = true;
  const back = replaceMember(Math, 'random', extremes());
  return () => {
    isFixed = false;
    back();
  };
}

/** Unlike any run of luck: whoever asks whether it is below something hears both answers at once. */
function extremes(): () => number {
  let high = true;
  return () => {
    high = !high;
    return high ? 1 - 2 ** -53 : 0;
  };
}

function filled(buffer: unknown): unknown {
  if (ArrayBuffer.isView(buffer)) new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).fill(BYTE);
  return buffer;
}
