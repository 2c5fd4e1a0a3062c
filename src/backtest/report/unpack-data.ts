/** Returns the data that a report carries, from their deflated JSON in base64. Throws where they are broken. */
export async function unpackData(packed: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(packed.trim()), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).json();
}
