/** Kept by a module that a strategy imports from beside it. */
export const kept = { runs: 0 };
