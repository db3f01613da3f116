package guide_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalcast/signalcast/docs"
	"github.com/signalcast/signalcast/docs/guide"
)

var options = guide.Options{Reference: "/docs", Repository: "https://code.example/"}

func folder(pages map[string]string) fs.FS {
	out := fstest.MapFS{}
	for name, text := range pages {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func body(t *testing.T, s *guide.Site, name string) string {
	t.Helper()
	f, ok := s.File(name)
	if !ok {
		t.Fatalf("there is no %s among %v", name, s.Names())
	}
	return string(f.Body)
}

func has(t *testing.T, page string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(page, w) {
			t.Errorf("no %q in\n%s", w, page)
		}
	}
}

// loads finds what a page makes a browser fetch or run.
var loads = regexp.MustCompile(`(?i)<(?:script|link|img|iframe|source|video|object|embed)\b[^>]*?\b(?:src|href|data)="([^"]*)"`)

// TestProject: every page of the project is there, in the index, and its links hold;
// nothing in it runs or is loaded from elsewhere.
func TestProject(t *testing.T) {
	t.Parallel()
	s, err := guide.New(docs.Files, options)
	if err != nil {
		t.Fatal(err)
	}
	index, pages := body(t, s, ""), 0
	err = fs.WalkDir(docs.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".md") {
			return err
		}
		pages++
		file := strings.ReplaceAll(strings.TrimSuffix(name, ".md"), "/", "-") + ".html"
		has(t, index, `<dt><a href="`+file+`">`)
		has(t, body(t, s, "search.html"), `<a href="`+file+`">`)
		return nil
	})
	if err != nil || pages < 40 {
		t.Fatalf("%d pages, %v", pages, err)
	}
	inline := regexp.MustCompile(`(?i)<script[^>]*>\s*[^<\s]|\sstyle=|\son[a-z]+="|<style`)
	for _, name := range s.Names() {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		page := body(t, s, name)
		for _, m := range loads.FindAllStringSubmatch(page, -1) {
			if _, ours := s.File(m[1]); !ours {
				t.Errorf("%s loads %s", name, m[1])
			}
		}
		text := regexp.MustCompile(`(?s)<code.*?</code>`).ReplaceAllString(page, "")
		if found := inline.FindString(text); found != "" {
			t.Errorf("%s has %q of its own", name, found)
		}
		if f, _ := s.File(name); f.Script != (name == "search.html") || f.Script != strings.Contains(page, "<script") {
			t.Errorf("%s: script %v", name, f.Script)
		}
	}
}

func TestReadingOrder(t *testing.T) {
	t.Parallel()
	s, err := guide.New(folder(map[string]string{
		"operations.md": "# Run\n", "quickstart.md": "# Start\n\nThe *first* page.\n", "unheard.md": "# Unheard of\n", "concepts.md": "# Words\n",
		"decisions/0002-b.md": "# Two\n", "decisions/0001-a.md": "# One\n", "protocol/ws.md": "# Socket\n", "protocol/z.md": "# Zed\n",
	}), options)
	if err != nil {
		t.Fatal(err)
	}
	next := regexp.MustCompile(`rel="next" href="([^"]*)"`)
	var walked []string
	for at := "quickstart.html"; at != ""; {
		walked = append(walked, at)
		m := next.FindStringSubmatch(body(t, s, at))
		if at = ""; m != nil {
			at = m[1]
		}
	}
	want := "quickstart.html concepts.html protocol-ws.html protocol-z.html unheard.html operations.html decisions-0001-a.html decisions-0002-b.html"
	if got := strings.Join(walked, " "); got != want {
		t.Errorf("walked %s", got)
	}
	has(t, body(t, s, ""), "<dd>The first page.</dd>")
	has(t, body(t, s, "concepts.html"), `rel="prev" href="quickstart.html"`, `<a href="concepts.html" aria-current="page">`)
}

