declare const brand: unique symbol;

/** A primitive that carries its meaning in its type; to be had only through the function that checks it. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
