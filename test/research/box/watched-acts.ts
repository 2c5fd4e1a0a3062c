import { goesOn, openPhases, whileLoading, whileRunning } from '../../../src/research/box/phases.ts';

// What a boxed process does in the tests of its watch. `ACT` names it.

const OWN = [{ name: 'dip', use: './watched-acts.ts' }];

function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until) Math.sqrt(until);
}

function again(): Promise<void> {
  return Promise.resolve().then(again);
}

const ACTS: Readonly<Record<string, () => Promise<unknown> | void>> = {
  'loop': () => { whileRunning(OWN, () => { for (let n = 0; n < 1;) n *= 2; }); },
  'loop of a neighbour': () => {
    whileRunning([{ name: 'other', use: 'dca' }, ...OWN], () => { for (let n = 0; n < 1;) n *= 2; });
  },
  'load': () => whileLoading(OWN, () => { for (let n = 0; n < 1;) n *= 2; }),
  'microtasks': () => whileLoading(OWN, again),
  'slow rows': () => {
    whileRunning(OWN, () => {
      for (let row = 0; row < 60; row++) {
        goesOn();
        busy(30);
      }
    });
  },
  'other work': () => {
    whileRunning(OWN, goesOn);
    busy(1_800);
  },
  'idle': () => {
    whileRunning(OWN, goesOn);
    setInterval(() => undefined, 60_000);
  },
  'crash': () => { whileRunning(OWN, () => { process.abort(); }); },
  'code': () => { whileRunning(OWN, () => { process.exit(13); }); },
  'heap': () => {
    whileRunning(OWN, () => { for (const kept: object[] = []; ;) kept.push({ kept: [kept.length] }); });
  },
  'escapes': () => {
    process.stdout.write('a\tb\u001B]0;title\u0007\u001B[2J\u001B[1mbold\u001B[22m\u009B31m\r\u001B[K end\n');
    process.stderr.write('\u001B[8mhidden\u202E\n');
  },
  'much': async () => {
    for (let line = 0; line < 60_000; line++) process.stdout.write(`${String(line).padStart(99, '.')}\n`);
    await new Promise((resolve) => { process.stdout.write('', resolve); });
  },
  'until it is closed': async () => {
    const closed = new Promise((resolve) => { process.stdout.on('error', resolve); });
    const writing = setInterval(() => { process.stdout.write('a word\n'); }, 5);
    await closed;
    clearInterval(writing);
    process.exitCode = 2;
  },
};

openPhases();
await ACTS[process.env['ACT']!]!();
