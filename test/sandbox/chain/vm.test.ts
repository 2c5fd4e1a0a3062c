import { expect, test } from 'vitest';
import { isGannetError } from '../../../src/core/errors.ts';
import { createVm } from '../../../src/sandbox/chain/vm.ts';

test('a machine without the VM\'s package is told which one to add', () => {
  let thrown: unknown;
  try {
    createVm((name) => {
      throw new Error(`Cannot find module '${name}'`);
    });
  } catch (error) {
    thrown = error;
  }
  expect(isGannetError(thrown) && thrown.code).toBe('PLATFORM_UNSUPPORTED');
  expect(thrown).toMatchObject({ message: expect.stringContaining(
    `npm install --save-optional --save-exact litesvm-${process.platform}-${process.arch}`,
  ) });
});
