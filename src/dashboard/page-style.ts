import { SHARED_STYLE } from '../web/style.ts';

const TOP = `
body{padding-bottom:72px}
.top{position:sticky;top:0;z-index:5;display:flex;flex-wrap:wrap;gap:8px 16px;align-items:flex-start;
padding:12px max(24px,calc(50vw - 856px));
background:var(--bg);border-bottom:1px solid var(--rule)}
.status{flex:1 1 420px;min-width:0}
.sentence{font-size:16px;font-weight:600;line-height:24px;padding:6px 0 6px 20px;position:relative}
.sentence::before{content:"";position:absolute;left:0;top:13px;width:10px;height:10px;border-radius:50%;
background:var(--main)}
.sentence:not(.level-good)::before{background:none;border:3px solid var(--warn)}
.sentence.level-act::before{background:var(--warn)}
.connection,.need{display:flex;flex-wrap:wrap;gap:8px 12px;align-items:center;justify-content:space-between;
background:var(--warn-bg);color:var(--warn);border-radius:8px;padding:6px 6px 6px 12px;margin-top:4px;font-size:14px}
p.need{padding:8px 12px}.need>p{flex:1 1 200px}.connection{background:var(--panel);color:var(--text)}
.need .button,.connection .button{color:var(--text)}
.actions{display:flex;gap:8px;align-items:center;flex:none}
.action-notice{font-size:13px;color:var(--soft);max-width:280px;text-align:right}.action-notice:empty{display:none}
.button.halt{background:var(--text);border-color:var(--text);color:var(--bg);font-weight:600}
.button.halt[disabled]{background:var(--panel);border-color:var(--rule);color:var(--soft)}
.button.more{display:none}.button.quiet{border-color:transparent;background:none;color:var(--soft)}
.button.small{min-height:28px;padding:0 8px;font-size:13px}
.link{border:0;background:none;padding:0;color:var(--main);text-align:left;text-decoration:underline;
text-underline-offset:2px}
.pill{display:inline-block;padding:0 8px;border-radius:10px;font-size:12px;line-height:20px;background:var(--panel);
color:var(--soft);white-space:nowrap}
.pill.level-good{color:var(--main);background:var(--main-ground)}
.pill:not(.level-good){color:var(--warn);background:var(--warn-bg)}
.is-old .layout{filter:grayscale(1)}.old .number,.old .tile-value{color:var(--soft)}`;

const LAYOUT = `
.layout{display:grid;grid-template-columns:minmax(0,1fr) 360px;gap:0 24px;padding:0 24px 16px;max-width:1760px;
margin:0 auto;grid-template-areas:"figures figures" "equity story" "alerts story" "strategies story" "depth depth";
grid-template-rows:auto auto auto 1fr auto}
.figures{grid-area:figures}.equity{grid-area:equity}.alerts{grid-area:alerts}.story-column{grid-area:story}
.layout>[aria-labelledby=strategies-title]{grid-area:strategies}.depth{grid-area:depth}
.panel{padding:16px 0;min-width:0;border-top:1px solid var(--rule)}.panel>h2{margin-bottom:8px}
.equity{position:relative;--chart-height:340px;border-top:0}.equity>h2{position:absolute;top:18px;left:0}
.equity .chart-head{min-height:32px}
.story-column{border-top:0;border-left:1px solid var(--rule);padding:0 0 0 24px}
.story-place{display:flex;flex-direction:column;padding:16px 0}.story-place h2{margin-bottom:8px}
.figures{display:grid;grid-template-columns:repeat(6,minmax(0,1fr));border-bottom:1px solid var(--rule)}
.figures li{min-width:0;border-left:1px solid var(--rule)}.figures li:first-child{border-left:0}
.tile{display:flex;flex-direction:column;width:100%;height:100%;padding:12px 16px;border:0;background:none;
text-align:left;min-width:0}
.figures li:first-child .tile{padding-left:0}
.tile:hover .tile-name{color:var(--main)}
.tile-name{font-size:13px;color:var(--soft)}
.tile-value{font-size:28px;line-height:36px;height:36px;font-weight:600;white-space:nowrap;overflow:hidden;
text-overflow:ellipsis;
letter-spacing:-.01em}
.tile-value.is-long{font-size:20px}.tile-value .unit{font-size:14px;letter-spacing:0}
.arrow{display:inline-block;width:.5em;height:.42em;margin-right:.25em;vertical-align:.1em;background:currentColor;
clip-path:polygon(50% 0,100% 100%,0 100%)}.arrow.down{clip-path:polygon(0 0,100% 0,50% 100%)}
.tile-below{font-size:13px;color:var(--soft);white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.tile-below .gain{color:var(--gain)}.tile-below .loss{color:var(--loss)}
.tile .spark{margin-top:8px;color:var(--main)}
.meter{display:inline-block;width:64px;height:4px;margin-left:8px;border-radius:2px;background:var(--rule);
vertical-align:middle;overflow:hidden}
.meter i{display:block;height:100%;background:var(--main)}.meter.is-near i{background:var(--warn)}
.periods{display:flex;flex-wrap:wrap;gap:4px 32px;margin-top:8px}.period{display:flex;gap:8px;align-items:baseline}
.figure{border:0;background:none;padding:4px 0;text-align:inherit;font-weight:500}
.figure:hover{text-decoration:underline dotted;text-underline-offset:4px}
time{white-space:nowrap}
.bottom{display:flex;flex-wrap:wrap;gap:8px 16px;align-items:center;padding:16px 24px;
border-top:1px solid var(--rule);font-size:13px;max-width:1760px;margin:0 auto}.bottom p{margin-left:auto}
.nothing{padding:8px 0}.plain-list li{padding:4px 0}`;

