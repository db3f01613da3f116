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

// folder returns a file system with the given documents by path.
func folder(pages map[string]string) fs.FS {
	out := fstest.MapFS{}
	for name, text := range pages {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// body returns the content of a file of the site.
func body(t *testing.T, s *guide.Site, name string) string {
	t.Helper()
	f, ok := s.File(name)
	if !ok {
		t.Fatalf("the site has no file %s: %v", name, s.Names())
	}
	return string(f.Body)
}

// requireContains fails the test for each text that the page does not contain.
func requireContains(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q:\n%s", text, page)
		}
	}
}

// loads matches the URLs in a page that a browser loads automatically.
var loads = regexp.MustCompile(`(?i)<(?:script|link|img|iframe|source|video|object|embed)\b[^>]*?\b(?:src|href|data)="([^"]*)"`)

// TestProject checks that the site of this project contains every page except pages.md, in the index and in the search. All links must have
// targets. No page may contain an inline script or style, or load a file of another host.
func TestProject(t *testing.T) {
	t.Parallel()
	s, err := guide.New(docs.Files, options)
	if err != nil {
		t.Fatal(err)
	}
	index, pages := body(t, s, ""), 0
	err = fs.WalkDir(docs.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".md") || name == "pages.md" {
			return err
		}
		pages++
		file := strings.ReplaceAll(strings.TrimSuffix(name, ".md"), "/", "-") + ".html"
		requireContains(t, index, `<dt><a href="`+file+`">`)
		requireContains(t, body(t, s, "search.html"), `<a href="`+file+`">`)
		return nil
	})
	if err != nil || pages < 40 {
		t.Fatalf("%d pages, want at least 40; error %v", pages, err)
	}
	inline := regexp.MustCompile(`(?i)<script[^>]*>\s*[^<\s]|\sstyle=|\son[a-z]+="|<style`)
	for _, name := range s.Names() {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		page := body(t, s, name)
		for _, m := range loads.FindAllStringSubmatch(page, -1) {
			if _, exists := s.File(m[1]); !exists {
				t.Errorf("%s loads %s, which is not a file of the site", name, m[1])
			}
		}
		text := regexp.MustCompile(`(?s)<code.*?</code>`).ReplaceAllString(page, "")
		if found := inline.FindString(text); found != "" {
			t.Errorf("%s contains the inline script or style %q", name, found)
		}
		if f, _ := s.File(name); f.Script != (name == "search.html") || f.Script != strings.Contains(page, "<script") {
			t.Errorf("%s: Script is %v; only the search page loads a script", name, f.Script)
		}
	}
}

func TestReadingOrder(t *testing.T) {
	t.Parallel()
	s, err := guide.New(folder(map[string]string{
		"operations.md": "# Run\n", "quickstart.md": "# Start\n\nThe *first* page.\n", "other.md": "# Other\n",
		"concepts.md":         "# Words\n",
		"decisions/0002-b.md": "# Two\n", "decisions/0001-a.md": "# One\n", "protocol/ws.md": "# Socket\n", "protocol/z.md": "# Zed\n",
	}), options)
	if err != nil {
		t.Fatal(err)
	}
	next := regexp.MustCompile(`rel="next" href="([^"]*)"`)
	var visited []string
	for at := "quickstart.html"; at != ""; {
		visited = append(visited, at)
		m := next.FindStringSubmatch(body(t, s, at))
		if at = ""; m != nil {
			at = m[1]
		}
	}
	want := "quickstart.html operations.html protocol-ws.html protocol-z.html concepts.html other.html " +
		"decisions-0001-a.html decisions-0002-b.html"
	if got := strings.Join(visited, " "); got != want {
		t.Errorf("reading order %s, want %s", got, want)
	}
	requireContains(t, body(t, s, ""), "<dd>The first page.</dd>")
	requireContains(t, body(t, s, "concepts.html"),
		`rel="prev" href="protocol-z.html"`, `<a href="concepts.html" aria-current="page">`)
}

