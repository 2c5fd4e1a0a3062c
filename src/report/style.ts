const COLOURED = ['main', 'second', 'third', 'gain', 'loss'] as const;

/** The part of a page's style sheet for drawings. */
const CHART_STYLE = `
.chart,.heat-map{margin:1.2rem 0}figcaption{font-weight:600}
.chart{container-type:inline-size}
.key{display:flex;flex-wrap:wrap;gap:.1rem 1rem;font-size:.8rem;min-height:1.5em;margin:.1rem 0 .35rem}
.key .when{color:var(--soft);font-variant-numeric:tabular-nums}.key .item{color:var(--text)}
.key .value{font-variant-numeric:tabular-nums}
.key .item::before{content:"";display:inline-block;width:1.1em;border-top:3px solid;vertical-align:middle;
margin-right:.4em}
${COLOURED.map((name) => `.key .${name}::before{border-color:var(--${name})}`).join('')}
.key .second::before{border-top-width:1.5px}.key .third::before{border-top-style:dotted}
.key .entry::before,.key .exit::before{width:.6em;height:.6em;border-radius:50%;border:2px solid var(--gain);
background:var(--gain)}.key .exit::before{border-color:var(--loss);background:none}
.key .bare::before{display:none}.key .gap::before{width:1em;height:.8em;border:0;background:var(--soft);opacity:.35}
.plot{display:grid;grid-template-columns:auto 1fr;column-gap:.4rem;font-size:.75rem;color:var(--soft);
font-variant-numeric:tabular-nums}
.y-axis{display:flex;flex-direction:column;justify-content:space-between;text-align:right;white-space:nowrap}
.y-axis span{line-height:1;margin:-.5em 0}
.drawing{position:relative;height:15rem;background:var(--panel);border-left:1px solid var(--soft);
border-bottom:1px solid var(--soft)}
.drawing svg{position:absolute;inset:0;width:100%;height:100%;overflow:visible}
.x-axis{grid-column:2;position:relative;height:1.7em}
.tick{position:absolute;top:.45em;transform:translateX(-50%);white-space:nowrap;line-height:1.2}
.tick.first{transform:none}.tick.last{transform:translateX(-100%)}
.tick::before{content:"";position:absolute;top:-.45em;left:50%;height:.35em;border-left:1px solid var(--soft)}
.tick.first::before{left:0}.tick.last::before{left:calc(100% - 1px)}
@container (max-width:34rem){.minor{display:none}}
.chart path{vector-effect:non-scaling-stroke;fill:none}
.grid{stroke:var(--rule);stroke-width:1}.zero{stroke:var(--soft);stroke-width:1.5}
.line{stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}
.line.main{stroke-width:2}${COLOURED.map((name) => `.line.${name}{stroke:var(--${name})}`).join('')}
.fill+.line{stroke-width:1}.line.second{stroke-width:1.3}.line.third{stroke-dasharray:1.5 3.5}
.chart path.fill{opacity:.18}.chart path.fill.main{fill:var(--main)}.chart path.fill.loss{fill:var(--loss)}
rect.gap{fill:var(--soft);opacity:.22}
rect.bar{stroke:var(--panel);stroke-width:1;vector-effect:non-scaling-stroke}rect.bar.gain{fill:var(--gain)}
rect.bar.loss{fill:var(--loss)}
.spot{stroke-linecap:round;stroke-width:8}.spot.main{stroke:var(--main)}.spot.entry{stroke:var(--gain)}
.spot.exit{stroke:var(--loss);stroke-width:9}.chart path.spot.hole{stroke:var(--panel);stroke-width:5}
.spot.many{stroke-width:5}.spot.exit.many{stroke-width:6}.chart path.spot.hole.many{stroke-width:3}
.reader{position:absolute;inset:0;touch-action:pan-y;cursor:crosshair}.reader:focus-visible{outline-offset:0}
.cursor{position:absolute;top:0;bottom:0;border-left:1px solid var(--text);pointer-events:none}
.dot{position:absolute;width:9px;height:9px;margin:-4.5px;border:2px solid var(--bg);border-radius:50%;
background:var(--text);pointer-events:none}
[hidden]{display:none}`;

