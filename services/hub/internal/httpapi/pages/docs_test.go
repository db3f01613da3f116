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

// TestReference checks the pages of the API reference.
func TestReference(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for path, texts := range map[string][]string{
		"/docs": {"<h1>API reference</h1>", `<section class="panel" id="signals" aria-label="signals">`, `<a href="/docs/operations/getSignal">Get a call</a> <code>GET /api/signals/{id}</code>`},
		"/docs/operations/getSignal": {
			"<h1>Get a call</h1>", "GET https://hub.example/api/signals/{id}</pre>", "the operation is public", "<code>id</code>",
			`<a href="/docs/schemas/Signal">Signal</a>`, `<h3><code>404</code></h3>`, `<a href="/docs#signals">signals</a>`,
		},
		"/docs/schemas/SignalWithEvents": {"<h1>SignalWithEvents</h1>", `<a href="/docs/schemas/Signal">Signal</a> and object`, "<code>events</code>"},
	} {
		has(t, b.get(path), 200, append(texts, "!<script src", "!raw HTML")...)
	}
	for _, path := range []string{"/docs/operations/none", "/docs/schemas/none"} {
		has(t, b.get(path), 404)
	}
}

// TestArticles checks the pages about the service. Their links to guides must lead to the folder of the guides.
func TestArticles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for path, texts := range map[string][]string{
		"/about":   {"<h1", "About Signalcast</h1>", `href="/docs/guide/scores.html"`, "<title>About Signalcast · Signalcast</title>"},
		"/privacy": {"Privacy</h1>", "What is public", `href="/docs/guide/signin.html"`, `<table tabindex="0">`},
		"/terms":   {"Terms</h1>", "public and final", `href="/docs/guide/scores.html"`},
	} {
		w := b.get(path)
		has(t, w, 200, append(texts, `href="https://hub.example`+path+`"`, `<a href="/about">About</a>`, `!href="scores.html`)...)
		cached(t, w, "public, max-age=300|")
	}
}
