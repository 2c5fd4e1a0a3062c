// Rejects a promise, throws in a timer, and then gives what is no strategy.
void Promise.reject(new Error('a rejection while it is loaded'));
setTimeout(() => { throw new Error('thrown in a timer while it is loaded'); }, 0);

export default { name: 'hostile-reject', run: () => undefined };