/** Each colour for light and for dark pages; text has a contrast of at least 4.5. */
const COLOURS = `
:root{color-scheme:light dark;
--bg:light-dark(#fff,#12161b);--text:light-dark(#1b1f24,#e4e8ed);--soft:light-dark(#56606b,#a3adb8);
--rule:light-dark(#d5dbe1,#343c46);--panel:light-dark(#f4f6f8,#1a2028);
--main:light-dark(#0b5fbd,#6cb0ff);--second:light-dark(#8a3fa0,#d79be8);--third:light-dark(#66707b,#97a2ae);
--gain:light-dark(#00705a,#4fd1ae);--loss:light-dark(#b0400a,#ff9d66);
--shade:light-dark(#1b1f2447,#e4e8ed47);
--warn:light-dark(#6b4200,#ffd58a);--warn-bg:light-dark(#fff4dc,#33280f);
--down1:light-dark(#fdeedd,#33261a);--down2:light-dark(#fbd9b4,#4f3618);--down3:light-dark(#f6b97a,#6d4715);
--down4:light-dark(#e8953f,#87550c);
--up1:light-dark(#e6eff8,#17293c);--up2:light-dark(#c6dcf2,#1b3a59);--up3:light-dark(#97c1ea,#1f4d7a);
--up4:light-dark(#68a5e0,#245f9b)}
:root:has([value=light]:checked){color-scheme:light}:root:has([value=dark]:checked){color-scheme:dark}`;

const TEXT = `
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem clamp(.8rem,3vw,2rem) 3rem;max-width:66rem;background:var(--bg);color:var(--text);
font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
header{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.3rem 2rem;align-items:start}
header>div{flex:1 1 28rem;min-width:0}
h1{font-size:1.45rem;line-height:1.25;margin:.2rem 0}
h2{font-size:1.15rem;margin:2.2rem 0 .6rem;border-bottom:1px solid var(--rule);padding-bottom:.2rem}
h3{font-size:1rem;margin:1.2rem 0 .4rem}
p{margin:.4rem 0}a{color:var(--main)}
.soft,.note,.none{color:var(--soft);font-size:.875rem}.note{margin:.15rem 0}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.gain{color:var(--gain)}.loss{color:var(--loss)}
.whole{white-space:nowrap}
code{font:.82rem/1.45 ui-monospace,monospace}
:focus-visible{outline:2px solid var(--main);outline-offset:2px}
.theme{border:0;margin:0;padding:0;display:flex;gap:.8rem;font-size:.8rem;color:var(--soft)}
.theme legend{float:left;line-height:1.8rem;padding:0;margin-right:.8rem}
.theme label{display:flex;align-items:center;gap:.25rem;min-height:1.8rem}
.theme input{margin:0;accent-color:var(--main)}
nav{font-size:.875rem;margin:1rem 0}
nav ul{display:flex;flex-wrap:wrap;gap:.1rem 1rem;list-style:none;margin:0;padding:0}
nav a{display:inline-block;padding:.3rem 0}
.warnings{background:var(--warn-bg);color:var(--warn);border-left:4px solid currentColor;padding:.6rem .9rem;
margin:1rem 0}
.warnings h2,.verdict h2{border:0;margin:0;padding:0}.warnings ul{margin:.3rem 0 0;padding-left:1.2rem}
.warnings li{margin:.15rem 0}.warnings details{margin-top:.3rem}.warnings summary{cursor:pointer;padding:.2rem 0}
.verdict p:first-of-type{font-size:1.15rem;font-weight:600}
.verdict{background:var(--panel);border-left:4px solid var(--main);padding:.6rem .9rem;margin:1rem 0}
.check{font-size:.875rem;color:var(--soft)}.check.good{color:var(--gain)}.check.bad{color:var(--loss);font-weight:bold}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(13rem,calc(50% - .25rem)),1fr));gap:.5rem;
margin:.6rem 0;padding:0}
.tiles div{background:var(--panel);padding:.55rem .7rem;min-width:0}.tiles dt{color:var(--soft);font-size:.8rem}
.tiles dd{margin:0;font-size:.8rem;color:var(--soft)}
.tiles dd b{display:block;font-size:1.2rem;line-height:1.3;font-weight:600;color:var(--text);
font-variant-numeric:tabular-nums}.tiles small{font-size:.8rem;font-weight:400}`;