const STRATEGIES = `
.strategy-heads,.strategy-head{display:grid;gap:0 16px;align-items:start;
grid-template-columns:minmax(120px,1.1fr) minmax(130px,1.1fr) minmax(148px,.8fr) minmax(160px,2.2fr) 72px}
.strategy-heads{font-size:13px;color:var(--soft);padding-bottom:4px}
.strategy-heads span:nth-child(3){text-align:right}
.strategies>li{border-top:1px solid var(--rule)}
.strategy-head{width:100%;padding:12px 0;border:0;background:none;text-align:left;font-size:14px}
.strategy-head:hover{background:var(--panel)}
.strategy-head .cell{min-width:0;overflow:hidden;display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical}
.strategy-head .name{display:flex;flex-wrap:wrap;gap:4px 8px;align-items:baseline}
.strategy-head .name::before{content:"›";color:var(--soft);width:8px;margin-right:-4px}
.strategy-head[aria-expanded=true] .name::before{transform:rotate(90deg)}
.strategy-head .line{display:block}.strategy-head .profit{text-align:right}
.strategy-body{padding:0 0 16px 12px;--chart-height:260px}.strategy-facts{display:grid;gap:12px;margin-top:12px}
.strategy-decisions{margin-top:16px;font-size:14px}
.row-actions{display:flex;flex-wrap:wrap;gap:8px}
.position-line{display:flex;flex-wrap:wrap;gap:4px 16px;align-items:center;justify-content:space-between;padding:8px 0;
border-bottom:1px solid var(--rule)}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(180px,100%),1fr));gap:8px 24px;font-size:14px}
.facts dt{font-size:13px;color:var(--soft)}.facts code,.list code{font:12px/1.4 ui-monospace,monospace;
overflow-wrap:anywhere}`;