func TestLinks(t *testing.T) {
	t.Parallel()
	s, err := guide.New(folder(map[string]string{
		"a.md": "# A\n\n[b](protocol/b.md#two-words) [all](decisions) [spec](protocol/openapi.yaml) [code](../sdk/go) " +
			"[web](https://x.example/) ![pic](img/p.svg)\n",
		"protocol/b.md": "# B\n\n## Two words\n\n[a](../a.md) [here](#two-words) [code](../../sdk/ts/README.md)\n",
		"img/p.svg":     "<svg/>",
	}), options)
	if err != nil {
		t.Fatal(err)
	}
	requireContains(t, body(t, s, "a.html"),
		`<a href="protocol-b.html#two-words">`, `<a href="index.html">all`, `<a href="/docs">spec`,
		`<a href="https://code.example/sdk/go">`, `<a href="https://x.example/">`, `<img src="p.svg"`)
	requireContains(t, body(t, s, "protocol-b.html"), `<a href="a.html">a`, `<a href="#two-words">here`,
		`<a href="https://code.example/sdk/ts/README.md">`, `id="two-words"`)
}

func TestInvalidFolders(t *testing.T) {
	t.Parallel()
	const noTarget = "the target of the link "
	for name, c := range map[string]struct {
		pages map[string]string
		want  string
	}{
		"no page":      {map[string]string{"a.md": "# A\n\n[x](missing.md)\n"}, "a.md: " + noTarget + "missing.md does not exist"},
		"no picture":   {map[string]string{"a.md": "# A\n\n![x](img/missing.png)\n"}, noTarget + "img/missing.png does not exist"},
		"no heading":   {map[string]string{"a.md": "# A\n\n[x](b.md#c)\n", "b.md": "# B\n"}, "no heading has the anchor of the link b.md#c"},
		"one host":     {map[string]string{"a.md": "# A\n\n[x](/api/wire)\n"}, "/api/wire is an absolute path"},
		"a script":     {map[string]string{"a.md": "# A\n\n[x](javascript:run())\n"}, noTarget + "javascript:run() does not exist"},
		"no title":     {map[string]string{"a.md": "words\n"}, "a.md: no heading"},
		"same name":    {map[string]string{"a-b.md": "# 1\n", "a/b.md": "# 2\n"}, "two files have this name"},
		"unknown kind": {map[string]string{"a.md": "# A\n", "img/x.exe": ""}, "the extension must be"},
	} {
		_, err := guide.New(folder(c.pages), options)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// TestHostileMarkdown checks that HTML and scripts in Markdown are shown as text or omitted.
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
				t.Errorf("%s contains %s:\n%s", name, bad, page)
			}
		}
	}
	requireContains(t, body(t, s, "a.html"), "&lt;script&gt;six()")
}

func TestSearchWords(t *testing.T) {
	t.Parallel()
	s, err := guide.New(folder(map[string]string{
		"a.md": "# Alpha\n\nBeta, `gamma_ray` and *delta*.\n\n## Second\n\n```sh\ncurl epsilon\n```\n\nBeta beta Ünder.\n",
	}), options)
	if err != nil {
		t.Fatal(err)
	}
	requireContains(t, body(t, s, "search.html"), `data-words="alpha and beta delta gamma_ray"><a href="a.html">Alpha</a>`,
		`data-words="beta curl epsilon second ünder"><a href="a.html#second">Second</a>`)
}

// TestTags checks that the ETag of a file changes only with its content.
func TestTags(t *testing.T) {
	t.Parallel()
	one, _ := guide.New(folder(map[string]string{"a.md": "# A\n"}), options)
	two, _ := guide.New(folder(map[string]string{"a.md": "# A\n\nMore.\n"}), options)
	first, _ := one.File("a.html")
	second, _ := two.File("a.html")
	css1, _ := one.File("app.css")
	css2, _ := two.File("app.css")
	if first.Type != "text/html; charset=utf-8" || css1.Type != "text/css; charset=utf-8" {
		t.Errorf("media types %s and %s", first.Type, css1.Type)
	}
	if first.Tag == second.Tag || css1.Tag != css2.Tag {
		t.Errorf("tags of a changed page %s and %s, of an unchanged style sheet %s and %s", first.Tag, second.Tag, css1.Tag, css2.Tag)
	}
	if _, ok := one.File("../go.mod"); ok {
		t.Error("File returns a file outside of the site")
	}
}
