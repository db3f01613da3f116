package browser

// HostileTexts are texts that call the JavaScript function canary if a page interprets them as markup, as an attribute, as a URL,
// as a style or as a script.
var HostileTexts = []string{
	`<script>canary(1)</script>`, `<SCRIPT SRC=data:,canary(1)></SCRIPT>`, `<script/x>canary(1)</script>`, `<scr<script>ipt>canary(1)</scr</script>ipt>`,
	`</title><script>canary(1)</script>`, `</textarea><script>canary(1)</script>`, `</style><script>canary(1)</script>`, `</noscript><img src=x onerror=canary(1)>`,
	`--><script>canary(1)</script><!--`, `]]><script>canary(1)</script>`, `<img src=x onerror=canary(1)>`, `<img src=x onerror="canary(1)">`,
	`<img/src/onerror=canary(1)>`, `<IMG SRC="javascript:canary(1)">`, "<img src=x onerror=`canary(1)`>", `<img src=x:x onerror&#61;canary(1)>`,
	`<svg onload=canary(1)>`, `<svg><script>canary(1)</script></svg>`, `<svg><animate onbegin=canary(1) attributeName=x dur=1s>`, `<svg><set onbegin=canary(1)>`,
	`<svg><a xlink:href="javascript:canary(1)"><text y=9>x</text></a></svg>`, `<math><mtext><img src=x onerror=canary(1)></mtext></math>`, `<math href="javascript:canary(1)">x</math>`,
	`<body onload=canary(1)>`, `<iframe src="javascript:canary(1)"></iframe>`, `<iframe srcdoc="<script>parent.canary(1)</script>"></iframe>`, `<object data="javascript:canary(1)">`,
	`<embed src="javascript:canary(1)">`, `<a href="javascript:canary(1)" autofocus onfocus=canary(1)>x</a>`, `<input autofocus onfocus=canary(1)>`, `<select autofocus onfocus=canary(1)>`,
	`<textarea autofocus onfocus=canary(1)>`, `<details open ontoggle=canary(1)>`, `<video><source onerror=canary(1)></video>`, `<audio src=x onerror=canary(1)>`, `<marquee onstart=canary(1)>`,
	`<form action="javascript:canary(1)"><button autofocus>x</button></form>`, `<button formaction="javascript:canary(1)">x</button>`, `<isindex type=image src=1 onerror=canary(1)>`,
	`<meta http-equiv="refresh" content="0;url=javascript:canary(1)">`, `<link rel=stylesheet href="data:text/css,*{background:url(javascript:canary(1))}">`, `<base href="javascript:canary(1)//">`,
	`<style>@import "javascript:canary(1)";</style>`, `<style onload=canary(1)></style>`, `<div style="width:expression(canary(1))">`, `<p style="animation:x" onanimationstart=canary(1)>`,
	`" onmouseover="canary(1)" autofocus onfocus="canary(1)" x="`, `' onmouseover='canary(1)' autofocus onfocus='canary(1)' x='`, `"><script>canary(1)</script>`, `'><script>canary(1)</script>`,
	"` onerror=canary(1) `", `javascript:canary(1)`, `data:text/html,<script>canary(1)</script>`, `{{constructor.constructor('canary(1)')()}}`, `${canary(1)}`, `\x3cscript\x3ecanary(1)\x3c/script\x3e`,
	`&lt;script&gt;canary(1)&lt;/script&gt;`, `&#60;script&#62;canary(1)&#60;/script&#62;`, "\u0130<script>canary(1)</script>", "＜script＞canary(1)＜/script＞<x onclick=canary(1)>",
}
