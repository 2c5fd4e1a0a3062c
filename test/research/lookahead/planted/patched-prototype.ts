import { atEachPrice } from './harness.ts';

const seen: unknown[] = [];

/** Gives arrays a method that remembers everything. */
export default atEachPrice('patched-prototype', () => {
  const { at } = Array.prototype;
  Reflect.set(Array.prototype, 'at', function remembering(this: unknown[], index: number): unknown {
    seen.push(this);
    return Reflect.apply(at, this, [index]);
  });
  return ({ price }) => [price].at(0)! > 130 && `seen ${seen.length > 0}`;
});
