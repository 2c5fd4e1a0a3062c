// Ends the process that loads it, by every call that it finds.
for (const name of ['exit', 'reallyExit', 'abort']) {
  const end: unknown = Reflect.get(process, name);
  if (typeof end === 'function') Reflect.apply(end, process, [0]);
}

export default undefined;
