import { SHARED_STYLE } from '../web/style.ts';

/** The colours of heat maps, from loss to gain and from low to high; text on each has a contrast of at least 4.5. */
const HEAT_COLOURS = `
:root{--down1:light-dark(#fdeeec,#2a1b1a);--down2:light-dark(#f9d5d0,#43221f);--down3:light-dark(#f2afa7,#632a25);
--down4:light-dark(#e68a80,#84362d);
--up1:light-dark(#e8f5ee,#14261d);--up2:light-dark(#c8e7d6,#17382a);--up3:light-dark(#98d1b3,#1b4e38);
--up4:light-dark(#64b98e,#1f6647);
--level1:light-dark(#e4f0f7,#15262f);--level2:light-dark(#c3deee,#173645);--level3:light-dark(#93c3df,#1a485e);
--level4:light-dark(#63a6cd,#1d5c7a)}`;

const HEAT_STYLES = ['down', 'up', 'level'].flatMap((side) => [1, 2, 3, 4].map((step) => (
  `.${side}${step}{background:var(--${side}${step})}`))).join('');

/** The navigation stays at the upper edge, and scrolls sideways where it is longer than the screen. */
const FRAME = `
html{scroll-padding-top:56px}
nav{position:sticky;top:0;z-index:3;overflow-x:auto;scrollbar-width:none;background:var(--bg);
border-bottom:1px solid var(--rule)}
nav ul{display:flex;gap:0 4px;max-width:1280px;margin:0 auto;padding:0 12px}
nav a{display:block;padding:8px 8px 6px;border-bottom:2px solid transparent;color:var(--soft);font-size:14px;
line-height:24px;white-space:nowrap;text-decoration:none}
nav a:hover{color:var(--text)}nav a[aria-current]{color:var(--text);border-color:var(--main);font-weight:600}
nav a:focus-visible{outline-offset:-2px}
main{max-width:1280px;margin:0 auto;padding:12px 20px 32px}
header{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 12px;margin-bottom:4px}
header p{font-size:13px}
main>section{margin-top:40px}main>section.result{margin-top:0}
h2{font-size:20px;line-height:1.3;margin-bottom:12px}h3{margin:24px 0 8px}
p{margin:4px 0;max-width:76ch}
.soft,.note,.none{color:var(--soft);font-size:13px}.note{margin:4px 0}
.whole{white-space:nowrap}code{font:13px/1.45 ui-monospace,monospace}
footer{max-width:1280px;margin:0 auto;padding:0 20px 32px}
.theme{border:0;margin:0;padding:12px 0 0;display:flex;flex-wrap:wrap;gap:0 16px;font-size:13px;color:var(--soft);
border-top:1px solid var(--rule)}
.theme legend{float:left;line-height:32px;padding:0}
.theme label{display:flex;align-items:center;gap:6px;min-height:32px}
.theme input{margin:0;accent-color:var(--main)}`;

