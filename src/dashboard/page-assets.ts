import { createHash } from 'node:crypto';
import { assetFile } from '../core/code-files.ts';
import { chartLibrary } from '../web/chart-library.ts';
import { inlineModules } from '../web/inline-modules.ts';
import { markup } from '../web/markup.ts';
import { PAGE_STYLE } from './page-style.ts';

/** A file of the page. */
export interface PageAsset {
  readonly body: string;
  /** Its media type. */
  readonly type: string;
  /** Of its content, in hexadecimal digits. */
  readonly hash: string;
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" \
fill="#0b5c8c"/><path d="M6 21l6-7 5 4 9-10" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" \
stroke-linejoin="round"/></svg>
`;

/**
 * Returns the files of the page by their paths: the HTML, which holds no secret, the style, the chart library and the
 * script. The paths of assets change with their content, so a browser may keep them.
 */
export function pageAssets(): ReadonlyMap<string, PageAsset> {
  const script = inlineModules(assetFile('dashboard-page'), 'void entry.startPage();');
  const assets = [
    ['page', 'css', 'text/css; charset=utf-8', PAGE_STYLE],
    ['charts', 'js', 'text/javascript; charset=utf-8', chartLibrary()],
    ['page', 'js', 'text/javascript; charset=utf-8', script],
    ['icon', 'svg', 'image/svg+xml; charset=utf-8', ICON],
  ].map(([name, ending, type, body]) => {
    const asset = assetOf(body!, type!);
    return [`/assets/${name}.${asset.hash}.${ending}`, asset] as const;
  });
  const [style, library, page, icon] = assets.map(([path]) => path);
  const html = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>Gannet</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${style}">
<script defer src="${library}"></script>
<script defer src="${page}"></script>
</head>
<body>
<div id="page"><main class="login-place"><h1>Gannet</h1><p class="soft">Opening the page…</p>
<noscript><p>The page needs JavaScript. The commands of gannet do the same: gannet status, gannet halt.</p></noscript>
</main></div>
</body>
</html>
`.markup;
  return new Map([['/', assetOf(html, 'text/html; charset=utf-8')], ...assets]);
}

function assetOf(body: string, type: string): PageAsset {
  return { body, type, hash: createHash('sha256').update(body).digest('hex').slice(0, 16) };
}
