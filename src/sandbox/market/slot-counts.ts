/**
 * Slots of the chain in a minute and in a day, at their usual length of 400 ms. The sandbox's processes count in slots.
 */
export const SLOTS_PER_MINUTE = 150;
export const SLOTS_PER_DAY = 216_000;
