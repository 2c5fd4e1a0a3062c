/** A file of the page. */
export interface PageAsset {
  readonly body: string;
  /** Its media type. */
  readonly type: string;
  /** Changes with its content. */
  readonly hash: string;
}

const SHELL = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Gannet</title>
<p>The daemon runs. Use the commands of <code>gannet</code> to read its state and to control it.</p>
</html>
`;

/** Returns the files of the page by their paths. */
export function pageAssets(): ReadonlyMap<string, PageAsset> {
  return new Map([['/', { body: SHELL, type: 'text/html; charset=utf-8', hash: 'shell-1' }]]);
}
