"""How the page looks: system fonts, light and dark, on screens of any width and on paper."""

# Text on its background has a contrast of at least 4.5 in both schemes (checked in the tests). Pictures keep a light
# ground in the dark too: their colours were chosen to be told apart on it.
LIGHT = {
    "ground": "#ffffff",
    "panel": "#f5f6f8",
    "text": "#1c2430",
    "quiet": "#566070",
    "line": "#dde1e7",
    "accent": "#00548a",
    "careful": "#7a3e00",
    "careful-ground": "#fff6e8",
}
DARK = {
    "ground": "#14181f",
    "panel": "#1d232d",
    "text": "#e6e9ee",
    "quiet": "#a3adbb",
    "line": "#343c49",
    "accent": "#7cc4f2",
    "careful": "#f3c98b",
    "careful-ground": "#33291a",
}
PICTURE = "#ffffff"


def _variables(scheme: dict[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in scheme.items())


STYLE = (
    f":root{{color-scheme:light dark;{_variables(LIGHT)}--picture:{PICTURE};}}"
    f"@media (prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}"
    """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--ground);color:var(--text);
 font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
a{color:var(--accent);text-underline-offset:.15em}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.skip{position:absolute;left:-99rem}
.skip:focus{position:fixed;left:1rem;top:1rem;padding:.5rem 1rem;background:var(--ground);z-index:2}
.page{max-width:74rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
header{border-bottom:1px solid var(--line);padding-bottom:1.5rem;margin-bottom:2rem}
.kind{margin:0 0 .4rem;font-size:.8rem;letter-spacing:.08em;text-transform:uppercase;color:var(--quiet)}
h1{font-size:clamp(1.6rem,1.1rem + 2.4vw,2.5rem);line-height:1.15;margin:0 0 .6rem;letter-spacing:-.015em;
 text-wrap:balance}
h2{font-size:1.45rem;line-height:1.25;margin:0 0 .8rem;letter-spacing:-.01em}
h3{font-size:1.08rem;line-height:1.35;margin:0 0 .6rem}
p{margin:0 0 .9rem;max-width:44rem}
.lead{font-size:1.1rem;color:var(--quiet);margin:0}
section{padding:0 0 1rem;margin:0 0 2.2rem;border-bottom:1px solid var(--line);scroll-margin-top:1rem}
section:last-of-type{border:0}
nav h2{font-size:.8rem;letter-spacing:.08em;text-transform:uppercase;color:var(--quiet);margin:0 0 .5rem}
nav ol{list-style:none;margin:0 0 2rem;padding:0;display:flex;flex-wrap:wrap;gap:.15rem 1.1rem;font-size:.92rem}
nav a{display:inline-block;padding:.2rem 0;text-decoration:none}
nav a:hover{text-decoration:underline}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.8rem;margin:0 0 1.3rem;padding:0}
.tiles div{background:var(--panel);border-radius:.6rem;padding:.8rem 1rem;display:flex;
 flex-direction:column-reverse;justify-content:flex-end}
.tiles dt{font-size:.85rem;line-height:1.35;color:var(--quiet)}
.tiles dd{margin:0;font-size:1.5rem;line-height:1.3;font-weight:650;font-variant-numeric:tabular-nums}
figure{margin:0 0 1.2rem;min-width:0}
figcaption{font-size:.92rem;line-height:1.5;color:var(--quiet);margin-top:.5rem;max-width:44rem}
.picture{display:block;background:var(--picture);border:1px solid var(--line);border-radius:.6rem;padding:.5rem}
.picture img{display:block;max-width:100%;height:auto;margin:0 auto}
.pair{display:grid;gap:.4rem 1.8rem;margin-bottom:1.4rem}
.pair>*{min-width:0}
.facts{margin:0 0 1.2rem;font-size:.95rem;max-width:44rem}
.facts div{display:flex;justify-content:space-between;gap:1rem;padding:.28rem 0;border-bottom:1px solid var(--line)}
.facts dt{color:var(--quiet)}
.facts dd{margin:0;text-align:right;font-variant-numeric:tabular-nums}
.note{border-left:3px solid var(--line);padding:.1rem 0 .1rem .9rem;color:var(--quiet);font-size:.95rem}
.careful{background:var(--careful-ground);border-radius:.6rem;padding:.9rem 1.1rem .9rem 2.2rem;max-width:48rem}
.careful li{margin:.25rem 0}
.careful b{color:var(--careful)}
.then{border-left:3px solid var(--accent);padding:.1rem 0 .1rem .9rem}
.history{padding-left:1.3rem;max-width:46rem}
.history li{margin:.35rem 0}
.scroll{overflow-x:auto;max-width:100%;margin:0 0 1.2rem;border:1px solid var(--line);border-radius:.6rem}
table{border-collapse:collapse;width:100%;font-size:.92rem;line-height:1.4;font-variant-numeric:tabular-nums;
 overflow-wrap:normal}
caption{text-align:left;padding:.7rem .9rem;font-weight:600;background:var(--panel)}
th,td{text-align:left;vertical-align:top;padding:.45rem .9rem;border-top:1px solid var(--line)}
thead th{font-weight:600;color:var(--quiet);white-space:nowrap}
tbody th,td{max-width:17rem;overflow-wrap:break-word}
tbody th{font-weight:500}
th.number,td.number{text-align:right;white-space:nowrap}
pre{margin:0;padding:1rem;font:.85rem/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;
 background:var(--panel);width:max-content;min-width:100%;tab-size:4}
footer{color:var(--quiet);font-size:.88rem}
@media (min-width:46rem){.pair{grid-template-columns:minmax(0,27rem) minmax(0,1fr);align-items:start}}
@media (min-width:68rem){
 .columns{display:grid;grid-template-columns:12.5rem minmax(0,1fr);gap:3rem}
 nav{position:sticky;top:1.5rem;align-self:start;max-height:calc(100vh - 3rem);overflow-y:auto}
 nav ol{flex-direction:column}
}
@media (max-width:46rem){.page{padding:1.5rem 1rem 3rem}.picture{padding:.25rem}th,td{padding:.4rem .6rem}}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
"""
    f"@media print{{:root{{{_variables(LIGHT)}}}"
    """
 body{font-size:10pt}
 nav,.skip{display:none}
 .page{padding:0;max-width:none}
 .columns{display:block}
 h2,h3,caption{break-after:avoid}
 figure,tr,.tiles,.careful li{break-inside:avoid}
 .scroll{overflow:visible}
 pre{white-space:pre-wrap;width:auto}
 thead{display:table-header-group}
 .pair{grid-template-columns:minmax(0,11cm) minmax(0,1fr)}
}"""
)