const STORIES = `
.stories{overflow-y:auto;flex:1 1 0;min-height:320px;scrollbar-width:thin}
.stories li+li{border-top:1px solid var(--rule)}.story-line{padding:8px 0;font-size:14px}
.story{display:grid;grid-template-columns:44px 16px 1fr;gap:0 8px;width:100%;padding:8px 4px 8px 0;border:0;
background:none;text-align:left;font-size:14px;line-height:1.4}
.story:hover{background:var(--panel)}.story-time{color:var(--soft);font-size:13px;line-height:20px}
.story-mark{width:8px;height:8px;margin:6px 0 0 4px;border-radius:50%;border:2px solid var(--third)}
.story-mark.kind-swap{background:var(--main);border-color:var(--main)}
.story-mark.kind-denial{height:2px;margin-top:9px;border:0;border-radius:0;background:var(--third)}
.story-mark.kind-protection,.story-mark.kind-trading{border-radius:1px;transform:rotate(45deg)}
.story:not(.level-good) .story-mark{border-color:var(--warn);background:var(--warn)}
.story.level-act{background:var(--warn-bg)}
.story.level-act .story-time,.story.level-act .soft{color:var(--text)}
.progress{display:flex;gap:8px;align-items:center;margin-top:4px;font-size:13px;color:var(--soft)}
.story.level-act .progress{color:var(--text)}
.list .progress{margin:0}.progress .marks{display:inline-flex;gap:3px}
.progress i{width:16px;height:4px;border-radius:2px;background:var(--rule)}.progress i.done{background:var(--main)}
.progress.is-off i.done{background:var(--warn)}.progress.is-open i.next{background:var(--main-ground);
box-shadow:inset 0 0 0 1px var(--main)}
.alert-lines li{display:grid;grid-template-columns:auto 1fr auto;gap:4px 12px;padding:6px 0;align-items:baseline;
font-size:14px}
.alerts summary{cursor:pointer;font-size:13px;color:var(--soft);padding:4px 0}`;

const DEPTH = `
.tabs{display:flex;gap:4px;overflow-x:auto;margin-bottom:16px;border-bottom:1px solid var(--rule);scrollbar-width:none}
.tab{flex:none;white-space:nowrap;border:0;border-bottom:2px solid transparent;border-radius:0;background:none;
min-height:40px;padding:4px 12px;color:var(--soft)}
.tab[aria-selected=true]{color:var(--text);border-bottom-color:var(--main);font-weight:600}
.tab:focus-visible{outline-offset:-2px}
.tab-panel{--chart-height:300px;min-height:160px}.tab-panel .price-panel{margin-top:24px}
.spark-cell{display:block;width:120px;color:var(--main)}.spark-cell .spark{height:20px}
.limits{display:grid;gap:0}
.limits li{display:grid;grid-template-columns:minmax(140px,1fr) minmax(140px,1fr) 120px 2fr;
gap:4px 16px;align-items:center;padding:8px 0;border-bottom:1px solid var(--rule);font-size:14px}
.limits .meter{width:100%;margin:0;height:6px;border-radius:3px}
.log .list{font-size:13px}`;

const SHEETS = `
.sheet{border:1px solid var(--rule);border-radius:12px;padding:0;background:var(--bg);color:var(--text);
width:min(560px,calc(100vw - 32px));max-height:min(85vh,760px);box-shadow:0 8px 32px var(--shade)}
.sheet::backdrop{background:#0009}
.sheet-head{display:flex;align-items:center;justify-content:space-between;gap:8px;padding:12px 12px 0 20px}
.sheet-head h2{font-size:17px;outline:none}.sheet-body{padding:12px 20px 20px;display:grid;gap:12px}
.sheet-actions{display:flex;gap:8px;justify-content:flex-end;margin-top:4px}
.sheet-choices{display:grid;gap:8px}.sheet-choices .button{min-height:48px}
.notice{background:var(--warn-bg);color:var(--warn);border-radius:8px;padding:8px 12px}
.fault{color:var(--warn);font-weight:500}.fault:empty{display:none}
.steps{display:grid;gap:0}.steps li{display:grid;grid-template-columns:24px 80px 72px 1fr;gap:0 4px;padding:6px 0;
font-size:14px;position:relative}
.steps li::before{content:"";width:10px;height:10px;border-radius:50%;margin-top:6px;border:2px solid var(--third)}
.steps li.done::before{background:var(--main);border-color:var(--main)}
.steps li.to-come{color:var(--soft)}
.form{display:grid;gap:12px}.form fieldset{border:0;padding:0;margin:0;display:grid;gap:8px}
.form legend{padding:0 0 4px;font-weight:600}.form-field{display:grid;gap:4px;font-size:13px;color:var(--soft)}
.form-field .field{color:var(--text);font-size:15px}
.form-choice{display:grid;grid-template-columns:20px 1fr;gap:8px;align-items:start}
.form-choice span{display:grid;font-size:14px}.form-choice input{margin:4px 0 0;accent-color:var(--main)}
.login-place{min-height:90vh;display:grid;place-content:center;padding:16px}
.login{width:min(360px,calc(100vw - 32px))}.login h1{font-size:28px}.login .soft{font-size:13px}
.login .button,.login .field{min-height:44px}`;

