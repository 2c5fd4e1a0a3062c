/** What one strategy leaves for another. */
export const whispered: { price?: number } = {};
