import type { CheckCode } from '../../../../src/research/strategy-check/check-codes.ts';

/** Lines that the code of a strategy must not have, each with its code. */
export const FORBIDDEN: readonly (readonly [CheckCode, string])[] = [
  ['USES_CLOCK', 'const now = Date.now();'],
  ['USES_CLOCK', 'const hour = new Date().getHours();'],
  ['USES_CLOCK', 'const begin = performance.now();'],
  ['USES_CLOCK', 'setInterval(() => { count += 1; }, 1_000);'],
  ['USES_CLOCK', "import { interval } from 'rxjs';"],
  ['USES_CLOCK', "import { debounceTime } from 'rxjs';"],
  ['USES_CHANCE', 'const side = Math.random() < 0.5;'],
  ['USES_CHANCE', 'const id = crypto.randomUUID();'],
  ['USES_IO', "const answer = fetch('http://127.0.0.1/');"],
  ['USES_IO', "import { readFileSync } from 'node:fs';"],
  ['USES_IO', "const socket = new WebSocket('ws://127.0.0.1/');"],
  ['USES_MACHINE', "const level = process.env['LEVEL'];"],
  ['USES_MACHINE', 'const text = value.toLocaleString();'],
  ['USES_PROMISES', 'export async function later() { return 1; }'],
  ['OWN_SUBSCRIPTION', 'price.subscribe((quote) => { last = quote; });'],
  ['HIDDEN_CODE', "const sum = eval('1 + 1');"],
  ['HIDDEN_CODE', 'const module = import(name);'],
];