const NARROW = `
@media (min-width:1080px){.story-place{position:sticky;top:61px;height:calc(100vh - 61px)}}
@media (max-width:1079px){
.layout{grid-template-columns:minmax(0,1fr);grid-template-areas:"figures" "equity" "alerts" "strategies" "story"
"depth";grid-template-rows:none}
.story-column{border-left:0;padding:0;border-top:1px solid var(--rule)}
.stories{flex:none;max-height:480px;min-height:0}
.figures{grid-template-columns:repeat(3,minmax(0,1fr))}
.figures li:nth-child(4){border-left:0}.figures li:nth-child(n+4){border-top:1px solid var(--rule)}
.figures li:nth-child(4) .tile{padding-left:0}}
@media (max-width:719px){
.top{padding:4px 16px 8px}.sentence{line-height:22px;padding-bottom:0;font-size:15px}.sentence::before{top:12px}
.status{flex-basis:100%}
.layout{padding:0 16px 16px}.bottom{padding:16px}.bottom p{margin-left:0}
.figures{grid-template-columns:repeat(2,minmax(0,1fr))}
.figures li:nth-child(n){border-left:1px solid var(--rule);border-top:1px solid var(--rule)}
.figures li:nth-child(odd){border-left:0}.figures li:nth-child(-n+2){border-top:0}
.figures li:nth-child(n) .tile{padding:6px 12px}.figures li:nth-child(odd) .tile{padding-left:0}
.figures li:nth-child(even) .tile{padding-right:0}
.tile-value{font-size:22px;line-height:28px;height:28px}.tile-value.is-long{font-size:18px}
.tile-name,.tile-below{line-height:18px}
.tile .spark{display:none}
.panel{padding:12px 0}.equity{--chart-height:236px}.equity>h2{top:14px;line-height:32px}.chart-tools{gap:4px}
.chart-tools .choice button{padding:0 6px;min-width:28px}
.equity .legend{gap:0 12px;font-size:12px}
.actions{position:fixed;left:0;right:0;bottom:0;z-index:6;padding:10px 16px max(10px,env(safe-area-inset-bottom));
background:var(--bg);border-top:1px solid var(--rule);flex-wrap:wrap}
.actions[hidden]{display:none}.actions .button{display:none}
.actions .button.halt,.actions .button.more{display:block;flex:1 1 0;min-height:44px}
.action-notice{flex:1 0 100%;max-width:none;text-align:left}
.strategy-heads{display:none}
.strategy-head{grid-template-columns:1fr auto;gap:2px 12px}
.strategy-head .position{grid-row:2;grid-column:1;padding-left:12px}
.strategy-head .profit{grid-row:1;grid-column:2}.strategy-head .next{grid-row:2;grid-column:2;text-align:right}
.strategy-head .decision{grid-column:1/-1;padding-left:12px}
.strategy-body{padding-left:0}
.limits li{grid-template-columns:1fr auto}.limits li .meter{grid-column:1/-1}.limits li .soft{grid-column:1/-1}
.limits li>span:empty{display:none}
.sheet{margin:auto auto 0;width:100vw;max-width:100vw;max-height:88vh;border-radius:16px 16px 0 0;border-bottom:0}
.sheet-actions .button{flex:1;min-height:44px}}
@media (prefers-reduced-motion:no-preference){.sheet[open]{animation:rise .16s ease-out}}
@keyframes rise{from{transform:translateY(12px)}}`;

/** The style sheet of the page: a column on a phone, two from 1,080 pixels on. */
export const PAGE_STYLE = `${SHARED_STYLE}${TOP}${LAYOUT}${STRATEGIES}${STORIES}${DEPTH}${SHEETS}${NARROW}\n`;
