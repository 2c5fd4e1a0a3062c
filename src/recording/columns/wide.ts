const TWO_POW_32 = 4_294_967_296;

/** Returns an unsigned 64-bit integer as the nearest double, from its halves. */
export function unsignedAt(halves: Uint32Array, row: number): number {
  return halves[2 * row + 1]! * TWO_POW_32 + halves[2 * row]!;
}

/** Returns a signed 64-bit integer as the nearest double, from its halves. */
export function signedAt(halves: Uint32Array, row: number): number {
  return (halves[2 * row + 1]! | 0) * TWO_POW_32 + halves[2 * row]!;
}
