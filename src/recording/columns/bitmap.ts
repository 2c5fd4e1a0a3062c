/** An Arrow validity bitmap; undefined where every row holds a value. */
export type Bitmap = Uint8Array | undefined;

/** Returns whether a row holds a value. */
export function isSet(bitmap: Bitmap, row: number): boolean {
  return bitmap === undefined || ((bitmap[row >> 3]! >> (row & 7)) & 1) === 1;
}
