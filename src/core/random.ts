/** Returns numbers of [0, 1): the same sequence for the same seed, on every machine. */
export type Random = () => number;

/**
 * Returns a seeded generator (sfc32, 128-bit state, passes PractRand; C. Doty-Humphrey).
 * The seed may be a number or any text, so that each user can name a stream of its own ("7:dca").
 */
export function seededRandom(seed: number | string): Random {
  let [a, b, c, d] = hash128(String(seed));
  return () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 4_294_967_296;
  };
}

/** Returns a standard normal deviate (Box-Muller, one of the pair). */
export function normal(random: Random): number {
  const u = 1 - random();
  return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * random());
}

/** Four 32-bit words from a text (cyrb128's mixing constants), enough to start streams far apart. */
function hash128(text: string): [number, number, number, number] {
  let [a, b, c, d] = [1_779_033_703, 3_144_134_277, 1_013_904_242, 2_773_480_762];
  for (let i = 0; i < text.length; i++) {
    const k = text.charCodeAt(i);
    a = b ^ Math.imul(a ^ k, 597_399_067);
    b = c ^ Math.imul(b ^ k, 2_869_860_233);
    c = d ^ Math.imul(c ^ k, 951_274_213);
    d = a ^ Math.imul(d ^ k, 2_716_044_179);
  }
  return [a | 0, b | 0, c | 0, d | 0];
}
