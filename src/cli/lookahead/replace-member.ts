/** Puts a value in the place of a member, and returns what puts the member back. */
export function replaceMember<T extends object>(owner: T, key: keyof T, value: unknown): () => void {
  return redefineMember(owner, key, { value, configurable: true, writable: true, enumerable: false });
}

/** Redefines a member, and returns what makes it as it was. */
export function redefineMember(owner: object, key: PropertyKey, descriptor: PropertyDescriptor): () => void {
  const before = Object.getOwnPropertyDescriptor(owner, key);
  Object.defineProperty(owner, key, descriptor);
  return () => {
    if (before === undefined) Reflect.deleteProperty(owner, key);
    else Object.defineProperty(owner, key, before);
  };
}