/** The answer: a sentence, its warnings behind a badge, and six figures. */
const RESULT = `
.result{display:flex;flex-wrap:wrap;align-items:center;gap:8px 16px}
.sentence{font-size:20px;line-height:1.35;margin:0;max-width:none;flex:0 1 auto}
.sentence b{font-weight:700}.sentence b.gain,.sentence b.loss{white-space:nowrap}
.caution{color:var(--warn);font-weight:600}
.badge{font-size:14px}.badge>summary,p.badge{display:inline-block;padding:3px 12px;border-radius:14px;
background:var(--warn-bg);color:var(--warn);font-weight:600;list-style:none;white-space:nowrap}
.badge>summary{cursor:pointer}
.badge>summary::after{content:"";display:inline-block;margin-left:8px;border:4px solid transparent;
border-top-color:currentColor;border-bottom:0;vertical-align:middle}
.badge[open]>summary::after{border:4px solid transparent;border-bottom-color:currentColor;border-top:0}
.badge>summary::-webkit-details-marker{display:none}
.badge.calm>summary,p.badge.calm{background:var(--panel);color:var(--soft);font-weight:500}
.badge[open]{flex-basis:100%}.badge ul{list-style:disc;margin:8px 0;padding-left:20px}
.badge li{margin:4px 0;max-width:90ch}
.tiles{flex-basis:100%;display:grid;grid-template-columns:repeat(6,minmax(0,1fr));gap:8px}
.tile{background:var(--panel);border-radius:8px;min-width:0}
.tile[open]{grid-column:1/-1}.tile p{padding:0 12px 10px;font-size:13px;color:var(--soft)}
.tile>summary{list-style:none;cursor:pointer;padding:8px 12px;border-radius:8px;display:flex;flex-direction:column;
height:100%}.tile>summary::-webkit-details-marker{display:none}.tile[open]>summary{height:auto}
.tile .label{font-size:13px;color:var(--soft);white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.tile .value{font-size:clamp(18px,2.1vw,28px);line-height:1.25;font-weight:600;font-variant-numeric:tabular-nums;
overflow-wrap:anywhere}.tile .value .unit{font-size:14px}.tile .value .none{font-size:14px;font-weight:400}
.arrow{display:inline-block;border:.28em solid transparent;border-top:.42em solid;border-bottom:0;
vertical-align:.16em;margin-right:.3em}.arrow.up{border-bottom:.42em solid;border-top:0}
.tile .sub{font-size:13px;color:var(--soft);font-variant-numeric:tabular-nums}.tile .sub .none{font-size:inherit}
.result>.note{flex-basis:100%;margin:0}
main>section.result+section{margin-top:16px}main>section.result+section>h2{position:absolute;width:1px;height:1px;
overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.verdict{border-left:3px solid var(--main);padding-left:16px}.verdict p:first-of-type{font-weight:600}
.check{font-size:13px;color:var(--soft);margin-top:12px}.check.good::before{content:"✓ ";color:var(--gain)}
.check.bad{max-width:none;padding:12px 16px;border-radius:8px;background:var(--act-ground);color:var(--act);
font-weight:600;font-size:15px}
@media screen and (max-width:900px){.tiles{grid-template-columns:repeat(3,minmax(0,1fr))}}
@media screen and (max-width:640px){main{padding:8px 12px 24px}nav ul{padding:0 4px}
.sentence{font-size:17px}.tile>summary{padding:5px 8px}.tile .value{font-size:17px}
.tile .label{font-size:12px}.tile .value .unit{font-size:12px}
.tile:not([open]) .sub{display:none}header{gap:0}h1{font-size:14px}header p{font-size:12px}
.result{gap:6px 12px}.result>.note{display:none}}`;

/** Beyond the charts that page and report share: their place in a report, and what stands there without a script. */
const CHARTS = `
.chart{margin:12px 0 24px;--chart-height:340px}.chart:first-child{margin-top:0}
section:has(#equity) .chart{--chart-height:400px}
.chart-text .chart-title,figcaption{font-weight:600}.chart-text p{font-size:13px;color:var(--soft)}
@media (scripting:enabled){.chart-text{min-height:calc(var(--chart-height) + 96px);opacity:.6}}
.side-by-side{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(440px,100%),1fr));gap:0 32px;
align-items:start}
.side-by-side .chart{--chart-height:240px;min-width:0;margin-top:12px}
@media screen and (max-width:640px){.chart{--chart-height:260px;margin:8px 0 20px}
section:has(#equity) .chart{--chart-height:290px}}`;