func TestLinks(t *testing.T) {
	t.Parallel()
	s, err := guide.New(folder(map[string]string{
		"a.md":          "# A\n\n[b](protocol/b.md#two-words) [all](decisions) [spec](protocol/openapi.yaml) [code](../sdk/go) [web](https://x.example/) ![pic](img/p.svg)\n",
		"protocol/b.md": "# B\n\n## Two words\n\n[a](../a.md) [here](#two-words) [code](../../sdk/ts/README.md)\n", "img/p.svg": "<svg/>",
	}), options)
	if err != nil {
		t.Fatal(err)
	}
	has(t, body(t, s, "a.html"), `<a href="protocol-b.html#two-words">`, `<a href="index.html">all`, `<a href="/docs">spec`,
		`<a href="https://code.example/sdk/go">`, `<a href="https://x.example/">`, `<img src="p.svg"`)
	has(t, body(t, s, "protocol-b.html"), `<a href="a.html">a`, `<a href="#two-words">here`, `<a href="https://code.example/sdk/ts/README.md">`, `id="two-words"`)
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pages map[string]string
		want  string
	}{
		"no page":      {map[string]string{"a.md": "# A\n\n[x](gone.md)\n"}, "a.md: gone.md leads nowhere"},
		"no picture":   {map[string]string{"a.md": "# A\n\n![x](img/gone.png)\n"}, "img/gone.png leads nowhere"},
		"no heading":   {map[string]string{"a.md": "# A\n\n[x](b.md#c)\n", "b.md": "# B\n"}, "b.md#c names no heading"},
		"one host":     {map[string]string{"a.md": "# A\n\n[x](/api/wire)\n"}, "/api/wire is an address of one host"},
		"a script":     {map[string]string{"a.md": "# A\n\n[x](javascript:run())\n"}, "javascript:run() leads nowhere"},
		"no title":     {map[string]string{"a.md": "words\n"}, "a.md: no heading"},
		"same name":    {map[string]string{"a-b.md": "# 1\n", "a/b.md": "# 2\n"}, "two files have this name"},
		"unknown kind": {map[string]string{"a.md": "# A\n", "img/x.exe": ""}, "files of this kind are not shown"},
	} {
		_, err := guide.New(folder(c.pages), options)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHostileMarkdown: what looks like HTML or a script is text or is gone.
func TestHostileMarkdown(t *testing.T) {
	t.Parallel()
	s, err := guide.New(folder(map[string]string{
		"a.md": "# A <script>one()</script> \"q\"\n\n<script>two()</script>\n\n<img src=x onerror=three()>\n\n" +
			"| a |\n|--:|\n| <b onclick=\"five()\">b</b> |\n\n```html\n<script>six()</script>\n```\n",
	}), options)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.html", "index.html", "search.html"} {
		page := body(t, s, name)
		for _, bad := range []string{"<script>", "<img src=x", `href="javascript`, "<b onclick", "style="} {
			if strings.Contains(page, bad) {
				t.Errorf("%s has %s:\n%s", name, bad, page)
			}
		}
	}
	has(t, body(t, s, "a.html"), "&lt;script&gt;six()")
}

func TestSearchWords(t *testing.T) {
	t.Parallel()
	s, err := guide.New(folder(map[string]string{
		"a.md": "# Alpha\n\nBeta, `gamma_ray` and *delta*.\n\n## Second\n\n```sh\ncurl epsilon\n```\n\nBeta beta Ünder.\n",
	}), options)
	if err != nil {
		t.Fatal(err)
	}
	has(t, body(t, s, "search.html"), `data-words="alpha and beta delta gamma_ray"><a href="a.html">Alpha</a>`,
		`data-words="beta curl epsilon second ünder"><a href="a.html#second">Second</a>`)
}

func TestTags(t *testing.T) {
	t.Parallel()
	one, _ := guide.New(folder(map[string]string{"a.md": "# A\n"}), options)
	two, _ := guide.New(folder(map[string]string{"a.md": "# A\n\nMore.\n"}), options)
	first, _ := one.File("a.html")
	second, _ := two.File("a.html")
	css1, _ := one.File("app.css")
	css2, _ := two.File("app.css")
	if first.Tag == second.Tag || css1.Tag != css2.Tag || first.Type != "text/html; charset=utf-8" || css1.Type != "text/css; charset=utf-8" {
		t.Errorf("%+v %+v", first.Tag, css1.Tag)
	}
	if _, ok := one.File("../go.mod"); ok {
		t.Error("a file that is not of the site")
	}
}
