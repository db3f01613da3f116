package pages_test

import (
	"sync"
	"testing"

	"github.com/signalcast/signalcast/docs"
	"github.com/signalcast/signalcast/docs/guide"
)

// guides returns the guides of the project. They are rendered once for all tests.
var guides = sync.OnceValues(func() (*guide.Site, error) {
	return guide.New(docs.Files, guide.Options{Reference: "/docs", Repository: guide.Project})
})

// TestArticles checks the pages about the service. Their links to guides must lead to the folder of the guides.
func TestArticles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for path, texts := range map[string][]string{
		"/about":   {"<h1", "About Signalcast</h1>", `href="/docs/guide/scores.html"`, "<title>About Signalcast · Signalcast</title>"},
		"/privacy": {"Privacy</h1>", "What is public", `href="/docs/guide/signin.html"`, "<table>"},
		"/terms":   {"Terms</h1>", "public and final", `href="/docs/guide/scores.html"`},
	} {
		w := b.get(path)
		has(t, w, 200, append(texts, `href="https://hub.example`+path+`"`, `<a href="/about">About</a>`, `!href="scores.html`)...)
		cached(t, w, "public, max-age=300|")
	}
}
