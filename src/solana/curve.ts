/** Of Ed25519: the field's prime and the curve's constant d. */
const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const SIGN_BIT = 2n ** 255n;

/**
 * Returns whether 32 bytes are the compressed form of a point of Ed25519, so that they could be a public key.
 * As the network does, it takes y modulo p, and any sign: x² = (y² - 1) / (d y² + 1) must have a root (RFC 8032,
 * 5.1.3).
 */
export function isOnCurve(bytes: Uint8Array): boolean {
  const y = (littleEndian(bytes) % SIGN_BIT) % P;
  const square = (y * y) % P;
  const numerator = (square - 1n + P) % P;
  const denominator = (D * square + 1n) % P;
  // A quotient is a square exactly where the product is; 0 is one too.
  return jacobi((numerator * denominator) % P, P) >= 0;
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

/** So that a limb shifted by less than its bits, and a difference of two, stay within a small integer. */
const LIMB_BITS = 30;
const LIMB_MASK = 2 ** LIMB_BITS - 1;
const LIMBS = 9;

/**
 * The Jacobi symbol (a / n) for an odd n under 2^255: for a prime 1 where a is a square, -1 where it is none, 0 where a
 * is 0. By halving and subtracting alone, in limbs: with big integers each of the hundreds of steps would be an
 * allocation.
 */
function jacobi(a: bigint, n: bigint): -1 | 0 | 1 {
  let [top, bottom] = [limbsOf(a % n), limbsOf(n)];
  let isNegative = false;
  let length = LIMBS;
  for (;;) {
    while (length > 1 && top[length - 1] === 0 && bottom[length - 1] === 0) length -= 1;
    if (isZero(top, length)) break;
    while ((top[0]! & 1) === 0) {
      const shift = top[0] === 0 ? LIMB_BITS - 1 : 31 - Math.clz32(top[0]! & -top[0]!);
      shiftRight(top, shift, length);
      const rest = bottom[0]! & 7;
      if ((shift & 1) === 1 && (rest === 3 || rest === 5)) isNegative = !isNegative;
    }
    if (isLess(top, bottom, length)) {
      if ((top[0]! & 3) === 3 && (bottom[0]! & 3) === 3) isNegative = !isNegative;
      [top, bottom] = [bottom, top];
    }
    // The difference of two odd numbers is even: there is something to halve again.
    subtract(top, bottom, length);
  }
  if (length > 1 || bottom[0] !== 1) return 0;
  return isNegative ? -1 : 1;
}

function limbsOf(value: bigint): Int32Array {
  const limbs = new Int32Array(LIMBS);
  for (let i = 0; i < LIMBS; i++) limbs[i] = Number(BigInt.asUintN(LIMB_BITS, value >> BigInt(LIMB_BITS * i)));
  return limbs;
}

function isZero(limbs: Int32Array, length: number): boolean {
  for (let i = 0; i < length; i++) if (limbs[i] !== 0) return false;
  return true;
}

function isLess(a: Int32Array, b: Int32Array, length: number): boolean {
  for (let i = length - 1; i >= 0; i--) if (a[i] !== b[i]) return a[i]! < b[i]!;
  return false;
}

function shiftRight(limbs: Int32Array, by: number, length: number): void {
  for (let i = 0; i < length - 1; i++)
    limbs[i] = (limbs[i]! >>> by) | ((limbs[i + 1]! << (LIMB_BITS - by)) & LIMB_MASK);
  limbs[length - 1] = limbs[length - 1]! >>> by;
}

/** Of a number no less than `b`. */
function subtract(a: Int32Array, b: Int32Array, length: number): void {
  let borrow = 0;
  for (let i = 0; i < length; i++) {
    const difference = a[i]! - b[i]! + borrow;
    a[i] = difference & LIMB_MASK;
    borrow = difference >> LIMB_BITS;
  }
}
