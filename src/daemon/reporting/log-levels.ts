/** How severe a line of the log is. */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug';
/** All levels, the most severe first. */
export const LOG_LEVELS: readonly LogLevel[] = ['error', 'warn', 'info', 'debug'];