/** A table that continues beyond an edge has a shadow there, which a cover hides once it is scrolled to its end. */
const TABLES = `
.wide{position:relative;overflow-x:auto;max-width:100%;margin:8px 0;
background:linear-gradient(to right,var(--bg) 16px,transparent) 0 0/48px 100% local,
linear-gradient(to left,var(--bg) 16px,transparent) 100% 0/48px 100% local,
linear-gradient(to right,var(--shade),transparent) 0 0/14px 100% scroll,
linear-gradient(to left,var(--shade),transparent) 100% 0/14px 100% scroll;background-repeat:no-repeat}
.wide table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:14px}
.wide th,.wide td{text-align:right;padding:5px 12px;border-bottom:1px solid var(--rule);vertical-align:top;
white-space:nowrap;font-weight:400}
.wide thead th{color:var(--soft);font-size:13px;vertical-align:bottom;white-space:normal;overflow-wrap:break-word;
min-width:52px}
.wide td.text,.wide th.text{text-align:left;white-space:normal;min-width:100px;max-width:600px}
.wide td.long,.wide th.long{min-width:192px}
.wide th:first-child,.wide tr>td:first-child{padding-left:0}
.wide tbody th,.wide tbody th.text{position:sticky;left:0;background:var(--bg);max-width:min(40vw,360px);
overflow-wrap:break-word}
.wide td .soft,.wide td .none,.wide th .none,.wide th .soft{font-size:13px}.wide td .none{white-space:normal}
.wide .sort{display:inline;border:0;background:none;padding:0;color:inherit;text-align:inherit;white-space:normal}
.wide [aria-sort] .sort{color:var(--text);font-weight:600}.wide [aria-sort=ascending] .sort::after{content:" ↑"}
.wide [aria-sort=descending] .sort::after{content:" ↓"}
.list td{max-width:320px}.list td:not(.right){min-width:96px}.list td:nth-last-child(-n+2):not(.right){min-width:200px}
progress{appearance:none;display:block;width:min(40vw,320px);height:14px;border:0;background:none;margin-top:3px}
progress::-webkit-progress-bar{background:none}
progress::-webkit-progress-value{background:currentColor;border-radius:2px}
progress::-moz-progress-bar{background:currentColor;border-radius:2px}
.fold>summary{cursor:pointer;font-weight:600;padding:4px 0}
.heat-map{margin:16px 0}.heat-map table{border-collapse:separate;border-spacing:2px}
.heat-map th,.heat-map td{border:0;vertical-align:middle}
.heat-map thead th{text-align:center;overflow-wrap:anywhere;min-width:72px;max-width:192px}
.heat-map th.side{max-width:none;color:var(--text);text-align:center}
.heat-map th.side.text{text-align:left;max-width:min(40vw,360px);overflow-wrap:break-word}
.heat{text-align:center;color:var(--text)}.heat-map td.heat{padding:7px 10px;text-align:center;border-radius:3px}
.heat-map td.total{font-weight:600}
.even{background:var(--panel)}${HEAT_STYLES}
.missing{color:var(--soft)}.configured{outline:2px solid var(--text);outline-offset:-2px;font-weight:600}
.heat-key{display:flex;flex-wrap:wrap;gap:4px 8px;font-size:13px;max-width:none}
.heat-key .heat{padding:1px 8px;white-space:nowrap;border-radius:3px}
@media screen and (max-width:640px){.wide th,.wide td{padding:5px}.wide td.text,.wide th.text{min-width:72px}
.wide td.long,.wide th.long{min-width:184px}.wide table{font-size:13px}
.heat-map thead th{min-width:46px}.heat-map td.heat{padding:7px 4px}
.heat-map.narrow table{font-size:11px;border-spacing:1px}.heat-map.narrow thead th{min-width:36px;font-size:11px}
.heat-map.narrow td.heat{padding:7px 1px}.heat-map.narrow th.text{min-width:0}}`;

/** Paper has light colours and does not scroll. */
const PAPER = `
@page{margin:12mm}
@media print{:root{color-scheme:light!important;--bg:#fff;--text:#000;--soft:#444}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
body{font-size:13px}main{max-width:none;padding:0}nav,footer,.chart-tools,.chart-foot,.table-tools,.pager,
.chart-reader{display:none!important}
.chart,.heat-map,.tile,tr{break-inside:avoid}h2,h3,figcaption,.legend{break-after:avoid}
thead{display:table-header-group}.tiles{grid-template-columns:repeat(3,minmax(0,1fr))}
.wide,.table-frame{overflow:visible;background:none}details::details-content{content-visibility:visible;height:auto}
.tile p{display:none}
.fold>summary{display:none}.wide table,.list{font-size:10px}.wide th,.wide td,.list th,.list td{padding:2px 4px}
.wide thead th{min-width:34px}.list{table-layout:fixed}
.list td,.list th,.list .sort{min-width:0!important;white-space:normal!important;
overflow-wrap:anywhere}
.wide tbody th,.wide tbody th.text{position:static;max-width:144px;overflow-wrap:anywhere}
.heat-map th.side.text{max-width:144px;overflow-wrap:anywhere}.wide td.text,.wide th.text{min-width:60px}
progress{width:100px}}`;

/** The style sheet of a page for phones and large screens, light and dark, and paper. */
export const PAGE_STYLE = `${SHARED_STYLE}${HEAT_COLOURS}${FRAME}${RESULT}${CHARTS}${TABLES}${PAPER}\n`;