const HEAT_STYLES = ['down', 'up'].flatMap((side) => [1, 2, 3, 4].map((step) => (
  `.${side}${step}{background:var(--${side}${step})}`))).join('');

/**
 * A table that continues beyond an edge has a shadow there, which a cover hides once the table is scrolled to its end.
 */
const TABLES = `
.wide{position:relative;overflow-x:auto;max-width:100%;margin:.4rem 0;
background:linear-gradient(to right,var(--bg) 1rem,transparent) 0 0/3rem 100% local,
linear-gradient(to left,var(--bg) 1rem,transparent) 100% 0/3rem 100% local,
linear-gradient(to right,var(--shade),transparent) 0 0/.9rem 100% scroll,
linear-gradient(to left,var(--shade),transparent) 100% 0/.9rem 100% scroll;background-repeat:no-repeat}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.875rem}
th,td{text-align:right;padding:.25rem .6rem;border-bottom:1px solid var(--rule);vertical-align:top;white-space:nowrap;
font-weight:400}
thead th{color:var(--soft);font-weight:600;vertical-align:bottom;white-space:normal;overflow-wrap:break-word;
min-width:3.2rem}
td.text,th.text{text-align:left;white-space:normal;min-width:6.5rem;max-width:38rem}td.long,th.long{min-width:12rem}
th:first-child,tr>td:first-child{padding-left:0}
tbody th,tbody th.text{position:sticky;left:0;background:var(--bg);max-width:min(40vw,20rem);overflow-wrap:break-word}
@media screen and (max-width:30rem){th,td{padding:.25rem .3rem}td.text,th.text{min-width:4.4rem}
td.long,th.long{min-width:11.5rem}table{font-size:.8125rem}}
td .soft,td .none,th .none{font-size:inherit}td .none{white-space:normal}
.side-by-side{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(17rem,100%),1fr));gap:0 2rem;
align-items:start}
.side-by-side table{width:100%}
.heat-map{margin:1rem 0}.heat-map table{border-collapse:separate;border-spacing:2px}
.heat-map th,.heat-map td{border:0;vertical-align:middle}
.heat-map thead th{text-align:center;overflow-wrap:anywhere;min-width:4.6rem;max-width:12rem}
.heat-map th.side{max-width:none;color:var(--text);text-align:center}
.heat-map th.side.text{text-align:left;max-width:min(40vw,20rem);overflow-wrap:break-word}
.heat{text-align:center;color:var(--text)}.heat-map td.heat{padding:.4rem .6rem}
.even{background:var(--panel)}${HEAT_STYLES}
.missing{color:var(--soft)}.configured{outline:2px solid var(--text);outline-offset:-2px;font-weight:600}
.heat-key{display:flex;flex-wrap:wrap;gap:.3rem .5rem;font-size:.8rem}
.heat-key .heat{padding:.1rem .5rem;white-space:nowrap}
@media screen and (max-width:30rem){.heat-map thead th{min-width:2.9rem}.heat-map td.heat{padding:.4rem .25rem}}`;

/** Paper has light colours and does not scroll. */
const PAPER = `
@page{margin:12mm}
@media print{:root{color-scheme:light!important;--bg:#fff;--text:#000;--soft:#444}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
html{font-size:10.5pt}body{max-width:none;padding:0;font-size:inherit}nav,.theme,.reader{display:none!important}
.chart,.heat-map,.tiles div,.warnings,.verdict,tr{break-inside:avoid}h2,h3,figcaption,.key{break-after:avoid}
thead{display:table-header-group}
.wide{overflow:visible;background:none}details::details-content{content-visibility:visible;height:auto}
summary{display:none}table{font-size:7.5pt}th,td{padding:.15rem .3rem}thead th{min-width:2.4rem}
tbody th,tbody th.text{position:static;max-width:9rem;overflow-wrap:anywhere}
.heat-map th.side.text{max-width:9rem;overflow-wrap:anywhere}td.text,th.text{min-width:4rem;max-width:34rem}
.drawing{border-color:#999}}`;

/** The style sheet of a page for phones and large screens, light and dark, and paper. */
export const PAGE_STYLE = `${COLOURS}${TEXT}${TABLES}${CHART_STYLE}${PAPER}\n`;
