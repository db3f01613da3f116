package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
)

//go:embed static
var staticFiles embed.FS

// joined contains the static files that consist of several files, which are joined in the order of their names.
var joined = map[string]string{"app.css": "static/css/*.css", "app.js": "static/app/*.js"}

// readStatic returns the content of a static file.
func readStatic(name string) ([]byte, error) {
	pattern, ok := joined[name]
	if !ok {
		return staticFiles.ReadFile("static/" + name)
	}
	parts, err := fs.Glob(staticFiles, pattern)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, name := range parts {
		part, err := staticFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out.Write(part)
	}
	return out.Bytes(), nil
}

var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": scriptType, ".mjs": scriptType, ".svg": "image/svg+xml",
	".txt": textType, ".ico": "image/x-icon", ".ts": "video/mp2t",
}

const (
	scriptType = "text/javascript; charset=utf-8"
	textType   = "text/plain; charset=utf-8"
)

// favicon handles GET /favicon.ico, which browsers request for documents that name no icon.
func (s *server) favicon(c echo.Context) error { return s.sendFile(c, "favicon.ico") }

func (s *server) static(c echo.Context) error { return s.sendFile(c, c.Param("file")) }

// sendFile answers with a static file. Error: not_found.
func (s *server) sendFile(c echo.Context, name string) error {
	file, ok := s.pages[name]
	if !ok {
		return httpx.ErrNotFound
	}
	c.Response().Header().Set("X-Content-Type-Options", "nosniff")
	file().WriteTo(c.Response(), c.Request())
	return nil
}

// files contains the static files by file name.
type files struct {
	addresses map[string]string                 // URL of each file, with a hash of its content
	pages     map[string]func() *httpcache.Page // content of each file, compressed at the first request
}

// readFiles returns the static files. They are read once per process.
var readFiles = sync.OnceValues(func() (files, error) {
	out := files{addresses: map[string]string{}, pages: map[string]func() *httpcache.Page{}}
	own, err := fs.Glob(staticFiles, "static/*.*")
	if err != nil {
		return files{}, err
	}
	for _, name := range append(own, slices.Collect(maps.Keys(joined))...) {
		name = path.Base(name)
		kind, known := contentTypes[path.Ext(name)]
		if !known {
			return files{}, fmt.Errorf("the static file %s has no content type", name)
		}
		body, err := readStatic(name)
		if err != nil {
			return files{}, err
		}
		sum := sha256.Sum256(body)
		out.addresses[name] = "/static/" + name + "?v=" + hex.EncodeToString(sum[:6])
		out.pages[name] = sync.OnceValue(func() *httpcache.Page { return httpcache.Make(body).As(kind) })
	}
	return out, nil
})
