package testkit

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
)

// savePage writes an HTML response of a handler to the directory in the environment variable HTML_PAGES, where the command
// tools/lint.sh pages checks it. Without the variable it does nothing. Equal responses for one path become one file.
func savePage(r *http.Request, w *httptest.ResponseRecorder) {
	dir := os.Getenv("HTML_PAGES")
	if dir == "" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") || w.Header().Get("Content-Encoding") != "" {
		return
	}
	sum := fnv.New64a()
	_, _ = sum.Write(w.Body.Bytes())
	name := fmt.Sprintf("%s-%x.html", strings.Trim(strings.NewReplacer("/", "-", "?", "-").Replace(r.URL.Path), "-"), sum.Sum64())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		panic(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), w.Body.Bytes(), 0o600); err != nil {
		panic(err)
	}
}
