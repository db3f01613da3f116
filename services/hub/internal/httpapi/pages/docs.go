package pages

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/reference"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
)

const docsPath = "/docs"

// docsPage is the data of the pages of the API reference. Operation and Schema are nil on the page that lists the operations.
type docsPage struct {
	site.Layout
	Groups    []*reference.Group
	About     string
	Operation *reference.Operation
	Schema    *reference.Content
}

// docs handles GET /docs, the list of the API operations.
func (s *server) docs(c echo.Context) error {
	p := docsPage{Layout: s.NewLayout(c, "API reference", "All operations of the API.", docsPath)}
	p.Groups, p.About = s.Reference.Groups, s.Reference.About
	return s.renderDocs(c, p)
}

// docsOperation handles GET /docs/operations/{operation}, an operation of the API.
func (s *server) docsOperation(c echo.Context) error {
	o, ok := s.Reference.Operations[c.Param("operation")]
	if !ok {
		return httpx.ErrNotFound
	}
	return s.renderDocs(c, docsPage{
		Layout: s.NewLayout(c, o.Summary, o.Method+" "+o.Path+" of the API.", docsPath+"/operations/"+o.ID), Operation: o,
	})
}

// docsSchema handles GET /docs/schemas/{schema}, a schema of the API.
func (s *server) docsSchema(c echo.Context) error {
	schema, ok := s.Reference.Schemas[c.Param("schema")]
	if !ok {
		return httpx.ErrNotFound
	}
	return s.renderDocs(c, docsPage{
		Layout: s.NewLayout(c, schema.Name, "The schema "+schema.Name+" of the API.", docsPath+"/schemas/"+schema.Name), Schema: schema,
	})
}

func (s *server) renderDocs(c echo.Context, p docsPage) error {
	p.Wide, p.Nav, p.OGType = true, "docs", "website"
	return s.Render(c, http.StatusOK, "docs", p)
}

// docsFolder handles GET /docs/. It redirects to /docs.
func (s *server) docsFolder(c echo.Context) error {
	to := docsPath
	if query := c.Request().URL.RawQuery; query != "" {
		to += "?" + query
	}
	return c.Redirect(http.StatusPermanentRedirect, to)
}

// article returns the handler of a page whose text is a document of docs/. source is the path of the document.
func (s *server) article(source, path string) echo.HandlerFunc {
	return func(c echo.Context) error {
		if s.Guides == nil {
			return httpx.ErrNotFound
		}
		a, ok := s.Guides.Article(source, guidesPath+"/")
		if !ok {
			return httpx.ErrNotFound
		}
		f := s.NewLayout(c, a.Title, a.About, path)
		f.OGType = "website"
		return s.Render(c, http.StatusOK, "article", articlePage{f, a.Body})
	}
}

// articlePage is the data of a page whose text is a document of docs/.
type articlePage struct {
	site.Layout
	Body template.HTML
}

const guidesPath = "/docs/guide"

// cacheFiles is the Cache-Control of files whose address has no hash of their content.
const cacheFiles = "public, max-age=86400"

// cacheGuides is the Cache-Control of guides, which change only with a release.
const cacheGuides = "public, max-age=300"

// firstGuide handles GET /docs/guide. It redirects to the path with a slash, because the guides have relative links.
func (s *server) firstGuide(c echo.Context) error {
	return c.Redirect(http.StatusFound, guidesPath+"/")
}

// guides handles GET /docs/guide/ and GET /docs/guide/{file}. The guides are complete HTML documents that are built when the
// service starts.
func (s *server) guides(c echo.Context) error {
	if s.Guides == nil {
		return httpx.ErrNotFound
	}
	f, ok := s.Guides.File(c.Param("file"))
	if !ok {
		return httpx.ErrNotFound
	}
	h := c.Response().Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Add("Vary", "Cookie")
	policy := site.Policy
	if f.Script { // the search script of the guides, which sends no requests
		policy += "; script-src 'self'"
	}
	h.Set("Content-Security-Policy", policy)
	if theme := site.Theme(c); theme != "" && strings.HasPrefix(f.Type, echo.MIMETextHTML) {
		f.Body = bytes.Replace(f.Body, []byte("<html "), []byte(`<html data-theme="`+theme+`" `), 1)
		f.Tag = strings.TrimSuffix(f.Tag, `"`) + "-" + theme + `"`
	}
	// The tag is weak because the plain and the compressed body share it.
	h.Set("ETag", "W/"+f.Tag)
	for _, line := range c.Request().Header.Values("If-None-Match") {
		if strings.Contains(line, f.Tag) || strings.TrimSpace(line) == "*" {
			return c.NoContent(http.StatusNotModified)
		}
	}
	return site.WriteBody(c, http.StatusOK, f.Type, f.Body)
}
