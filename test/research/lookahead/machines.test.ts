import { expect, it } from 'vitest';
import { perturbMachine } from '../../../src/research/lookahead/isolation/machine-perturbation.ts';
import { otherMachine } from '../../../src/research/lookahead/isolation/other-machines.ts';
import type { MachineVariant } from '../../../src/research/lookahead/pass.ts';
import { MACHINE_FACTORS, MACHINE_VARIANTS } from '../../../src/research/lookahead/pass.ts';

/** Figures of a machine with the number of bits in which the other machines must differ. */
const FIGURES: Readonly<Record<string, readonly [bits: number, read: (variant: MachineVariant) => number]>> = {
  'the length of a variable': [10, () => (process.env['PATH'] ?? '').length],
  'the number of variables': [7, () => Object.keys(process.env).length],
  'the length of the working directory': [5, () => process.cwd().length],
  'the process id': [22, () => process.pid],
  'the size of the heap': [30, (variant) => otherMachine(variant).heapBytes],
  'the memory': [30, (variant) => Number(otherMachine(variant).os['totalmem'])],
  'the length of the host name': [5, (variant) => String(otherMachine(variant).os['hostname']).length],
  'the number of processors': [7, () => navigator.hardwareConcurrency],
  'the time zone': [9, () => new Date(0).getTimezoneOffset()],
  'the year': [12, () => new Date().getFullYear()],
  'the millisecond': [10, () => new Date().getUTCMilliseconds()],
};

it.each(Object.entries(FIGURES))('of the other machines, two differ in each bit of %s', (_name, [bits, read]) => {
  const figures = MACHINE_VARIANTS.map((variant) => {
    const restore = perturbMachine(MACHINE_FACTORS, variant);
    const figure = read(variant);
    restore();
    return figure;
  });
  for (let bit = 0; bit < bits; bit++) {
    const seen = figures.map((figure) => Math.floor(figure / 2 ** bit) % 2 !== 0);
    expect(new Set(seen), `bit ${bit} of ${figures.join(', ')}`).toEqual(new Set([false, true]));
  }
});

const properties = (): unknown => [
  process.cwd(), process.pid, process.argv, { ...process.env }, process.title, new Date(7).toString(), Math.random,
];

it('gives the machine back', () => {
  const real = properties();
  for (const variant of MACHINE_VARIANTS) perturbMachine(MACHINE_FACTORS, variant)();
  expect(properties()).toEqual(real);
});
